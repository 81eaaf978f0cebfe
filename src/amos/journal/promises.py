"""What events promise of the rows of a commit, and what they say of rows that are gone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.journal.findings import Problem
from amos.schemas.buffers import column_arrays

Array = npt.NDArray[Any]

TAKING = frozenset(["erased", "segment_compacted"])
"""Types of events that may take rows away."""


class Promised(NamedTuple):
    """What events say of the rows of one table, in the order of the rows.

    versions, rows, events: (n,) int64; events are numbered from 1 through the whole history.
    digests: (n, 32).  payloads: n texts.
    """

    versions: Array
    rows: Array
    events: Array
    digests: Array
    payloads: list[str]

    def part(self, start: int, stop: int) -> Promised:
        """Return some of the events that follow one another."""
        return self.chosen(np.arange(start, stop))

    def chosen(self, places: Array) -> Promised:
        """Return the events at ascending `places`."""
        payloads = [self.payloads[place] for place in places.tolist()]
        columns = self.versions[places], self.rows[places], self.events[places], self.digests[places]
        return Promised(*columns, payloads)

    def is_kept(self, number: int, root: bytes) -> bool:
        """Return whether rows with the Merkle root `root` are those of event `number` of these."""
        found = hashlib.sha256(self.payloads[number].encode() + root).digest()
        return found == self.digests[number].tobytes()


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
    return _per_text(texts, lambda content: content.get(name), pa.string(), str)


def _per_text(texts: pa.ChunkedArray, read: Any, kind: pa.DataType, wanted: type) -> pa.Array:
    coded = pc.dictionary_encode(texts.combine_chunks())
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    found = [read(_content(text)) for text in coded.dictionary.to_pylist()]
    values = pa.array([value if isinstance(value, wanted) else None for value in found], kind)
    return values.take(coded.indices)


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
    events: pa.Table, first_event: int
) -> tuple[dict[str, Promised], list[Taking], list[Problem]]:
    """Return what events promise by table, the events that take rows, and those that cannot be read.

    first_event: number of the first of these events, counted from 1.
    """
    columns = dict(zip(events.column_names, events.columns, strict=True))
    payloads = columns["payload"]
    tables = json_field(payloads, "table")
    counts = _per_text(payloads, lambda content: content.get("rows"), pa.int64(), int)
    is_promise = pc.and_(pc.is_valid(tables), pc.is_valid(counts)).to_numpy(zero_copy_only=False)
    numbers = first_event + np.arange(len(events))
    digests = column_arrays(columns["payload_digest"])
    assert digests.offsets is not None
    matrix = digests.values[digests.offsets[0] : digests.offsets[-1]].reshape(-1, 32)
    versions = columns["graph_version"].to_numpy()
    found = {}
    for table in pc.unique(tables.filter(pa.array(is_promise))).to_pylist():
        rows = np.flatnonzero(is_promise & pc.fill_null(pc.equal(tables, table), False).to_numpy(False))
        found[table] = Promised(
            versions[rows],
            counts.take(pa.array(rows)).to_numpy(),
            numbers[rows],
            matrix[rows],
            payloads.take(pa.array(rows)).to_pylist(),
        )
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
