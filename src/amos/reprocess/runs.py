"""Shadow runs: read, compare, promote in one commit, take back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import as_text
from amos.errors import BusyError, UsageError
from amos.flow.prepare import Rules
from amos.flow.report import state_of_run
from amos.flow.sight import Sight
from amos.identity import id_text, parse_ref, prefix_range
from amos.journal.events import EventNotice
from amos.journal.store import HeadMoved, Shard, Snapshot
from amos.reprocess.backward import backward_change
from amos.reprocess.change import Readings, change_of
from amos.reprocess.diff import KINDS, Decided, Diff, compare, count_elsewhere
from amos.reprocess.shadow import Progress, Shadow, Span, choose_sources, read_shadow
from amos.reprocess.switch import Switched, current_rows, switch
from amos.schemas.vocabulary import WITHDRAWN

KIND = "reprocess"
REVERT = "revert"
TRIES = 5
Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a run reads again: sources of a scope and a span of event time, with an extractor."""

    extractor: str
    span: Span = field(default_factory=Span)
    scope: Mapping[str, str] = field(default_factory=dict)

    def as_record(self) -> Record:
        """Return it as plain values, for the receipt of the run."""
        return {
            "extractor": self.extractor,
            "since": _shown(self.span.since_us),
            "until": _shown(self.span.until_us),
            "since_us": self.span.since_us,
            "until_us": self.span.until_us,
            "scope": dict(self.scope),
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Asked:
        """Return what the receipt of a run says was asked."""
        span = Span(since_us=record["since_us"], until_us=record["until_us"])
        return cls(extractor=record["extractor"], span=span, scope=record["scope"])


def _shown(us: int | None) -> str | None:
    return None if us is None else as_text(us)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A shadow run as it is on one pinned version, ready to be told or promoted."""

    base: int
    sources: int
    diff: Diff
    entities: pa.Table
    switched: Switched
    is_empty: bool


@dataclass(frozen=True, kw_only=True)
class Reprocessing:
    """One shard whose sources one caller reads again."""

    shard: Shard
    actor: str
    rules: Rules
    now: Callable[[], datetime]

    def compare(self, asked: Asked, snapshot: Snapshot, progress: Progress | None = None) -> Compared:
        """Return how the reading of the sources asked for would differ; nothing is written."""
        now = self.now()
        sight = Sight(snapshot=snapshot, now=now, scope=asked.scope)
        sources = choose_sources(sight, asked.span)
        key = self.shard.key
        shadow = read_shadow(snapshot, sources, rules=self.rules, key=key, now=now, progress=progress)
        change, readings = change_of(snapshot, shadow)
        switched = switch(
            snapshot, change, event="reprocess_applied", key=key, policy=self.rules.policy, now=now
        )
        return Compared(
            base=snapshot.version,
            sources=len(sources),
            entities=shadow.entities,
            diff=_diff(snapshot, shadow, readings, switched),
            switched=switched,
            is_empty=change.is_empty,
        )

    def keep(self, run_id: bytes, asked: Asked, compared: Compared, started: datetime) -> Record:
        """Keep the receipt of a shadow run, and return it."""
        record = {
            "run_id": id_text("runs", run_id),
            **asked.as_record(),
            "policy": self.rules.policy.label,
            "sources": compared.sources,
            **{kind: compared.diff.counts[kind] for kind in KINDS},
            "digest": compared.diff.digest(),
            "compared_at": compared.base,
            "is_empty": compared.is_empty,
        }
        self.shard.record_run(run_id, KIND, started, self.now(), record)
        return {**record, **state_of_run([])}

    def apply(self, run_id: bytes, record: Record, progress: Progress | None = None) -> Record:
        """Make a shadow run the current reading, in one commit; return its receipt.

        A run that found nothing to change leaves everything as it is.
        Raises UsageError when it was applied already, or the store would change in another way than the
        run said; BusyError when others write without a pause.
        """
        if record["applied"] and not record["reverted"]:
            raise UsageError(
                f"run {record['run_id']} is applied already",
                advice=f"`amos revert {record['run_id']}` undoes it.",
            )
        if record["is_empty"]:
            return record
        asked = Asked.of(record)
        for _ in range(TRIES):
            with self.shard.pin() as snapshot:
                compared = self.compare(asked, snapshot, progress)
            self._require_same(record, compared)
            told = {"run": record["run_id"], "extractor": asked.extractor, "digest": record["digest"],
                    "counts": {kind: record[kind] for kind in KINDS}}  # fmt: skip
            try:
                version = self._commit(compared, run_id, [EventNotice("reprocess_applied", told)])
            except HeadMoved:
                continue
            return {**record, "applied": True, "reverted": False, "graph_version": version}
        raise BusyError("others write to the same sources without a pause")

    def _require_same(self, record: Record, compared: Compared) -> None:
        if compared.diff.digest() != record["digest"]:
            raise UsageError(
                f"run {record['run_id']} would no longer change what it said: the store has changed",
                advice=f"Run `amos reprocess --extractor {record['extractor']}` again, then apply that run.",
            )

    def _commit(self, compared: Compared, run_id: bytes, notices: list[EventNotice]) -> int:
        return self.shard.commit(
            compared.switched.rows,
            base=compared.base,
            reads=compared.switched.reads,
            operation=KIND,
            actor=self.actor,
            run_id=run_id,
            now=self.now(),
            texts=self.rules.texts,
            notices=notices,
        )

    def revert(self, run_id: bytes, record: Record, *, dry_run: bool = False) -> Record:
        """Take an applied run back, in one commit; return what was taken back.

        Raises UsageError when the run is not applied, a later run reads the same sources, or the history
        it needs was dropped.
        """
        if not record["applied"] or record["reverted"]:
            state = "was reverted already" if record["reverted"] else "was never applied"
            raise UsageError(
                f"run {record['run_id']} {state}", advice="`amos runs` lists what each has done."
            )
        for _ in range(TRIES):
            with self.shard.pin() as snapshot:
                change = backward_change(self.shard, snapshot, int(record["graph_version"]))
                switched = switch(
                    snapshot, change, event="run_reverted", key=self.shard.key, policy=self.rules.policy,
                    now=self.now(),
                )  # fmt: skip
                base = snapshot.version
            counts = {
                "withdrawn": _count_withdrawn(change.replaced),
                "restored": change.replaced.num_rows - _count_withdrawn(change.replaced),
            }
            if dry_run:
                return {"run_id": record["run_id"], "dry_run": True, **counts, "graph_version": None}
            notice = EventNotice("run_reverted", {"run": record["run_id"], "counts": counts})
            try:
                version = self.shard.commit(
                    switched.rows, base=base, reads=switched.reads, operation=REVERT, actor=self.actor,
                    run_id=run_id, now=self.now(), notices=[notice],
                )  # fmt: skip
            except HeadMoved:
                continue
            return {"run_id": record["run_id"], "dry_run": False, **counts, "graph_version": version}
        raise BusyError("others write to the same sources without a pause")


def _count_withdrawn(rows: pa.Table) -> int:
    return int(pc.sum(pc.fill_null(pc.equal(rows["gate"], WITHDRAWN), False)).as_py() or 0)


def _diff(snapshot: Snapshot, shadow: Shadow, readings: Readings, switched: Switched) -> Diff:
    told = pa.concat_arrays([table["candidate_id"].combine_chunks() for table in readings[:2]])
    moved = switched.decisions["candidate_id"].combine_chunks()
    stored = current_rows(snapshot, "decisions", "candidate_id", pa.concat_arrays([told, moved]).unique())
    before = _decided(stored)
    after = {**before, **_decided(switched.decisions)}
    diff = compare(readings, shadow.refused, before, after)
    elsewhere = moved.filter(pc.invert(pc.is_in(moved, value_set=told)))
    rows = current_rows(snapshot, "candidates", "candidate_id", elsewhere)
    own = pc.is_in(rows["source_id"], value_set=shadow.sources)
    count_elsewhere(diff, rows.filter(pc.invert(own)), before, after)
    return diff


def _decided(decisions: pa.Table) -> Decided:
    ids, outcomes, reasons = (decisions[name].to_pylist() for name in ("candidate_id", "outcome", "reasons"))
    rows = zip(ids, outcomes, reasons, strict=True)
    return {candidate: (outcome, reason[0]) for candidate, outcome, reason in rows if candidate is not None}


def find_run(shard: Shard, ref: str) -> tuple[bytes, Record]:
    """Return id and receipt of the reprocess run that `ref` names, by a prefix too.

    Raises UsageError when it names none, or several.
    """
    table, body = parse_ref(ref)
    low, high = prefix_range(body)
    found = [entry for entry in shard.runs() if table == "runs" and low <= entry.run_id <= high]
    if len(found) != 1:
        told = "stands for several runs" if found else "is no run of this store"
        raise UsageError(f"{ref!r} {told}", path=ref, advice="`amos runs` lists them.")
    (entry,) = found
    if entry.kind != KIND:
        raise UsageError(
            f"{ref!r} is {_ARTICLES.get(entry.kind, entry.kind)} run, which cannot be taken back",
            path=ref,
            advice=f"`amos forget --run {ref}` erases what an ingest run brought.",
        )
    commits = [one for page in shard.commit_pages(until=shard.head) for one in page]
    own = [one for one in commits if one.run_id == entry.run_id]
    return entry.run_id, {**json.loads(entry.receipt), **state_of_run(own)}


_ARTICLES = {"ingest": "an ingest", "import": "an import"}
