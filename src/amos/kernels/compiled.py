"""Compile a kernel on first demand; nothing here imports numba until then."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

_LOG = logging.getLogger(__name__)
_COMPILED: dict[Callable[..., Any], Callable[..., Any]] = {}
_MAKING = threading.Lock()
_CALLEES: dict[Callable[..., Any], Callable[..., Any]] = {}

COMPILED_FROM_ROWS = 16_384
"""Row count from which a loop is worth importing numba for."""
_ONCE_LOADED_FROM_ROWS = 256

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


@lru_cache(maxsize=1)
def _sources_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def cache_folder() -> Path:
    """Return the folder for compiled code, below `NUMBA_CACHE_DIR` or else the user's cache.

    Its name follows the text of all kernels: the compiler checks the file of the outer loop alone, so a
    callee changed in another file would leave a stale twin behind.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / f"amos-{_sources_digest()}"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "amos" / "numba" / _sources_digest()


def _with_callees(function: Kernel) -> Kernel:
    """Return `function` reading the compiled twins of the kernels it calls: plain ones it cannot."""
    plain = cast(FunctionType, function)
    scope = dict(plain.__globals__)
    for name in plain.__code__.co_names:
        callee = scope.get(name)
        if isinstance(callee, FunctionType) and callee.__module__.startswith("amos.kernels."):
            scope[name] = _callee(callee)
    twin = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__, plain.__closure__)
    twin.__module__, twin.__qualname__, twin.__doc__ = plain.__module__, plain.__qualname__, plain.__doc__
    return cast(Kernel, twin)


def is_worth_compiling(rows: int, *, once_loaded: int = _ONCE_LOADED_FROM_ROWS) -> bool:
    """Return whether a loop over so many rows should run compiled.

    A process that has numba loaded compiles sooner: it has paid for the import already.
    once_loaded: rows from which it does; fewer than usual for a loop that is slow when plain.
    """
    return rows >= (once_loaded if "numba" in sys.modules else COMPILED_FROM_ROWS)


def _callee(function: FunctionType) -> Callable[..., Any]:
    """Return the twin of a kernel that only other kernels call: cheap to compile and to call.

    It has no entry from Python, and a constant argument gets no version of its own.
    """
    import numba

    if function not in _CALLEES:
        options = {
            "nogil": True,
            "error_model": "numpy",
            "no_cpython_wrapper": True,
            "no_cfunc_wrapper": True,
            **_uncounted(),
        }
        twin = numba.njit(**options)(_with_callees(function))
        compile_for = twin.compile
        twin.compile = lambda types: compile_for(tuple(numba.types.unliteral(kind) for kind in types))
        _CALLEES[function] = twin
    return _CALLEES[function]


def _uncounted() -> dict[str, bool]:
    """Return the option, where numba knows it, that spares a callee counting who holds its arrays.

    A callee makes no arrays and gives back numbers alone, so there is nothing to count; with a dozen arrays
    handed on at every call the counts take ten times as long as the work.
    """
    from numba.core.options import DefaultOptions

    return {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def _jit(function: Kernel) -> Kernel:
    import numba  # half a second that small runs never pay

    function = _with_callees(function)
    options = {"nogil": True, "error_model": "numpy"}
    usual, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_folder())
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to cache in: compile for this process only
        return numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = usual


def compiled(function: Kernel) -> Kernel:
    """Return the compiled twin of a plain loop, the same object for the same function.

    Falls back to the plain function, with a warning in the log, where numba cannot be imported.
    """
    twin = _COMPILED.get(function)
    if twin is None:
        with _MAKING:
            twin = _COMPILED.get(function) or _twin(function)
            _COMPILED[function] = twin
    return twin  # type: ignore[return-value]


def _twin(function: Kernel) -> Kernel:
    try:
        return _jit(function)
    except ImportError as cause:
        _LOG.warning("numba is missing, kernels run uncompiled", extra={"cause": str(cause)})
        return function
