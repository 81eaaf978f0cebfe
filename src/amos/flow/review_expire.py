"""Purge what nobody decided on in time: the claim goes from every file, its words stay in their message."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from amos.admission.comparison import UNSALTED
from amos.admission.policy import Policy
from amos.errors import EngineError
from amos.flow.due import EXPIRE
from amos.flow.forget import doomed_rows, reads_of
from amos.flow.forget_holds import holds_against, refuse_held
from amos.flow.forget_plan import ErasurePlan, plan_erasure
from amos.flow.forget_selection import Selected
from amos.flow.printed import shown_time
from amos.flow.review import statements_of
from amos.flow.review_cases import Case, QueueFilter, cases_of, read_queue
from amos.flow.review_checks import shown_ref
from amos.flow.sight import Sight
from amos.identity import random_id
from amos.journal.store import EventRows, HeadMoved, Shard, Snapshot
from amos.schemas.columns import ID
from amos.schemas.vocabulary import Action, Outcome, Reason

_LOG = logging.getLogger(__name__)
_TRIES = 5
Row = dict[str, Any]


def expire_quietly(work: Expiring) -> Row:
    """Purge what has expired and keep a receipt; return what went.

    What stands against it, such as a legal hold, is logged and left to `expire`, which says so.
    """
    try:
        report = work.expire()
    except EngineError as cause:
        _LOG.warning("what has expired stays", extra={"cause": str(cause)})
        report = {"claims": 0, "messages": 0, "status": "refused"}
    told = {name: report[name] for name in ("claims", "messages", "status")}
    began = work.now()
    work.shard.record_run(random_id(), EXPIRE, began, began, told, is_synced=False)
    return told


@dataclass(frozen=True, kw_only=True)
class Expiring:
    """One shard whose queue is cleared of what has passed its deadline."""

    shard: Shard
    actor: str
    run_id: bytes
    policy: Policy
    now: Callable[[], datetime]
    scope: Mapping[str, str] = field(default_factory=dict)
    wait_seconds: float = 10

    def expire(self, *, dry_run: bool = False) -> Row:
        """Purge every expired case in one commit; return what went.

        A withheld message stays withheld; it only waits no longer.  Raises InputError when a legal hold
        stands against it.
        """
        for attempt in range(_TRIES):
            try:
                return self._once(dry_run=dry_run)
            except HeadMoved:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("the last try returns or raises")

    def _once(self, *, dry_run: bool) -> Row:
        now = self.now()
        with self.shard.pin() as snapshot:
            sight = Sight(snapshot=snapshot, now=now, scope=self.scope)
            cases = cases_of(sight, read_queue(sight, QueueFilter(is_expired=True)))
            report = _report(sight, cases, dry_run=dry_run)
            if dry_run or not cases:
                return {**report, "status": "would_purge" if cases else "nothing"}
            selected = _selected(cases)
            plan = self._plan(snapshot, selected, now)
            held = holds_against(snapshot, self.shard.holds(), selected, plan)
            refuse_held(self.shard, held, actor=self.actor, run_id=self.run_id, now=now)
            rows = [*plan.rows, EventRows("candidate_decided", "decisions", _messages(cases))]
            doomed = doomed_rows(snapshot, plan)
            base = snapshot.version
            reads = reads_of(selected, plan)
        version = self.shard.erase(
            [group for group in rows if group.rows.num_rows],
            doomed=doomed,
            request=json.dumps({"named": [list(one) for one in selected.named]}),
            base=base,
            reads=reads,
            operation="expire",
            actor=self.actor,
            run_id=self.run_id,
            now=now,
        )
        purged = self.shard.purge(wait_seconds=self.wait_seconds)
        status = "purged" if purged.is_done else "pending"
        return {**report, "status": status, "graph_version": version}

    def _plan(self, snapshot: Snapshot, selected: Selected, now: datetime) -> ErasurePlan:
        return plan_erasure(
            snapshot, selected, keep_evidence=True, key=self.shard.key, policy=self.policy, now=now
        )


def _selected(cases: list[Case]) -> Selected:
    claims = [case.identifier for case in cases if case.table == "candidates"]
    none = pa.array([], ID)
    return Selected(claims=none, sources=none, named=(("expired", ""),), expired=pa.array(claims, ID))


def _messages(cases: list[Case]) -> pa.Table:
    """Return the decisions that withheld messages wait no longer."""
    schema = UNSALTED["decisions"]
    rows = []
    for case in cases:
        if case.table == "sources":
            row = {name: case.decision[name] for name in schema.names}
            reasons = [str(Reason.QUARANTINE_EXPIRED), *row["reasons"]]
            rows.append({**row, "version": row["version"] + 1, "outcome": str(Outcome.IGNORE),
                         "action": str(Action.NOOP), "reasons": reasons, "deadline": None})  # fmt: skip
    return pa.Table.from_pylist(rows, schema=schema)


def _report(sight: Sight, cases: list[Case], *, dry_run: bool) -> Row:
    said = statements_of(sight, cases)
    claims = sum(case.table == "candidates" for case in cases)
    return {
        "dry_run": dry_run,
        "claims": claims,
        "messages": len(cases) - claims,
        "items": [
            {"ref": shown_ref(case), "kind": case.kind, "statement": said[case.identifier],
             "reasons": case.decision["reasons"], "deadline": shown_time(case.decision["deadline"])}
            for case in cases
        ],
        "graph_version": sight.snapshot.version or None,
    }  # fmt: skip
