"""Refuse disks on which locks and syncs do not mean what the store relies on."""

from __future__ import annotations

from pathlib import Path

from amos.errors import InputError

NETWORK_KINDS = frozenset(
    {
        "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.ceph", "fuse.davfs",
        "fuse.gcsfuse", "fuse.glusterfs", "fuse.juicefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
        "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3", "smbfs", "virtiofs",
    }
)  # fmt: skip
_MOUNTS = Path("/proc/self/mountinfo")


def kind_of_disk(path: Path, mounts: str) -> str | None:
    """Return the file system kind that holds the absolute `path`, from mountinfo text."""
    best, found = -1, None
    held = f"{path.as_posix().rstrip('/')}/"
    for line in mounts.splitlines():
        fields = line.split(" ")
        if " - " not in line or len(fields) < 5:
            continue
        point = fields[4].rstrip("/") + "/"
        if "\\" in point:
            point = point.encode().decode("unicode_escape")
        # a later mount on the same point hides the earlier one
        if held.startswith(point) and len(point) >= best:
            best, found = len(point), line.split(" - ", 1)[1].split(" ", 1)[0]
    return found


def refuse_network_disk(path: Path) -> None:
    """Raise InputError when `path` lies on a network file system; unknown systems pass."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    kind = kind_of_disk(path.resolve(), mounts)
    if kind in NETWORK_KINDS:
        raise InputError(
            f"{path} lies on a network file system ({kind}), where a crash can lose commits",
            code="network_file_system",
            path=str(path),
            advice="Put the store on a local disk with `--store`, and copy exports to the network.",
        )
