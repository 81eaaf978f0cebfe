"""Import our own exports: whole into an empty store with their key, else source by source."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from amos.clock import to_us
from amos.copies.store import Progress, plant_shard, put_in_place
from amos.copies.wrapping import unwrap_key
from amos.errors import InputError, IntegrityError
from amos.flow.digest import state_digest
from amos.flow.hold_import import RepeatingHolds
from amos.flow.ingest import Run
from amos.flow.outcome_import import RepeatingOutcomes, repeat_in_order
from amos.flow.parcel_lines import Lines, open_lines
from amos.flow.parcels import Parcel, open_parcel
from amos.flow.policies import rules_of
from amos.flow.reingest import Reading, export_name, extractor_of, read_told, undecidable
from amos.flow.restore import building_beside
from amos.flow.review_import import Repeating
from amos.flow.streaming import Held
from amos.flow.tombstone_import import read_bans
from amos.identity import random_id
from amos.journal.store import EventRows, Shard
from amos.journal.verify import verify_shard


@dataclass(frozen=True, kw_only=True)
class Importing:
    """Where an export goes, and who brings it.  secret: opens the export's key."""

    root: Path
    tenant: str
    workspace: str
    actor: str
    now: Callable[[], datetime]
    secret: bytes | None = None

    @property
    def place(self) -> Path:
        """The folder of the shard."""
        return self.root / self.tenant / self.workspace

    def open(self, root: Path | None = None, *, read_only: bool = False) -> Shard:
        """Open the shard here, or under another store folder."""
        return Shard.open(
            root or self.root, tenant=self.tenant, workspace=self.workspace, read_only=read_only
        )

    def is_empty(self) -> bool:
        """Return whether nothing was ever committed there."""
        if not (self.place / "shard.sqlite").exists():
            return True
        with self.open(read_only=True) as shard:
            return shard.head == 0


def import_parcel(
    terms: Importing, folder: Path, *, dry_run: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Check an export and bring it in; return the receipt.

    A whole export is made into a shard beside the store first, and verified there: files, chain, every row,
    state digest.  With its key and no commit here it becomes the shard, history and tombstones included.
    Otherwise its sources come in through the ordinary door, and tombstones where the keys are the same.
    """
    began = time.perf_counter()
    parcel = open_parcel(folder)
    key = _key_of(parcel, terms.secret)
    with building_beside(terms.root) as scratch:
        built = _plant(terms, parcel, scratch, key, progress) if parcel.is_complete else None
        if built is not None and key is not None and terms.is_empty():
            receipt = _adopt(terms, parcel, built, dry_run=dry_run)
        elif dry_run:
            receipt = _would_merge(terms, parcel, scratch / "empty")
        else:
            receipt = _merge(terms, parcel)
    return {**receipt, "dry_run": dry_run, "seconds": round(time.perf_counter() - began, 3)}


def _key_of(parcel: Parcel, secret: bytes | None) -> bytes | None:
    wrapped = parcel.manifest["keys"]
    if secret is None:
        return None
    if not isinstance(wrapped, dict):
        raise InputError(
            "the export carries no key: its tombstones are not transferable",
            advice="Leave the passphrase out, or export again with one.",
        )
    return unwrap_key(wrapped, secret)


def _plant(
    terms: Importing, parcel: Parcel, root: Path, key: bytes | None, progress: Progress | None
) -> Path:
    """Make the export a shard under `root`, and verify it.  Raises IntegrityError when it does not hold."""
    tables = {
        name: ((facts["versions"][0], facts["versions"][1]), parcel.groups(name))
        for name, facts in parcel.manifest["tables"].items()
        if facts["rows"]
    }
    built = plant_shard(
        root,
        (terms.tenant, terms.workspace),
        key=key,
        records=parcel.records(),
        tables=tables,
        now=terms.now(),
    )
    with terms.open(root) as planted:
        if key is None:
            planted.key = b""  # what the key of the export bound, such as holds, cannot be compared
        report = verify_shard(
            planted,
            digest=state_digest,
            progress=None if progress is None else lambda _, done, total: progress(done, total),
        )
    if not report.ok:
        first = report.problems[0]
        raise IntegrityError(
            f"the export does not verify: {first.kind} at {first.where}: {first.detail}",
            path=str(parcel.folder),
        )
    stated = parcel.manifest["state_digest"]
    if report.graph_version is not None and report.state_digest != stated:
        raise IntegrityError(
            f"the export's state digest is {report.state_digest}, its manifest says {stated}"
        )
    return built


def _adopt(terms: Importing, parcel: Parcel, built: Path, *, dry_run: bool) -> dict[str, Any]:
    if not dry_run:
        aside = terms.place.with_name(f".{terms.workspace}.empty")
        shutil.rmtree(aside, ignore_errors=True)
        put_in_place(built, terms.place, aside)
        shutil.rmtree(aside, ignore_errors=True)  # it never held a commit
    tombstones = parcel.manifest["tables"].get("tombstones", {"rows": 0})["rows"]
    return {
        "mode": "adopted",
        "rows": parcel.rows,
        "records_read": None,
        "sources": None,
        "tombstones": {"transferred": tombstones, "not_transferable": 0},
        "holds": {"repeated": _standing(parcel), "linked": 0, "refused": 0, "lost": []},
        "graph_version": parcel.manifest["graph_version"],
        "state_digest": parcel.manifest["state_digest"],
        "state_digest_equal": True,
        "differs_by": {},
    }


def _merge(terms: Importing, parcel: Parcel) -> dict[str, Any]:
    """Bring in the sources of a Parquet export; say whether the state is the same afterwards."""
    with Shard.create(terms.root, tenant=terms.tenant, workspace=terms.workspace, now=terms.now()) as shard:
        record = bring_sources(shard, parcel, terms, label=parcel.folder)
        with shard.pin() as snapshot:
            digest = state_digest(snapshot) if snapshot.version else None
    was_empty = parcel.is_complete and record["sources"]["new"] == record["records_read"]
    equal = parcel.manifest["state_digest"] == digest if parcel.is_complete else None
    left = record["tombstones"]["not_transferable"]
    left_out = {f"{name}_refused": record[name]["refused"] for name in ("reviews", "outcomes")}
    differs = undecidable(parcel, **left_out) | ({"tombstones that did not come along": left} if left else {})
    return {
        "mode": "merged",
        "rows": parcel.rows,
        **record,
        "state_digest": digest,
        "state_digest_equal": equal,
        "differs_by": {} if equal or not was_empty else differs,
    }


def _would_merge(terms: Importing, parcel: Parcel | Lines, empty: Path) -> dict[str, Any]:
    """Return how many records of an export are new here; writes nothing but the scratch folder `empty`."""
    is_made = (terms.place / "shard.sqlite").exists()
    if not is_made:
        Shard.create(empty, tenant=terms.tenant, workspace=terms.workspace, now=terms.now()).close()
    with terms.open(terms.root if is_made else empty, read_only=True) as shard:
        reading = Reading(shard=shard, held=parcel, told=read_told(parcel), label="")
        new = sum(batch.record_count for batch in reading.batches())
        bans = read_bans(parcel, shard, to_us(terms.now()))
    counts = {"new": new, "linked": reading.linked, "rejected": 0, "unreadable": 0}
    return {
        "mode": "merged",
        "rows": parcel.rows,
        "records_read": new + reading.linked,
        "sources": counts,
        "tombstones": {"transferred": bans.lacking.num_rows, "not_transferable": bans.foreign},
        "holds": {"found": _standing(parcel)},
    }


def _standing(held: Parcel | Lines) -> int:
    return sum(hold.released_us is None for hold in held.holds())


def import_lines(terms: Importing, path: Path, *, dry_run: bool = False) -> dict[str, Any]:
    """Check a JSON lines export and bring its sources in through the ordinary door; return the receipt.

    Sources whose text the export leaves out are counted as unreadable, and stay out.
    """
    began = time.perf_counter()
    lines = open_lines(path)
    if dry_run:
        with building_beside(terms.root) as scratch:
            receipt = _would_merge(terms, lines, scratch / "empty")
    else:
        with Shard.create(
            terms.root, tenant=terms.tenant, workspace=terms.workspace, now=terms.now()
        ) as shard:
            receipt = {"mode": "merged", "rows": lines.rows, **bring_sources(shard, lines, terms, label=path)}
            with shard.pin() as snapshot:
                receipt["state_digest"] = state_digest(snapshot) if snapshot.version else None
    receipt["sources"]["unreadable"] += lines.withheld
    receipt["records_read"] += lines.withheld
    rest: dict[str, Any] = {"state_digest_equal": None, "differs_by": {}, "dry_run": dry_run}
    return {**receipt, **rest, "seconds": round(time.perf_counter() - began, 3)}


def _bring_tombstones(shard: Shard, held: Held, terms: Importing) -> dict[str, int]:
    """Let those of the export's tombstones stand here that were made with this shard's key; count them."""
    bans = read_bans(held, shard, to_us(terms.now()))
    if bans.lacking.num_rows:
        shard.commit(
            [EventRows("erasure_requested", "tombstones", bans.lacking)],
            base=bans.base,
            reads={("tombstones", "tombstone_id"): bans.lacking["tombstone_id"].combine_chunks()},
            operation="import",
            actor=terms.actor,
            run_id=random_id(),
            now=terms.now(),
        )
    return {"transferred": bans.lacking.num_rows, "not_transferable": bans.foreign}


def bring_sources(shard: Shard, held: Parcel | Lines, terms: Importing, *, label: Path) -> dict[str, Any]:
    """Ingest the sources of an export that the shard does not have; return the receipt of the run.

    Its tombstones come before, so that they bar what they can; its holds after, on what is here then.
    """
    tombstones = _bring_tombstones(shard, held, terms)
    told = read_told(held)
    reading = Reading(shard=shard, held=held, told=told, label=export_name(label))
    rules = replace(rules_of(shard, extractor=extractor_of(held)), earlier=told.findings)
    run_id, started = random_id(), terms.now()
    run = Run(shard=shard, rules=rules, actor=terms.actor, run_id=run_id, now=terms.now)
    receipt = run.ingest(reading.batches())
    receipt.records_read += reading.linked
    receipt.sources["linked"] += reading.linked
    repeating = Repeating(
        shard=shard, held=held, rules=rules, actor=terms.actor, run_id=run_id, now=terms.now()
    )
    outcomes = RepeatingOutcomes(
        shard=shard, held=held, rules=rules, actor=terms.actor, run_id=run_id, now=terms.now()
    )
    repeat_in_order(repeating, outcomes)
    holds = RepeatingHolds(shard=shard, held=held, actor=terms.actor, now=terms.now())
    holds.repeat()
    record = {
        **receipt.as_record(),
        "reviews": repeating.told,
        "outcomes": outcomes.told,
        "holds": holds.told,
        "tombstones": tombstones,
    }
    record["graph_version"] = shard.head or None
    shard.record_run(run_id, "import", started, terms.now(), record)
    return record
