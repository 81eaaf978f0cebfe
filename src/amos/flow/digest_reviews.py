"""Name what people reported by what they reported on, so that a digest is the same under every key.

Inside a store a record of a review carries the printed, keyed reference of the candidate or message; the
digest puts the unkeyed identity in its place.  A record of an outcome carries a keyed digest of what was
said, which the digest leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa
import pyarrow.compute as pc

from amos.errors import UsageError
from amos.flow import outcome_names
from amos.flow.review_names import FORMAT
from amos.identity import parse_ref, prefix_range
from amos.schemas.columns import ID

Identify = Callable[[str, pa.Array], pa.Array]
"""Returns the identities of rows of a table by their ids, null where nothing is stored."""


def unkeyed_reviews(rows: pa.Table, column: str, identify: Identify) -> pa.Table:
    """Return sources or conversations with unkeyed names in the records of reviews.

    column: holds the reference, up to an `@` where more follows.  A reference to nothing stays as it is.
    """
    if not pc.any(pc.equal(rows["format"], FORMAT)).as_py():
        return rows
    cells = zip(rows["format"].to_pylist(), rows[column].to_pylist(), strict=True)
    parts = [text.partition("@") if form == FORMAT else (text, "", "") for form, text in cells]
    forms = rows["format"].to_pylist()
    named = {ref for form, (ref, _, _) in zip(forms, parts, strict=True) if form == FORMAT}
    names = _names(named, identify)
    texts = [f"{names.get(ref, ref)}{at}{moment}" for ref, at, moment in parts]
    place = rows.schema.get_field_index(column)
    return rows.set_column(place, rows.schema.field(column), pa.array(texts, pa.string()))


def unkeyed_outcomes(rows: pa.Table) -> pa.Table:
    """Return sources without the keyed digests in the delivery keys of the records of outcomes."""
    is_outcome = pc.equal(rows["format"], outcome_names.FORMAT)
    if not pc.any(is_outcome).as_py():
        return rows
    cells = zip(rows["delivery_key"].to_pylist(), is_outcome.to_pylist(), strict=True)
    keys = [outcome_names.unkeyed_key(key) if is_own else key for key, is_own in cells]
    place = rows.schema.get_field_index("delivery_key")
    return rows.set_column(place, rows.schema.field(place), pa.array(keys, pa.string()))


def _names(refs: Iterable[str], identify: Identify) -> dict[str, str]:
    """Return the hex identities of what is stored under printed references."""
    named: dict[str, dict[str, bytes]] = {}
    for ref in refs:
        try:
            table, body = parse_ref(ref)
        except UsageError:
            continue
        named.setdefault(table, {})[ref] = prefix_range(body)[0]
    names: dict[str, str] = {}
    for table, ids in named.items():
        found = identify(table, pa.array(list(ids.values()), ID)).to_pylist()
        names |= {ref: one.hex() for ref, one in zip(ids, found, strict=True) if one is not None}
    return names
