"""Record what came of packets: one journaled record per outcome, and what it was to each item."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from amos.atoms.feedback import FLAGGING, Fed, kind_of_use
from amos.clock import to_us
from amos.errors import BusyError, EngineError, UsageError
from amos.flow.learned import feedback_in_sight
from amos.flow.outcome_members import Item, Members, MembersReader
from amos.flow.outcome_rows import Act, Fact, OutcomeRows, fresh_acts, made_act, outcome_rows, stored_items
from amos.flow.outcome_told import Told
from amos.flow.prepare import Rules
from amos.flow.printed import shown_score
from amos.flow.sight import Sight
from amos.identity import id_text, parse_ref, prefix_range
from amos.journal.store import HeadMoved, Shard, Snapshot
from amos.retrieval.visibility import Reader
from amos.schemas.vocabulary import FeedbackKind

TRIES = 4
_AHEAD_US = 60_000_000
"""How far an outcome may lie ahead of this machine's clock."""
Row = dict[str, Any]
_BY_REF = (
    (FeedbackKind.CORRECTED, "corrected"), (FeedbackKind.UNHELPFUL, "unhelpful"), (None, "used"),
)  # fmt: skip
"""Which word of a caller decides where an item is named in several."""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """One caller at work on one shard.  scope: narrows what may be fed back."""

    shard: Shard
    actor: str
    run_id: bytes
    rules: Rules
    reader: Reader
    now: Callable[[], datetime]
    scope: Mapping[str, str] = field(default_factory=dict)

    def record(
        self, told: Sequence[Told], *, dry_run: bool = False, is_brief: bool = False
    ) -> list[Row | EngineError]:
        """Record outcomes in one commit; return for each what it changed, or why it was refused.

        What was recorded before adds nothing, and is told as it stands.  is_brief: leave out where claims
        stood before and after.
        """
        found = MembersReader(self.shard, self.reader, self.scope).read(one.packet for one in told)
        for _ in range(TRIES):
            with self.shard.pin() as snapshot:
                batch = _Batch(self, snapshot)
                results = batch.decide(told, found, is_brief=is_brief)
                base = snapshot.version
                if dry_run or not batch.rows.groups:
                    return results
            try:
                version = self.shard.commit(
                    batch.rows.groups, base=base, reads=batch.rows.reads, operation="record_outcome",
                    actor=self.actor, run_id=self.run_id, now=batch.now, texts=self.rules.texts,
                )  # fmt: skip
            except HeadMoved:
                continue
            return [_at(one, version) for one in results]
        raise BusyError("the memory kept changing while the outcome was recorded", advice="Record it again.")


def _at(result: Row | EngineError, version: int) -> Row | EngineError:
    return result if isinstance(result, EngineError) else {**result, "graph_version": version}


class _Batch:
    """Outcomes on one pinned version."""

    def __init__(self, work: Recording, snapshot: Snapshot) -> None:
        self.now = work.now()
        self.rows = OutcomeRows()
        self._work = work
        self._snapshot = snapshot
        self._sight = Sight(snapshot=snapshot, now=self.now, scope=work.scope)

    def decide(
        self, told: Sequence[Told], found: Sequence[Members | EngineError], *, is_brief: bool
    ) -> list[Row | EngineError]:
        """Return what each outcome changes; `rows` holds what there is to commit."""
        visible = stored_items(self._sight, [one for one in found if isinstance(one, Members)])
        acts: list[Act | EngineError] = []
        for one, members in zip(told, found, strict=True):
            acts.append(members if isinstance(members, EngineError) else self._act(one, members, visible))
        fresh = fresh_acts(self._snapshot, [act for act in acts if isinstance(act, Act)])
        self.rows = outcome_rows(
            self._snapshot, list(fresh.values()), rules=self._work.rules, key=self._work.shard.key,
            now=self.now,
        )  # fmt: skip
        before = None if is_brief else self._before([act for act in acts if isinstance(act, Act)])
        return [
            act if isinstance(act, EngineError) else self._result(act, fresh.get(act.outcome_id), before)
            for act in acts
        ]

    def _act(self, told: Told, members: Members, visible: Mapping[bytes, Row]) -> Act | EngineError:
        items = [item for item in members.items if item.identifier in visible]
        at_us = to_us(self.now) if told.at_us is None else told.at_us
        if at_us > to_us(self.now) + _AHEAD_US:
            return UsageError("an outcome cannot lie ahead", advice="Give the time at which it was so.")
        try:
            kinds = _kinds(told, members, items)
        except EngineError as cause:
            return cause
        facts = [
            Fact(item, kinds.get(item.identifier, FeedbackKind.EXPOSURE), visible[item.identifier])
            for item in items
        ]
        return made_act(
            self._work.shard.key, members, told, facts, at_us=at_us, actor=self._work.actor,
            scope=self._work.scope,
        )  # fmt: skip

    def _before(self, acts: Sequence[Act]) -> dict[bytes, Fed]:
        """Return the feedback so far on the claims that are fed back."""
        ids = [fact.item.identifier for act in acts for fact in act.facts if fact.is_fed]
        return feedback_in_sight(self._sight, "atom_id", ids)

    def _result(self, act: Act, fresh: Act | None, before: dict[bytes, Fed] | None) -> Row | EngineError:
        refused = self.rows.refused.get(act.outcome_id)
        if refused is not None:
            return refused
        is_new = fresh is act
        items = [_changed(act, fact, before, is_new=is_new) for fact in act.facts if fact.is_fed]
        is_flagged = bool(FLAGGING.intersection(act.told.labels))
        return {
            "packet_id": act.members.ref,
            "outcome_id": id_text("outcomes", act.outcome_id),
            "status": "recorded" if is_new else "known",
            "membership": act.members.membership,
            "labels": list(act.told.labels),
            "use_status": act.told.use_status,
            "items": items,
            "exposed": len(act.facts) - len(items),
            "edges": [id_text("edges", one) for one in self.rows.edges.get(act.outcome_id, ())],
            "flagged": [one["ref"] for one in items if one["ref"].startswith("atm_")] if is_flagged else [],
            "missing_capabilities": list(act.told.missing_capabilities),
            "graph_version": self._snapshot.version or None,
        }


def _kinds(told: Told, members: Members, items: Sequence[Item]) -> dict[bytes, FeedbackKind]:
    """Return what each named item was.  Raises UsageError for what the packet did not hold."""
    used = kind_of_use(told.labels)
    kinds: dict[bytes, FeedbackKind] = {}
    for kind, words in reversed(_BY_REF):
        for ref in getattr(told, words):
            kinds[_member(ref, members, items)] = kind or used
    return kinds


def _member(ref: str, members: Members, items: Sequence[Item]) -> bytes:
    table, body = parse_ref(ref)
    low, high = prefix_range(body)
    fitting = [one for one in items if one.table == table and low <= one.identifier <= high]
    if len(fitting) == 1:
        return fitting[0].identifier
    if fitting:
        raise UsageError(
            f"{ref!r} stands for {len(fitting)} items of {members.ref}", path=ref,
            advice="Give more characters of the reference.",
        )  # fmt: skip
    raise UsageError(
        f"{ref} is no item of {members.ref}",
        code="not_in_packet",
        path=ref,
        advice="Only what the packet held, and what is in your scope now, can be fed back.",
    )


def _changed(act: Act, fact: Fact, before: dict[bytes, Fed] | None, *, is_new: bool) -> Row:
    """Return what the outcome was to an item, and for a claim what it changed.

    before: the feedback so far, to which this is added; without it only the item is told.
    """
    told: Row = {
        "ref": fact.item.ref, "kind": str(fact.kind), "rank": fact.item.rank,
        "score": shown_score(fact.item.score_ppm),
    }  # fmt: skip
    if before is None:
        return told
    if fact.item.table != "atoms":
        return {**told, "utility": None, "salience": None, "health": None}
    fed = before.setdefault(fact.item.identifier, Fed())
    base = (fact.row["utility_ppm"], fact.row["salience_ppm"], fact.row["health_status"])
    old = fed.standing(*base)
    if is_new:
        fed.add(act.feedback_row(fact))
    new = fed.standing(*base)
    return {
        **told,
        "utility": {"old": shown_score(old.utility_ppm), "new": shown_score(new.utility_ppm)},
        "salience": {"old": shown_score(old.salience_ppm), "new": shown_score(new.salience_ppm)},
        "health": {"old": old.health, "new": new.health},
    }
