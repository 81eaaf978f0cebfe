"""Amos: governed long-term memory for agents, offline and without an LLM.

`amos.open(path)` returns a `Store`; its parts are imported when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amos.api import Store as Store
    from amos.api import open as open  # noqa: A004 - the library's door is named like the built-in
    from amos.api import propose as propose

__version__ = "0.1.0"
__all__ = ["Store", "__version__", "open", "propose"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name in __all__:
        from amos import api

        return getattr(api, name)
    raise AttributeError(f"module 'amos' has no attribute {name!r}")
