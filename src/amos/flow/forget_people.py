"""What forgetting changes in whom other claims mean: names, roles and antecedents that go."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.policy import Policy
from amos.admission.tombstones import Graves
from amos.evidence.capture import CAPTURED
from amos.flow.forget_remains import remaining_turns
from amos.flow.forget_settle import Gone
from amos.flow.ordering import KnownTimes
from amos.flow.referents import Referents
from amos.flow.referents_again import Again, Rechecking, nothing_again
from amos.flow.referents_told import Told
from amos.journal.store import Snapshot
from amos.schemas.choosing import with_column
from amos.schemas.columns import ID
from amos.schemas.vocabulary import WITHDRAWN

_PLACE = ["graph_version", "row_number"]
_NAMING = ["subject_id", "referent_id", "referents"]


class Unmeant(NamedTuple):
    """Claims that stay and mean somebody else from now on.

    lost: all stored versions of candidates that go for it.  made: candidates that take their place.
    mentions, entities: rows to append.  Appended rows have no salts.
    """

    lost: pa.Table
    made: pa.Table
    mentions: pa.Table
    entities: pa.Table


def unmeant(
    snapshot: Snapshot,
    sources: pa.Table,
    lost: pa.Table,
    revised: pa.Table,
    *,
    key: bytes,
    policy: Policy,
    graves: Graves,
) -> Unmeant:
    """Return whom the claims that stay mean without what goes.

    sources, lost: rows of sources and candidates that go.  revised: sources that lose bytes and stay.
    graves: the tombstones that stand.
    """
    again = _again(snapshot, sources, lost, revised, key=key, policy=policy, graves=graves)
    leaves = pc.fill_null(pc.equal(again.replaced["gate"], WITHDRAWN), False)
    ids = again.replaced.filter(leaves)["candidate_id"].combine_chunks()
    made = pa.concat_tables([again.fresh, again.replaced.filter(pc.invert(leaves))]).combine_chunks()
    if made.num_rows:
        made = _placed(snapshot, made, sources, revised)
    return Unmeant(
        lost=snapshot.lookup("candidates", "candidate_id", ids),
        made=made,
        mentions=again.mentions,
        entities=again.entities,
    )


def _again(
    snapshot: Snapshot,
    sources: pa.Table,
    lost: pa.Table,
    revised: pa.Table,
    *,
    key: bytes,
    policy: Policy,
    graves: Graves,
) -> Again:
    if snapshot.row_count("mentions") == 0:
        return nothing_again()
    gone = frozenset(sources["source_id"].to_pylist())
    claims = frozenset(lost["candidate_id"].to_pylist())
    told = Told(snapshot=snapshot, key=key, gone=gone, lost=claims, revised=revised)
    rechecking = Rechecking(
        snapshot=snapshot,
        referents=Referents(key=key, policy=policy, told=told),
        graves=graves,
        moved={},
    )
    touched = pa.concat_tables([sources.select(CAPTURED.names), revised.select(CAPTURED.names)])
    talks = set(touched["conversation_id"].to_pylist())
    ids = rechecking.in_windows(touched, talks) | rechecking.named_by(claims)
    return rechecking.resolved(ids - claims, [], touched.slice(0, 0))


def _placed(snapshot: Snapshot, made: pa.Table, sources: pa.Table, revised: pa.Table) -> pa.Table:
    """Return candidates with the order times and revisions that what stays gives them."""
    turns = remaining_turns(snapshot, sources).select(["conversation_id", "turn", "event_time"])
    if sources.num_rows and turns.num_rows:
        touched = pc.is_in(
            made["conversation_id"], value_set=sources["conversation_id"].combine_chunks().cast(ID)
        )
        own = KnownTimes(turns).applied(made.filter(touched))[0]
        made = pa.concat_tables([made.filter(pc.invert(touched)), own]).combine_chunks()
    at = pc.index_in(made["source_id"], value_set=revised["source_id"].combine_chunks())
    revision = pc.coalesce(revised["revision"].take(at), made["source_revision"])
    return with_column(made, "source_revision", revision).cast(UNSALTED_CANDIDATES)


def drop_mentions(
    snapshot: Snapshot, sources: pa.Array, lost: pa.Table, again: Unmeant, gone: Gone
) -> pa.Table:
    """Take away whom claims that go meant, and what others meant before; return the rows that go.

    sources: ids of those that go.  lost: candidates that go.
    """
    if snapshot.row_count("mentions") == 0:
        return snapshot.lookup("mentions", "mention_id", pa.array([], ID))
    found = [
        snapshot.lookup("mentions", "candidate_id", lost["candidate_id"].combine_chunks(), ["mention_id"]),
        snapshot.lookup("mentions", "source_id", sources, ["mention_id"]),
        again.mentions.select(["mention_id"]),
    ]
    ids = pa.concat_arrays([one["mention_id"].combine_chunks().cast(ID) for one in found]).unique()
    rows = snapshot.lookup("mentions", "mention_id", ids)
    gone.add_table("mentions", rows)
    return rows


def nameless_entities(
    snapshot: Snapshot, mentions: pa.Table, again: Unmeant
) -> tuple[set[bytes], set[bytes]]:
    """Return the entities that mentions which go name, and those that the ones which stay name.

    mentions: rows that go.
    """
    going = _named(mentions)
    if not going:
        return set(), set()
    whole = snapshot.table("mentions", ["mention_id", *_NAMING, *_PLACE])
    out = set(zip(*(mentions[name].to_pylist() for name in _PLACE), strict=True))
    places = zip(*(whole[name].to_pylist() for name in _PLACE), strict=True)
    stays = whole.filter(pa.array([place not in out for place in places], pa.bool_()))
    return going, _named(stays) | _named(again.mentions)


def _named(rows: pa.Table) -> set[bytes]:
    named = {one for ids in rows["referents"].to_pylist() for one in ids}
    for column in _NAMING[:2]:
        named |= set(rows[column].drop_null().to_pylist())
    return named
