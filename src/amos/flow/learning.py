"""What an open store learns from its own answers: outcomes of packets, and the report on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amos.clock import utc_now
from amos.errors import EngineError
from amos.flow.principal import Principal
from amos.identity import random_id
from amos.journal.store import Shard

if TYPE_CHECKING:
    from amos.flow.recording import Recording
    from amos.packets.packet import Packet


class Learning:
    """Record outcomes, report on them; what a method needs is imported when it is called."""

    shard: Shard
    principal: Principal
    scope: dict[str, str]

    def record_outcome(
        self, packet: str | Packet | Mapping[str, Any], *, dry_run: bool = False, **told: Any
    ) -> dict[str, Any]:
        """Say what came of a packet; return what that changed.

        packet: the id of one that was asked with `record`, or the packet itself, as an object or as its JSON.
        told: `labels`, `use_status`, `used`, `corrected` and `unhelpful` references of its items,
        `missing_capabilities`, `note`, and `at`, when it was so (now).  What was only shown learns nothing.
        The same outcome of the same packet is recorded once.  With dry_run nothing is written.
        Raises UsageError for words that are not known and for items that the packet did not hold, InputError
        where the packet cannot be asked for again or a note may not be stored.
        """
        from amos.flow.outcome_told import read_told

        (result,) = self._recording().record([read_told({"packet": packet, **told})], dry_run=dry_run)
        if isinstance(result, EngineError):
            raise result
        return {**result, "dry_run": dry_run}

    def record_outcomes(
        self,
        rows: str | Path | Iterable[Mapping[str, Any]],
        *,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Record many outcomes, a commit per part; return counts, and every row that was refused with why.

        rows: a file of JSON lines, CSV or Parquet, or mappings with the fields of `record_outcome` and
        `packet_id`.  progress: told how many rows are done, of how many.  Running it again adds nothing, so
        an interrupted run is simply run again.  Raises InputError when a file cannot be read.
        """
        from amos.flow.outcome_files import record_rows

        return record_rows(self._recording(), rows, dry_run=dry_run, progress=progress)

    def _recording(self) -> Recording:
        from amos.flow.policies import rules_of
        from amos.flow.recording import Recording
        from amos.retrieval.visibility import NOBODY, OWNER

        return Recording(
            shard=self.shard,
            actor=self.principal.name,
            run_id=random_id(),
            rules=rules_of(self.shard),
            reader=OWNER if self.principal.is_owner else NOBODY,
            now=utc_now,
            scope=self.scope,
        )
