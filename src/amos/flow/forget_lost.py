"""Candidates that go when something is forgotten, and those that stay in another form."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from amos.evidence.capture import CAPTURED
from amos.flow.forget_cuts import Passage
from amos.flow.rekeying import Renewed
from amos.journal.store import Snapshot


@dataclass(frozen=True, kw_only=True)
class Lost:
    """Candidates that go (all versions), whose evidence that was, and sources that lose bytes."""

    candidates: pa.Table
    evidence: pa.Array
    passages: list[Passage]
    revised: pa.Table = field(default_factory=CAPTURED.empty_table)
    cut: pa.Array | None = None
    renewed: Renewed = field(default_factory=dict)

    @property
    def cut_sources(self) -> pa.Array:
        """Sources that lose bytes; others are revised because their keys change."""
        return self.revised["source_id"].combine_chunks() if self.cut is None else self.cut

    def emptied(self, snapshot: Snapshot) -> pa.Array:
        """Return the sources that stay and lost candidates or bytes: each needs a decision of its own."""
        cut = self.cut_sources
        ids = pa.concat_arrays([self.evidence, cut]).unique()
        held = snapshot.lookup("candidates", "source_id", ids, ["candidate_id", "source_id"])
        stays = held.filter(pc.invert(among(held, self.candidates)))["source_id"].combine_chunks()
        needs = pc.or_(pc.invert(pc.is_in(ids, value_set=stays)), pc.is_in(ids, value_set=cut))
        return ids.filter(needs)


def among(rows: pa.Table, others: pa.Table) -> pa.ChunkedArray:
    """Return which candidates are among `others`."""
    return pc.is_in(rows["candidate_id"], value_set=others["candidate_id"].combine_chunks())


def merged(moved: pa.Table, recited: pa.Table) -> pa.Table:
    """Return candidates that move and that cite a new revision, each once with both changes."""
    if moved.num_rows == 0 or recited.num_rows == 0:
        return pa.concat_tables([moved, recited])
    both = pc.is_in(recited["candidate_id"], value_set=moved["candidate_id"].combine_chunks())
    times = pc.index_in(recited["candidate_id"], value_set=moved["candidate_id"].combine_chunks())
    place = recited.schema.get_field_index("order_time")
    order = pc.if_else(both, moved["order_time"].take(times), recited["order_time"])
    recited = recited.set_column(place, recited.schema.field(place), order)
    alone = pc.is_in(moved["candidate_id"], value_set=recited["candidate_id"].combine_chunks())
    return pa.concat_tables([moved.filter(pc.invert(alone)), recited])
