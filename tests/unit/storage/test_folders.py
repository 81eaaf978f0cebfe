import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from amos.clock import utc_now
from amos.errors import BusyError, InputError, IntegrityError, SchemaError, UsageError
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.storage import connections, leftovers, locks
from amos.storage.upgrades import FORMAT
from committed_rows import NOW, commit, new_shard, story


def test_a_new_store_ignores_itself_and_states_its_format(tmp_path):
    with new_shard(tmp_path):
        pass
    assert (tmp_path / "store/.gitignore").read_text() == "*\n"
    assert f"format = {FORMAT}" in (tmp_path / "store/amos.toml").read_text()


def test_making_a_store_again_changes_nothing(tmp_path):
    with new_shard(tmp_path) as shard:
        key = shard.key
        commit(shard, story(0, 1))
    (tmp_path / "store/amos.toml").write_text("format = 1\n# mine\n")
    with new_shard(tmp_path) as shard:
        assert (shard.key, shard.head) == (key, 1)
    assert "mine" in (tmp_path / "store/amos.toml").read_text()


def test_the_catalog_appears_whole_and_last(tmp_path, monkeypatch):
    seen = []

    def look(name):
        folder = tmp_path / "store/default/default"
        seen.append((name, (folder / "keys.sqlite").exists(), (folder / "shard.sqlite").exists()))

    monkeypatch.setattr("amos.storage.catalog.reach", look)
    with new_shard(tmp_path):
        pass
    assert seen[0] == ("create.catalog_drafted", True, False)
    assert list((tmp_path / "store/default/default/tmp").glob("[0-9]*")) == []


def test_a_missing_store_says_how_to_make_one(tmp_path):
    with pytest.raises(UsageError) as caught:
        Shard.open(tmp_path / "nothing")
    assert "amos init" in caught.value.advice
    assert "amos ingest" in caught.value.advice


def test_a_missing_shard_is_named(tmp_path):
    with new_shard(tmp_path), pytest.raises(UsageError, match="tenant 'acme'"):
        Shard.open(tmp_path / "store", tenant="acme")


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "store").write_text("hello")
    with pytest.raises(InputError, match="is a file"):
        new_shard(tmp_path)


def test_a_place_that_takes_no_folder_is_named(tmp_path):
    (tmp_path / "note").write_text("hello")
    with pytest.raises(InputError, match="no folder can stand there"):
        Shard.create(tmp_path / "note" / "store", now=NOW)


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "x" * 101, "tab\t"])
def test_names_that_cannot_be_folders_are_refused(tmp_path, name):
    with pytest.raises(UsageError, match="folder name"):
        Shard.create(tmp_path, tenant=name, now=NOW)


def test_a_newer_store_is_refused(tmp_path):
    with new_shard(tmp_path) as shard:
        path = shard.folder / "shard.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(SchemaError, match="format 9") as caught:
        Shard.open(tmp_path / "store")
    assert (caught.value.exit_code, caught.value.code) == (4, "newer_store")


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (
            f"format = {FORMAT + 1}\n".encode(),
            f"is of format {FORMAT + 1}, this version reads up to {FORMAT}",
        ),
        (b"format = [\n", "states no format"),
        (b"\xff\xfe", "states no format"),
        (b"# nothing\n", "states no format"),
        (b"format = true\n", "states no format"),
        (b"format = 0\n", "states no format"),
    ],
)
def test_settings_of_another_format_are_refused(tmp_path, payload, said):
    with new_shard(tmp_path):
        pass
    (tmp_path / "store/amos.toml").write_bytes(payload)
    with pytest.raises(SchemaError, match=said) as caught:
        Shard.open(tmp_path / "store")
    assert caught.value.exit_code == 4
    with pytest.raises(SchemaError):
        new_shard(tmp_path)


def test_a_store_without_settings_is_read_by_its_catalog(tmp_path):
    with new_shard(tmp_path):
        pass
    (tmp_path / "store/amos.toml").unlink()
    Shard.open(tmp_path / "store", read_only=True).close()


def test_a_key_of_another_store_is_refused(tmp_path):
    with new_shard(tmp_path / "a") as one, new_shard(tmp_path / "b") as other:
        foreign = (other.folder / "keys.sqlite").read_bytes()
        (one.folder / "keys.sqlite").write_bytes(foreign)
    with pytest.raises(IntegrityError, match="does not belong"):
        Shard.open(tmp_path / "a/store")


def test_a_lost_key_is_named(tmp_path):
    with new_shard(tmp_path) as shard:
        (shard.folder / "keys.sqlite").unlink()
    with pytest.raises(IntegrityError, match=r"keys\.sqlite is missing"):
        Shard.open(tmp_path / "store")


def test_only_the_owner_may_read_the_key(tmp_path):
    with new_shard(tmp_path) as shard:
        assert (shard.folder / "keys.sqlite").stat().st_mode & 0o077 == 0


def test_leftovers_of_dead_writers_go_and_those_of_live_ones_stay(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 1, width=1 << 20))
        folder = shard.folder
        kept = {path.name for path in (folder / "segments").rglob("*.parquet")}
    left = folder / "segments/sources/2-2-abc.parquet"
    left.write_bytes(b"left")
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    for name in (dead.stdout.decode().strip(), str(os.getppid())):
        (folder / "tmp" / name).mkdir(exist_ok=True)
    writer = locks.writer_lock(folder)
    Shard.open(tmp_path / "store").close()
    assert left.exists()
    writer.release()
    Shard.open(tmp_path / "store").close()
    assert {path.name for path in (folder / "segments").rglob("*.parquet")} == kept
    assert (folder / "tmp" / str(os.getppid())).exists()
    assert not (folder / "tmp" / dead.stdout.decode().strip()).exists()


def test_a_second_writer_is_told_who_holds_the_shard(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "WAIT_SECONDS", 0)
    with new_shard(tmp_path) as first, Shard.open(tmp_path / "store") as second:
        with first.exclusive("nightly import"), pytest.raises(BusyError) as caught:
            commit(second, story(0, 1), base=0)
        assert str(os.getpid()) in caught.value.message
        assert "nightly import" in caught.value.message
        assert socket.gethostname() in caught.value.message
        assert caught.value.message.endswith(" for 0 s")
        assert caught.value.is_retryable
        assert commit(second, story(0, 1)) == 1


def test_the_age_of_a_held_transaction_is_told(tmp_path, monkeypatch):
    with new_shard(tmp_path) as shard, shard.exclusive("nightly import"):
        later = utc_now() + timedelta(seconds=75)
        monkeypatch.setattr(locks, "utc_now", lambda: later)
        assert locks.busy_error(shard.folder).message.endswith("(nightly import) for 75 s")


def test_what_a_dead_holder_left_is_not_believed(tmp_path):
    with new_shard(tmp_path) as shard:
        (shard.folder / "tmp/writer.json").write_text('{"pid": 1, "host": "h", "operation": "old"}')
        assert "another process" in locks.busy_error(shard.folder).message


def test_many_readers_pin_at_once(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 5))

        def count(_number):
            with shard.pin() as snapshot:
                return snapshot.table("sources").num_rows

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(count, range(16))) == [5] * 16


def test_an_immutable_open_is_refused_while_a_log_waits(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 1))
        with pytest.raises(InputError, match="unmerged writes"):
            connections._open_immutable(shard.folder / "shard.sqlite")
    connections._open_immutable(shard.folder / "shard.sqlite").close()


def test_the_catalog_is_read_while_no_writer_can_place_files(tmp_path):
    with new_shard(tmp_path) as shard:
        seen = []

        def named():
            with locks.alone_among_writers(shard.folder) as is_alone:
                seen.append(is_alone)
            return leftovers.Named(set(), 0)

        leftovers.clean_orphans(shard.folder, named, lambda: True)
        leftovers.find_orphans(shard.folder, named)
    assert seen == [False, False]


def test_files_of_a_writer_at_work_are_no_orphans(tmp_path):
    with new_shard(tmp_path) as shard, shard.exclusive() as writer:
        terms = {"operation": "ingest", "actor": "tester", "run_id": bytes(16), "now": NOW}
        writer.commit(story(0, 1, width=1 << 20), **terms)
        with Shard.open(tmp_path / "store", read_only=True) as reader:
            assert reader.orphans() == {}
            assert verify_shard(reader).problems == []


def test_a_shard_opened_for_reading_takes_no_commit(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 1))
    reader = Shard.open(tmp_path / "store", read_only=True)
    with pytest.raises(UsageError, match="opened for reading"):
        commit(reader, story(1, 1))
    reader.close()


def test_folders_that_a_backup_skipped_come_back(tmp_path):
    with new_shard(tmp_path) as shard:
        folder = shard.folder
    for name in ("tmp", "derived", "segments"):
        shutil.rmtree(folder / name)
    with Shard.open(tmp_path / "store") as shard:
        assert commit(shard, story(0, 1, width=1 << 20)) == 1


MAKER = """
import sys
from pathlib import Path
from committed_rows import commit, new_shard, story
with new_shard(Path(sys.argv[1])) as shard:
    commit(shard, story(int(sys.argv[2]), 1))
    print(shard.key.hex())
"""


def test_a_store_made_by_three_at_once_is_one_store(tmp_path):
    known = {"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", MAKER, str(tmp_path), str(number)],
            env=known,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    outcomes = [one.communicate(timeout=60) for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], outcomes
    assert len({key for key, _ in outcomes}) == 1
    with Shard.open(tmp_path / "store") as shard:
        assert shard.head == 3
