"""Give proofs out of a shard's history: of a row, of how far it was, and the whole of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from amos.errors import InputError, IntegrityError, UsageError
from amos.flow.digest import state_digest
from amos.flow.noting import exporting, require_free
from amos.flow.placing import write_lines
from amos.flow.references import find_rows
from amos.flow.sight import Sight
from amos.identity import id_text
from amos.journal import check_export
from amos.journal.checkpoint import Checkpoint, check_successor, checkpoint_record, read_checkpoint
from amos.journal.findings import VerifyReport
from amos.journal.journal_export import journal_lines
from amos.journal.proof import event_leaves, prove_row, successor_record
from amos.journal.store import Shard
from amos.journal.tree import TreeRoot
from amos.journal.verify import verify_shard
from amos.schemas.state import PRIMARY_KEYS

Record = Mapping[str, Any]

VERIFIER = "check_export.py"
_GIVEN = "the checkpoint given"
_SAME_MOMENT = (
    "Take both while nothing is written: `amos verify --checkpoint FILE` and `amos verify --proof REF`."
)


def verify_since(
    shard: Shard,
    *,
    deep: bool,
    since: Record | None,
    progress: Callable[[str, int, int], None] | None,
) -> VerifyReport:
    """Verify a shard, and where `since` is given that its history goes on from that checkpoint.

    Raises InputError when `since` is no checkpoint, or one of another shard.
    """
    earlier = None if since is None else _checkpoint_of(shard, since)
    return verify_shard(shard, is_deep=deep, since=earlier, progress=progress, digest=state_digest)


def _checkpoint_of(shard: Shard, record: Record) -> Checkpoint:
    earlier = read_checkpoint(record, _GIVEN)
    label = "/".join(shard.labels())
    if earlier.shard != label:
        raise InputError(
            f"the checkpoint is of the shard {earlier.shard}, not of {label}",
            advice="Name the checkpoint of this shard, or the shard with `--tenant` and `--workspace`.",
        )
    return earlier


def take_checkpoint(shard: Shard, since: Record | None, *, now: datetime) -> dict[str, Any]:
    """Return the record of a checkpoint now, with the proof that it goes on from `since` where given.

    Raises IntegrityError when the history does not go on from there.
    """
    earlier = None if since is None else _checkpoint_of(shard, since)
    with shard.pin() as snapshot:
        leaves = event_leaves(snapshot)
        version, link = snapshot.version, shard.link(snapshot.version)
    tree = TreeRoot()
    tree.add(leaves)
    found = Checkpoint("/".join(shard.labels()), version, tree.size, link, tree.root())
    record = checkpoint_record(found, now.isoformat(timespec="seconds"))
    if earlier is not None:
        if earlier.event_count > tree.size:
            raise IntegrityError(f"the history has {tree.size} events, the checkpoint {earlier.event_count}")
        record["since"] = successor_record(leaves, earlier.event_count, earlier.root)
        try:
            check_successor(record, earlier)
        except check_export.DifferenceError as cause:
            raise IntegrityError(f"the history does not go on from the checkpoint: {cause}") from cause
    return record


def prove_ref(sight: Sight, shard: Shard, ref: str) -> dict[str, Any]:
    """Return the proof of the newest row that `ref` names, in sight.

    Raises UsageError when nothing in sight has this reference, or an event has: events are rows of no event.
    """
    table, rows, _ = find_rows(sight, ref)
    if table == "events":
        raise UsageError(f"{ref!r} is an event", path=ref, advice="Name a row that an event put there.")
    if rows.num_rows == 0:
        raise UsageError(f"nothing is stored as {ref!r}", path=ref, advice="Use `amos list` for references.")
    identifier = rows.column(PRIMARY_KEYS[table])[0].as_py()
    found = sight.snapshot.lookup(table, PRIMARY_KEYS[table], pa.array([identifier], pa.binary(16)))
    whole = _newest(found, rows)
    return prove_row(
        sight.snapshot,
        table,
        whole,
        shard.erased_columns(table),
        ref=id_text(table, identifier),
        shard="/".join(shard.labels()),
    )


def _newest(found: pa.Table, shown: pa.Table) -> pa.Table:
    """Return the one stored row, with all its columns, that stands where `shown` does."""
    place = shown.column("graph_version")[0].as_py(), shown.column("row_number")[0].as_py()
    places = zip(
        found.column("graph_version").to_pylist(), found.column("row_number").to_pylist(), strict=True
    )
    return found.filter(pa.array([one == place for one in places]))


def export_journal(
    shard: Shard, path: Path, scope: Mapping[str, str], *, now: datetime, replace: bool = False
) -> dict[str, Any]:
    """Write the journal to `path` and the stand-alone verifier beside it; say what was written.

    replace: files that stand there already are replaced.
    """
    if scope:
        raise UsageError(
            "a journal holds the whole shard, whatever its scope", advice="Leave the scope flags out."
        )
    ends: list[str] = []

    def lines() -> Iterator[str]:
        for line in journal_lines(shard):
            ends[:] = [line]
            yield line

    verifier, text = path.with_name(VERIFIER), Path(check_export.__file__).read_bytes()
    if not (verifier.is_file() and verifier.read_bytes() == text):
        require_free(verifier, replace=replace)
    with exporting(shard, path, "export journal", now, replace=replace) as export, shard.pin():
        count = write_lines(lines(), export.draft).lines
    verifier.write_bytes(text)
    end = json.loads(ends[0])["end"]
    return {
        "file": str(path),
        "lines": count,
        "verifier": str(verifier),
        **end,
        "registered": export.is_noted,
    }


def check_proof_record(record: Record, checkpoint: Record | None) -> dict[str, Any]:
    """Return what a proof shows; no store is needed.

    Raises InputError when it is none, IntegrityError when it shows nothing or the checkpoint is another's,
    UsageError for a checkpoint of another moment.
    """
    try:
        root = check_export.check_proof(record)
        size = record["in_tree"]["size"]
    except check_export.DifferenceError as cause:
        raise IntegrityError(f"the proof shows nothing: {cause}") from cause
    except (LookupError, TypeError, ValueError, AttributeError) as cause:
        raise InputError(
            f"this is no proof: {cause!r}",
            advice="Name a file that `amos verify --proof REF --output FILE` wrote.",
        ) from cause
    if checkpoint is not None:
        earlier = read_checkpoint(checkpoint, _GIVEN)
        if earlier.event_count != size:
            said = f"the proof was taken at {size} events, the checkpoint at {earlier.event_count}"
            raise UsageError(said, advice=_SAME_MOMENT)
        if earlier.root.hex() != root:
            raise IntegrityError("the checkpoint is of another history", advice=_SAME_MOMENT)
    row = record["row"]
    return {
        "ok": True,
        "ref": record["ref"],
        "graph_version": row["graph_version"],
        "row_number": row["row_number"],
        "commitment": row["commitment"],
        "event_id": record["event"]["event_id"],
        "events": size,
        "root": root,
    }
