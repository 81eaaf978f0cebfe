import errno
from types import SimpleNamespace

import apsw
import pytest

from amos.errors import BusyError, CapacityError, InputError, IntegrityError
from amos.storage import files
from amos.storage.files import disk_errors, place_file, rename_durably
from amos.storage.filesystems import kind_of_disk, refuse_network_disk

MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
40 21 0:50 / /mnt/team rw - nfs4 filer:/team rw
41 40 0:51 / /mnt/team/my\\040disk rw - ext4 /dev/sdb rw
42 21 0:52 / /srv rw - fuse.sshfs box: rw
"""


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (OSError(errno.ENOSPC, "full"), CapacityError),
        (OSError(errno.EACCES, "no"), InputError),
        (OSError(errno.EROFS, "read-only"), InputError),
        (OSError(errno.EIO, "broken"), IntegrityError),
        (OSError(errno.ENOENT, "gone"), FileNotFoundError),
        (apsw.IOError("broken"), IntegrityError),
        (apsw.LockedError("busy"), BusyError),
        (apsw.ConstraintError("twice"), apsw.ConstraintError),
        (apsw.FullError("full"), CapacityError),
        (apsw.BusyError("busy"), BusyError),
        (apsw.CantOpenError("no"), InputError),
        (apsw.CorruptError("bad"), IntegrityError),
        (apsw.NotADBError("bad"), IntegrityError),
    ],
)
def test_failures_of_the_disk_say_what_to_do(tmp_path, cause, expected):
    with pytest.raises(expected), disk_errors(tmp_path / "f"):
        raise cause


def test_a_disk_without_room_for_an_index_of_sqlite_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr("amos.storage.files.os.statvfs", lambda _: SimpleNamespace(f_bavail=0))
    with pytest.raises(CapacityError), disk_errors(tmp_path / "f"):
        raise apsw.IOError("IOError: disk I/O error")


def test_a_placed_file_holds_everything_and_leaves_no_draft(tmp_path):
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    place_file(tmp_path / "kept", b"abc", drafts=drafts)
    assert (tmp_path / "kept").read_bytes() == b"abc"
    assert list(drafts.iterdir()) == []


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    def fail(*_args):
        raise OSError(errno.ENOSPC, "full")

    (tmp_path / "kept").write_bytes(b"old")
    monkeypatch.setattr(files, "write_synced", fail)
    with pytest.raises(CapacityError):
        place_file(tmp_path / "kept", b"new", drafts=tmp_path)
    assert (tmp_path / "kept").read_bytes() == b"old"


def test_renaming_is_done_in_place(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    rename_durably(tmp_path / "a", tmp_path / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", "ext4"),
        ("/mnt/team/store", "nfs4"),
        ("/mnt/team/my disk/store", "ext4"),
        ("/srv/x", "fuse.sshfs"),
    ],
)
def test_the_innermost_mount_decides_the_kind_of_disk(path, kind):
    from pathlib import Path

    assert kind_of_disk(Path(path), MOUNTS) == kind


def test_a_network_disk_is_refused_with_advice(tmp_path, monkeypatch):
    table = tmp_path / "mounts"
    table.write_text(f"1 0 0:1 / {tmp_path} rw - cifs //box/share rw\n")
    monkeypatch.setattr("amos.storage.filesystems._MOUNTS", table)
    with pytest.raises(InputError, match="network file system \\(cifs\\)") as caught:
        refuse_network_disk(tmp_path)
    assert "--store" in caught.value.advice


def test_an_unknown_system_passes(tmp_path, monkeypatch):
    monkeypatch.setattr("amos.storage.filesystems._MOUNTS", tmp_path / "none")
    refuse_network_disk(tmp_path)
