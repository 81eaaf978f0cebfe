"""Readers write nothing: the store's files and their times stay, and a read-only mount is enough."""

import os
import shutil
import subprocess

import pytest

from amos.api import Store
from households import HOUSEHOLD, call, write_lines

pytestmark = pytest.mark.crash

READS = [
    ("packet", "barn colour", "--json"),
    ("search", "locker", "--json"),
    ("list", "--json"),
    ("list", "sources", "--at-version", "1", "--json"),
    ("list", "conflicts"),
    ("sql", "SELECT count(*) AS n FROM atoms"),
    ("report", "ingest"),
    ("export", "jsonl"),
    ("verify",),
]
SHARED_MEMORY = ("shard.sqlite-shm", "shard.sqlite-wal")
"""SQLite's table of read marks and the empty log beside it: coordination, never content."""


@pytest.fixture
def filled(tmp_path):
    root = tmp_path / "store"
    notes = write_lines(tmp_path / "notes.jsonl", *HOUSEHOLD)
    assert call("-q", "-s", root, "ingest", notes, "--from", "messages").code == 0
    with Store.open(root) as store:
        store.shard._log.seal_all()
    call("-s", root, "packet", "barn")
    call("-s", root, "verify")  # whoever verifies a file first notes that it did
    return root


def standing(root):
    """Return what the file system says of every file and folder: size, times and place."""
    found = {}
    for path in [root, *root.rglob("*")]:
        if path.name not in SHARED_MEMORY:
            stat = path.stat()
            found[path.relative_to(root).as_posix()] = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
    return found


def test_no_reading_command_changes_a_file(filled):
    before = standing(filled)
    for words in READS:
        assert call("-s", filled, *words).code == 0, words
        assert standing(filled) == before, words
    log = filled / "default/default/shard.sqlite-wal"
    assert not log.exists() or log.stat().st_size == 0


def test_the_first_reader_of_a_new_store_leaves_no_trace(tmp_path):
    root = tmp_path / "store"
    Store.create(root).close()
    before = standing(root)
    before.pop("default/default")  # the folder of the log, whose own time moves with it
    for words in READS[:3]:
        assert call("-s", root, *words).code == 0, words
    after = standing(root)
    after.pop("default/default")
    assert after == before


def test_reading_needs_no_right_to_write(filled, tmp_path):
    where = tmp_path / "mounted"
    if os.geteuid() == 0:
        where.mkdir()
        for words in (["--bind", filled, where], ["-o", "remount,bind,ro", where]):
            done = subprocess.run(["mount", *map(str, words)], capture_output=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"this system mounts nothing: {done.stderr.decode().strip()}")
    else:
        shutil.copytree(filled, where)
        for path in [where, *where.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with pytest.raises(OSError, match=r"[Rr]ead-only|[Pp]ermission"):
            (where / "probe").touch()
        for words in READS:
            told = call("-s", where, *words)
            assert told.code == 0, (words, told.err)
        told = call("-s", where, "snapshot")
        assert told.code == 3
        if os.geteuid() == 0:
            assert "The disk is mounted read-only" in told.err
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(where)], check=False)
        else:
            for path in [where, *where.rglob("*")]:
                path.chmod(0o755)


def test_a_reader_goes_on_while_a_writer_holds_the_transaction(filled):
    with Store.open(filled) as writer, writer.shard.exclusive("long import"):
        before = standing(filled)
        for words in READS:
            assert call("-s", filled, *words).code == 0, words
        assert standing(filled) == before
