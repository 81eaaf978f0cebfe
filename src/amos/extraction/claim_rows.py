"""Give the drafts of texts to every message that has the text, resolve their times, build CLAIMS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.extraction.drafts import Draft
from amos.extraction.notes import one_array
from amos.extraction.times import day_named, resolve_times
from amos.extraction.timing import Timed, interval_of
from amos.extraction.wording import kind_of_value
from amos.kernels.features import NO_TIME
from amos.schemas.claims import CLAIMS
from amos.schemas.vocabulary import MemoryClass

_TYPES = {field.name: field.type for field in CLAIMS}
_NO_CLAIMS = CLAIMS.empty_table()
_AS_DRAFTED = (
    "property", "value", "modality", "applicability", "start", "end", "cues", "veto",
)  # fmt: skip
"""Columns that are fields of a draft as they are."""


class Placed(NamedTuple):
    """Which draft each claim comes from and which source makes it: two (claims,) columns."""

    which: NDArray[np.int64]
    source: NDArray[np.int64]


def place_drafts(counts: NDArray[np.int64], texts: NDArray[np.int64], rows: NDArray[np.int64]) -> Placed:
    """Return the claims of the sources `rows` in order, as those of the texts that they have.

    counts: drafts per text, whose drafts stand one after another.  texts: per row, which it has.
    """
    first = np.cumsum(counts) - counts
    each = counts[texts]
    within = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
    return Placed(which=np.repeat(first[texts], each) + within, source=np.repeat(rows, each))


def claim_rows(drafts: list[Draft], placed: Placed, sources: pa.Table) -> pa.Table:
    """Return CLAIMS of `drafts` as `placed` says; sources: SEGMENTABLE, with clock and zone."""
    if not placed.which.size:
        return _NO_CLAIMS
    claimed = [drafts[which] for which in placed.which.tolist()]
    timed = _timed(claimed, placed.source, sources)
    columns = _draft_columns(claimed) | _time_columns(claimed, timed)
    columns["payload"] = _payloads(claimed, timed)
    columns["source_row"] = pa.array(placed.source.astype(np.int32))
    none = pa.array(np.zeros(len(claimed) + 1, np.int32))
    spans = CLAIMS.field("more_spans").type
    columns["more_spans"] = pa.ListArray.from_arrays(none, pa.array([], spans.value_type), type=spans)
    return pa.Table.from_arrays([columns[name] for name in CLAIMS.names], schema=CLAIMS)


def _draft_columns(claimed: list[Draft]) -> dict[str, pa.Array]:
    """Return the columns that a draft alone decides, by name."""
    told: dict[str, Sequence[Any]] = dict(zip(Draft._fields, zip(*claimed, strict=True), strict=True))
    kinds = {value: kind_of_value(value) for value in set(told["value"]) if value is not None}
    values: dict[str, Sequence[Any]] = {
        **{name: told[name] for name in _AS_DRAFTED},
        "pattern": [meaning.name for meaning in told["meaning"]],
        "type": [meaning.type for meaning in told["meaning"]],
        "arity": [meaning.arity for meaning in told["meaning"]],
        "confidence": [meaning.confidence for meaning in told["meaning"]],
        "subject_kind": [subject.kind for subject in told["subject"]],
        "subject": [subject.name for subject in told["subject"]],
        "value_kind": [kinds.get(value, "text") for value in told["value"]],
        "polarity": ["negative" if is_negative else "positive" for is_negative in told["is_negative"]],
        "time_text": [
            text if kind != NO_TIME else None
            for text, kind in zip(told["time_text"], told["time_kind"], strict=True)
        ],
    }
    return {name: pa.array(column, _TYPES[name]) for name, column in values.items()}


def _timed(
    claimed: list[Draft], source: NDArray[np.int64], sources: pa.Table
) -> dict[int, tuple[Timed, str | None]]:
    """Return by place of each draft with a time expression its interval and, where its value is a day, which.

    source: rows of `sources`.
    """
    places = [place for place, draft in enumerate(claimed) if draft.time_kind != NO_TIME]
    if not places:
        return {}
    return dict(
        zip(places, _intervals([claimed[place] for place in places], source[places], sources), strict=True)
    )


def _payloads(claimed: list[Draft], timed: dict[int, tuple[Timed, str | None]]) -> pa.Array:
    """Return the typed fields of each draft; a value that names a day by "Friday" gets its date."""
    payloads = [draft.payload for draft in claimed]
    for place, (interval, day) in timed.items():
        if (
            day is not None
            and payloads[place] is None
            and interval.memory_class == MemoryClass.TEMPORARY_STATE
        ):
            payloads[place] = msgspec.json.encode({"date": day}).decode()
    return pa.array(payloads, _TYPES["payload"])


def _time_columns(claimed: list[Draft], timed: dict[int, tuple[Timed, str | None]]) -> dict[str, pa.Array]:
    """Return memory_class, valid_from, valid_until and time_precision."""
    classes = [draft.memory_class for draft in claimed]
    starts: list[int | None] = [None] * len(claimed)
    ends = starts.copy()
    precisions: list[str | None] = [None] * len(claimed)
    for place, (interval, _) in timed.items():
        classes[place], starts[place], ends[place], precisions[place] = interval
    return {
        "memory_class": pa.array(classes, _TYPES["memory_class"]),
        "time_precision": pa.array(precisions, _TYPES["time_precision"]),
        "valid_from": pa.array(starts, pa.int64()).view(_TYPES["valid_from"]),
        "valid_until": pa.array(ends, pa.int64()).view(_TYPES["valid_until"]),
    }


def _intervals(
    timed: list[Draft], source: NDArray[np.int64], sources: pa.Table
) -> list[tuple[Timed, str | None]]:
    """Return class, interval, precision and, of dated values, the day of drafts said by the rows `source`."""
    said = pa.array(source)
    instants = one_array(sources["event_time"]).view(pa.int64()).take(said).to_pylist()
    zones = one_array(sources["zone"]).take(said).to_pylist()
    phrases = [draft.time_text or "" for draft in timed]
    pasts = [draft.memory_class == MemoryClass.EPISODE for draft in timed]
    resolved = resolve_times(phrases, instants, zones, is_past=pasts)
    return [
        (
            interval_of(draft.memory_class, draft.meaning, draft.time_kind, answer),
            day_named(answer, zone) if draft.is_dated else None,
        )
        for draft, answer, zone in zip(timed, resolved, zones, strict=True)
    ]
