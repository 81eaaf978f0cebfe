"""What reviewers wrote goes with what they wrote it about, and a claim in their words with what they read."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow import outcome_names
from amos.flow.review_names import FORMAT, conversation_of
from amos.journal.store import Snapshot
from amos.schemas.columns import ID


def missing_reviews(snapshot: Snapshot, candidates: pa.Array, sources: pa.Array, key: bytes) -> pa.Array:
    """Return the records of reviews of these candidates and sources that are not among the sources."""
    if not _are_any(snapshot):
        return pa.array([], ID)
    things = [("candidates", one) for one in candidates.unique().to_pylist()]
    things += [("sources", one) for one in sources.unique().to_pylist()]
    talks = pa.array([conversation_of(table, one, key) for table, one in things], ID)
    found = snapshot.lookup("sources", "conversation_id", talks, ["source_id"])["source_id"]
    ids = found.combine_chunks().unique()
    return ids.filter(pc.invert(pc.is_in(ids, value_set=sources.cast(ID))))


def _are_any(snapshot: Snapshot) -> bool:
    rows = snapshot.table("conversations", ["format"])
    return bool(pc.any(pc.equal(rows["format"], FORMAT)).as_py())


def with_reworded(snapshot: Snapshot, candidates: pa.Table, claims: pa.Array) -> pa.Table:
    """Return candidates of claims, and those that a reviewer decided to be one of these claims."""
    decided = snapshot.lookup("decisions", "atom_id", claims, ["candidate_id"])
    ids = decided["candidate_id"].drop_null().combine_chunks().unique()
    ids = ids.filter(pc.invert(pc.is_in(ids, value_set=candidates["candidate_id"].combine_chunks())))
    if len(ids) == 0:
        return candidates
    return pa.concat_tables([candidates, snapshot.lookup("candidates", "candidate_id", ids)])


def without_notes(sources: pa.Table) -> pa.Table:
    """Return sources without the notes of reviews and outcomes, whose words anybody may use again."""
    is_reported = pc.is_in(sources["format"], value_set=pa.array([FORMAT, outcome_names.FORMAT]))
    is_note = pc.and_(is_reported, pc.equal(sources["kind"], "record"))
    return sources.filter(pc.invert(is_note))
