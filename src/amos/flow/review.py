"""Decide what waits: check each case against what its reviewer saw, write one commit, say what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pyarrow as pa

from amos.atoms.statement import statement_of
from amos.clock import to_us
from amos.errors import BusyError, InputError, UsageError
from amos.extraction.forget_requests import find_requests
from amos.flow.forget import Forgetting
from amos.flow.look import decision_rows, labels
from amos.flow.prepare import Rules
from amos.flow.review_cases import Case, QueueFilter, cases_of, find_case, read_queue
from amos.flow.review_checks import VERDICTS, Check, Refused, as_error, shown_ref
from amos.flow.review_forget import Asked, beside_of
from amos.flow.review_names import RECORD, WORDING
from amos.flow.review_plan import Act, ReviewPlan, plan_review
from amos.flow.review_words import Words, check_words, records_of
from amos.flow.sight import Sight
from amos.journal.refusals import VersionConflict
from amos.journal.store import HeadMoved, Idempotency, Shard, Snapshot
from amos.schemas.columns import ID
from amos.schemas.vocabulary import Reason

TRIES = 4
_REASON_OF = {
    "approve": str(Reason.APPROVED_BY_REVIEWER),
    "edit": str(Reason.EDITED_AND_APPROVED_BY_REVIEWER),
    "reject": str(Reason.REJECTED_BY_REVIEWER),
}
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ReviewRequest:
    """One verdict on what is named, or on what a filter of the queue finds.

    seen: the graph version that the reviewer looked at; without it, that of each proposal.  until_us: of
    defer.  key: repeating it with the same request means the same act.  recreation: of what an approved
    request to forget takes away; such requests are decided by name, or by a filter that asks for their kind.
    """

    verdict: str
    refs: tuple[str, ...] = ()
    wanted: QueueFilter | None = None
    words: Words = field(default_factory=Words)
    until_us: int | None = None
    seen: int | None = None
    key: str | None = None
    recreation: str = "forbid"

    @property
    def digest(self) -> bytes:
        """The SHA-256 of what is asked for, apart from the key."""
        told = {
            "verdict": self.verdict,
            "refs": list(self.refs),
            "wanted": None if self.wanted is None else repr(self.wanted),
            "words": [self.words.note, self.words.text, self.words.value, self.words.referent],
            "until": self.until_us,
        }
        if self.recreation != "forbid":
            told["recreation"] = self.recreation
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()


@dataclass(frozen=True, kw_only=True)
class Reviewing:
    """One reviewer at work on one shard."""

    shard: Shard
    actor: str
    run_id: bytes
    rules: Rules
    now: Callable[[], datetime]
    scope: Mapping[str, str] = field(default_factory=dict)
    wait_seconds: float = 10

    def decide(self, request: ReviewRequest, *, dry_run: bool = False) -> Row:
        """Apply a verdict to every case that allows it, in one commit; return what became of each.

        A single named case that does not allow it raises BusyError or InputError; of several, those stay as
        they are and are told with their reason.  Raises UsageError for a request that makes no sense.
        """
        self._check(request)
        self._require_same_act(request)
        for attempt in range(TRIES):
            try:
                return self._once(request, dry_run=dry_run)
            except (HeadMoved, VersionConflict):
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("the last try returns or raises")

    def _check(self, request: ReviewRequest) -> None:
        if request.verdict not in VERDICTS:
            raise UsageError(
                f"no verdict is called {request.verdict!r}", advice=f"Verdicts: {', '.join(VERDICTS)}."
            )
        if not request.refs and request.wanted is None:
            raise UsageError(
                "nothing is named",
                advice="Name what `amos review list` prints, or give a filter such as --why.",
            )
        if request.refs and request.wanted is not None:
            raise UsageError("references and filters cannot be combined", advice="Give one or the other.")
        if request.verdict == "edit" and len(request.refs) != 1:
            raise UsageError("edit is about one claim", advice="Name the claim to word anew.")
        if request.verdict == "defer" and request.until_us is None:
            raise UsageError("defer needs an end", advice="Give --days or --until.")
        if request.until_us is not None and request.until_us <= to_us(self.now()):
            raise UsageError("the end of a deferral must lie ahead")
        check_words(request.words, request.verdict)

    def _require_same_act(self, request: ReviewRequest) -> None:
        """Raise a conflict when the key stands for another request."""
        if request.key is not None:
            now = self.now()
            self.shard.commit(
                [], base=self.shard.head, reads={}, operation="review", actor=self.actor, run_id=self.run_id,
                now=now, idempotency=Idempotency(request.key, request.digest),
            )  # fmt: skip

    def _once(self, request: ReviewRequest, *, dry_run: bool) -> Row:
        now = self.now()
        with self.shard.pin() as snapshot:
            _require_known(request.seen, snapshot.version)
            sight = Sight(snapshot=snapshot, now=now, scope=self.scope)
            cases = self._cases(sight, request)
            records = records_of(snapshot, [(case.table, case.identifier) for case in cases], self.shard.key)
            replayed = [
                case for case in cases if _is_repeated(case, request, records[case.identifier], self.actor)
            ]
            again = {case.identifier for case in replayed}
            others = [case for case in cases if case.identifier not in again]
            check = Check(sight=sight, key=self.shard.key, verdict=request.verdict, seen=request.seen)
            refused = check.refused(others)
            if refused and len(cases) == 1:
                raise as_error(refused[0])
            stopped = {one.case.identifier for one in refused}
            acts = [
                self._act(case, request, records[case.identifier], now)
                for case in others
                if case.identifier not in stopped
            ]
            asked = [act for act in acts if request.verdict == "approve" and act.case.kind == "forget"]
            acts = [act for act in acts if act not in asked]
            plan = self._plan(snapshot, acts, now)
            version = snapshot.version
            if acts and not dry_run:
                version = self._commit(plan, acts, request, base=snapshot.version, now=now)
                if version <= snapshot.version:  # the key was used for this before, and that stands
                    replayed, acts = [*replayed, *(act.case for act in acts)], []
            report = _report(sight, acts, plan, replayed=replayed, refused=refused)
        if len(asked) == len(cases) == 1:
            return self._forget(asked[0], request, dry_run=dry_run)
        for act in asked:  # each in a commit of its own, with what it takes away
            alone = replace(request, refs=(shown_ref(act.case),), wanted=None, key=None)
            report = _joined(report, self._alone(alone, act.case, dry_run=dry_run))
        version = max(version, report.pop("graph_version", version))
        return {
            "verdict": request.verdict,
            "dry_run": dry_run,
            "actor": self.actor,
            **report,
            "graph_version": version,
        }

    def _act(self, case: Case, request: ReviewRequest, records: list[Row], now: datetime) -> Act:
        return Act(
            case=case,
            verdict=request.verdict,
            words=request.words,
            turn=max((row["turn"] for row in records), default=-1) + 1,
            actor=self.actor,
            at_us=to_us(now),
            until_us=request.until_us,
        )

    def _alone(self, request: ReviewRequest, case: Case, *, dry_run: bool) -> Row:
        """Return what became of one of several requests to forget; what stands against it is told."""
        try:
            return self.decide(request, dry_run=dry_run)
        except (BusyError, InputError) as cause:
            with self.shard.pin() as snapshot:
                sight = Sight(snapshot=snapshot, now=self.now(), scope=self.scope)
                refused = Refused(case, cause.code, str(cause), cause.advice)
                return _report(sight, [], ReviewPlan(rows=[], reads={}), replayed=[], refused=[refused])

    def _forget(self, act: Act, request: ReviewRequest, *, dry_run: bool) -> Row:
        """Forget what an approved request reaches, together with the decision on it."""
        work = Forgetting(
            shard=self.shard,
            actor=self.actor,
            run_id=self.run_id,
            policy=self.rules.policy,
            now=self.now,
            wait_seconds=self.wait_seconds,
        )
        with self.shard.pin() as snapshot:
            sight = Sight(snapshot=snapshot, now=self.now(), scope=self.scope)
            asked = Asked.of(sight, act.case, recreation=request.recreation)
            stale = asked.why_stale(request.seen)
            if stale is not None:
                raise as_error(stale)
            plan = self._plan(snapshot, [act], sight.now)
            report = _report(sight, [act], plan, replayed=[], refused=[])
            report["items"][0] |= asked.shown()
            version, forgot, erasure = snapshot.version, None, None
            if asked.reach.claims:
                forgot = asked.preview(work) if dry_run else None
                erasure = None if dry_run else asked.plan(work)
            elif not dry_run:
                version = self._commit(plan, [act], request, base=version, now=sight.now)
        if erasure is not None:
            terms = {"operation": "review", "texts": self.rules.texts, "expected": _pinned([act])}
            key = None if request.key is None else Idempotency(request.key, request.digest)
            beside = beside_of(plan, act.case, idempotency=key, **terms)
            forgot = work.erase(erasure, asked.request, beside=beside)
            version = forgot["graph_version"]
        report["items"][0]["forgot"] = forgot
        told = {"verdict": request.verdict, "dry_run": dry_run, "actor": self.actor}
        return {**told, **report, "graph_version": version}

    def _cases(self, sight: Sight, request: ReviewRequest) -> list[Case]:
        if request.wanted is not None:
            cases = cases_of(sight, read_queue(sight, request.wanted))
            is_meant = "forget" in request.wanted.kinds
            return [case for case in cases if is_meant or case.kind != "forget"]
        found = {
            (case.table, case.identifier): case for case in (find_case(sight, ref) for ref in request.refs)
        }
        return list(found.values())

    def _plan(self, snapshot: Snapshot, acts: list[Act], now: datetime) -> ReviewPlan:
        if not acts:
            return ReviewPlan(rows=[], reads={})
        return plan_review(snapshot, acts, rules=self.rules, key=self.shard.key, now=now)

    def _commit(
        self, plan: ReviewPlan, acts: list[Act], request: ReviewRequest, *, base: int, now: datetime
    ) -> int:
        return self.shard.commit(
            plan.rows,
            base=base,
            reads=plan.reads,
            operation="review",
            actor=self.actor,
            run_id=self.run_id,
            now=now,
            expected=_pinned(acts),
            idempotency=None if request.key is None else Idempotency(request.key, request.digest),
            texts=self.rules.texts,
        )


def _pinned(acts: list[Act]) -> dict[tuple[str, bytes], int]:
    """Return the versions of the decisions that acts rest on."""
    return {("decisions", act.case.decision["decision_id"]): act.case.decision["version"] for act in acts}


def _joined(report: Row, more: Row) -> Row:
    """Return the counts and items of two reports together."""
    counts = {name: report[name] + more[name] for name in ("decided", "replayed", "refused")}
    version = max(report.get("graph_version") or 0, more.get("graph_version") or 0)
    return {**counts, "items": [*report["items"], *more["items"]], "graph_version": version}


def _require_known(seen: int | None, head: int) -> None:
    """Raise UsageError for a graph version that nobody can have seen."""
    if seen is not None and seen > head:
        raise UsageError(
            f"there is no graph version {seen}: the newest is {head}",
            advice="Give the one that `amos review show` printed.",
        )


def _is_repeated(case: Case, request: ReviewRequest, records: list[Row], actor: str) -> bool:
    """Tell whether the same person decided the very same before, and nothing has moved since."""
    reasons = case.decision["reasons"]
    if not reasons or not records or reasons[0] != _REASON_OF.get(request.verdict) or case.is_waiting:
        return False
    last = [row for row in records if row["turn"] == records[-1]["turn"]]
    said = {row["block"]: row["content"] for row in last}
    same_words = said.get(RECORD) == request.words.note and said.get(WORDING) == request.words.wording
    return same_words and last[0]["author"] == actor


def _report(
    sight: Sight, acts: list[Act], plan: ReviewPlan, *, replayed: list[Case], refused: list[Refused]
) -> Row:
    """Return counts, and one item per case with the decision that stands for it."""
    told = [(act.case, plan.decisions.get(act.case.identifier, act.case.decision)) for act in acts]
    told += [(case, case.decision) for case in (*replayed, *(one.case for one in refused))]
    items = _items(sight, told)
    for item, act in zip(items, acts, strict=False):
        digest = plan.digests.get(act.case.identifier)
        item |= {"status": "decided", "text_sha256": None if digest is None else digest.hex()}
    for item in items[len(acts) : len(acts) + len(replayed)]:
        item |= {"status": "replayed", "text_sha256": None}
    for item, one in zip(items[len(acts) + len(replayed) :], refused, strict=True):
        item |= {"status": "refused", "text_sha256": None, "code": one.code}
        item |= {"message": one.message, "advice": one.advice}
    return {"decided": len(acts), "replayed": len(replayed), "refused": len(refused), "items": items}


def _items(sight: Sight, told: list[tuple[Case, Row]]) -> list[Row]:
    """Return each case with the decision that stands for it."""
    if not told:
        return []
    said = statements_of(sight, [case for case, _ in told])
    table = pa.Table.from_pylist([{**case.decision, **decision} for case, decision in told])
    names = ("decision_id", "outcome", "action", "reasons", "atom_id", "targets", "deadline")
    return [
        {"ref": shown_ref(case), "kind": case.kind, "statement": said[case.identifier],
         **{name: shown[name] for name in names}}
        for (case, _), shown in zip(told, decision_rows(sight, table), strict=True)
    ]  # fmt: skip


def asked_of(source: Row) -> str:
    """Return what a message asks to have forgotten, in its own words where they still stand."""
    words = [f"“{one.words}”" for one in find_requests(source["content"])]
    return f"Asks to forget {', '.join(words) or 'something'}."


def statements_of(sight: Sight, cases: list[Case]) -> dict[bytes, str | None]:
    """Return by id what each case says: the rendered claim, or the request; a withheld message has none."""
    claims = [case for case in cases if case.table == "candidates"]
    found: dict[bytes, str | None] = {
        case.identifier: asked_of(case.row) if case.kind == "forget" else None for case in cases
    }
    if claims:
        names = labels(sight, pa.chunked_array([pa.array([case.row["subject_id"] for case in claims], ID)]))
        for case in claims:
            row = case.row
            found[case.identifier] = statement_of(
                row["type"], row["payload"], row["polarity"], names[row["subject_id"]]
            )
    return found
