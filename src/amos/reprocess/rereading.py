"""The methods of an open store that read kept sources again; what one needs is imported when it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from amos.clock import utc_now
from amos.flow.principal import Principal
from amos.identity import random_id
from amos.journal.store import Shard

if TYPE_CHECKING:
    from amos.extraction.registry import Extractor
    from amos.reprocess.runs import Reprocessing


_COMPILED_FROM = 2_000
"""Kept sources from which compiling the kernels pays."""


class Rereading:
    """Compare, promote, take back."""

    shard: Shard
    principal: Principal
    scope: dict[str, str]

    def reprocess(
        self,
        extractor: str | Extractor | None = None,
        *,
        since: str | None = None,
        until: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Read kept sources again with an extractor, and return how the reading would differ.

        extractor: `name@version` or the extractor itself, else the current one.  since, until: sources of
        this half-open span of event time; the scope of the store narrows too.  progress: sources done and
        all.
        Nothing that is remembered changes: `apply_run` promotes the run that this returns.  `differences`
        holds one row per place where the readings differ.
        """
        from amos.flow.instants import instant_us
        from amos.flow.rules import note_answers
        from amos.reprocess.runs import Asked
        from amos.reprocess.shadow import Span
        from amos.reprocess.told import difference_rows

        bounds = [
            None if at is None else instant_us(at, name)
            for at, name in ((since, "--since"), (until, "--until"))
        ]
        work = self._reprocessing(extractor)
        asked = Asked(
            extractor=work.rules.extractor.name,
            span=Span(since_us=bounds[0], until_us=bounds[1]),
            scope=self.scope,
        )
        started = utc_now()
        note_answers(self.shard, work.rules.extractor, started)
        with self.shard.pin() as snapshot:
            compared = work.compare(asked, snapshot, progress)
            rows = difference_rows(snapshot, compared)
        record = work.keep(random_id(), asked, compared, started)
        return {**record, "differences": rows}

    def apply_run(
        self,
        ref: str,
        extractor: Extractor | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Promote the shadow run `ref` in one commit; return its receipt.

        extractor: needed again where the run was made with one that has no name of its own to be found by.
        Raises UsageError when there is none, or the store has changed so that it would do something else.
        """
        from amos.reprocess.runs import find_run

        run_id, record = find_run(self.shard, ref)
        done = self._reprocessing(extractor or record["extractor"]).apply(run_id, record, progress)
        self.shard.tidy(now=utc_now())
        return done

    def revert(self, ref: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Take an applied run back in one commit; return how many candidates leave and return.

        Raises UsageError when it is not applied, a later run reads the same sources, or its history was
        dropped.
        """
        from amos.reprocess.runs import find_run

        run_id, record = find_run(self.shard, ref)
        return self._reprocessing().revert(run_id, record, dry_run=dry_run)

    def _reprocessing(self, extractor: str | Extractor | None = None) -> Reprocessing:
        from amos.flow.policies import rules_of
        from amos.reprocess.runs import Reprocessing

        with self.shard.pin() as snapshot:
            count = snapshot.row_count("sources")
        rules = replace(rules_of(self.shard, extractor=extractor), is_compiled=count >= _COMPILED_FROM)
        return Reprocessing(
            shard=self.shard,
            actor=self.principal.name,
            rules=rules,
            now=utc_now,
        )
