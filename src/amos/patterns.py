"""Regular expressions that are compiled when they are first used: of the many, a run needs few."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, AnyStr, Generic, cast


class _Pattern(Generic[AnyStr]):
    """Stands for a compiled expression, whose methods it takes over one by one as they are asked for."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._given = flags

    @cached_property
    def _compiled(self) -> re.Pattern[AnyStr]:
        return re.compile(self.pattern, self._given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def pattern_of(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return `pattern` to be searched with, as `re.compile` would; a fault in it shows at its first use."""
    return cast("re.Pattern[AnyStr]", _Pattern(pattern, flags))
