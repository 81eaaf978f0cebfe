"""The rows that a set of a person's decisions appends: records, candidates, decisions, what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.comparison import UNSALTED
from amos.admission.reviewed import EDITED_GATE, REJECTED_GATE, approved, closed
from amos.admission.settle import Settlement
from amos.clock import from_us
from amos.errors import UsageError
from amos.evidence.capture import CAPTURED
from amos.flow.current import SnapshotRows
from amos.flow.ordering import next_version
from amos.flow.plan import settled_parts
from amos.flow.prepare import Rules
from amos.flow.review_basis import settle_reviewed, unsalted
from amos.flow.review_cases import Case
from amos.flow.review_names import WORDING
from amos.flow.review_words import Reviewed, Words, capture, raw_records, without_wording, worded_claim
from amos.flow.tombstoned import read_graves
from amos.flow.versions import latest
from amos.journal.store import EventRows, Snapshot
from amos.schemas.columns import ID
from amos.schemas.vocabulary import UNSEEN, Action, Outcome, Reason

HELD_GATE = f"{Outcome.QUARANTINE}:{Reason.TOMBSTONED}"
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Act:
    """One verdict on one case.

    turn: how many decisions were recorded of it before.  actor, at_us: who decides, and when, for the record.
    """

    case: Case
    verdict: str
    words: Words
    turn: int
    actor: str
    at_us: int
    until_us: int | None = None


@dataclass(kw_only=True)
class ReviewPlan:
    """What a commit appends, what it rests on, and the decision row of every case by its id."""

    rows: list[EventRows]
    reads: dict[tuple[str, str], pa.Array]
    decisions: dict[bytes, Row] = field(default_factory=dict)
    digests: dict[bytes, bytes] = field(default_factory=dict)


def plan_review(
    snapshot: Snapshot, acts: Sequence[Act], *, rules: Rules, key: bytes, now: datetime
) -> ReviewPlan:
    """Return the rows of `acts`, which were found to be allowed on this version.

    Raises InputError when a screen objects to what was written, UsageError when a wording states no claim.
    """
    return _Planner(snapshot=snapshot, acts=acts, rules=rules, key=key, now=now).plan()


@dataclass(kw_only=True)
class _Planner:
    snapshot: Snapshot
    acts: Sequence[Act]
    rules: Rules
    key: bytes
    now: datetime
    fresh: list[pa.Table] = field(default_factory=list)
    entities: list[pa.Table] = field(default_factory=list)
    origin: dict[bytes, bytes] = field(default_factory=dict)
    digests: dict[bytes, bytes] = field(default_factory=dict)

    def plan(self) -> ReviewPlan:
        known = SnapshotRows(self.snapshot)
        records = self._records()
        self._read_wordings(records.sources)
        changed, shown = self._changed_candidates()
        revised = self._revised_sources()
        fresh = pa.concat_tables([UNSALTED_CANDIDATES.empty_table(), *self.fresh])
        fresh = self._new_only(fresh)
        settled = settle_reviewed(
            self.snapshot,
            fresh,
            changed,
            key=self.key,
            policy=self.rules.policy,
            now=self.now,
            sources=records.sources,
        )
        entities = pa.concat_tables([records.entities, *self.entities]).combine_chunks()
        own = self._own_decisions(settled)
        told = pa.concat_tables([settled.decisions, pa.Table.from_pylist(own, schema=UNSALTED["decisions"])])
        talks = known.changed_conversations(records.conversations, known.conversations(records.conversations))
        source_decisions = without_wording(records.source_decisions, records.sources)
        parts = [
            ("evidence_captured", "sources", records.sources),
            ("evidence_captured", "conversations", talks),
            ("source_revised", "sources", revised),
            ("dictionary_updated", "entities", known.absent("entities", entities)),
            ("candidate_proposed", "candidates", fresh),
            ("review_decided", "candidates", shown),
            *self._decided(told, source_decisions),
            *settled_parts(settled),
        ]
        return ReviewPlan(
            rows=[EventRows(event, table, rows) for event, table, rows in parts if rows.num_rows],
            reads=self._reads(pa.concat_tables([fresh, changed]), entities),
            decisions=self._by_case(told),
            digests=self.digests,
        )

    def _records(self) -> Any:
        reviewed = [
            Reviewed(
                table=act.case.table,
                identifier=act.case.identifier,
                source=self._source(act.case),
                turn=act.turn,
                words=act.words,
                extra=_extra(act),
                actor=act.actor,
                at_us=act.at_us,
            )
            for act in self.acts
        ]
        raw = raw_records(reviewed)
        graves = read_graves(self.snapshot, self.key, self.now)
        return capture(raw, graves, rules=self.rules, key=self.key, now=self.now)

    def _source(self, case: Case) -> Row:
        return case.row if case.table == "sources" else self._origins[case.row["source_id"]]

    @cached_property
    def _origins(self) -> dict[bytes, Row]:
        ids = [act.case.row["source_id"] for act in self.acts if act.case.table == "candidates"]
        rows = latest(self.snapshot.lookup("sources", "source_id", pa.array(ids, ID)), "sources")
        return {row["source_id"]: row for row in rows.to_pylist()}

    def _read_wordings(self, sources: pa.Table) -> None:
        """Read the claims of the wordings: each takes the place of what was proposed."""
        worded = sources.filter(pc.equal(sources["block"], WORDING))
        edits = [act for act in self.acts if act.verdict == "edit"]
        for place, act in enumerate(edits):
            wording = worded.slice(place, 1)
            made, entities = worded_claim(
                self.snapshot,
                act.case.row,
                self._source(act.case),
                wording,
                act.words,
                rules=self.rules,
                key=self.key,
            )
            graves = read_graves(self.snapshot, self.key, self.now)
            claim = made["claim_id"][0].as_py()
            if graves.claim(claim) is not None:
                raise UsageError(
                    "the wording says what was forgotten",
                    code=str(Reason.TOMBSTONED),
                    advice="Reject the claim, or word it without that.",
                )
            self.fresh.append(made)
            self.entities.append(entities)
            self.origin[act.case.identifier] = claim
            self.digests[act.case.identifier] = wording["content_digest"][0].as_py()

    def _new_only(self, fresh: pa.Table) -> pa.Table:
        ids = fresh["candidate_id"].combine_chunks()
        held = self.snapshot.lookup("candidates", "candidate_id", ids, ["candidate_id"])["candidate_id"]
        return fresh.filter(pc.invert(pc.is_in(fresh["candidate_id"], value_set=held.combine_chunks())))

    def _changed_candidates(self) -> tuple[pa.Table, pa.Table]:
        """Return the candidates that are decided in their new form, and those of them that look different."""
        parts = [UNSALTED_CANDIDATES.empty_table()]
        rows: dict[str, list[Row]] = {"approve": [], REJECTED_GATE: [], EDITED_GATE: []}
        for act in self.acts:
            if act.case.table == "sources":
                if act.verdict in ("approve", "reject"):
                    rows["approve" if act.verdict == "approve" else REJECTED_GATE] += self._held_by(act.case)
            elif act.verdict != "defer":
                gate = {"approve": "approve", "reject": REJECTED_GATE, "edit": EDITED_GATE}[act.verdict]
                rows[gate].append(act.case.row)
        for gate, found in rows.items():
            taken = next_version(unsalted(found))
            parts.append(approved(taken) if gate == "approve" else closed(taken, gate))
        changed = pa.concat_tables(parts).combine_chunks()
        before = {row["candidate_id"]: (row["gate"], row["cues"]) for found in rows.values() for row in found}
        cells = zip(*(changed[name].to_pylist() for name in ("candidate_id", "gate", "cues")), strict=True)
        is_other = [before[one] != (gate, cues) for one, gate, cues in cells]
        return changed, changed.filter(pa.array(is_other, pa.bool_()))

    def _held_by(self, case: Case) -> list[Row]:
        """Return the candidates that wait for nothing but their message."""
        wanted = pa.array([case.identifier], ID)
        rows = latest(self.snapshot.lookup("candidates", "source_id", wanted), "candidates")
        return [row for row in rows.to_pylist() if row["gate"] == HELD_GATE]

    def _revised_sources(self) -> pa.Table:
        """Return the next revision of messages that may be seen from now on."""
        rows = [act.case.row for act in self.acts if act.case.kind == "message" and act.verdict == "approve"]
        if not rows:
            return CAPTURED.empty_table()
        made = [
            {**{name: row[name] for name in CAPTURED.names}, "revision": row["revision"] + 1,
             "flags": row["flags"] & ~UNSEEN}
            for row in rows
        ]  # fmt: skip
        return pa.Table.from_pylist(made, schema=CAPTURED)

    def _own_decisions(self, settled: Settlement) -> list[Row]:
        """Return the decisions that no history makes: rejections, deferrals, messages, reworded claims."""
        told = set(settled.decisions["candidate_id"].drop_null().to_pylist())
        found = []
        for act in self.acts:
            decision = {name: act.case.decision[name] for name in UNSALTED["decisions"].names}
            decision |= {"version": decision["version"] + 1, "policy": self.rules.policy.label}
            if act.case.table == "sources" and act.verdict != "defer":
                found += [_rejected(row) for row in self._waiting_claims(act, told)]
            if act.case.identifier not in told:
                found.append(self._decided_as(act, decision))
        return found

    def _waiting_claims(self, act: Act, told: set[bytes]) -> list[Row]:
        ids = [row["candidate_id"] for row in self._held_by(act.case) if row["candidate_id"] not in told]
        rows = latest(self.snapshot.lookup("decisions", "candidate_id", pa.array(ids, ID)), "decisions")
        names = UNSALTED["decisions"].names
        return [
            {**{name: row[name] for name in names}, "version": row["version"] + 1} for row in rows.to_pylist()
        ]

    def _decided_as(self, act: Act, decision: Row) -> Row:
        if act.verdict == "defer":
            assert act.until_us is not None
            reasons = list(dict.fromkeys([*decision["reasons"], str(Reason.DEFERRED_BY_REVIEWER)]))
            return {**decision, "deadline": from_us(act.until_us), "reasons": reasons}
        if act.verdict == "reject":
            return _rejected(decision)
        if act.case.kind == "forget":
            return {**decision, "outcome": str(Outcome.IGNORE), "action": str(Action.NOOP), "deadline": None,
                    "reasons": [str(Reason.APPROVED_BY_REVIEWER), str(Reason.FORGET_REQUESTED)]}  # fmt: skip
        if act.verdict == "edit":
            claim = self.origin[act.case.identifier]
            return {**decision, "outcome": str(Outcome.LINK), "action": str(Action.NOOP), "deadline": None,
                    "reasons": [str(Reason.EDITED_AND_APPROVED_BY_REVIEWER)], "atom_id": claim,
                    "targets": [claim]}  # fmt: skip
        return {**decision, "outcome": str(Outcome.IGNORE), "action": str(Action.NOOP), "deadline": None,
                "reasons": [str(Reason.APPROVED_BY_REVIEWER)]}  # fmt: skip

    def _decided(self, told: pa.Table, of_records: pa.Table) -> list[tuple[str, str, pa.Table]]:
        """Return the decisions of the person apart from those that only follow."""
        ids = [act.case.decision["decision_id"] for act in self.acts]
        ids += [
            row["candidate_id"] for part in self.fresh for row in part.select(["candidate_id"]).to_pylist()
        ]
        is_own = pc.or_(
            pc.is_in(told["decision_id"], value_set=pa.array(ids, ID)),
            pc.fill_null(pc.is_in(told["candidate_id"], value_set=pa.array(ids, ID)), False),
        )
        return [
            ("review_decided", "decisions", told.filter(is_own)),
            (
                "candidate_decided",
                "decisions",
                pa.concat_tables([told.filter(pc.invert(is_own)), of_records]),
            ),
        ]

    def _by_case(self, told: pa.Table) -> dict[bytes, Row]:
        return {row["candidate_id"] or row["source_id"]: row for row in told.to_pylist()}

    def _reads(self, candidates: pa.Table, entities: pa.Table) -> dict[tuple[str, str], pa.Array]:
        sources = pa.array(sorted({act.case.row["source_id"] for act in self.acts}), ID)
        return {
            ("candidates", "history_id"): candidates["history_id"].combine_chunks(),
            ("sources", "source_id"): sources,
            ("entities", "entity_id"): entities["entity_id"].combine_chunks(),
        }


def _rejected(decision: Row) -> Row:
    asked = [one for one in decision["reasons"] if one == Reason.FORGET_REQUESTED]
    reasons = [str(Reason.REJECTED_BY_REVIEWER), *asked]
    return {**decision, "outcome": str(Outcome.REJECT), "action": str(Action.REJECT), "deadline": None,
            "reasons": reasons, "atom_id": None, "targets": []}  # fmt: skip


def _extra(act: Act) -> Row:
    """Return what the record of an act keeps beside its note: enough to repeat it elsewhere."""
    kept: Row = {"decision": act.verdict}
    if act.until_us is not None:
        kept["until_us"] = act.until_us
    if act.words.wording is not None:
        kept["wording"] = act.words.kind
    return kept
