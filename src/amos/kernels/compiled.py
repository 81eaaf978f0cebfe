"""Compile a kernel on first demand; nothing here imports numba until then."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_LOG = logging.getLogger(__name__)
_COMPILED: dict[Callable[..., Any], Callable[..., Any]] = {}

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def cache_folder() -> Path:
    """Return the per-user folder for compiled code: `NUMBA_CACHE_DIR`, else under the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "amos" / "numba"


def _jit(function: Kernel) -> Kernel:
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))
    import numba  # noqa: PLC0415 - half a second that small runs never pay

    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in: compile for this process only
        return numba.njit(**options)(function)


def compiled(function: Kernel) -> Kernel:
    """Return the compiled twin of a plain loop, the same object for the same function.

    Falls back to the plain function, with a warning in the log, where numba cannot be imported.
    """
    twin = _COMPILED.get(function)
    if twin is None:
        try:
            twin = _jit(function)
        except ImportError as cause:
            _LOG.warning("numba is missing, kernels run uncompiled", extra={"cause": str(cause)})
            twin = function
        _COMPILED[function] = twin
    return twin  # type: ignore[return-value]
