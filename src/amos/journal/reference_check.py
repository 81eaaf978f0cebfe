"""Check that rows agree with one another: candidates decided, evidence inside its source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.journal.findings import Problem
from amos.kernels.hashing import sha256_rows
from amos.schemas.buffers import ColumnArrays, column_arrays

Array = npt.NDArray[Any]

_SHOWN = 20
"""Places named one by one; more of the same kind are counted."""


def check_decided(candidates: pa.Table, decisions: pa.Table) -> Iterator[Problem]:
    """Yield undecided candidates, and those that are decided twice.

    candidates: candidate_id.  decisions: candidate_id of current rows.
    """
    decided = decisions["candidate_id"].drop_null()
    counts = pc.value_counts(decided.combine_chunks())
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    yield from listed("candidate_decided_twice", twice, "it has more than one current decision")
    open_ones = candidates["candidate_id"].filter(pc.invert(_among(candidates["candidate_id"], decided)))
    yield from listed("candidate_undecided", pc.unique(open_ones), "it has no decision")


def _among(values: pa.ChunkedArray, known: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.is_in(values, value_set=known.combine_chunks())


def listed(kind: str, ids: pa.Array | pa.ChunkedArray, detail: str) -> Iterator[Problem]:
    """Yield a problem for each of the first ids, and one for all others."""
    shown = ids.slice(0, _SHOWN).to_pylist()
    for identifier in shown:
        yield Problem(kind, identifier.hex(), detail)
    if len(ids) > _SHOWN:
        yield Problem(kind, f"{len(ids) - _SHOWN} more", detail)


def check_versions(table: str, rows: pa.Table) -> Iterator[Problem]:
    """Yield ids that have two rows of one version.  rows: the id, then the version column."""
    key, version = rows.column_names
    counted = rows.group_by([key, version]).aggregate([([], "count_all")])
    repeated = counted.filter(pc.greater(counted["count_all"], 1))[key]
    yield from listed("version_repeated", repeated, f"{table} holds two rows of one version")


def check_contents(sources: pa.Table) -> Iterator[Problem]:
    """Yield sources whose content digest is not the SHA-256 of their bytes."""
    content = column_arrays(sources["content"])
    assert content.offsets is not None
    stated = column_arrays(sources["content_digest"])
    assert stated.offsets is not None
    digests = stated.values[stated.offsets[0] : stated.offsets[-1]].reshape(-1, 32)
    wrong = np.flatnonzero((sha256_rows(content.values, content.offsets) != digests).any(axis=1))
    ids = sources["source_id"].take(pa.array(wrong))
    yield from listed("content_changed", ids, "its content digest differs from its bytes")


def check_spans(table: str, citing: pa.Table, sources: pa.Table) -> tuple[int, int, list[Problem]]:
    """Return (rows checked, spans checked, problems) for rows that cite one of `sources`.

    citing: source_id, source_revision, spans and the row's own id first.  Rows that cite another
    source or revision are left to the call that has it.
    """
    checked, counted = 0, 0
    problems: list[Problem] = []
    for revision in pc.unique(sources["revision"]).to_pylist():
        cited = sources.filter(pc.equal(sources["revision"], revision))
        rows, spans, found = _check_revision(table, citing, cited)
        checked, counted, problems = checked + rows, counted + spans, [*problems, *found]
    return checked, counted, problems


def _check_revision(table: str, citing: pa.Table, sources: pa.Table) -> tuple[int, int, list[Problem]]:
    """Do the same for sources that are all of one revision, so that an id stands for one row."""
    places = pc.index_in(citing["source_id"], value_set=sources["source_id"].combine_chunks())
    held = np.flatnonzero(pc.is_valid(places).to_numpy())
    rows = places.drop_null().to_numpy()
    same = citing["source_revision"].to_numpy()[held] == sources["revision"].to_numpy()[rows]
    held, rows = held[same], rows[same]
    spans = column_arrays(citing["spans"].take(pa.array(held)))
    counts, is_good = _span_states(spans, rows, column_arrays(sources["content"]))
    bad = citing[0].take(pa.array(held[~is_good]))
    detail = "a span lies outside its source, or not on character boundaries"
    return len(held), counts, list(listed(f"{table[:-1]}_span_invalid", bad, detail))


def _span_states(spans: ColumnArrays, sources: Array, content: ColumnArrays) -> tuple[int, Array]:
    """Return the number of spans, and for each citing row whether all of its spans are sound."""
    assert spans.offsets is not None
    assert content.offsets is not None
    sizes = np.diff(spans.offsets)
    is_good = (sizes >= 2) & (sizes % 2 == 0)
    numbers = np.flatnonzero(is_good)
    per_row = sizes[numbers] // 2
    owner = np.repeat(numbers, per_row)
    before = np.cumsum(per_row) - per_row
    index = np.repeat(spans.offsets[numbers] - 2 * before, per_row) + 2 * np.arange(len(owner))
    start, stop = spans.values[index], spans.values[index + 1]
    first = content.offsets[sources[owner]]
    length = content.offsets[sources[owner] + 1] - first
    inside = (start >= 0) & (start < stop) & (stop <= length)
    text = np.append(content.values, np.uint8(0))  # a byte after the last, so that every edge can be read
    edges_good = inside.copy()
    edges_good[inside] &= _is_boundary(text, first, length, start, inside)
    edges_good[inside] &= _is_boundary(text, first, length, stop, inside)
    is_good[owner[~edges_good]] = False
    return len(owner), is_good


def _is_boundary(text: Array, first: Array, length: Array, at: Array, inside: Array) -> Array:
    """Return whether no character of the text continues across `at`."""
    first, length, at = first[inside], length[inside], at[inside]
    return (at == length) | ((text[first + at] & 0xC0) != 0x80)
