"""Declare that an entity is out of use, and take that back: recorded and journaled, nothing is rewritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amos.errors import BusyError, UsageError
from amos.flow.claims import subject_label
from amos.flow.deprecations import DEPRECATE, RESTORE, deprecations_of, is_used
from amos.flow.prepare import Rules
from amos.identity import id_text, random_id
from amos.journal.store import HeadMoved, Shard
from amos.reprocess.entity_records import ADVICE, Decided, captured_record, entity_row, record_rows

_TRIES = 4
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Retiring:
    """One person who takes entities of one shard out of use, or back into it."""

    shard: Shard
    actor: str
    rules: Rules
    now: Callable[[], datetime]

    def run(self, ref: str, note: str, *, is_undone: bool, dry_run: bool) -> Row:
        """Record a decision in one commit; return what it says of whom."""
        for _ in range(_TRIES):
            try:
                return self._once(ref, note, is_undone=is_undone, dry_run=dry_run)
            except HeadMoved:
                continue
        raise BusyError("the memory kept changing while the entity was decided on", advice="Decide it again.")

    def _once(self, ref: str, note: str, *, is_undone: bool, dry_run: bool) -> Row:
        now, verdict = self.now(), RESTORE if is_undone else DEPRECATE
        with self.shard.pin() as snapshot:
            entity = entity_row(snapshot, ref)
            one = entity["entity_id"]
            is_out = one in deprecations_of(snapshot, [one], self.shard.key)
            if is_out is not is_undone:
                state = "in use" if is_undone else "out of use already"
                raise UsageError(f"{id_text('entities', one)} is {state}", path=ref, advice=ADVICE)
            told = {
                "decision": verdict,
                "entity_id": id_text("entities", one),
                "name": subject_label(snapshot, entity),
                "in_use": is_used(snapshot, one),
                "dry_run": dry_run,
            }
            if dry_run:
                return {**told, "graph_version": snapshot.version}
            decided = Decided(verdict, entity, note, {})
            record = captured_record(
                snapshot, decided, key=self.shard.key, rules=self.rules, actor=self.actor, now=now
            )
            rows, base = record_rows(snapshot, record, "dictionary_updated"), snapshot.version
            reads = {("sources", "source_id"): record.sources["source_id"]}
        self.shard.commit(
            rows, base=base, reads=reads, operation=verdict, actor=self.actor, run_id=random_id(), now=now,
            texts=self.rules.texts,
        )  # fmt: skip
        return {**told, "graph_version": self.shard.head}
