"""The library's door: `open(path)` returns a `Store`; every command is one call of it.

What a method needs is imported when it is first called: asking one question must not load what
ingesting needs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from amos.clock import utc_now
from amos.errors import EngineError
from amos.evaluation.reporting import Reporting
from amos.flow.capturing import Capturing
from amos.flow.learning import Learning
from amos.flow.people import People
from amos.flow.principal import Principal, principal_of
from amos.flow.queue import Queue
from amos.identity import random_id
from amos.journal.store import Shard
from amos.reprocess.joining import Joining
from amos.reprocess.rereading import Rereading

if TYPE_CHECKING:
    from amos.extraction.registry import Extractor
    from amos.flow.ingest import Progress
    from amos.flow.inputs import Report
    from amos.flow.rules import ChosenRules
    from amos.journal.findings import VerifyReport

__all__ = ["Store", "evaluate_extraction", "open", "propose"]

_LOG = logging.getLogger(__name__)


class Store(Queue, Reporting, Rereading, Capturing, Learning, People, Joining):
    """One shard of a store on disk: ingest, ask, look, review, verify.

    scope: narrows what is read to rows of these values and rows without one, by scope name.
    Raises UsageError when the store does not exist, InputError when the caller may not use it.
    """

    def __init__(
        self,
        root: Path,
        shard: Shard,
        principal: Principal,
        *,
        tenant: str,
        workspace: str,
        scope: Mapping[str, str] | None = None,
    ) -> None:
        self.root = root
        self.shard = shard
        self.principal = principal
        self.tenant = tenant
        self.workspace = workspace
        self.scope = dict(scope or {})
        self._unindexed: int | None = None

    @classmethod
    def create(
        cls,
        root: str | Path,
        *,
        tenant: str = "default",
        workspace: str = "default",
        scope: Mapping[str, str] | None = None,
    ) -> Store:
        """Make the store where it is missing and open it for writing."""
        path = Path(root)
        principal = principal_of(path)
        principal.require_owner(path, "write")
        shard = Shard.create(path, tenant=tenant, workspace=workspace, now=utc_now())
        return cls(path, shard, principal, tenant=tenant, workspace=workspace, scope=scope)

    @classmethod
    def open(
        cls,
        root: str | Path,
        *,
        tenant: str = "default",
        workspace: str = "default",
        read_only: bool = False,
        scope: Mapping[str, str] | None = None,
    ) -> Store:
        """Open an existing store."""
        path = Path(root)
        principal = principal_of(path)
        principal.require_owner(path, "read" if read_only else "write")
        shard = Shard.open(path, tenant=tenant, workspace=workspace, read_only=read_only)
        if not read_only:
            shard.collect_garbage(now=utc_now())
        return cls(path, shard, principal, tenant=tenant, workspace=workspace, scope=scope)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store's files."""
        self.shard.close()

    def ingest(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        format: str | None = None,  # noqa: A002 - the word of the command line
        mapping: str | Path | None = None,
        trust: str | None = None,
        zone: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
        **chosen: Unpack[ChosenRules],
    ) -> dict[str, Any]:
        """Read transcripts into memory, one durable commit per batch; return the receipt.

        paths: one file, folder or archive, or several.  chosen: `extractor`, by `name@version` or itself,
        else the current one; `policy`, a TOML file that decides in this store from now on.
        Re-running adds nothing that is stored already, so an interrupted run is simply run again.
        With dry_run the same work happens on a scratch copy, and the store stays as it is; the
        receipt then lists where something was cut.
        """
        from amos.flow.ingest import Run
        from amos.flow.inputs import given_paths, measure_inputs
        from amos.flow.memory import returned_memory
        from amos.flow.policies import rules_chosen
        from amos.sources.reading import read_batches

        if dry_run:
            return self._ingest_scratch(
                paths,
                format=format,
                mapping=mapping,
                trust=trust,
                zone=zone,
                progress=progress,
                **chosen,
            )
        files = given_paths(paths)
        began = time.perf_counter()
        started = utc_now()
        batches = read_batches(
            files,
            format=format,
            mapping=Path(mapping) if mapping else None,
            trust=trust,
            zone=zone,
            shard=(self.tenant, self.workspace),
        )
        size = measure_inputs(files, format=format, mapping=Path(mapping) if mapping else None)
        rules = rules_chosen(self.shard, chosen, size=size, actor=self.principal.name, now=started)
        run_id = random_id()
        run = Run(shard=self.shard, rules=rules, actor=self.principal.name, run_id=run_id, now=utc_now)
        with returned_memory():
            receipt = run.ingest(batches, progress)
            receipt.seconds = time.perf_counter() - began
            record = receipt.as_record()
            self.shard.record_run(run_id, "ingest", started, utc_now(), record, is_synced=False)
            self.expire_due()
            self.shard.tidy(now=utc_now())
            self._store_index(receipt.blocks + sum(receipt.decisions.values()))
        return {**record, "cut_places": receipt.cut_places}

    def _ingest_scratch(self, paths: str | Path | Sequence[str | Path], **options: Any) -> dict[str, Any]:
        from amos.copies.store import scratch_copy

        with (
            scratch_copy(self.shard.folder) as scratch,
            Store.open(scratch, tenant=self.tenant, workspace=self.workspace) as copy,
        ):
            record = copy.ingest(paths, **options)
        record["dry_run"] = True
        record["graph_version"] = self.shard.head or None
        return record

    def _store_index(self, rows: int) -> None:
        """Bring the stored index up to date where that pays; answers never depend on it.

        rows: written by this run; what was unindexed before this store was opened is not known.
        """
        from amos.flow.recall import refresh
        from amos.freed import give_back
        from amos.retrieval.store import REFRESH_ROWS

        self._unindexed = REFRESH_ROWS if self._unindexed is None else self._unindexed + rows
        if self._unindexed < REFRESH_ROWS:
            return
        self._unindexed = 0
        give_back()
        try:
            refresh(self.shard, at_least=REFRESH_ROWS)
        except (OSError, EngineError) as cause:
            _LOG.warning("the index could not be stored", extra={"cause": str(cause)})
        give_back()

    def compact(
        self,
        *,
        full: bool = False,
        dry_run: bool = False,
        drop_history: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Merge segment files until few are left, and remove replaced ones that no reader holds.

        full: one file per table.  dry_run: only say what would be done.  progress: merges done and all.
        drop_history: superseded row versions below the newest snapshot go for good, and no version below
        it can be told any more; otherwise the store says the same at every graph version.
        """
        from amos.flow.compacting import compact_shard

        return compact_shard(
            self.shard,
            now=utc_now(),
            is_full=full,
            is_dry=dry_run,
            progress=progress,
            dropping=(self.principal.name, random_id()) if drop_history else None,
        )

    def snapshot(self, *, progress: Callable[[str, int, int], None] | None = None) -> dict[str, Any]:
        """Verify the newest state against its events, lay it down in one file per table, register it."""
        from amos.flow.snapshotting import take_snapshot

        return take_snapshot(
            self.shard, actor=self.principal.name, run_id=random_id(), now=utc_now(), progress=progress
        )

    def forget(
        self, *refs: str, dry_run: bool = False, wait_seconds: float = 10, **options: Any
    ) -> dict[str, Any]:
        """Make rows and all that rests on them gone, and keep them gone; return the report.

        refs: atoms, candidates, entities, sources, conversations or runs.  options: the other fields of
        `ForgetRequest`; the store's scope narrows, and alone chooses everything of exactly that scope.
        With dry_run the report lists everything that would go, and nothing changes.  The report's status is
        `purged` once no file holds the content, `pending` while readers hold files beyond wait_seconds.
        Raises UsageError for a selection that names nothing, several things or everything, InputError when
        a legal hold stands against it.
        """
        from amos.flow.forget import Forgetting
        from amos.flow.forget_selection import ForgetRequest
        from amos.flow.policies import policy_of

        request = ForgetRequest(refs=refs, **{"scope": self.scope, **options})
        work = Forgetting(
            shard=self.shard,
            actor=self.principal.name,
            run_id=random_id(),
            policy=policy_of(self.shard),
            now=utc_now,
            wait_seconds=wait_seconds,
        )
        return work.preview(request) if dry_run else work.forget(request)

    def hold(self, ref: str | None = None, *, reason: str) -> dict[str, Any]:
        """Protect a row, the store's scope, or everything from deletion; return the hold."""
        from amos.flow.forget_holds import place_hold

        return place_hold(self.shard, ref, self.scope, reason, actor=self.principal.name, now=utc_now())

    def release(self, hold: str) -> dict[str, Any]:
        """End a hold."""
        from amos.flow.forget_holds import release_hold

        return release_hold(self.shard, hold, actor=self.principal.name, now=utc_now())

    def holds(self) -> list[dict[str, Any]]:
        """Return all holds, oldest first; released ones say when."""
        from amos.flow.printed import shown_hold

        return [shown_hold(entry) for entry in self.shard.holds()]

    def verify(
        self,
        *,
        deep: bool = False,
        since: Mapping[str, Any] | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> VerifyReport:
        """Check that everything is what was committed; changes nothing.

        deep: also recompute every sealed row, follow every reference and span, and replay the state.
        since: the record of an earlier checkpoint, which this history must go on from.
        progress: called with a phase, what is done and all.
        """
        from amos.flow.proving import verify_since

        return verify_since(self.shard, deep=deep, since=since, progress=progress)

    def checkpoint(self, since: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return how far the history is, as a checkpoint file holds it; verify first.

        since: an earlier checkpoint; the new one then proves to go on from it.
        """
        from amos.flow.proving import take_checkpoint

        return take_checkpoint(self.shard, since, now=utc_now())

    def prove(self, ref: str) -> dict[str, Any]:
        """Return the proof that the newest row of `ref` was committed; it can be checked without a store."""
        from amos.flow.proving import prove_ref

        with self._sight() as sight:
            return prove_ref(sight, self.shard, ref)

    def export_journal(self, path: str | Path, *, replace: bool = False) -> dict[str, Any]:
        """Write the whole journal as JSON lines, and the verifier that checks it beside it.

        Raises UsageError when the store was opened for some scope only: a journal is whole or none.
        """
        from amos.flow.proving import export_journal

        return export_journal(self.shard, Path(path), self.scope, now=utc_now(), replace=replace)


def open(  # noqa: A001 - the library's door is named like the built-in
    root: str | Path,
    *,
    tenant: str = "default",
    workspace: str = "default",
    read_only: bool = False,
    scope: Mapping[str, str] | None = None,
) -> Store:
    """Open the store at `root`; see `Store.open`."""
    return Store.open(root, tenant=tenant, workspace=workspace, read_only=read_only, scope=scope)


def propose(
    paths: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    zone: str | None = None,
    trust: str | None = None,
    extractor: str | Extractor | None = None,
    policy: str | Path | None = None,
    report: Report | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one line per candidate and decision for every message in `paths`; no store is touched.

    paths: one file, folder or archive, or several.  extractor: `name@version` or the extractor itself, else
    the current one.  policy: a TOML file, else the policy that ships with Amos.
    report: told of every record that could not be read, or only in part.
    """
    from amos.flow.inputs import given_paths, measure_inputs, read_proposals
    from amos.flow.proposing import propose_lines
    from amos.flow.rules import default_rules

    files = given_paths(paths)
    size = measure_inputs(files, format=format, zone=zone, trust=trust)
    rules = default_rules(size=size, extractor=extractor, policy=policy)
    proposals = read_proposals(files, format=format, zone=zone, trust=trust, report=report)
    yield from propose_lines(proposals, rules=rules, now=utc_now())


def evaluate_extraction(
    paths: str | Path | Sequence[str | Path],
    *,
    extractors: Sequence[str | Extractor] = (),
    failures: bool = False,
    store: Store | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Return how well extractors and admission do on files of cases, stage by stage.

    extractors: `name@version` of each one to measure, or itself; else the current one.  failures: also list
    every case that is not fully right.  store: whose review queue is reported beside, by age.  progress: told
    how many more cases were done.  Raises InputError where no line is a case; bad lines are rows in `bad`.
    """
    from dataclasses import replace

    from amos.evaluation.cases import read_cases
    from amos.evaluation.extraction import Wish, evaluate_cases
    from amos.extraction.propose import EXTRACTOR
    from amos.extraction.registry import find_extractor
    from amos.flow.inputs import given_paths
    from amos.flow.rules import default_rules

    files = given_paths(paths)
    size = sum(path.stat().st_size for path in files if path.is_file())
    first, *others = dict.fromkeys(extractors or (EXTRACTOR,))
    rules = [default_rules(size=size, extractor=first)]
    rules += [
        replace(rules[0], extractor=find_extractor(other) if isinstance(other, str) else other)
        for other in others
    ]
    wish = Wish(now=utc_now(), has_failures=failures, progress=progress)
    report = evaluate_cases(read_cases(files), rules, wish)
    report["store"] = None if store is None else store.waiting()
    return report
