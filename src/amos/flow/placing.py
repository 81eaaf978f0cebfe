"""Write files and folders that appear under their name only when they are whole."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from amos.errors import UsageError


class Written(NamedTuple):
    """A file that was written."""

    lines: int
    byte_count: int
    sha256: str


def write_lines(lines: Iterable[str], path: Path) -> Written:
    """Write `lines` to `path`, replacing what is there once they are all written and durable."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    digest = hashlib.sha256()
    count = size = 0
    try:
        with draft.open("wb") as stream:
            for line in lines:
                raw = line.encode() + b"\n"
                stream.write(raw)
                digest.update(raw)
                count, size = count + 1, size + len(raw)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return Written(count, size, digest.hexdigest())


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Yield a draft folder that takes the name `folder` once the block is done.

    Raises UsageError when something stands there.
    """
    if folder.exists():
        raise UsageError(
            f"{folder} exists already", path=str(folder), advice="Name a folder that does not exist yet."
        )
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        yield draft
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_synced(path: Path, payload: bytes) -> None:
    """Write a file inside a draft folder, durably."""
    with path.open("wb") as stream:
        stream.write(payload)
        stream.flush()
        os.fsync(stream.fileno())
