"""What events promise of the rows of a commit, and what they say of rows that are gone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.journal.findings import Problem
from amos.kernels.hashing import sha256_matrix
from amos.schemas.buffers import column_arrays

Array = npt.NDArray[Any]

TAKING = frozenset(["erased", "segment_compacted"])
"""Types of events that may take rows away."""


class Promised(NamedTuple):
    """What events say of the rows of one table, in the order of the rows.

    versions, rows, events: (n,) int64; events are numbered from 1 through the whole history.
    digests: (n, 32).  payloads: distinct texts, of which `codes` (n,) names one per event.
    """

    versions: Array
    rows: Array
    events: Array
    digests: Array
    codes: Array
    payloads: Sequence[str | None]

    def part(self, start: int, stop: int) -> Promised:
        """Return some of the events that follow one another."""
        return self.chosen(np.arange(start, stop))

    def chosen(self, places: Array) -> Promised:
        """Return the events at ascending `places`."""
        columns = self.versions, self.rows, self.events, self.digests, self.codes
        versions, rows, events, digests, codes = (column[places] for column in columns)
        return Promised(versions, rows, events, digests, codes, self.payloads)

    def are_kept(self, places: Array, roots: Array) -> Array:
        """Return whether rows with the Merkle roots (m, 32) are those of the events at (m,) `places`."""
        kept = np.zeros(len(places), np.bool_)
        codes = self.codes[places]
        for code in np.unique(codes).tolist():
            same = np.flatnonzero(codes == code)
            found = sha256_matrix(roots[same], prefix=(self.payloads[code] or "").encode())
            kept[same] = (found == self.digests[places[same]]).all(axis=1)
        return kept


class Taking(NamedTuple):
    """An event that says that rows of a table are gone."""

    version: int
    event: int
    event_type: str
    table: str
    payload: str
    digest: bytes
    gone: int | None


def json_field(texts: pa.ChunkedArray, name: str) -> pa.Array:
    """Return what JSON objects say under `name`, null where it is no text or cannot be read."""
    stated = Stated(texts)
    return pa.array(stated.texts(name), pa.string()).take(pa.array(stated.codes))


class Stated:
    """A column of texts, most of which are alike: each distinct one is looked at once.

    codes: (n,) number of each row's text among the distinct `values`, the last of which is no text.
    """

    def __init__(self, texts: pa.ChunkedArray) -> None:
        coded = pc.dictionary_encode(texts.combine_chunks())
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        self.values: list[str | None] = [*coded.dictionary.to_pylist(), None]
        self.codes: Array = pc.fill_null(coded.indices, len(self.values) - 1).to_numpy()
        self._contents: list[dict[str, Any]] | None = None

    def field(self, name: str) -> list[Any]:
        """Return what each distinct text says under `name` as a JSON object, None where it says nothing."""
        if self._contents is None:
            self._contents = [{} if text is None else _content(text) for text in self.values]
        return [content.get(name) for content in self._contents]

    def texts(self, name: str) -> list[str | None]:
        """Return the same, None where it is no text."""
        return [value if isinstance(value, str) else None for value in self.field(name)]

    def counts(self, name: str) -> list[int]:
        """Return the same, -1 where it is no count of rows."""
        found = self.field(name)
        return [value if type(value) is int and 0 <= value < _MOST_ROWS else -1 for value in found]


_MOST_ROWS = 2**31


def _content(text: str) -> dict[str, Any]:
    """Return the JSON object in a payload; an empty one where it cannot be read."""
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _is_notice(content: dict[str, Any]) -> bool:
    return "operation" in content and "rows" not in content


def promised_by_table(
    events: pa.Table, first_event: int, payloads: Stated | None = None
) -> tuple[dict[str, Promised], list[Taking], list[Problem]]:
    """Return what events promise by table, the events that take rows, and those that cannot be read.

    first_event: number of the first of these events, counted from 1.  payloads: theirs, where already read.
    """
    columns = dict(zip(events.column_names, events.columns, strict=True))
    stated = Stated(columns["payload"]) if payloads is None else payloads
    names = stated.texts("table")
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    tables = np.array([known[name] for name in names], np.int64)[stated.codes]
    counts = np.array(stated.counts("rows"), np.int64)[stated.codes]
    is_promise = (counts >= 0) & (tables != known[None])
    numbers = first_event + np.arange(len(events))
    digests = column_arrays(columns["payload_digest"])
    assert digests.offsets is not None
    matrix = digests.values[digests.offsets[0] : digests.offsets[-1]].reshape(-1, 32)
    versions = columns["graph_version"].to_numpy()
    found = {}
    for table, code in known.items():
        rows = np.flatnonzero(is_promise & (tables == code))
        if table is not None and len(rows):
            every = Promised(versions, counts, numbers, matrix, stated.codes, stated.values)
            found[table] = every.chosen(rows)
    others = np.flatnonzero(~is_promise).tolist()
    taking, problems = _notices(columns, numbers, matrix, others)
    return found, taking, problems


def _notices(
    columns: dict[str, pa.ChunkedArray], numbers: Array, digests: Array, rows: Sequence[int]
) -> tuple[list[Taking], list[Problem]]:
    """Return the events that take rows, and those whose payload says nothing that is known."""
    taking, problems = [], []
    for row in rows:
        payload = columns["payload"][row].as_py()
        content = _content(payload)
        version, event = columns["graph_version"][row].as_py(), int(numbers[row])
        kind = columns["event_type"][row].as_py()
        if not _is_notice(content):
            where = f"event {event}, commit {version}"
            problems.append(Problem("event_changed", where, "its payload cannot be read"))
        elif kind in TAKING and isinstance(content.get("table"), str):
            count = content.get("erased")
            terms = content["table"], payload, digests[row].tobytes()
            taking.append(Taking(version, event, kind, *terms, count if isinstance(count, int) else None))
    return taking, problems
