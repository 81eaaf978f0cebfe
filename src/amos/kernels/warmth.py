"""Tell whether compiled kernels wait in the cache, without loading them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from amos.kernels.bulk_hashing import frame_bytes
from amos.kernels.compiled import cache_folder
from amos.kernels.history import fold_histories
from amos.kernels.reading import read_messages

_LARGEST = (read_messages, fold_histories, frame_bytes)
"""Loops that only an ingest compiles: asking and verifying leave others in the cache."""


def is_warm() -> bool:
    """Return whether the kernels of an ingest by this version wait in the cache."""
    return all(is_cached(loop) for loop in _LARGEST)


def is_cached(loop: Callable[..., Any]) -> bool:
    """Return whether a compiled loop of this version waits in the cache."""
    name = f"{loop.__module__.rpartition('.')[2]}.{loop.__qualname__}"
    return any(cache_folder().rglob(f"{name}-*.nbi"))


@lru_cache(maxsize=1)
def was_warm() -> bool:
    """Return what `is_warm` said when this process first asked."""
    return is_warm()
