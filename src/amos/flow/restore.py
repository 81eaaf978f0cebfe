"""Make a store of a backup; what was forgotten since is forgotten in it before it opens."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from amos.clock import to_us
from amos.copies.store import (
    Progress,
    build_shard,
    building,
    held_backup,
    holds_shard,
    note_copies,
    put_in_place,
)
from amos.errors import EngineError, IntegrityError, UsageError
from amos.flow.digest import state_digest
from amos.flow.policies import policy_of
from amos.flow.reapply import Missing, forget_again, missing_erasures
from amos.identity import random_id
from amos.journal.store import Shard, refuse_unsafe_disk
from amos.journal.verify import verify_shard
from amos.schemas.catalog import CopyEntry


@dataclass(frozen=True, kw_only=True)
class Restoring:
    """From which backup to which store folder, and what may have forgotten more since.

    keys: a key file, when the backup has none.  live: store folder whose erasures are applied, as are those
    of the store that the key file lies in.  replace: a shard that stands at `destination` is moved aside; its
    erasures are applied too.  without_erasures: a damaged store that tells no erasures is passed over.
    """

    source: Path
    destination: Path
    tenant: str
    workspace: str
    keys: Path | None = None
    live: Path | None = None
    replace: bool = False
    without_erasures: bool = False

    @property
    def labels(self) -> tuple[str, str]:
        """Tenant and workspace."""
        return self.tenant, self.workspace

    @property
    def place(self) -> Path:
        """The folder that the restored shard takes."""
        return self.destination.joinpath(*self.labels)

    @property
    def is_taken(self) -> bool:
        """Whether a shard stands there, even one that has lost its catalog."""
        return holds_shard(self.place)

    def ledgers(self) -> list[Path]:
        """Return the store folders whose erasures count: the live one, that of the key, the replaced one."""
        named = [folder for folder in (self.live, self._store_of_key()) if folder is not None]
        found = {folder.resolve(): folder for folder in [*named, self.destination]}
        found.pop(self.source.resolve(), None)
        return [folder for folder in found.values() if holds_shard(folder.joinpath(*self.labels))]

    def _store_of_key(self) -> Path | None:
        """Return the store folder that the key file lies in, None when it was kept apart."""
        if self.keys is None:
            return None
        parents = self.keys.resolve().parents
        folder = parents[len(self.labels)] if len(parents) > len(self.labels) else None
        return folder if folder is not None and folder.joinpath(*self.labels) == parents[0] else None


@dataclass(kw_only=True)
class Told:
    """What the ledgers told: rows erased again by table, tombstones that came along, copies, which were read.

    replaced: the graph version of the shard that is to be replaced; None where none stands there or its
    catalog cannot be read.
    """

    erased: Counter[str] = field(default_factory=Counter)
    tombstones: int = 0
    copies: dict[str, CopyEntry] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    replaced: int | None = None


def restore_shard(
    terms: Restoring, *, actor: str, now: datetime, dry_run: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Build, forget again, verify, and only then put in place; return the receipt.

    With dry_run all of it happens but the last step.  Raises UsageError when something stands there and is
    not to be replaced, IntegrityError when the backup is damaged or does not verify, and when a store that
    may have forgotten more cannot be read.
    """
    began = time.perf_counter()
    backup = terms.source.joinpath(*terms.labels)
    held = held_backup(backup)
    _require_room(terms)
    with building_beside(terms.destination) as root:
        built = build_shard(backup, root, keys=_key_file(terms, backup, held.fingerprint), progress=progress)
        told = _forget_again(root, terms, actor, now)
        verified = _verified(root, terms)
        aside = _aside(terms, now) if terms.is_taken else None
        if not dry_run:
            note_copies(built, _copies(terms, told, aside, verified[0] or 0, now))
            put_in_place(built, terms.place, aside, replaced=told.replaced)
    return {
        "dry_run": dry_run,
        "place": str(terms.destination),
        "backup_version": held.graph_version or None,
        "graph_version": verified[0],
        "state_digest": verified[1],
        "segments": held.segments,
        "bytes": held.byte_count,
        "erased_again": dict(told.erased),
        "tombstones": told.tombstones,
        "ledgers": told.read,
        "unread": told.unread,
        "moved_aside": None if aside is None else str(aside),
        "seconds": round(time.perf_counter() - began, 3),
    }


def _require_room(terms: Restoring) -> None:
    if terms.is_taken and not terms.replace:
        raise UsageError(
            f"{terms.place} holds a store already",
            path=str(terms.place),
            advice="Name another folder, or give --replace: what stands there is moved aside.",
        )
    if terms.destination.exists() and not terms.destination.is_dir():
        raise UsageError(f"{terms.destination} is a file", path=str(terms.destination))


@contextmanager
def building_beside(destination: Path) -> Iterator[Path]:
    """Yield a store folder beside `destination`, on the same disk, that is gone afterwards."""
    with building(destination) as root:
        refuse_unsafe_disk(root)
        yield root


def _key_file(terms: Restoring, backup: Path, fingerprint: bytes) -> Path | None:
    """Return which key file to use: the given one, that of the backup, or that of a live store."""
    if terms.keys is not None or (backup / "keys.sqlite").exists():
        return terms.keys
    for folder in terms.ledgers():
        key = folder.joinpath(*terms.labels, "keys.sqlite")
        with suppress(EngineError):  # what cannot be read here is told when its erasures are
            if key.exists() and held_backup(key.parent).fingerprint == fingerprint:
                return key
    return None


def _forget_again(root: Path, terms: Restoring, actor: str, now: datetime) -> Told:
    """Forget in the restored shard what the ledgers say was forgotten since; return what they told."""
    told = Told()
    with Shard.open(root, tenant=terms.tenant, workspace=terms.workspace) as restored:
        policy = policy_of(restored)
        for folder in terms.ledgers():
            try:
                missing = _missing(restored, folder, terms, told)
            except (EngineError, OSError) as cause:
                if not terms.without_erasures:
                    raise _untold(folder, cause) from cause
                told.unread.append(str(folder))
                continue
            told.erased.update(forget_again(restored, missing, policy=policy, actor=actor, now=now))
            told.tombstones += missing.tombstones.num_rows
    return told


def _missing(restored: Shard, folder: Path, terms: Restoring, told: Told) -> Missing:
    """Return what one ledger has that the restored shard lacks; note what else it tells."""
    with Shard.open(folder, tenant=terms.tenant, workspace=terms.workspace, read_only=True) as live:
        if folder.resolve() == terms.destination.resolve():
            told.replaced = live.head
        told.copies |= {entry.place: entry for entry in live.copies()}
        if live.key == restored.key:
            told.read.append(str(folder))
        return missing_erasures(restored, live)


def _untold(folder: Path, cause: Exception) -> IntegrityError:
    return IntegrityError(
        f"{folder} is damaged, so that it does not tell what was forgotten in it since the backup: {cause}",
        path=str(folder),
        advice="Try `amos repair` on it. With --without-erasures, what was forgotten since then comes back.",
    )


def _verified(root: Path, terms: Restoring) -> tuple[int | None, str | None]:
    with Shard.open(root, tenant=terms.tenant, workspace=terms.workspace) as restored:
        report = verify_shard(restored, digest=state_digest)
    if not report.ok:
        first = report.problems[0]
        raise IntegrityError(
            f"the backup does not verify: {first.kind} at {first.where}: {first.detail}",
            path=str(terms.source),
            advice="Restore from another backup.",
        )
    return report.graph_version, report.state_digest


def _aside(terms: Restoring, now: datetime) -> Path:
    return terms.place.with_name(f".{terms.workspace}.replaced-{to_us(now)}")


def _copies(terms: Restoring, told: Told, aside: Path | None, head: int, now: datetime) -> list[CopyEntry]:
    """Return the copies of the memory that the restored shard has to know of: a later erasure names them.

    Those that the ledgers list, and what restoring moves aside now or moved aside before and was killed; of
    versions beyond `head`, the newest of the restored shard, each holds all of its history.
    """
    found = dict(told.copies)
    left = sorted(terms.place.parent.glob(f".{terms.workspace}.replaced-*"))
    for folder in [*left, *([] if aside is None else [aside])]:
        place = str(folder.resolve())
        found.setdefault(place, CopyEntry(random_id(), "replaced store", to_us(now), head, place))
    return [entry._replace(graph_version=min(entry.graph_version, head)) for entry in found.values()]
