"""Journal commands that were refused: which, why by code, and about which row, never its content."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from amos.clock import to_us
from amos.errors import EngineError
from amos.identity import id_text
from amos.journal.events import EventNotice
from amos.journal.refusals import Refusal, target_id
from amos.journal.requests import CareLog, CommitRequest
from amos.schemas.catalog import ConflictEntry

OPERATION = "command_rejected"

_LOG = logging.getLogger(__name__)


class Rejecting:
    """Methods of `Shard` that keep what was refused."""

    _catalog: Any
    _lock: Any
    commit: Callable[..., int]

    def reject(
        self, said: Mapping[str, Any], *, actor: str, run_id: bytes, now: datetime, **terms: Any
    ) -> None:
        """Journal a refused command: `command`, `reason` and whatever else is no content.

        The refusal itself counts, not its record: where that cannot be written, a warning says so.
        """
        notice = EventNotice(OPERATION, dict(said), terms.pop("target_refs", ()))
        with self._lock:
            base = self._catalog.state()[0]
        try:
            self.commit(
                [],
                base=base,
                reads={},
                operation=OPERATION,
                actor=actor,
                run_id=run_id,
                now=now,
                notices=[notice],
                **terms,
            )
        except EngineError as cause:
            _LOG.warning("a refusal could not be journaled", extra={"cause": cause.message})

    def _queue(self, request: CommitRequest, refusal: Refusal) -> None:
        """Journal a command that met another state than it expected, and queue it for a person."""
        conflict = refusal.conflict
        event = conflict.conflicting_event_id
        target = target_id(conflict.target_ref)
        entry = ConflictEntry(
            0,
            to_us(request.now),
            conflict.target_ref,
            str(conflict.expected_version),
            str(conflict.actual_version),
            conflict.graph_version,
            conflict.recommended_action,
        )

        def write_down(care: CareLog, _version: int) -> None:
            care.add_conflict(entry)

        said = {
            "command": request.operation,
            "reason": refusal.code,
            "expected": conflict.expected_version,
            "actual": conflict.actual_version,
            "conflicting_event": None if event is None else id_text("events", event),
        }
        self.reject(
            said,
            target_refs=() if target is None else (target[1],),
            also=write_down,
            actor=request.actor,
            run_id=request.run_id,
            now=request.now,
        )
