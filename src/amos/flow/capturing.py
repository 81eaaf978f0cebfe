"""What an open store captures of an agent's work: interactions, and what their replies reinforce."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amos.clock import as_text, to_us, utc_now
from amos.errors import EngineError, UsageError
from amos.flow.principal import Principal
from amos.flow.sight import Sight
from amos.identity import random_id
from amos.journal.store import Shard

if TYPE_CHECKING:
    from amos.flow.captured import Chosen
    from amos.flow.reinforcing import Reinforcing
    from amos.sources.block import Batch

_LOG = logging.getLogger(__name__)
_AT_ONCE = 4_096
"""Interactions whose replies are compared in one pass."""


class Capturing:
    """Capture, list, read again, reinforce; what a method needs is imported when it is called."""

    shard: Shard
    principal: Principal
    scope: dict[str, str]
    tenant: str
    workspace: str

    def capture(
        self, interactions: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, reinforce: bool = True
    ) -> dict[str, Any]:
        """Store interactions, and reinforce what their replies repeat; return the receipt.

        interactions: objects with `prompt`, and if known `response`, `response_summary`, `memories_used`,
        `chunks_used`, `client`, `session`, `project`, `user`, `agent`, `created_at` (else now) and `id`.
        The store's scope fills in what they leave out.  Prompts and replies are decided like any message.
        A failure to reinforce never undoes the capture: the receipt says so.
        Raises UsageError for one without a prompt.
        """
        from amos.sources.capture import interaction_batch
        from amos.sources.reader import ReadContext
        from amos.sources.records import Record

        given = [interactions] if isinstance(interactions, Mapping) else list(interactions)
        now = utc_now()
        batches = []
        for number, value in enumerate(given, start=1):
            record = Record(number=number, size=0, value=self._completed(value, now), problems=[])
            batch = interaction_batch(record, ReadContext(file="captured"))
            _require_kept(batch, number)
            batches.append(batch)
        size = sum(batch.bytes_read or _size_of(batch) for batch in batches)
        return self._keep(batches, size=size, reinforce=reinforce)

    def capture_file(self, path: str | Path, *, reinforce: bool = True) -> dict[str, Any]:
        """Store the interactions of a file of JSON lines, and reinforce; return the receipt.

        Lines that are no interaction are listed and stop nothing.
        """
        from amos.sources.capture import FORMAT
        from amos.sources.reading import read_batches

        batches = read_batches([Path(path)], format=FORMAT, shard=(self.tenant, self.workspace))
        size = Path(path).stat().st_size
        return self._keep(batches, size=size, reinforce=reinforce)

    def _completed(self, value: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        from amos.sources.capture import interaction_key

        fields = {name: one for name, one in value.items() if one is not None}
        for name in ("project", "user", "agent", "session"):
            fields.setdefault(name, self.scope.get(name))
        fields.setdefault("created_at", as_text(to_us(now)))
        return {"id": interaction_key(fields), **fields}

    def _keep(self, batches: Iterable[Batch], *, size: int, reinforce: bool) -> dict[str, Any]:
        from amos.flow.ingest import Run
        from amos.flow.policies import rules_of
        from amos.sources.raw_rows import batch_blocks

        run_id, started = random_id(), utc_now()
        rules = rules_of(self.shard, size=size)
        run = Run(shard=self.shard, rules=rules, actor=self.principal.name, run_id=run_id, now=utc_now)
        keys: dict[str, None] = {}

        def noted() -> Iterator[Batch]:
            for batch in batches:
                keys.update(dict.fromkeys(block.record_key for block in batch_blocks(batch)))
                yield batch

        record = run.ingest(noted()).as_record()
        self.shard.record_run(run_id, "capture", started, utc_now(), record, is_synced=False)
        told = self._reinforce_quietly(list(keys)) if reinforce else {"echoes": [], "written": 0}
        return {**record, "interactions": list(keys), "reinforced": told}

    def _reinforce_quietly(self, keys: list[str]) -> dict[str, Any]:
        """Reinforce; a failure is logged and told, and raised never: what was captured stays captured."""
        try:
            return self.reinforce(keys)
        except (EngineError, OSError) as cause:
            _LOG.warning("captured replies could not reinforce", extra={"cause": str(cause)})
            return {
                "echoes": [],
                "written": 0,
                "error": str(cause),
                "advice": "The interactions are stored; run `amos capture reinforce` for them.",
            }

    def interactions(self, chosen: Chosen | None = None) -> dict[str, Any]:
        """Return one page of captured interactions, newest first, as summaries.

        `interactions`, and where there are more `truncated` and the `cursor` of the next page.
        """
        from amos.flow.captured import Chosen, list_interactions

        with self._captured_sight() as sight:
            listed = list_interactions(sight, chosen or Chosen(), self.shard.key)
        return {
            "interactions": [one.row(is_whole=False) for one in listed.interactions],
            "truncated": listed.is_truncated,
            "cursor": listed.cursor,
        }

    def interaction(self, name: str) -> dict[str, Any]:
        """Return one captured interaction whole.  Raises UsageError when there is none of this id."""
        from amos.flow.captured import one_interaction

        with self._captured_sight() as sight:
            return one_interaction(sight, name, self.shard.key).row(is_whole=True)

    def reinforce(
        self, names: Sequence[str] | None = None, *, chosen: Chosen | None = None, dry_run: bool = False
    ) -> dict[str, Any]:
        """Record which memories the replies of interactions repeat; again for the same adds nothing.

        names: interactions by id; else all that `chosen` wants, all there are without it.
        Returns per echo whether it was `applied`, and the confidence `old` and `new`.
        """
        from amos.flow.captured import Chosen, list_interactions, one_interaction

        with self._captured_sight() as sight:
            if names is None:
                wanted = replace(chosen or Chosen(), limit=None)
                found = list_interactions(sight, wanted, self.shard.key).interactions
            else:
                found = [one_interaction(sight, name, self.shard.key) for name in names]
        work = self._reinforcing()
        total: dict[str, Any] = {"interactions": len(found), "echoes": [], "written": 0, "dry_run": dry_run}
        oldest_first = found[::-1] if names is None else found
        for start in range(0, len(oldest_first), _AT_ONCE):
            done = work.reinforce(oldest_first[start : start + _AT_ONCE], dry_run=dry_run)
            total["echoes"] += done["echoes"]
            total["written"] += done["written"]
        return total

    def reinforce_atom(self, ref: str, interaction: str, *, delta: float = 0.02) -> dict[str, Any]:
        """Say that a reply made use of an active atom; return `applied`, `old` and `new` confidence.

        delta: between 0 and 0.10, what it may add.  Raises UsageError for another delta, for a reference
        that is no atom, and for an interaction that is not there.
        """
        from amos.atoms.echoes import check_delta
        from amos.flow.captured import one_interaction
        from amos.flow.reinforcing import direct_echo

        delta_ppm = check_delta(delta)
        with self._captured_sight() as sight:
            cited = one_interaction(sight, interaction, self.shard.key)
            found, why = direct_echo(sight, ref, cited, delta_ppm)
        if why is not None:
            return {**why, "written": 0}
        told = self._reinforcing().record(lambda _: [found] if found else [])
        return {**told["echoes"][0], "written": told["written"]}

    def _reinforcing(self) -> Reinforcing:
        from amos.flow.reinforcing import Reinforcing

        return Reinforcing(shard=self.shard, actor=self.principal.name, run_id=random_id(), now=utc_now)

    @contextmanager
    def _captured_sight(self) -> Iterator[Sight]:
        with self.shard.pin() as snapshot:
            yield Sight(snapshot=snapshot, now=utc_now(), scope=self.scope)


def _size_of(batch: Batch) -> int:
    return sum(len(block.text) for block in batch.blocks)


def _require_kept(batch: Batch, number: int) -> None:
    lost = next((problem for problem in batch.problems if problem.is_lost), None)
    if lost is not None:
        where = f" (number {number})" if number > 1 else ""
        raise UsageError(f"{lost.message}{where}", advice="Give the prompt; everything else may be left out.")
