"""The tables as a caller may read them: rows in sight, ids as text, withheld text left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from amos.atoms.statement import statements
from amos.flow.learned import with_learned
from amos.flow.look import labels
from amos.flow.printed import ID_TABLES, id_texts, states_of
from amos.flow.sight import Sight
from amos.flow.streaming import rows_in_sight
from amos.flow.versions import latest
from amos.schemas.columns import select_fields
from amos.schemas.labels import Label
from amos.schemas.state import TABLES
from amos.schemas.vocabulary import UNSEEN

_SECRET = frozenset({"salt", "delivery_digest"})
"""Columns that never leave the store: they would let anyone test a guess, or open a commitment."""

_OWN_TEXT = ("content", "author", "channel", "reply_to", "locator", "extra", "event_text")
"""Columns of a source that hold what somebody wrote; empty when the source is flagged."""


def visible_table(sight: Sight, name: str) -> pa.Table:
    """Return the current rows of table `name` that are in sight, in commit order.

    Atoms come with what outcomes say of them: `health`, `utility`, `salience` and the counts.
    """
    schema = _shown_schema(name)
    rows = sight.current(name, schema.names)
    shape = _SHAPES.get(name)
    shown = rows if shape is None else shape(sight, rows)
    return _printed(with_learned(sight, shown) if name == "atoms" else shown)


def visible_parts(sight: Sight, name: str) -> Iterator[pa.Table]:
    """Yield the rows of `visible_table` as they are stored, part by part, so that memory stays flat."""
    shape = _SHAPES.get(name)
    for rows in rows_in_sight(sight, name, _shown_schema(name).names):
        yield _printed(rows if shape is None else shape(sight, rows))


def _shown_schema(name: str) -> pa.Schema:
    schema = TABLES[name]
    return select_fields(schema, [field for field in schema.names if field not in _SECRET])


def _with_source_text_withheld(sight: Sight, rows: pa.Table) -> pa.Table:  # noqa: ARG001 - one shape for all
    is_flagged = pc.not_equal(pc.bit_wise_and(rows["flags"], UNSEEN), 0)
    for name in _OWN_TEXT:
        place = rows.schema.get_field_index(name)
        column = pc.if_else(is_flagged, pa.scalar(None, pa.string()), rows[name])
        rows = rows.set_column(place, name, column)
    reason = pc.if_else(is_flagged, "instruction_shaped_content", pa.scalar(None, pa.string()))
    return rows.append_column("withheld", reason)


def _without_counts(sight: Sight, rows: pa.Table) -> pa.Table:
    """Return events; to a narrowed caller without the row counts of the whole shard."""
    if not sight.scope:
        return rows
    place = rows.schema.get_field_index("payload")
    return rows.set_column(place, "payload", pa.nulls(rows.num_rows, pa.string()))


def _with_statements(sight: Sight, rows: pa.Table) -> pa.Table:
    """Return atoms with `statement`, `subject` and `state` as columns."""
    subjects = _subjects(sight, rows)
    rows = rows.append_column("statement", _statements(rows, subjects))
    rows = rows.append_column("subject", pa.array([one.text for one in subjects], pa.string()))
    return rows.append_column("state", pa.array(states_of(rows, sight.now_us), pa.string()))


def _with_claims_withheld(sight: Sight, rows: pa.Table) -> pa.Table:
    """Return candidates with `statement`; those read from flagged text keep neither it nor a payload."""
    subjects = _subjects(sight, rows)
    said = pa.chunked_array([_statements(rows, subjects)])
    is_flagged = pc.is_in(rows["source_id"], value_set=_flagged_sources(sight, rows["source_id"]))
    nothing = pa.scalar(None, pa.string())
    place = rows.schema.get_field_index("payload")
    rows = rows.set_column(place, "payload", pc.if_else(is_flagged, nothing, rows["payload"]))
    return rows.append_column("statement", pc.if_else(is_flagged, nothing, said))


def _with_labels(sight: Sight, rows: pa.Table) -> pa.Table:
    """Return entities with the names that are printed: what is somebody's under the name of whose it is."""
    found = labels(sight, rows["entity_id"])
    names = pa.array([found[one].text for one in rows["entity_id"].to_pylist()], pa.string())
    return rows.set_column(rows.schema.get_field_index("name"), "name", names)


def _statements(rows: pa.Table, subjects: list[Label]) -> pa.Array:
    kinds, payloads, signs = (rows[name].to_pylist() for name in ("type", "payload", "polarity"))
    return pa.array(statements(kinds, payloads, signs, subjects), pa.string())


def _subjects(sight: Sight, rows: pa.Table) -> list[Label]:
    known = labels(sight, rows["subject_id"])
    return [known[subject] for subject in rows["subject_id"].to_pylist()]


def _flagged_sources(sight: Sight, ids: pa.ChunkedArray) -> pa.Array:
    """Return which of the sources with these ids are withheld."""
    wanted = ids.combine_chunks().unique()
    sources = latest(
        sight.snapshot.lookup("sources", "source_id", wanted, ["source_id", "revision", "flags"]), "sources"
    )
    is_flagged = pc.not_equal(pc.bit_wise_and(sources["flags"], UNSEEN), 0)
    return sources.filter(is_flagged)["source_id"].combine_chunks()


_SHAPES: dict[str, Callable[[Sight, pa.Table], pa.Table]] = {
    "sources": _with_source_text_withheld,
    "atoms": _with_statements,
    "candidates": _with_claims_withheld,
    "entities": _with_labels,
    "events": _without_counts,
}


def _printed(rows: pa.Table) -> pa.Table:
    """Return the rows with ids and digests as text."""
    columns = {name: _printed_column(name, rows[name]) for name in rows.schema.names}
    return pa.table(columns)


def _printed_column(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    kind = column.type
    if name in ID_TABLES and pa.types.is_fixed_size_binary(kind):
        return id_texts(ID_TABLES[name], column)
    if pa.types.is_list(kind) and pa.types.is_fixed_size_binary(kind.value_type):
        return _printed_list(name, column)
    if pa.types.is_fixed_size_binary(kind):
        return pa.array([None if cell is None else cell.hex() for cell in column.to_pylist()], pa.string())
    return column


def _printed_list(name: str, column: pa.ChunkedArray) -> pa.Array:
    lists = column.combine_chunks()
    items = lists.flatten()
    if name in ID_TABLES:
        texts = id_texts(ID_TABLES[name], items).to_pylist()
    else:
        texts = [item.hex() for item in items.to_pylist()]
    found = iter(texts)
    counts = pc.list_value_length(lists).fill_null(0).to_pylist()
    return pa.array([[next(found) for _ in range(count)] for count in counts], pa.list_(pa.string()))
