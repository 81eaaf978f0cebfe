"""Forget: plan, refuse what is held, erase in one commit, purge every file, and say what remains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.policy import Policy
from amos.admission.tombstones import RECREATIONS, Terms
from amos.errors import UsageError
from amos.flow.forget_gone import gone_report, without_gone
from amos.flow.forget_holds import holds_against, refuse_held
from amos.flow.forget_mentions import counted_mentions, find_mentions, shown_mentions
from amos.flow.forget_plan import ErasurePlan, plan_erasure
from amos.flow.forget_receipts import scrub_receipts
from amos.flow.forget_report import Residue, going, residual
from amos.flow.forget_selection import (
    AMBIGUOUS,
    TOO_WIDE,
    ForgetRequest,
    Selected,
    asked_in_ledger,
    expiry_of,
    is_code,
    select,
)
from amos.flow.forget_still import NOTHING_SAID, Still, shown_still, still_said
from amos.flow.forget_suppress import suppress
from amos.flow.moments import SUPPRESSING
from amos.flow.noting import known_copies
from amos.flow.returning import Ended, ended_tombstones, expiry_event
from amos.flow.tombstoned import tombstone_rows
from amos.identity import id_text
from amos.journal.store import EventRows, HeadMoved, Shard, Snapshot
from amos.packets.store import drop_receipts
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS

TRIES = 5
Report = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What is committed together with an erasure.

    rows: appended after its own.  decided: ids of decisions among them, which the erasure itself leaves
    alone.
    """

    rows: tuple[EventRows, ...] = ()
    decided: frozenset[bytes] = frozenset()
    reads: Mapping[tuple[str, str], pa.Array] = field(default_factory=dict)
    terms: Mapping[str, Any] = field(default_factory=dict)


NOTHING_BESIDE = Beside()


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """An erasure that was decided on one version, ready to be committed on it."""

    selected: Selected
    plan: ErasurePlan
    tombstones: pa.Table
    ended: Ended
    doomed: Mapping[str, pa.Table]
    base: int
    now: datetime

    @property
    def rows(self) -> list[EventRows]:
        """What the commit appends."""
        asked = EventRows("erasure_requested", "tombstones", self.tombstones)
        return [asked, *expiry_event(self.ended.due), *self.plan.rows]

    @property
    def reads(self) -> dict[tuple[str, str], pa.Array]:
        """What it rests on."""
        return reads_of(self.selected, self.plan) | _tombstones_read(self.tombstones, self.ended)


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """One shard from which one caller forgets; wait_seconds: for readers that pin what goes."""

    shard: Shard
    actor: str
    run_id: bytes
    policy: Policy
    now: Callable[[], datetime]
    wait_seconds: float = 10

    def preview(self, request: ForgetRequest) -> Report:
        """Return what `forget` would do, with everything that goes; changes nothing."""
        now = self.now()
        _check(request, now)
        with self.shard.pin() as snapshot:
            request, gone = without_gone(snapshot, request)
            if gone and not request.names_something:
                return gone_report(self.shard, request, gone, dry_run=True)
            selected = select(snapshot, request, self._runs())
            mentions = find_mentions(snapshot, selected, included=request.mentions)
            selected = mentions.added_to(selected) if request.mentions else selected
            told = {**shown_mentions(snapshot, mentions), "already": list(gone)}
            return {**self.preview_selected(snapshot, selected, request, now), **told}

    def preview_selected(
        self, snapshot: Snapshot, selected: Selected, request: ForgetRequest, now: datetime
    ) -> Report:
        """Return what erasing the selected would do; changes nothing."""
        plan = self._plan(snapshot, selected, request, now)
        tombstones = self._tombstones(snapshot, plan, request, now)
        ended = ended_tombstones(snapshot, now, but=tombstones)
        held = self._held(snapshot, selected, plan)
        status = "would_refuse" if held and not request.suppress else "would_purge"
        if request.suppress:
            status = "would_suppress"
        return {**_counts(plan, request), "dry_run": True, "status": status,
                "tombstones": tombstones.num_rows, "expired": ended.total, "segments_rewritten": 0,
                "residual": [], "waiting_for": [], "held_by": held,
                "graph_version": None, **going(snapshot, plan),
                **shown_still(self._still(snapshot, selected, plan, request))}  # fmt: skip

    def forget(self, request: ForgetRequest) -> Report:
        """Make it gone and keep it gone; return the report once no file holds it, or as `pending`.

        Raises UsageError for a selection that names nothing or too much, InputError when a legal hold or
        a retention class stands against it, BusyError when others write without a pause.
        """
        _check(request, self.now())
        for attempt in range(TRIES):
            try:
                return self._once(request)
            except HeadMoved:
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("the last try returns or raises")

    def _once(self, request: ForgetRequest) -> Report:
        now = self.now()
        with self.shard.pin() as snapshot:
            request, gone = without_gone(snapshot, request)
            if gone and not request.names_something:
                return gone_report(self.shard, request, gone, dry_run=False)
            selected = self._selected(snapshot, request, now)
            mentions = find_mentions(snapshot, selected, included=request.mentions)
            selected = mentions.added_to(selected) if request.mentions else selected
            told = {**shown_mentions(snapshot, mentions), "already": list(gone)}
            if request.suppress:
                plan = self._plan(snapshot, selected, request, now)
                return {**self._suppressed(snapshot, selected, plan, request, now), **told}
            erasure = self.plan(snapshot, selected, request, now)
            still = self._still(snapshot, selected, erasure.plan, request)
        done = self.erase(erasure, request, mentions=counted_mentions(told), still=still)
        return {**done, **told, **shown_still(still)}

    def plan(self, snapshot: Snapshot, selected: Selected, request: ForgetRequest, now: datetime) -> Erasure:
        """Return what erasing the selected would do.  Raises InputError when a hold stands against it."""
        plan = self._plan(snapshot, selected, request, now)
        held = self._held(snapshot, selected, plan)
        refuse_held(self.shard, held, actor=self.actor, run_id=self.run_id, now=now)
        tombstones = self._tombstones(snapshot, plan, request, now)
        return Erasure(
            selected=selected,
            plan=plan,
            tombstones=tombstones,
            ended=ended_tombstones(snapshot, now, but=tombstones),
            doomed=doomed_rows(snapshot, plan),
            base=snapshot.version,
            now=now,
        )

    def erase(
        self,
        erasure: Erasure,
        request: ForgetRequest,
        *,
        mentions: tuple[int, int] | None = None,
        still: Still = NOTHING_SAID,
        beside: Beside = NOTHING_BESIDE,
    ) -> Report:
        """Commit an erasure and purge every file; return the report."""
        scrub_receipts(self.shard, erasure.plan.forbidden)
        drop_receipts(self.shard.folder, _printed(erasure.doomed))
        rows = [*(_without_decisions(group, beside.decided) for group in erasure.rows), *beside.rows]
        version = self.shard.erase(
            [group for group in rows if group.rows.num_rows],
            doomed=erasure.doomed,
            request=asked_in_ledger(request, erasure.selected),
            base=erasure.base,
            reads={**erasure.reads, **beside.reads},
            **{
                "operation": "forget",
                "actor": self.actor,
                "run_id": self.run_id,
                "now": erasure.now,
                **beside.terms,
            },
        )
        done = Residue(
            request=request,
            tombstones=erasure.tombstones.num_rows,
            expired=erasure.ended.total,
            mentions=mentions,
            said=(still.total, still.rows[0]["value"]) if still.total else None,
        )
        return self._finish(erasure.plan, done, version, erasure.now)

    def _selected(self, snapshot: Snapshot, request: ForgetRequest, now: datetime) -> Selected:
        """Return what is to go; a request that is refused for what it names is journaled."""
        try:
            return select(snapshot, request, self._runs())
        except UsageError as refusal:
            if refusal.code in (TOO_WIDE, AMBIGUOUS):
                said = {"command": SUPPRESSING if request.suppress else "forget", "reason": refusal.code}
                self.shard.reject(said, actor=self.actor, run_id=self.run_id, now=now)
            raise

    def _finish(self, plan: ErasurePlan, done: Residue, version: int, now: datetime) -> Report:
        rewritten = sum(entry.reason == "erasure" for entry in self.shard.garbage())
        purged = self.shard.purge(wait_seconds=self.wait_seconds)
        request, tombstones = done.request, done.tombstones
        residue = replace(
            done,
            commitments=sum(map(len, plan.gone.places.values())),
            kept_evidence=plan.kept_evidence,
            waiting_for=() if purged.is_done else purged.waiting_for,
            expires=expiry_of(request, now),
        )
        counts = _counts(plan, request)
        touched = counts["removed"] or counts["revised"] or tombstones
        status = "purged" if touched else "nothing"
        return {
            **counts,
            "dry_run": False,
            "status": status if purged.is_done else "pending",
            "tombstones": tombstones,
            "expired": done.expired,
            "segments_rewritten": rewritten,
            "residual": residual(known_copies(self.shard), residue),
            "waiting_for": list(residue.waiting_for),
            "held_by": [],
            "graph_version": version,
        }

    def _suppressed(
        self,
        snapshot: Snapshot,
        selected: Selected,
        plan: ErasurePlan,
        request: ForgetRequest,
        now: datetime,
    ) -> Report:
        tombstones = self._tombstones(snapshot, plan, request, now)
        ended = ended_tombstones(snapshot, now, but=tombstones)
        rows = suppress(snapshot, plan)
        version = self.shard.commit(
            [EventRows("erasure_requested", "tombstones", tombstones), *expiry_event(ended.due), *rows],
            base=snapshot.version,
            reads=reads_of(selected, plan) | _tombstones_read(tombstones, ended),
            operation=SUPPRESSING,
            actor=self.actor,
            run_id=self.run_id,
            now=now,
        )
        residue = Residue(
            request=request,
            tombstones=tombstones.num_rows,
            expired=ended.total,
            expires=expiry_of(request, now),
        )
        return {**_counts(plan, request), "removed": {}, "dry_run": False, "status": "suppressed",
                "suppressed": plan.removed, "tombstones": tombstones.num_rows, "expired": ended.total,
                "segments_rewritten": 0,
                "residual": residual(known_copies(self.shard), residue), "waiting_for": [], "held_by": [],
                "graph_version": version}  # fmt: skip

    def _runs(self) -> dict[bytes, list[int]]:
        runs: dict[bytes, list[int]] = {}
        for commit in self.shard.records().commits:
            runs.setdefault(commit.run_id, []).append(commit.graph_version)
        return runs

    def _plan(
        self, snapshot: Snapshot, selected: Selected, request: ForgetRequest, now: datetime
    ) -> ErasurePlan:
        return plan_erasure(
            snapshot,
            selected,
            keep_evidence=request.keep_evidence,
            key=self.shard.key,
            policy=self.policy,
            now=now,
        )

    def _still(
        self, snapshot: Snapshot, selected: Selected, plan: ErasurePlan, request: ForgetRequest
    ) -> Still:
        """Return the messages that hold what is erased; what is only hidden stays in all of them."""
        return NOTHING_SAID if request.suppress else still_said(snapshot, selected, plan)

    def _tombstones(
        self, snapshot: Snapshot, plan: ErasurePlan, request: ForgetRequest, now: datetime
    ) -> pa.Table:
        terms = Terms(request.recreation, request.reason, now, expiry_of(request, now))
        return tombstone_rows(snapshot, plan.forbidden, terms, self.shard.key)

    def _held(self, snapshot: Snapshot, selected: Selected, plan: ErasurePlan) -> list[dict[str, Any]]:
        return holds_against(snapshot, self.shard.holds(), selected, plan)


def _without_decisions(group: EventRows, ids: frozenset[bytes]) -> EventRows:
    """Return an event's rows without the decisions of these ids."""
    if group.table != "decisions" or not ids:
        return group
    others = pc.invert(pc.is_in(group.rows["decision_id"], value_set=pa.array(sorted(ids), ID)))
    return group._replace(rows=group.rows.filter(others))


def _check(request: ForgetRequest, now: datetime) -> None:
    if request.recreation not in RECREATIONS:
        raise UsageError(
            f"no recreation policy is called {request.recreation!r}",
            advice=f"Policies: {', '.join(RECREATIONS)}.",
        )
    if not is_code(request.reason):
        raise UsageError("--reason takes a short code such as user_request, no text")
    expiry_of(request, now)


def _counts(plan: ErasurePlan, request: ForgetRequest) -> Report:
    return {
        "removed": plan.removed,
        "revised": plan.revised,
        "recreation": request.recreation,
        "reason": request.reason,
    }


def doomed_rows(snapshot: Snapshot, plan: ErasurePlan) -> dict[str, pa.Table]:
    """Return by table the stored rows that go, all columns."""
    doomed = {}
    for table, places in plan.gone.places.items():
        if not places:
            continue
        key = PRIMARY_KEYS[table]
        rows = snapshot.lookup(table, key, pa.array(sorted(set(places.values())), ID))
        at = zip(rows["graph_version"].to_pylist(), rows["row_number"].to_pylist(), strict=True)
        doomed[table] = rows.filter(pa.array([place in places for place in at], pa.bool_()))
    return doomed


def reads_of(selected: Selected, plan: ErasurePlan) -> dict[tuple[str, str], pa.Array]:
    """Return the ids that the plan rests on: a commit that wrote a row of one of them makes it stale."""
    touched: dict[str, set[bytes]] = {
        table: set(places.values()) for table, places in plan.gone.places.items()
    }
    for group in plan.rows:
        touched.setdefault(group.table, set()).update(group.rows[PRIMARY_KEYS[group.table]].to_pylist())
    reads = {(table, PRIMARY_KEYS[table]): pa.array(sorted(ids), ID) for table, ids in touched.items() if ids}
    claims = {*touched.get("atoms", ()), *selected.claims.to_pylist()}
    reads["candidates", "claim_id"] = pa.array(sorted(claims), ID)
    entities = pa.array(sorted(touched.get("entities", ())), ID)
    reads["candidates", "subject_id"] = reads["sources", "author_id"] = entities
    reads["sources", "conversation_id"] = pa.array(sorted(touched.get("conversations", ())), ID)
    return reads


def _tombstones_read(tombstones: pa.Table, ended: Ended) -> dict[tuple[str, str], pa.Array]:
    ids = [rows["tombstone_id"].combine_chunks() for rows in (tombstones, ended.due)]
    return {("tombstones", "tombstone_id"): pa.concat_arrays(ids)}


def _printed(doomed: Mapping[str, pa.Table]) -> list[str]:
    """Return the printed references of atoms and sources that go."""
    found: Iterable[tuple[str, bytes]] = (
        (table, one)
        for table in ("atoms", "sources")
        if table in doomed
        for one in pc.unique(doomed[table][PRIMARY_KEYS[table]]).to_pylist()
    )
    return [id_text(table, one) for table, one in found]
