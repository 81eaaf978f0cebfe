"""Ingest: batches of blocks in, one durable commit per batch, a receipt that reconciles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.tombstones import Graves
from amos.evidence.capture import digest_deliveries, identify_sources
from amos.flow.plan import Ahead, Plan, Received, plan_batch
from amos.flow.prepare import Rules, prepare
from amos.flow.receipt import Receipt
from amos.journal.store import CommitTerms, HeadMoved, Shard, Snapshot
from amos.schemas.columns import ID
from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch
from amos.sources.reading import batch_table

TRIES = 3
"""Decisions on a pinned version before the last one, which holds the shard."""
_AHEAD_FROM_RECORDS = 1_024
"""Records of a batch from which writing it goes on beside reading the next one."""

_COUNTED_IN_BULK_FROM = 200
"""Rows from which counting in Arrow is cheaper."""

_NO_STABLE_ID = int(SourceFlag.NO_STABLE_ID)


def counted(column: pa.ChunkedArray) -> Counter[str]:
    """Return how often each value of `column` occurs."""
    if len(column) < _COUNTED_IN_BULK_FROM:
        return Counter(column.to_pylist())
    return Counter({row["values"]: row["counts"] for row in pc.value_counts(column).to_pylist()})


class Progress(Protocol):
    """Told after every commit how many records and bytes are done."""

    def __call__(self, records: int, size: int) -> None:
        """Report the records and bytes of one finished batch."""
        ...


class _Open(NamedTuple):
    """A batch that was decided and whose commit may still go on."""

    batch: Batch
    received: Received
    plan: Plan
    commit: Future[None]


@dataclass(kw_only=True)
class Run:
    """One ingest run over one shard."""

    shard: Shard
    rules: Rules
    actor: str
    run_id: bytes
    now: Callable[[], datetime]
    receipt: Receipt = field(default_factory=Receipt)
    _graves: Graves | None = None
    _expects_new: bool = True

    def ingest(self, batches: Iterable[Batch], progress: Progress | None = None) -> Receipt:
        """Store and decide every batch, each in one commit; return the receipt.

        While one large batch is written, the next one is read and prepared.
        """
        waiting: list[_Open] = []

        def finish() -> None:
            while waiting:  # taken out first: nothing is counted twice, whatever fails
                self._finish(waiting.pop(), progress)

        with ThreadPoolExecutor(max_workers=1) as writer:
            try:
                for batch in batches:
                    self.receipt.count_batch(batch)
                    received = None if batch.is_empty else self._receive(batch)
                    finish()
                    if received is None:
                        self._report(batch, progress)
                    else:
                        waiting.append(self._start(batch, received, writer))
            finally:
                finish()
        self.receipt.graph_version = self.shard.head or None
        return self.receipt

    def _receive(self, batch: Batch) -> Received:
        """Name the blocks of a batch, and prepare them when they are likely to be new."""
        raw = batch_table(batch)
        source_ids = identify_sources(raw, self.shard.key)
        delivered = digest_deliveries(raw, self.shard.key)
        ahead = None
        if self._expects_new and batch.record_count >= _AHEAD_FROM_RECORDS:
            now, graves = self.now(), self._graves
            prepared = prepare(
                raw.combine_chunks(),
                source_ids,
                delivered,
                pa.nulls(len(source_ids), ID),
                rules=self.rules,
                key=self.shard.key,
                now=now,
                graves=graves,
            )
            ahead = Ahead(prepared=prepared, now=now, graves=graves)
        return Received(raw, source_ids, delivered, ahead)

    def _start(self, batch: Batch, received: Received, writer: Executor) -> _Open:
        """Decide a batch on a pinned version and begin to commit it."""
        with self.shard.pin() as snapshot:
            plan = self._plan(snapshot, received)
            base = snapshot.version
        self._expects_new = plan.deliveries.fresh.size == received.raw.num_rows

        def commit() -> None:
            self.shard.commit(plan.rows, base=base, reads=plan.reads, **self._terms(plan))
            self.shard.tidy(now=plan.now, is_running=True)

        if batch.record_count >= _AHEAD_FROM_RECORDS:
            return _Open(batch, received, plan, writer.submit(commit))
        done: Future[None] = Future()
        try:
            commit()
        except HeadMoved as moved:
            done.set_exception(moved)
        else:
            done.set_result(None)
        return _Open(batch, received, plan, done)

    def _finish(self, one: _Open, progress: Progress | None) -> None:
        """Wait for a commit, decide again where what it rested on has moved, and count it."""
        plan = one.plan
        try:
            one.commit.result()
        except HeadMoved:
            plan = self._decide_again(one.received)
        self._count(one.received.raw, plan)
        self.receipt.count_conflicts(
            plan.deliveries.raw["locator"].take(plan.deliveries.conflict_rows).to_pylist(),
            one.batch.paths,
        )
        self._report(one.batch, progress)

    def _decide_again(self, received: Received) -> Plan:
        for _ in range(TRIES - 1):
            with self.shard.pin() as snapshot:
                plan = self._plan(snapshot, received)
                base = snapshot.version
            try:
                self.shard.commit(plan.rows, base=base, reads=plan.reads, **self._terms(plan))
            except HeadMoved:
                continue
            return plan
        with self.shard.exclusive() as writer:
            plan = self._plan(writer.snapshot, received)
            writer.commit(plan.rows, **self._terms(plan))
        return plan

    def _terms(self, plan: Plan) -> CommitTerms:
        return {
            "operation": "ingest",
            "actor": self.actor,
            "run_id": self.run_id,
            "now": plan.now,
            "texts": self.rules.texts,
        }

    def _plan(self, snapshot: Snapshot, received: Received) -> Plan:
        plan = plan_batch(
            snapshot,
            received,
            rules=self.rules,
            key=self.shard.key,
            now=self.now(),
            graves=self._graves,
        )
        self._graves = plan.graves
        return plan

    @staticmethod
    def _report(batch: Batch, progress: Progress | None) -> None:
        if progress is not None:
            progress(batch.record_count, batch.bytes_read)

    def _count(self, raw: pa.Table, plan: Plan) -> None:
        receipt = self.receipt
        receipt.sources.update(plan.deliveries.fates())
        receipt.blocks += plan.new_blocks
        receipt.trusts.update(counted(raw["trust"]))
        receipt.unstable_ids += int(((raw["flags"].to_numpy() & _NO_STABLE_ID) != 0).sum())
        receipt.decisions.update(counted(plan.decisions["outcome"]))
        if plan.decisions.num_rows:
            receipt.reasons.update(counted(pc.list_element(plan.decisions["reasons"], 0)))
        receipt.count_forgotten(plan.deliveries.forgotten.size)
        receipt.cut_bytes += plan.cut_bytes
        if plan.findings.num_rows:
            receipt.count_cuts(plan.findings, raw.take(plan.deliveries.fresh))
        receipt.atoms_written += plan.new_atoms
