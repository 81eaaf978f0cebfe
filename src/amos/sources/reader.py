"""What a reader of one outside format is, and what it is given to work with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, Protocol

import msgspec

from amos.sources.block import Batch
from amos.sources.instants import ASSUMED_UTC, UNKNOWN, DefaultZone, Instant
from amos.sources.limits import Limits
from amos.sources.outline import outline_keys
from amos.sources.splitting import BOM

if TYPE_CHECKING:
    from amos.sources.mapping import Mapping

_FEW_LINES = 32


@dataclass(frozen=True, kw_only=True)
class ReadContext:
    """What a reader may know beyond the bytes: how to name the file, and the caller's wishes."""

    file: str
    zone: DefaultZone = ASSUMED_UTC
    limits: Limits = field(default_factory=Limits)
    tenant: str = "default"
    workspace: str = "default"
    mapping: Mapping | None = None
    is_context_allowed: bool = False
    saved: Instant = UNKNOWN
    """When the file was last saved, as far as its folder or archive tells."""
    chunk_records: int = 1024
    """Most records a reader need put into one batch; larger batches are put together later."""


class Recognition(NamedTuple):
    """How sure a reader is that a file is its own, 0 to 100, and what it saw there."""

    confidence: int
    saw: str


NOT_MINE = Recognition(0, "")


@dataclass(frozen=True)
class Sample:
    """The beginning of a file, its name, and the folders above it as far as they were given."""

    name: str
    head: bytes
    is_whole: bool = False
    folder: str = ""

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects on the first lines; none when the file is not one of JSON lines.

        Torn lines do not count against it; text, source code or markup around some objects does.
        """
        lines = [line for line in self.head.removeprefix(BOM).split(b"\n") if line.strip()]
        found: list[dict[str, Any]] = []
        foreign_count = 0
        for number, line in enumerate(lines[:_FEW_LINES]):
            try:
                value = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                if _is_torn(line, is_first=number == 0):
                    continue
                if number == 0:
                    return []
                foreign_count += 1
                continue
            if isinstance(value, dict):
                found.append(value)
        return found if foreign_count <= len(found) else []

    @cached_property
    def _outline(self) -> list[tuple[int, str]]:
        """Keys with the depth of the object that holds them, in order, as far as the head is JSON."""
        return list(outline_keys(self.head.removeprefix(BOM)))

    @cached_property
    def is_array(self) -> bool:
        """Whether the file begins like one JSON array."""
        return self.head.removeprefix(BOM).lstrip().startswith(b"[")

    @cached_property
    def keys(self) -> list[str]:
        """Keys of the top-level object, of the first lines, or of the first objects of an array, in order."""
        if self.objects:
            return list(dict.fromkeys(key for one in self.objects for key in one))
        level = 2 if self.is_array else 1
        return list(dict.fromkeys(key for depth, key in self._outline if depth == level))

    @cached_property
    def all_keys(self) -> frozenset[str]:
        """Every key that the head shows, at any depth."""
        return frozenset(key for _, key in self._outline)


def _is_torn(line: bytes, *, is_first: bool) -> bool:
    """Tell whether `line` is the beginning of a record, or, on top of a cut file, the end of one."""
    return line.lstrip().startswith(b"{") or (is_first and line.rstrip().endswith(b"}"))


class Reader(Protocol):
    """Reads one outside format; a fresh instance serves one logical input, shard after shard."""

    name: ClassVar[str]

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """Return how sure it is that `sample` begins a file of its format."""
        ...

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the records of `stream` in order, small batches of whole records.

        Bad records become problems; only a failing `stream` raises.
        """
        ...
