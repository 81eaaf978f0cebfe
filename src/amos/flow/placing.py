"""Write what goes out of a store, durably and with its digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Written(NamedTuple):
    """A file that was written."""

    lines: int
    byte_count: int
    sha256: str


def write_lines(lines: Iterable[str], path: Path) -> Written:
    """Write `lines` to the file `path`, durably."""
    digest = hashlib.sha256()
    count = size = 0
    with path.open("wb") as stream:
        for line in lines:
            raw = line.encode() + b"\n"
            stream.write(raw)
            digest.update(raw)
            count, size = count + 1, size + len(raw)
        stream.flush()
        os.fsync(stream.fileno())
    return Written(count, size, digest.hexdigest())


def write_synced(path: Path, payload: bytes) -> None:
    """Write a file, durably."""
    with path.open("wb") as stream:
        stream.write(payload)
        stream.flush()
        os.fsync(stream.fileno())
