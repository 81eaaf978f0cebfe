"""Declare that two entities are one, and take that back: recorded, journaled, and decided anew at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.comparison import UNSALTED
from amos.entities.spoken import spoken_of
from amos.errors import UsageError
from amos.evidence.capture import CAPTURED
from amos.flow.claims import labels_of, subject_label
from amos.flow.merges import MERGE, SPLIT, Merged, merges_of
from amos.flow.prepare import Rules
from amos.flow.referents import Referents
from amos.flow.referents_again import Again, Rechecking
from amos.flow.referents_told import Told
from amos.flow.tombstoned import read_graves
from amos.flow.versions import latest
from amos.identity import CLAIM_SCOPE, id_text, random_id
from amos.journal.store import HeadMoved, Shard, Snapshot
from amos.reprocess.entity_records import ADVICE, Decided, captured_record, entity_row, record_rows
from amos.reprocess.switch import Change, Switched, switch
from amos.schemas.columns import ID
from amos.schemas.labels import Label
from amos.schemas.vocabulary import WITHDRAWN

_TRIES = 4
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
            entity = entity_row(snapshot, ref)
            held = merges_of(snapshot, [entity["entity_id"]], self.shard.key).get(entity["entity_id"])
            target = None if into is None else entity_row(snapshot, into)
            self._require(snapshot, verdict, entity, target, held)
            extra = {} if target is None else {"into": id_text("entities", target["entity_id"])}
            decided = Decided(verdict, entity, note, extra)
            records = captured_record(
                snapshot, decided, key=self.shard.key, rules=self.rules, actor=self.actor, now=now
            )
            record = records.sources["source_id"][0].as_py()
            joined = None if target is None else Merged(target["entity_id"], record)
            again = self._again(snapshot, entity, target, held, joined, now)
            switched = self._switched(snapshot, again, verdict, now)
            ends = (entity, target or _row_of(snapshot, held.into if held else b""))
            told = _told(verdict, ends, labels_of(snapshot, ends), again)
            if dry_run:
                return {**told, "dry_run": True, "graph_version": snapshot.version}
            base = snapshot.version
            rows = [*record_rows(snapshot, records, _EVENTS[verdict]), *switched.rows]
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
                raise UsageError(f"{ref} is not merged into another entity", path=ref, advice=ADVICE)
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
            raise UsageError("the two are one entity already", path=ref, advice=ADVICE)
        for one in (entity, target):
            spoken = spoken_of(one["kind"], one["name"])
            if spoken is None or spoken.kind == "pronoun":
                raise UsageError(
                    f"{subject_label(snapshot, one)!r} is not somebody whom an author speaks of",
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


def _row_of(snapshot: Snapshot, one: bytes) -> Row:
    rows = latest(snapshot.lookup("entities", "entity_id", pa.array([one], ID)), "entities")
    return dict(rows.to_pylist()[0])


def _owners_differ(one: Row, other: Row) -> bool:
    owners = {row["owner_id"] for row in (one, other)} - {None}
    return len(owners) > 1


def _told(verdict: str, ends: tuple[Row, Row], labels: dict[bytes, Label], again: Again) -> Row:
    one, other = (row["entity_id"] for row in ends)
    moved = pc.sum(pc.equal(again.replaced["gate"], WITHDRAWN)).as_py() or 0
    return {
        "decision": verdict,
        "entity_id": id_text("entities", one),
        "name": labels[one].text,
        "other_id": id_text("entities", other),
        "other_name": labels[other].text,
        "claims_moved": moved,
    }
