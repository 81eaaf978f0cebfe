"""Hold the memory and the house-keeping of a long run down."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from amos.freed import give_back

_WORTH_COLLECTING = 5_000
"""Objects made and still there from which looking for cycles pays: a small call leaves fewer."""


@contextmanager
def returned_memory() -> Iterator[None]:
    """Let Arrow take its buffers from the system's own allocator inside the block.

    The default one keeps what was freed for later: 60 MB more at the peak of 100,000 messages,
    and a tenth slower there.
    """
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


@contextmanager
def collected_between() -> Iterator[Callable[..., None]]:
    """Keep Python's collector of cycles still in the block, but when the function that is given is called.

    By itself it looks through all that the process has ever loaded, in the midst of a batch, for the sake of
    the many objects that a batch makes and drops: a twentieth of the time of a long run.  The function looks
    through what was made since the last call, where that is much or is_due says so, and gives the system back
    what Arrow has freed.  A collector that is off already stays off.
    """
    was_on = gc.isenabled()

    def collect(*, is_due: bool = False) -> None:
        if not is_due and gc.get_count()[0] < _WORTH_COLLECTING:
            return
        if was_on:
            gc.collect(1)
        give_back()

    gc.disable()
    try:
        yield collect
    finally:
        if was_on:
            gc.enable()
