"""Do independent pieces of work abreast, on as many threads as there are processors; begin the next ahead."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def do_abreast(work: Callable[[Given], Made], pieces: Sequence[Given]) -> list[Made]:
    """Return what `work` makes of each piece, in their order; the longest pieces should come first.

    Pays where most of the work is done without the interpreter's lock: compiled loops, hashing, Arrow, files.
    The caller's thread takes its share.  No piece is at work any more when this returns or raises a failure.
    """
    left = iter(enumerate(pieces))
    made: dict[int, Made] = {}

    def take() -> None:
        for place, piece in left:  # one iterator for all: each piece is taken once
            made[place] = work(piece)

    others = [_threads().submit(take) for _ in range(min(len(pieces), os.cpu_count() or 1) - 1)]
    try:
        take()
    finally:
        wait(others)
    for other in others:
        other.result()
    return [made[place] for place in range(len(pieces))]


@functools.cache
def _threads() -> ThreadPoolExecutor:
    """Return the threads that help: the same ones each time, as each keeps memory of its own."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="abreast")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_threads.cache_clear)


def make_ahead(pieces: Iterable[Made], is_long: Callable[[Made], bool]) -> Iterator[Made]:
    """Yield `pieces` in order; the one after a long piece is made while that is worked on.

    What fails to be made fails when its turn comes.
    """
    coming = iter(pieces)
    end = object()
    with ThreadPoolExecutor(1) as pool:
        piece: Any = next(coming, end)
        while piece is not end:
            begun = pool.submit(next, coming, end) if is_long(piece) else None
            yield piece
            piece = next(coming, end) if begun is None else begun.result()
