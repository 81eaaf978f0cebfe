"""Compare two readings of the same sources: added, lost, changed by field, decisions that flip."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa

from amos.journal.events import canonical_json
from amos.reprocess.change import Readings

Row = dict[str, Any]

KINDS = ("added", "lost", "changed", "unchanged", "flipped", "refused_by_tombstone", "kept_by_reviewer")
_SHOWN = [
    "candidate_id", "source_id", "spans", "type", "memory_class", "subject_id", "claim_id", "polarity",
    "modality", "payload", "valid_from", "valid_until", "extraction_confidence", "gate", "extractor",
    "pattern",
]  # fmt: skip
_COMPARED = (
    "type", "memory_class", "subject_id", "polarity", "modality", "valid_from", "valid_until",
    "extraction_confidence", "spans", "gate",
)  # fmt: skip
_NAMES = {"extraction_confidence": "confidence", "subject_id": "subject", "spans": "span"}
_PAYLOAD = ("property", "value", "claim", "applicability")

Decided = dict[bytes, tuple[str, str]]
"""Outcome and first reason of the decision on each candidate, by its id."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One place where the readings differ.

    kind: one of KINDS.  before, after: the claim as each reading has it, and what was decided on it, None
    where it has none.  fields: what differs between the two.
    """

    kind: str
    source_id: bytes
    before: Row | None = None
    after: Row | None = None
    fields: tuple[str, ...] = ()

    @property
    def is_flipped(self) -> bool:
        """Whether the decision on it falls another way."""
        return "outcome" in self.fields


@dataclass(kw_only=True)
class Diff:
    """How two readings differ: counts by kind, and every difference in the order of the sources."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def digest(self) -> str:
        """Return the SHA-256 of what differs: equal runs over an unchanged store have the same."""
        whole = hashlib.sha256(b"amos/1/reprocess")
        for one in self.differences:
            told = [one.kind, one.source_id.hex(), *map(_named, (one.before, one.after)), list(one.fields)]
            whole.update(canonical_json({"difference": told}).encode() + b"\n")
        return whole.hexdigest()


def _named(row: Row | None) -> list[Any] | None:
    return None if row is None else [row["candidate_id"].hex(), row["outcome"], row["reason"]]


def compare(readings: Readings, refused: pa.Table, before: Decided, after: Decided) -> Diff:
    """Return how the readings of each source differ.

    refused: candidates that a tombstone keeps out.  before, after: decisions as they stand, and as they
    would fall; `after` names candidates of other sources too where their history is decided again.
    """
    old, new = _by_source(readings.before, before), _by_source(readings.after, after)
    diff = Diff(counts=Counter(kept_by_reviewer=readings.kept))
    for source in sorted(old.keys() | new.keys()):
        for one in _matched(source, old.get(source, []), new.get(source, [])):
            _count(diff, one)
    for row in _rows(refused, {}):
        _count(diff, Difference(kind="refused_by_tombstone", source_id=row["source_id"], after=row))
    return diff


def count_elsewhere(diff: Diff, rows: pa.Table, before: Decided, after: Decided) -> None:
    """Add the decisions on candidates of other sources that flip.  rows: those candidates."""
    for row in sorted(_rows(rows, before), key=lambda one: (one["source_id"], one["spans"])):
        now = after[row["candidate_id"]]
        if now[0] != row["outcome"]:
            later = {**row, "outcome": now[0], "reason": now[1]}
            one = Difference(
                kind="flipped", source_id=row["source_id"], before=row, after=later, fields=("outcome",)
            )
            _count(diff, one)


def _count(diff: Diff, one: Difference) -> None:
    diff.counts[one.kind] += 1
    if one.is_flipped and one.kind != "flipped":
        diff.counts["flipped"] += 1
    if one.kind != "unchanged" or one.is_flipped:
        diff.differences.append(one)


def _rows(table: pa.Table, decided: Decided) -> Iterator[Row]:
    for row in table.select(_SHOWN).to_pylist():
        row["outcome"], row["reason"] = decided.get(row["candidate_id"], ("reject", "tombstoned"))
        yield row


def _by_source(table: pa.Table, decided: Decided) -> dict[bytes, list[Row]]:
    found: dict[bytes, list[Row]] = defaultdict(list)
    for row in _rows(table, decided):
        found[row["source_id"]].append(row)
    return found


def _matched(source: bytes, old: list[Row], new: list[Row]) -> Iterator[Difference]:
    """Yield the claims of one source, paired: the same claim first, then what stands at the same place."""
    pairs = [*_pairs(old, new, _is_same_claim)]
    left, right = _unpaired(old, new, pairs)
    close = [*_pairs(left, right, _is_same_slot)]
    left, right = _unpaired(left, right, close)
    placed = [*_pairs(left, right, _overlap)]
    left, right = _unpaired(left, right, placed)
    found = [_paired(source, one, other) for one, other in (*pairs, *close, *placed)]
    found += [Difference(kind="lost", source_id=source, before=one) for one in left]
    found += [Difference(kind="added", source_id=source, after=one) for one in right]
    yield from sorted(found, key=_place)


def _place(one: Difference) -> tuple[list[int], str]:
    row = one.after if one.after is not None else one.before
    assert row is not None
    return row["spans"], row["pattern"]


def _pairs(old: Sequence[Row], new: Sequence[Row], fits: Any) -> Iterator[tuple[Row, Row]]:
    """Yield pairs that fit, each row once; of several the one whose span overlaps most."""
    free = list(new)
    for one in old:
        scored = [(_shared(one, other), -place) for place, other in enumerate(free) if fits(one, other)]
        if scored:
            _, place = max(scored)
            yield one, free.pop(-place)


def _unpaired(
    old: Iterable[Row], new: Iterable[Row], pairs: Sequence[tuple[Row, Row]]
) -> tuple[list[Row], list[Row]]:
    taken = {id(row) for pair in pairs for row in pair}
    return [row for row in old if id(row) not in taken], [row for row in new if id(row) not in taken]


def _is_same_claim(one: Row, other: Row) -> bool:
    return bool(one["claim_id"] == other["claim_id"]) and _overlap(one, other)


def _is_same_slot(one: Row, other: Row) -> bool:
    return _overlap(one, other) and _property(one) == _property(other)


def _overlap(one: Row, other: Row) -> bool:
    return _shared(one, other) > 0


def _shared(one: Row, other: Row) -> int:
    """Return the bytes that the claims' first spans share."""
    (start, end), (begin, stop) = one["spans"][:2], other["spans"][:2]
    return int(max(0, min(end, stop) - max(start, begin)))


def _property(row: Row) -> Any:
    return msgspec.json.decode(row["payload"]).get("property")


def _paired(source: bytes, before: Row, after: Row) -> Difference:
    said = [msgspec.json.decode(row["payload"]) for row in (before, after)]
    fields = [_NAMES.get(name, name) for name in _COMPARED if before[name] != after[name]]
    fields += [name for name in _PAYLOAD if said[0].get(name) != said[1].get(name)]
    if not fields and before["claim_id"] != after["claim_id"]:
        fields.append("claim")
    kind = "changed" if fields else "unchanged"
    if before["outcome"] != after["outcome"]:
        fields.append("outcome")
    return Difference(kind=kind, source_id=source, before=before, after=after, fields=tuple(fields))
