"""What else changes when sources and candidates go: talks, entities, order times, source decisions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.comparison import UNSALTED
from amos.admission.decision_rows import decision_ids
from amos.admission.policy import Policy
from amos.admission.tombstones import Graves
from amos.extraction.propose import EXTRACTOR
from amos.extraction.screen_cuts import apply_cuts
from amos.flow.forget_cuts import Passage
from amos.flow.forget_settle import Gone
from amos.flow.ordering import KnownTimes, next_version
from amos.flow.prepare import UNSALTED_CONVERSATIONS
from amos.flow.tombstoned import as_findings, find_echoes
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.columns import ID
from amos.schemas.vocabulary import Action, Modality, Outcome, Reason

_PLACE = ["graph_version", "row_number"]
_FORGOTTEN = (Outcome.REJECT, Action.REJECT, Reason.TOMBSTONED)
_EXPIRED = (Outcome.IGNORE, Action.NOOP, Reason.QUARANTINE_EXPIRED)
_TURN = ["source_id", "revision", "conversation_id", "turn", "event_time"]


def remaining_turns(snapshot: Snapshot, sources: pa.Table) -> pa.Table:
    """Return the turns that stay in the conversations of `sources`, which go."""
    ids = sources["conversation_id"].combine_chunks().unique()
    turns = latest(snapshot.lookup("sources", "conversation_id", ids, _TURN), "sources")
    return turns.filter(_outside(turns["source_id"], sources["source_id"]))


def _outside(ids: pa.ChunkedArray, gone: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.invert(pc.is_in(ids, value_set=gone.combine_chunks().cast(ID)))


def changed_conversations(
    snapshot: Snapshot, sources: pa.Table, passages: list[Passage], gone: Gone, key: bytes
) -> pa.Table:
    """Return conversations whose times or title change; those without a turn left go.

    sources: rows that go.  passages: what may stand in no title.
    """
    turns = remaining_turns(snapshot, sources)
    ids = sources["conversation_id"].combine_chunks().unique()
    held = snapshot.lookup("conversations", "conversation_id", ids)
    empty = held.filter(_outside(held["conversation_id"], turns["conversation_id"]))
    gone.add_table("conversations", empty)
    times: dict[bytes, list[Any]] = {}
    for talk, at in zip(turns["conversation_id"].to_pylist(), turns["event_time"].to_pylist(), strict=True):
        times.setdefault(talk, []).append(at)
    titles = _cut_titles(snapshot, passages, key)
    wanted = pa.array(sorted({*times, *titles}), ID)
    versions: dict[bytes, list[dict[str, Any]]] = {}
    for row in snapshot.lookup("conversations", "conversation_id", wanted).to_pylist():
        versions.setdefault(row["conversation_id"], []).append(row)
    changed = []
    for talk, rows in versions.items():
        row = _changed(max(rows, key=lambda one: int(one["version"])), times.get(talk), titles.get(talk))
        if row is not None:
            changed.append(row)
            gone.add("conversations", rows)
    return pa.Table.from_pylist(changed, schema=UNSALTED_CONVERSATIONS)


def _changed(row: dict[str, Any], times: list[Any] | None, title: str | None) -> dict[str, Any] | None:
    new = dict(row)
    if title is not None:
        new["title"] = title
    if times is not None:
        new["started_at"] = min((at for at in times if at is not None), default=None)
        new["has_unknown_time"] = None in times
    if new == row:
        return None
    new["version"] += 1
    return {field.name: new[field.name] for field in UNSALTED_CONVERSATIONS}


def _cut_titles(snapshot: Snapshot, passages: list[Passage], key: bytes) -> dict[bytes, str]:
    """Return by conversation the titles that repeat a passage, without it."""
    if not passages:
        return {}
    rows = snapshot.current("conversations").filter(pc.is_valid(snapshot.current("conversations")["title"]))
    graves = Graves.for_passages(passages, key)
    found = list(find_echoes(rows, graves))
    if not found:
        return {}
    flags = pa.array([0] * rows.num_rows, pa.int32())
    cut, _ = apply_cuts(rows.append_column("flags", flags), as_findings(found, rows))
    touched = sorted({echo.row for echo in found})
    ids, titles = (cut[name].take(touched).to_pylist() for name in ("conversation_id", "title"))
    return dict(zip(ids, titles, strict=True))


def moved_candidates(snapshot: Snapshot, sources: pa.Table, lost: pa.Table) -> pa.Table:
    """Return candidates (next version, no salt) whose order time came from a turn that goes.

    sources: rows that go.  lost: candidates that go.
    """
    turns = remaining_turns(snapshot, sources)
    untimed = turns.filter(pc.is_null(turns["event_time"]))["conversation_id"].combine_chunks().unique()
    held = latest(snapshot.lookup("candidates", "conversation_id", untimed), "candidates")
    held = held.filter(_outside(held["candidate_id"], lost["candidate_id"]))
    held = held.select(UNSALTED_CANDIDATES.names).cast(UNSALTED_CANDIDATES)
    known = KnownTimes(turns.select(["conversation_id", "turn", "event_time"]))
    updated, changed = known.applied(held)
    moved = updated.filter(pa.array(changed, pa.bool_()))
    return next_version(moved) if moved.num_rows else moved


def unnamed_entities(
    snapshot: Snapshot,
    sources: pa.Table,
    lost: pa.Table,
    *,
    going: Collection[bytes] = (),
    staying: Collection[bytes] = (),
) -> pa.Table:
    """Return all versions of the entities that nothing names any more.

    sources, lost: source and candidate rows that go.  going, staying: entities that something else
    named, or names from now on.
    """
    named = pa.concat_arrays(
        [
            sources["author_id"].combine_chunks(),
            lost["subject_id"].combine_chunks(),
            pa.array(list(going), ID),
        ]
    ).unique()
    rows = snapshot.lookup("entities", "entity_id", named)
    owners = rows["owner_id"].drop_null().combine_chunks()
    wanted = pa.concat_arrays([named, owners]).unique()
    stays = _still_named(snapshot, "sources", "author_id", wanted, sources)
    stays |= _still_named(snapshot, "candidates", "subject_id", wanted, lost) | set(staying)
    owned = snapshot.lookup("entities", "owner_id", wanted, ["entity_id", "owner_id"])
    going = set(wanted.to_pylist()) - stays
    for entity, owner in zip(owned["entity_id"].to_pylist(), owned["owner_id"].to_pylist(), strict=True):
        if entity not in going:
            going.discard(owner)
    return snapshot.lookup("entities", "entity_id", pa.array(sorted(going), ID), ["entity_id", *_PLACE])


def _still_named(snapshot: Snapshot, table: str, column: str, ids: pa.Array, gone: pa.Table) -> set[bytes]:
    """Return which of `ids` a row of `table` names that does not go."""
    key = {"sources": "source_id", "candidates": "candidate_id"}[table]
    rows = snapshot.lookup(table, column, ids, [key, column])
    rows = rows.filter(_outside(rows[key], gone[key]))
    return set(rows[column].combine_chunks().unique().to_pylist())


def source_refusals(
    snapshot: Snapshot, sources: pa.Array, gone: Gone, *, key: bytes, policy: Policy, is_expiry: bool = False
) -> pa.Table:
    """Return the decision that each of `sources` was cut or emptied by an erasure.

    is_expiry: they were emptied because nobody decided on their claims in time.
    """
    outcome, action, reason = _EXPIRED if is_expiry else _FORGOTTEN
    schema = UNSALTED["decisions"]
    count = len(sources)
    ids = decision_ids(sources, key)
    held: dict[bytes, int] = {}
    known = snapshot.lookup("decisions", "decision_id", ids, ["decision_id", "version", *_PLACE])
    gone.add_table("decisions", known)
    for identifier, version in zip(
        known["decision_id"].to_pylist(), known["version"].to_pylist(), strict=True
    ):
        held[identifier] = max(version, held.get(identifier, 0))
    columns: dict[str, Any] = {
        "decision_id": ids,
        "version": [held.get(one, 0) + 1 for one in ids.to_pylist()],
        "candidate_id": [None] * count,
        "source_id": sources,
        "outcome": [str(outcome)] * count,
        "action": [str(action)] * count,
        "reasons": [[str(reason)]] * count,
        "modality": [str(Modality.ASSERTED)] * count,
        "policy": [policy.label] * count,
        "extractor": [EXTRACTOR] * count,
        "utility": [0] * count,
        "risk": [0] * count,
        "atom_id": [None] * count,
        "targets": [[]] * count,
        "deadline": [None] * count,
    }
    arrays = [
        column if isinstance(column := columns[field.name], pa.Array) else pa.array(column, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)
