"""What a run would read: sizes for progress, and texts one by one for trying an extractor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from amos.errors import UsageError
from amos.flow.proposing import Proposal
from amos.sources.block import Block, Problem
from amos.sources.instants import default_zone
from amos.sources.mapping import load_mapping
from amos.sources.messages import MessagesReader
from amos.sources.reading import batch_blocks, check_trust, plan_inputs, read_alone, read_batches
from amos.sources.standing import lower_trust

Report = Callable[[Problem], None]


def given_paths(paths: str | PathLike[str] | Iterable[str | PathLike[str]]) -> list[Path]:
    """Return what a caller gave as paths: one path, or several.

    Raises UsageError for an empty text, which would name the current folder.
    """
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if "" in given:
        raise UsageError("an empty path: is a variable unset?", advice="Name a file, a folder or an archive.")
    return [Path(path) for path in given]


def measure_inputs(
    paths: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    mapping: Path | None = None,
    trust: str | None = None,
    zone: str | None = None,
) -> int:
    """Return the unpacked bytes behind `paths`, having checked every option.

    Raises at once what a run would raise: nothing has been made or opened for writing by then.
    """
    check_trust(trust)
    default_zone(zone)
    if mapping is not None:
        load_mapping(mapping)
    return sum(one.size for one in plan_inputs(paths, format=format, mapping=mapping))


class InputCounts(NamedTuple):
    """How many files would be read, and in how many formats."""

    files: int
    formats: int


def count_inputs(paths: Sequence[Path]) -> InputCounts:
    """Return how many files behind `paths` are transcripts, and of how many formats."""
    found = plan_inputs(paths)
    return InputCounts(sum(len(one.parts) for one in found), len({one.format for one in found}))


def read_proposals(
    paths: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002
    zone: str | None = None,
    trust: str | None = None,
    report: Report | None = None,
) -> Iterator[Proposal]:
    """Yield the texts behind `paths` one by one; a `messages` line brings its earlier texts along.

    report: told of every record that could not be read, or only in part.
    """
    tell = report or (lambda _: None)
    found = {one.format for one in plan_inputs(paths, format=format)}
    if found == {MessagesReader.name}:
        yield from _lines_alone(paths, zone, trust, tell)
        return
    for batch in read_batches(paths, format=format, zone=zone, trust=trust):
        for problem in batch.problems:
            tell(problem)
        for block in batch_blocks(batch):
            yield Proposal(id=block.record_key, blocks=[block], own_count=1)


def _lines_alone(
    paths: Sequence[Path], zone: str | None, trust: str | None, tell: Report
) -> Iterator[Proposal]:
    for message in read_alone(paths, zone=zone):
        for problem in message.problems:
            tell(problem)
        if message.blocks:
            yield Proposal(id=message.id, blocks=[_ceiled(one, trust) for one in message.blocks], own_count=1)


def _ceiled(block: Block, trust: str | None) -> Block:
    if trust is not None:
        block.trust = lower_trust(block.trust, trust)
    return block
