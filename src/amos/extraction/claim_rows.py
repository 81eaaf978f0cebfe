"""Give the drafts of texts to every message that has the text, resolve their times, build CLAIMS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.extraction.drafts import Draft
from amos.extraction.times import Resolved, resolve_times
from amos.extraction.timing import Timed, interval_of
from amos.extraction.wording import kind_of_value
from amos.kernels.features import NO_TIME
from amos.schemas.claims import CLAIMS
from amos.schemas.vocabulary import MemoryClass

_NO_CLAIMS = CLAIMS.empty_table()
_UNTIMED = Resolved(text="", start_us=None, end_us=None, precision="unresolved", is_recurring=False)


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
    columns = _draft_columns(drafts)
    if not np.array_equal(placed.which, np.arange(len(drafts))):
        which = pa.array(placed.which)
        columns = {name: column.take(which) for name, column in columns.items()}
    columns |= _time_columns(drafts, placed, sources)
    columns["source_row"] = pa.array(placed.source.astype(np.int32))
    none = np.zeros(placed.which.size + 1, np.int32)
    spans = CLAIMS.field("more_spans").type
    columns["more_spans"] = pa.ListArray.from_arrays(
        pa.array(none), pa.array([], spans.value_type), type=spans
    )
    return pa.Table.from_arrays([columns[name] for name in CLAIMS.names], schema=CLAIMS)


def _draft_columns(drafts: list[Draft]) -> dict[str, pa.Array]:
    """Return the columns that a draft alone decides, by name."""
    told = Draft(*zip(*drafts, strict=True))  # type: ignore[arg-type]  # the fields, each with all values
    meanings: Any = told.meaning
    subjects: Any = told.subject
    values: dict[str, Sequence[Any]] = {
        "pattern": [meaning.name for meaning in meanings],
        "type": [meaning.type for meaning in meanings],
        "arity": [meaning.arity for meaning in meanings],
        "confidence": [meaning.confidence for meaning in meanings],
        "subject_kind": [subject.kind for subject in subjects],
        "subject": [subject.name for subject in subjects],
        "value_kind": ["text" if value is None else kind_of_value(value) for value in _all(told.value)],
        "polarity": ["negative" if is_negative else "positive" for is_negative in _all(told.is_negative)],
        "time_text": [
            text if kind != NO_TIME else None
            for text, kind in zip(_all(told.time_text), _all(told.time_kind), strict=True)
        ],
    }
    for name in (
        "property", "value", "modality", "applicability", "start", "end", "payload", "cues", "veto",
    ):  # fmt: skip
        values[name] = getattr(told, name)
    return {name: pa.array(column, CLAIMS.field(name).type) for name, column in values.items()}


def _all(column: Any) -> Sequence[Any]:
    """Return a field of the drafts' transpose as what it is: all values of the field."""
    values: Sequence[Any] = column
    return values


def _time_columns(drafts: list[Draft], placed: Placed, sources: pa.Table) -> dict[str, pa.Array]:
    """Return memory_class, valid_from, valid_until and time_precision."""
    size = placed.which.size
    classes = np.array([draft.memory_class for draft in drafts], object)[placed.which]
    precisions = np.full(size, None, object)
    bounds = np.zeros((2, size), np.int64)
    is_open = np.ones((2, size), bool)
    is_timed = np.array([draft.time_kind != NO_TIME for draft in drafts])[placed.which]
    places = np.flatnonzero(is_timed)
    for place, timed in zip(places.tolist(), _intervals(drafts, placed, places, sources), strict=True):
        classes[place], precisions[place] = timed.memory_class, timed.precision
        for side, instant in enumerate((timed.valid_from, timed.valid_until)):
            if instant is not None:
                bounds[side, place], is_open[side, place] = instant, False
    text, time = CLAIMS.field("memory_class").type, CLAIMS.field("valid_from").type
    return {
        "memory_class": pa.array(classes, text),
        "time_precision": pa.array(precisions, text),
        "valid_from": pa.array(bounds[0], mask=is_open[0]).view(time),
        "valid_until": pa.array(bounds[1], mask=is_open[1]).view(time),
    }


def _intervals(
    drafts: list[Draft], placed: Placed, places: NDArray[np.int64], sources: pa.Table
) -> list[Timed]:
    """Return class, interval and precision of the claims at `places`, which have a time expression."""
    if not places.size:
        return []
    cited = [drafts[which] for which in placed.which[places].tolist()]
    said = pa.array(placed.source[places])
    instants = sources["event_time"].take(said).cast(pa.int64()).to_pylist()
    zones = sources["zone"].take(said).to_pylist()
    found = iter(
        resolve_times(
            [draft.time_text or "" for draft in cited],
            instants,
            zones,
            is_past=[draft.memory_class == MemoryClass.EPISODE for draft in cited],
        )
    )
    resolved = (next(found) if draft.time_text else (next(found), _UNTIMED)[1] for draft in cited)
    return [
        interval_of(draft.memory_class, draft.meaning, draft.time_kind, answer)
        for draft, answer in zip(cited, resolved, strict=True)
    ]
