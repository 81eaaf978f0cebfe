"""Do independent pieces of work abreast, on as many threads as there are processors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def do_abreast(work: Callable[[Given], Made], pieces: Sequence[Given]) -> list[Made]:
    """Return what `work` makes of each piece, in their order; the longest pieces should come first.

    Pays where most of the work is done without the interpreter's lock: compiled loops, hashing, Arrow, files.
    Every piece has ended when this returns, or raises the failure of the first that failed.
    """
    threads = min(len(pieces), os.cpu_count() or 1)
    if threads < 2:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(threads) as pool:
        begun = [pool.submit(work, piece) for piece in pieces]
    return [one.result() for one in begun]
