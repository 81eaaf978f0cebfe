"""Do independent pieces of work abreast, on as many threads as there are processors; begin the next ahead."""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
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
            if not is_long(piece):
                yield piece
                piece = next(coming, end)
                continue
            with _TURNS.taken_often():
                begun = pool.submit(next, coming, end)
                yield piece
                piece = begun.result()


class _Turns:
    """How soon a thread that waits for the interpreter's lock is let in, for the whole process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanting = 0
        self._before = 0.0

    @contextmanager
    def taken_often(self) -> Iterator[None]:
        """Let threads take turns ten times as often as usual inside the block.

        A thread lets go of the lock for every call into Arrow or a kernel.  Beside one that never does, it
        waits a whole turn after each of them: little then runs at the same time, and what was to be made
        ahead is made first.
        """
        with self._lock:
            if not self._wanting:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(min(self._before, _SHORT_TURN))
            self._wanting += 1
        try:
            yield
        finally:
            with self._lock:
                self._wanting -= 1
                if not self._wanting:
                    sys.setswitchinterval(self._before)


_SHORT_TURN = 0.000_5
"""Seconds; shorter ones cost more than they win."""
_TURNS = _Turns()
