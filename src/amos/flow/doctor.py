"""Examine the environment and a store; every finding says what to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, NamedTuple

from amos.errors import EngineError
from amos.flow.principal import principal_of
from amos.journal.store import KEY_ADVICE, Shard, refuse_unsafe_disk

LEAST_FREE_BYTES = 512 << 20
"""Below this much free space a large ingest is likely to fail."""
LEAST_PYTHON = (3, 11)


class Check(NamedTuple):
    """One finding: what was looked at, whether it is well, what was seen, and what to do if not."""

    name: str
    ok: bool
    detail: str
    advice: str | None = None


def examine(root: Path, *, tenant: str = "default", workspace: str = "default") -> dict[str, Any]:
    """Return `ok` and the checks, in a fixed order; a store that does not exist is no fault."""
    checks = [*_environment(root), *_store_checks(root, tenant, workspace)]
    return {"ok": all(check.ok for check in checks), "checks": [check._asdict() for check in checks]}


def _environment(root: Path) -> Iterator[Check]:
    found = ".".join(map(str, sys.version_info[:3]))
    needed = ".".join(map(str, LEAST_PYTHON))
    yield Check("python", sys.version_info >= LEAST_PYTHON, found, f"Install Python {needed} or newer.")
    yield _packages()
    yield _kernels()
    yield _space(root)
    yield _guarded("file_system", lambda: _disk(root))


def _packages() -> Check:
    wanted = [name.split(";")[0].strip() for name in requires("amos-memory") or [] if "extra ==" not in name]
    names = [_package_name(entry) for entry in wanted]
    missing = [name for name in names if not _is_installed(name)]
    if missing:
        return Check("packages", False, f"missing: {', '.join(missing)}", "Install the package again.")
    shown = ", ".join(f"{name} {version(name)}" for name in ("apsw", "pyarrow", "duckdb", "numba"))
    return Check("packages", True, shown)


def _package_name(requirement: str) -> str:
    return next((requirement[:at] for at, char in enumerate(requirement) if char in "<>=!~[ "), requirement)


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _kernels() -> Check:
    from amos.kernels.warmth import is_warm

    if is_warm():
        return Check("kernels", True, "compiled")
    return Check(
        "kernels", True, "not compiled yet; `amos doctor --warm` does it now, a large ingest when it runs"
    )


def _space(root: Path) -> Check:
    where = _existing(root)
    free = shutil.disk_usage(where).free
    detail = f"{free / 1e9:.1f} GB free"
    return Check("disk_space", free >= LEAST_FREE_BYTES, detail, f"Free some space on the disk of {where}.")


def _existing(path: Path) -> Path:
    """Return `path` or the nearest folder above it that exists."""
    return next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())


def _disk(root: Path) -> str:
    refuse_unsafe_disk(_existing(root))
    return "local"


def _guarded(name: str, look: Callable[[], str]) -> Check:
    """Return what `look` says, or the error it raised as a failed check."""
    try:
        return Check(name, True, look())
    except EngineError as failure:
        return Check(name, False, failure.message, failure.advice)


def _store_checks(root: Path, tenant: str, workspace: str) -> Iterator[Check]:
    if not (root / tenant / workspace / "shard.sqlite").exists():
        yield Check(
            "store", True, f"there is none at {root} yet; `amos init` or `amos ingest PATH` makes one"
        )
        return
    yield _guarded("owner", lambda: _owner(root))
    try:
        shard = Shard.open(root, tenant=tenant, workspace=workspace, read_only=True)
    except EngineError as failure:
        yield Check("store", False, failure.message, failure.advice)
        return
    with shard:
        where = f"{root}, shard {tenant}/{workspace}, graph version {shard.head}"
        detail = (
            f"{where}, key present" if shard.key else f"{where}: keys.sqlite is missing, it can only be read"
        )
        yield Check("store", bool(shard.key), detail, None if shard.key else KEY_ADVICE)
        yield _writable(shard)
        yield _hot_rows(shard)
        yield _replaced(shard)
        yield _index(shard)


def _owner(root: Path) -> str:
    principal = principal_of(root)
    principal.require_owner(root, "read")
    return principal.name


def _writable(shard: Shard) -> Check:
    from os import W_OK, access

    is_writable = all(access(path, W_OK) for path in (shard.folder, shard.folder / "shard.sqlite"))
    advice = "Check the owner and permissions of the store folder; reading works all the same."
    return Check(
        "writable", is_writable, "yes" if is_writable else f"no permission for {shard.folder}", advice
    )


def _hot_rows(shard: Shard) -> Check:
    hot = shard.records().hot
    size = sum(len(entry.body) for entry in hot)
    return Check(
        "hot_rows", True, f"{size / 1e6:.1f} MB in {len(hot)} parts; sealed into segments when they grow"
    )


def _replaced(shard: Shard) -> Check:
    count = len(shard.garbage())
    return Check(
        "replaced_files",
        True,
        f"{count} wait for their readers; the next write removes them after ten minutes",
    )


def _index(shard: Shard) -> Check:
    from amos.retrieval.store import index_version

    found = index_version(shard)
    if found is None:
        return Check("index", True, "none stored; questions read the tables")
    behind = shard.head - found
    return Check(
        "index", True, "current" if behind == 0 else f"{behind} commits behind; completed at every question"
    )
