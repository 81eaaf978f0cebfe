"""Name what reviewers wrote by what they wrote it about, so that a digest is the same under every key.

Inside a store a record of a review carries the printed, keyed reference of the candidate or message; the
digest puts the unkeyed identity in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.review_names import FORMAT
from amos.identity import id_text, source_identity

Identities = dict[bytes, bytes]
CandidateIdentities = Callable[[pa.Table, Identities], Identities]


def unkeyed_reviews(
    sources: pa.Table, conversations: pa.Table, candidates: pa.Table, identify: CandidateIdentities
) -> tuple[pa.Table, pa.Table]:
    """Return sources and conversations with unkeyed names in the records of reviews.

    identify: identities of candidates, given those of their sources.
    """
    is_review = pc.equal(sources["format"], FORMAT)
    if not pc.any(is_review).as_py():
        return sources, conversations
    names = review_names(sources, candidates, identify)
    return _renamed(sources, "delivery_key", names), _renamed(conversations, "conversation_key", names)


def review_names(sources: pa.Table, candidates: pa.Table, identify: CandidateIdentities) -> dict[str, str]:
    """Return the hex identity of every candidate and message by printed reference.

    A claim that a reviewer worded rests on a record about another claim, so they are named in rounds.
    """
    names: dict[str, str] = {}
    columns = ("source_id", "format", "delivery_key", "block")
    waiting = list(zip(*(sources[name].to_pylist() for name in columns), strict=True))
    known: Identities = {}
    while waiting:
        ready = {row[0]: _identity(row, names) for row in waiting}
        found = {source: identity for source, identity in ready.items() if identity is not None}
        if not found:
            return names
        known |= found
        names |= {id_text("sources", source): identity.hex() for source, identity in found.items()}
        wanted = pa.array(list(found), sources.schema.field("source_id").type)
        cited = candidates.filter(pc.is_in(candidates["source_id"], value_set=wanted))
        made = identify(cited, known)
        names |= {id_text("candidates", one): identity.hex() for one, identity in made.items()}
        waiting = [row for row in waiting if row[0] not in found]
    return names


def _identity(row: tuple[Any, ...], names: dict[str, str]) -> bytes | None:
    _, form, key, block = row
    if form != FORMAT:
        return source_identity(form, key, block)
    ref, _, moment = key.partition("@")
    return source_identity(form, f"{names[ref]}@{moment}", block) if ref in names else None


def _renamed(rows: pa.Table, column: str, names: dict[str, str]) -> pa.Table:
    """Return rows of format `review` with the reference that begins `column` replaced by its name."""
    texts = []
    for form, text in zip(rows["format"].to_pylist(), rows[column].to_pylist(), strict=True):
        ref, at, moment = text.partition("@")
        texts.append(f"{names.get(ref, ref)}{at}{moment}" if form == FORMAT else text)
    place = rows.schema.get_field_index(column)
    return rows.set_column(place, rows.schema.field(column), pa.array(texts, pa.string()))
