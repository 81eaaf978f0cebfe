"""The library's door for moving memory: back up, restore.

What a function needs is imported when it is first called.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from amos.clock import utc_now
from amos.errors import UsageError
from amos.flow.principal import principal_of

if TYPE_CHECKING:
    from amos.copies.store import Progress

__all__ = ["back_up", "restore"]

_SHARD = ("default", "default")


def back_up(
    root: str | Path,
    destination: str | Path,
    *,
    shard: tuple[str, str] = _SHARD,
    with_keys: bool = False,
    link: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Bring the newest state of a shard to the folder `destination`, while writers go on.

    shard: tenant and workspace.  A second backup to the same folder copies only what is new.
    link: share bytes on disk with the store.  Returns the receipt.
    """
    from amos.copies.store import find_shard
    from amos.flow.backup import back_up_shard, plan_backup

    folder = find_shard(_owned(Path(root), "back up"), *shard)
    if dry_run:
        return plan_backup(folder, Path(destination))
    return back_up_shard(
        folder,
        Path(destination),
        now=utc_now(),
        with_keys=with_keys,
        is_linked=link,
        progress=progress,
    )


def restore(
    source: str | Path,
    destination: str | Path,
    *,
    shard: tuple[str, str] = _SHARD,
    keys: str | Path | None = None,
    live: str | Path | None = None,
    replace: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make a store in the folder `destination` of the backup `source`; return the receipt.

    live: a store of the same key; what it has forgotten since the backup is forgotten in the restored
    store before that opens.  replace: a shard that stands there is moved aside, and its erasures count too.
    """
    from amos.flow.restore import Restoring, restore_shard

    target = Path(destination)
    _owned(Path(source), "read")
    if target.exists():
        _owned(target, "write")
    if target.resolve().is_relative_to(Path(source).resolve()):
        raise UsageError(f"{target} lies inside the backup", path=str(target))
    terms = Restoring(
        source=Path(source),
        destination=target,
        tenant=shard[0],
        workspace=shard[1],
        keys=None if keys is None else Path(keys),
        live=None if live is None else Path(live),
        replace=replace,
    )
    return restore_shard(
        terms, actor=principal_of(target).name, now=utc_now(), dry_run=dry_run, progress=progress
    )


def _owned(root: Path, operation: str) -> Path:
    principal_of(root).require_owner(root, operation)
    return root
