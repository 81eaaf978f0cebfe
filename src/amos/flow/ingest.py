"""Ingest: batches of blocks in, one durable commit per batch, a receipt that reconciles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from amos.abreast import make_ahead
from amos.admission.tombstones import Graves
from amos.evidence.capture import digest_deliveries, identify_sources
from amos.extraction.registry import RulesExtractor, fallback_reasons
from amos.extraction.screen import screen
from amos.flow.memory import collected_between
from amos.flow.plan import Arrived, Plan, plan_batch
from amos.flow.prepare import Rules, Screened, hear
from amos.flow.receipt import Receipt
from amos.flow.retaining import withhold_unretained
from amos.flow.rules import note_answers
from amos.journal.store import HeadMoved, Shard, Snapshot
from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch
from amos.sources.reading import batch_table

TRIES = 3
"""Decisions on a pinned version before the last one, which holds the shard."""
_COUNTED_IN_BULK_FROM = 200
"""Rows from which counting in Arrow is cheaper."""

_AHEAD_FROM = 4_096
"""Records of a batch from which on the next one is read, screened and heard while it is stored."""
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
    _is_worth_hearing: bool = False

    def ingest(self, batches: Iterable[Batch], progress: Progress | None = None) -> Receipt:
        """Store and decide every batch, each in one commit; return the receipt."""
        note_answers(self.shard, self.rules.extractor, self.now())
        with collected_between() as collect:
            self._is_worth_hearing = self.shard.head == 0
            coming = ((batch, self._arrived(batch)) for batch in batches)
            for batch, arrived in make_ahead(coming, lambda one: one[0].record_count >= _AHEAD_FROM):
                self.receipt.count_batch(batch)
                if not batch.is_empty:
                    self._ingest_blocks(arrived, batch.paths)
                    self.shard.tidy(now=self.now(), is_running=True)
                if progress is not None:
                    progress(batch.record_count, batch.bytes_read)
                collect(is_due=batch.record_count >= _AHEAD_FROM)
        self.receipt.graph_version = self.shard.head or None
        self.receipt.fallback_reasons = fallback_reasons(self.rules.extractor)
        return self.receipt

    def _arrived(self, batch: Batch) -> Arrived:
        """Return what can be told of a batch before the store is asked; runs ahead of the work on others."""
        raw = batch_table(batch)
        screened = None
        if raw.num_rows >= _AHEAD_FROM:
            retained = withhold_unretained(raw)
            screened = Screened(screen(retained))
            is_pure = self.rules.earlier is None and isinstance(self.rules.extractor, RulesExtractor)
            if self._is_worth_hearing and is_pure:
                screened = screened._replace(heard=hear(retained, screened.findings, self.rules))
        return Arrived(
            raw=raw,
            source_ids=identify_sources(raw, self.shard.key),
            delivered=digest_deliveries(raw, self.shard.key),
            screened=screened,
        )

    def _ingest_blocks(self, arrived: Arrived, paths: Mapping[str, str]) -> None:
        for _ in range(TRIES):
            try:
                plan = self._on_pin(arrived)
            except HeadMoved:
                continue
            break
        else:
            plan = self._holding_shard(arrived)
        self._count(arrived.raw, plan)
        self.receipt.count_conflicts(
            plan.deliveries.raw["locator"].take(plan.deliveries.conflict_rows).to_pylist(),
            paths,
        )

    def _on_pin(self, arrived: Arrived) -> Plan:
        with self.shard.pin() as snapshot:
            plan = self._plan(snapshot, arrived)
            base = snapshot.version
        self.shard.commit(
            plan.rows,
            operation="ingest",
            actor=self.actor,
            run_id=self.run_id,
            now=plan.now,
            base=base,
            reads=plan.reads,
            texts=self.rules.texts,
        )
        return plan

    def _holding_shard(self, arrived: Arrived) -> Plan:
        with self.shard.exclusive() as writer:
            plan = self._plan(writer.snapshot, arrived)
            writer.commit(
                plan.rows,
                operation="ingest",
                actor=self.actor,
                run_id=self.run_id,
                now=plan.now,
                texts=self.rules.texts,
            )
        return plan

    def _plan(self, snapshot: Snapshot, arrived: Arrived) -> Plan:
        plan = plan_batch(
            snapshot,
            arrived,
            rules=self.rules,
            key=self.shard.key,
            now=self.now(),
            graves=self._graves,
        )
        self._graves = plan.graves
        is_mostly_new = 2 * plan.deliveries.fresh.size > arrived.raw.num_rows
        self._is_worth_hearing = plan.graves.is_empty and is_mostly_new
        return plan

    def _count(self, raw: pa.Table, plan: Plan) -> None:
        receipt = self.receipt
        receipt.sources.update(plan.deliveries.fates())
        receipt.blocks += plan.new_blocks
        receipt.trusts.update(counted(raw["trust"]))
        receipt.unstable_ids += int(((raw["flags"].to_numpy() & _NO_STABLE_ID) != 0).sum())
        receipt.decisions.update(counted(plan.decisions["outcome"]))
        receipt.decided_claims += plan.decisions.num_rows - plan.decisions["candidate_id"].null_count
        if plan.decisions.num_rows:
            receipt.reasons.update(counted(pc.list_element(plan.decisions["reasons"], 0)))
        receipt.count_forgotten(plan.deliveries.forgotten.size)
        receipt.tombstones_expired += plan.expired
        receipt.cut_bytes += plan.cut_bytes
        if plan.findings.num_rows:
            receipt.count_cuts(plan.findings, raw.take(plan.deliveries.fresh))
        receipt.atoms_written += plan.new_atoms
