"""The library's door: `open(path)` returns a `Store`; every command is one call of it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from amos.clock import utc_now
from amos.errors import UsageError
from amos.flow.ingest import Progress, Run
from amos.flow.principal import Principal, principal_of
from amos.flow.proposing import Proposal, propose_lines
from amos.flow.rules import default_rules
from amos.identity import random_id
from amos.journal.store import Shard
from amos.sources.reading import read_alone, read_batches

__all__ = ["Store", "open", "propose"]


class Store:
    """One shard of a store on disk: ingest, ask, look, verify.

    Raises UsageError when the store does not exist, InputError when the caller may not use it.
    """

    def __init__(
        self, root: Path, shard: Shard, principal: Principal, *, tenant: str, workspace: str
    ) -> None:
        self.root = root
        self.shard = shard
        self.principal = principal
        self.tenant = tenant
        self.workspace = workspace

    @classmethod
    def create(cls, root: str | Path, *, tenant: str = "default", workspace: str = "default") -> Store:
        """Make the store where it is missing and open it for writing."""
        path = Path(root)
        principal = principal_of(path)
        principal.require_owner(path, "write")
        shard = Shard.create(path, tenant=tenant, workspace=workspace, now=utc_now())
        return cls(path, shard, principal, tenant=tenant, workspace=workspace)

    @classmethod
    def open(
        cls,
        root: str | Path,
        *,
        tenant: str = "default",
        workspace: str = "default",
        read_only: bool = False,
    ) -> Store:
        """Open an existing store."""
        path = Path(root)
        principal = principal_of(path)
        principal.require_owner(path, "read" if read_only else "write")
        shard = Shard.open(path, tenant=tenant, workspace=workspace, read_only=read_only)
        return cls(path, shard, principal, tenant=tenant, workspace=workspace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store's files."""
        self.shard.close()

    def ingest(
        self,
        paths: Sequence[str | Path],
        *,
        format: str | None = None,  # noqa: A002 - the word of the command line
        mapping: str | Path | None = None,
        trust: str | None = None,
        zone: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Read transcripts into memory, one durable commit per batch; return the receipt.

        Re-running adds nothing that is stored already, so an interrupted run is simply run again.
        With dry_run the same work happens on a scratch copy, and the store stays as it is.
        """
        if dry_run:
            return self._ingest_scratch(
                paths, format=format, mapping=mapping, trust=trust, zone=zone, progress=progress
            )
        files = [Path(path) for path in paths]
        began = time.perf_counter()
        started = utc_now()
        rules = default_rules(size=sum(_size(path) for path in files))
        run_id = random_id()
        run = Run(shard=self.shard, rules=rules, actor=self.principal.name, run_id=run_id, now=utc_now)
        batches = read_batches(
            files,
            format=format,
            mapping=Path(mapping) if mapping else None,
            trust=trust,
            zone=zone,
            shard=(self.tenant, self.workspace),
        )
        receipt = run.ingest(batches, progress)
        receipt.seconds = time.perf_counter() - began
        record = receipt.as_record()
        self.shard.record_run(run_id, "ingest", started, utc_now(), record)
        return record

    def _ingest_scratch(self, paths: Sequence[str | Path], **options: Any) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="amos-dry-run-") as folder:
            scratch = Path(folder) / "store"
            shutil.copytree(self.root, scratch)
            with Store.open(scratch, tenant=self.tenant, workspace=self.workspace) as copy:
                record = copy.ingest(paths, **options)
        record["dry_run"] = True
        record["graph_version"] = self.shard.head or None
        return record


def open(  # noqa: A001 - the library's door is named like the built-in
    root: str | Path, *, tenant: str = "default", workspace: str = "default", read_only: bool = False
) -> Store:
    """Open the store at `root`; see `Store.open`."""
    return Store.open(root, tenant=tenant, workspace=workspace, read_only=read_only)


def propose(
    paths: Sequence[str | Path],
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    zone: str | None = None,
    trust: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one line per candidate and decision for every message in `paths`; no store is touched."""
    files = [Path(path) for path in paths]
    for path in files:
        if not path.exists():
            raise UsageError(f"{path} does not exist", path=str(path), advice="Check the path.")
    rules = default_rules(size=sum(_size(path) for path in files))
    if format in (None, "messages"):
        messages = read_messages_alone(files, zone=zone, trust=trust)
        proposals = (
            Proposal(id=message.id, blocks=message.blocks, own_count=message.own_count)
            for message in messages
        )
    else:
        batches = read_batches(files, format=format, zone=zone, trust=trust)
        proposals = (
            Proposal(id=block.record_key, blocks=[block], own_count=1)
            for batch in batches
            for block in batch.blocks
        )
    yield from propose_lines(proposals, rules=rules, now=utc_now())


def _size(path: Path) -> int:
    """Return the bytes under `path`, 0 where it does not exist."""
    if path.is_dir():
        return sum(child.stat().st_size for child in path.rglob("*") if child.is_file())
    return path.stat().st_size if path.exists() else 0
