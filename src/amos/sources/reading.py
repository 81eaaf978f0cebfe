"""The door to `sources`: from paths to batches of blocks and problems, and on to a RAW table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from amos.errors import InputError, UsageError
from amos.schemas.vocabulary import Trust
from amos.sources.block import Batch, Problem
from amos.sources.detecting import Detected, detect_part
from amos.sources.faults import Fault, lost
from amos.sources.instants import default_zone
from amos.sources.limits import Limits
from amos.sources.mapping import load_mapping
from amos.sources.messages import Message, MessagesReader, read_lines_alone
from amos.sources.planning import READ_ERRORS, LogicalInput, Survey, survey
from amos.sources.raw_rows import batch_blocks, batch_table, lower_batch, raw_table
from amos.sources.reader import ReadContext, Reader
from amos.sources.records import coalesced
from amos.sources.registry import reader_class
from amos.sources.walking import InputFile, Walk, closing

_BATCH_BYTES = 3 << 20
_DEFAULT_LIMITS = Limits()
_SHARD = ("default", "default")
_FIRST_RECORDS = 4_096
"""Records of the first batch, for which a run has to wait: the others are read while it works."""

__all__ = [
    "batch_blocks",
    "batch_table",
    "check_trust",
    "detect",
    "plan_inputs",
    "raw_table",
    "read_alone",
    "read_batches",
    "read_stream_alone",
]


def read_batches(
    paths: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    mapping: Path | None = None,
    trust: str | None = None,
    zone: str | None = None,
    strict_limits: Limits = _DEFAULT_LIMITS,
    batch_records: int = 12_288,
    shard: tuple[str, str] = _SHARD,
) -> Iterator[Batch]:
    """Return the records behind `paths` in batches of about `batch_records`, and of about 3 MiB at most.

    Long texts may be full of claims: what a batch holds in memory goes by its bytes.
    The first holds 4,096 at most, as a run waits for it.
    format: reader to use instead of looking; with `mapping`, a TOML file, tables are read.
    trust: no block has more trust than this.  zone: of times that name none.
    shard: tenant and workspace that scopes must name, if they name any.
    Raises UsageError (no such path, format, zone) and InputError (nothing readable, no record
    at all); single bad files and records are problems in the batches.
    """
    context = _context(mapping=mapping, zone=zone, limits=strict_limits, shard=shard, records=batch_records)
    found = survey(paths, format=_format(format, mapping), limits=strict_limits)
    batches = coalesced(
        _all_batches(found, context), records=batch_records, size=_BATCH_BYTES, first=_FIRST_RECORDS
    )
    return _checked(batches, found, check_trust(trust))


def read_alone(
    paths: Sequence[Path], *, zone: str | None = None, shard: tuple[str, str] = _SHARD
) -> Iterator[Message]:
    """Return each `messages` line by itself, its `context` texts as earlier blocks (`amos propose`)."""
    context = _context(mapping=None, zone=zone, limits=_DEFAULT_LIMITS, shard=shard, alone=True)
    found = survey(paths, format=MessagesReader.name)
    return _alone(found, context)


def read_stream_alone(stream: BinaryIO, *, name: str) -> Iterator[Message]:
    """Return each `messages` line of an open stream by itself; name: what its locators call it."""
    context = _context(mapping=None, zone=None, limits=_DEFAULT_LIMITS, shard=_SHARD, alone=True)
    return read_lines_alone(stream, _renamed(context, name))


def detect(paths: Sequence[Path], *, limits: Limits = _DEFAULT_LIMITS) -> list[Detected]:
    """Return for each file behind `paths` its format and what was seen."""
    walk = Walk(limits=limits)
    for path in paths:
        walk.add(Path(path))
    try:
        return [_detected(part) for part in walk.parts]
    finally:
        closing(walk.parts)


def plan_inputs(
    paths: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002
    mapping: Path | None = None,
    limits: Limits = _DEFAULT_LIMITS,
) -> list[LogicalInput]:
    """Return what `read_batches` would read, with sizes in bytes, for showing progress."""
    return survey(paths, format=_format(format, mapping), limits=limits).inputs


def _format(name: str | None, mapping: Path | None) -> str | None:
    if mapping is None:
        return name
    if name not in (None, "mapped"):
        raise UsageError(f"`--map` and `--from {name}` exclude each other", path=str(mapping))
    return "mapped"


def check_trust(word: str | None) -> str | None:
    """Return `word`, the ceiling of trust.  Raises UsageError when there is no such trust."""
    if word is not None and word not in set(Trust):
        raise UsageError(f"no trust is called {word!r}", advice=f"Use one of: {', '.join(Trust)}.")
    return word


def _context(
    *,
    mapping: Path | None,
    zone: str | None,
    limits: Limits,
    shard: tuple[str, str],
    alone: bool = False,
    records: int = 1024,
) -> ReadContext:
    return ReadContext(
        file="",
        zone=default_zone(zone),
        limits=limits,
        tenant=shard[0],
        workspace=shard[1],
        mapping=load_mapping(mapping) if mapping is not None else None,
        is_context_allowed=alone,
        chunk_records=min(records, 4096),
    )


def _detected(part: InputFile) -> Detected:
    try:
        return detect_part(part)
    except READ_ERRORS as cause:
        member = part.member.filename if part.member else None
        return Detected(
            file=str(part.path), member=member, format=None, confidence=0, saw=f"nothing: {cause}"
        )


def _all_batches(found: Survey, context: ReadContext) -> Iterator[Batch]:
    for logical in found.inputs:
        reader = reader_class(logical.format)()
        for part in logical.parts:
            yield from _part_batches(part, logical.format, reader, context)


def _part_batches(part: InputFile, name: str, reader: Reader, context: ReadContext) -> Iterator[Batch]:
    """Yield the batches of one file; a stream that fails half-way keeps what came before."""
    inside = dataclasses.replace(context, file=part.shown, saved=part.saved(context.zone))
    try:
        with part.open() as stream:
            for batch in reader.read(stream, inside):
                batch.problems = _as_given(batch.problems, part)
                batch.paths[part.shown] = part.given
                yield batch
    except READ_ERRORS as cause:
        problem = lost(part.given, 0, Fault.UNREADABLE, f"reading stopped: {cause}")
        yield Batch(blocks=[], problems=[problem], record_count=1, format=name)


def _as_given(problems: list[Problem], part: InputFile) -> list[Problem]:
    """Return the problems with the path that was given: people look for a file by it, not by a locator."""
    if not problems or part.given == part.shown:
        return problems
    return [replace(one, file=part.given) if one.file == part.shown else one for one in problems]


def _renamed(context: ReadContext, shown: str) -> ReadContext:
    return dataclasses.replace(context, file=shown)


def _checked(batches: Iterator[Batch], found: Survey, trust: str | None) -> Iterator[Batch]:
    """Yield the survey's problems, then `batches` under the ceiling of `trust`."""
    parts = [part for logical in found.inputs for part in logical.parts]
    count = 0
    try:
        if found.problems:
            lost_count = sum(problem.is_lost for problem in found.problems)
            yield Batch(blocks=[], problems=found.problems, record_count=lost_count, format="unknown")
        for batch in batches:
            count += batch.record_count
            if trust is not None:
                lower_batch(batch, trust)
            yield batch
    finally:
        closing(parts)
    if count == 0:
        given = found.inputs[0].parts[0].given
        raise InputError(
            f"{given}: there is no record in it: 0 records",
            code=Fault.EMPTY_FILE.value,
            path=given,
            advice="Check that the file is complete, or name its format with `--from`.",
        )


def _alone(found: Survey, context: ReadContext) -> Iterator[Message]:
    for logical in found.inputs:
        for part in logical.parts:
            with part.open() as stream:
                for message in read_lines_alone(stream, _renamed(context, part.shown)):
                    message.problems = _as_given(message.problems, part)
                    yield message
