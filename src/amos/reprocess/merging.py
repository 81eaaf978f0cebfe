"""Declare that two entities are one, and take that back: recorded, journaled, and decided anew at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.comparison import UNSALTED
from amos.clock import to_us
from amos.entities.spoken import spoken_of
from amos.errors import UsageError
from amos.evidence.capture import CAPTURED
from amos.flow.claims import subject_label
from amos.flow.current import SnapshotRows
from amos.flow.forget_selection import find_one
from amos.flow.merges import MERGE, SPLIT, Merged, merges_of
from amos.flow.prepare import Prepared, Rules
from amos.flow.referents import Referents
from amos.flow.referents_again import Again, Rechecking
from amos.flow.referents_told import Told
from amos.flow.review_words import Reviewed, Words, capture, raw_records, records_of
from amos.flow.tombstoned import read_graves
from amos.flow.versions import latest
from amos.identity import CLAIM_SCOPE, id_text, random_id
from amos.journal.store import EventRows, HeadMoved, Shard, Snapshot
from amos.reprocess.switch import Change, Switched, switch
from amos.schemas.columns import ID, SCOPE_NAMES
from amos.schemas.vocabulary import WITHDRAWN

_TRIES = 4
_ADVICE = "`amos entities list` prints entities."
_EVENTS = {MERGE: "entity_merged", SPLIT: "entity_split"}
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Merging:
    """One person who joins entities of one shard, or takes that back."""

    shard: Shard
    actor: str
    rules: Rules
    now: Callable[[], datetime]

    def run(self, verdict: str, ref: str, into: str | None, note: str, *, dry_run: bool) -> Row:
        """Record and apply a decision in one commit; return what it does to whom."""
        for attempt in range(_TRIES):
            try:
                return self._once(verdict, ref, into, note, dry_run=dry_run)
            except HeadMoved:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("the last try returns or raises")

    def _once(self, verdict: str, ref: str, into: str | None, note: str, *, dry_run: bool) -> Row:
        now = self.now()
        with self.shard.pin() as snapshot:
            entity = _entity(snapshot, ref)
            held = merges_of(snapshot, [entity["entity_id"]], self.shard.key).get(entity["entity_id"])
            target = None if into is None else _entity(snapshot, into)
            self._require(snapshot, verdict, entity, target, held)
            records = self._record(snapshot, verdict, entity, target, note, now)
            record = records.sources["source_id"][0].as_py()
            joined = None if target is None else Merged(target["entity_id"], record)
            again = self._again(snapshot, entity, target, held, joined, now)
            switched = self._switched(snapshot, again, verdict, now)
            told = _told(verdict, entity, target or _row_of(snapshot, held.into if held else b""), again)
            if dry_run:
                return {**told, "dry_run": True, "graph_version": snapshot.version}
            base = snapshot.version
            rows = [*_record_rows(snapshot, records, verdict), *switched.rows]
        self.shard.commit(
            rows, base=base, reads=switched.reads, operation=verdict, actor=self.actor, run_id=random_id(),
            now=now, texts=self.rules.texts,
        )  # fmt: skip
        return {**told, "dry_run": False, "graph_version": self.shard.head}

    def _require(
        self, snapshot: Snapshot, verdict: str, entity: Row, target: Row | None, held: Merged | None
    ) -> None:
        ref = id_text("entities", entity["entity_id"])
        if verdict == SPLIT:
            if held is None:
                raise UsageError(f"{ref} is not merged into another entity", path=ref, advice=_ADVICE)
            return
        assert target is not None
        if held is not None:
            other = id_text("entities", held.into)
            raise UsageError(
                f"{ref} is merged into {other} already",
                path=ref,
                advice=f"Take that back first: `amos entities split {ref}`.",
            )
        ends = merges_of(snapshot, [target["entity_id"]], self.shard.key).get(target["entity_id"])
        if entity["entity_id"] in (target["entity_id"], ends.into if ends else b""):
            raise UsageError("the two are one entity already", path=ref, advice=_ADVICE)
        for one in (entity, target):
            spoken = spoken_of(one["kind"], one["name"])
            if spoken is None or spoken.kind == "pronoun":
                raise UsageError(
                    f"{subject_label(one)!r} is not somebody whom an author speaks of",
                    path=id_text("entities", one["entity_id"]),
                    advice="People, roles and animals can be merged; authors and things cannot.",
                )
        if any(entity[name] != target[name] for name in CLAIM_SCOPE) or _owners_differ(entity, target):
            raise UsageError(
                "the two belong to different authors or scopes",
                code="scope_mismatch",
                path=ref,
                advice="What one author says of somebody is not known of another author's.",
            )

    def _record(
        self, snapshot: Snapshot, verdict: str, entity: Row, target: Row | None, note: str, now: datetime
    ) -> Prepared:
        """Return the captured record of the decision."""
        one = entity["entity_id"]
        known = records_of(snapshot, [("entities", one)], self.shard.key)[one]
        extra = {"decision": verdict}
        if target is not None:
            extra["into"] = id_text("entities", target["entity_id"])
        reviewed = Reviewed(
            table="entities",
            identifier=one,
            source={"may_retain": True, "purposes": ["personalization"],
                    **{f"scope_{name}": entity[f"scope_{name}"] for name in SCOPE_NAMES}},
            turn=max((row["turn"] for row in known), default=-1) + 1,
            words=Words(note=note),
            extra=extra,
            actor=self.actor,
            at_us=to_us(now),
        )  # fmt: skip
        graves = read_graves(snapshot, self.shard.key, now)
        return capture(raw_records([reviewed]), graves, rules=self.rules, key=self.shard.key, now=now)

    def _again(
        self,
        snapshot: Snapshot,
        entity: Row,
        target: Row | None,
        held: Merged | None,
        joined: Merged | None,
        now: datetime,
    ) -> Again:
        """Return what the claims about both entities become."""
        key = self.shard.key
        ends = {row["entity_id"] for row in (entity, target) if row is not None}
        ends |= {held.into} if held is not None else set()
        told = Told(snapshot=snapshot, key=key, joined={entity["entity_id"]: joined})
        rechecking = Rechecking(
            snapshot=snapshot,
            referents=Referents(key=key, policy=self.rules.policy, told=told),
            graves=read_graves(snapshot, key, now),
            moved={},
            with_approved=True,
        )
        ids = rechecking.about(ends)
        return rechecking.resolved(ids, [], CAPTURED.empty_table())

    def _switched(self, snapshot: Snapshot, again: Again, verdict: str, now: datetime) -> Switched:
        change = Change(
            fresh=again.fresh,
            replaced=again.replaced,
            decisions=UNSALTED["decisions"].empty_table(),
            entities=again.entities,
            mentions=again.mentions,
        )
        return switch(
            snapshot, change, event=_EVENTS[verdict], key=self.shard.key, policy=self.rules.policy, now=now
        )


def _entity(snapshot: Snapshot, ref: str) -> Row:
    table, one = find_one(snapshot, ref)
    if table != "entities":
        raise UsageError(f"{ref!r} is of {table}", path=ref, advice=_ADVICE)
    return _row_of(snapshot, one)


def _row_of(snapshot: Snapshot, one: bytes) -> Row:
    rows = latest(snapshot.lookup("entities", "entity_id", pa.array([one], ID)), "entities")
    return dict(rows.to_pylist()[0])


def _owners_differ(one: Row, other: Row) -> bool:
    owners = {row["owner_id"] for row in (one, other)} - {None}
    return len(owners) > 1


def _record_rows(snapshot: Snapshot, records: Prepared, verdict: str) -> list[EventRows]:
    known = SnapshotRows(snapshot)
    talks = known.changed_conversations(records.conversations, known.conversations(records.conversations))
    parts = [
        ("evidence_captured", "sources", records.sources),
        ("evidence_captured", "conversations", talks),
        ("dictionary_updated", "entities", known.absent("entities", records.entities)),
        (_EVENTS[verdict], "decisions", records.source_decisions),
    ]
    return [EventRows(*part) for part in parts if part[2].num_rows]


def _told(verdict: str, entity: Row, target: Row, again: Again) -> Row:
    moved = pc.sum(pc.equal(again.replaced["gate"], WITHDRAWN)).as_py() or 0
    return {
        "decision": verdict,
        "entity_id": id_text("entities", entity["entity_id"]),
        "name": subject_label(entity),
        "other_id": id_text("entities", target["entity_id"]),
        "other_name": subject_label(target),
        "claims_moved": moved,
    }
