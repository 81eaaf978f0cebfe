"""How the subject and the value of a claim are printed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import pyarrow as pa

from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.labels import LABELLED, Label, label_of, owners_named

Row = dict[str, Any]


class Rows(Protocol):
    """What holds entities."""

    def lookup(self, name: str, column: str, keys: Any, columns: Any) -> pa.Table:
        """Return the row versions whose id column is among `keys`."""


def subject_labels(rows: Rows, ids: pa.Array | pa.ChunkedArray | Iterable[bytes]) -> dict[bytes, Label]:
    """Return by id how the entities of `ids` are called."""
    if not isinstance(ids, pa.Array | pa.ChunkedArray):
        ids = pa.array(sorted(ids), ID)
    return labels_of(rows, _entities(rows, ids))


def labels_of(rows: Rows, entities: Iterable[Row]) -> dict[bytes, Label]:
    """Return by id how these entities (LABELLED, one version each) are called.

    rows: where their owners stand that are not among them.
    """
    known = {row["entity_id"]: row for row in entities}
    absent = owners_named(known.values()) - known.keys()
    owners = {row["entity_id"]: row for row in _entities(rows, pa.array(sorted(absent), ID))}
    owners |= known
    return {one: label_of(row, owners.get(row["owner_id"])) for one, row in known.items()}


def subject_label(rows: Rows, entity: Row) -> str:
    """Return how one entity is called."""
    return labels_of(rows, [entity])[entity["entity_id"]].text


def _entities(rows: Rows, ids: pa.Array | pa.ChunkedArray) -> list[Row]:
    if not len(ids):
        return []
    found: list[Row] = latest(rows.lookup("entities", "entity_id", ids, LABELLED), "entities").to_pylist()
    return found


def shown_value(payload: dict[str, Any]) -> str | None:
    """Return the value as printed: the canonical form of typed values, else as written."""
    kind, canonical = payload["normal"]
    if kind in {"date", "time", "colour"} and "value" in payload:
        return str(canonical)
    value = payload.get("value")
    return None if value is None else str(value)
