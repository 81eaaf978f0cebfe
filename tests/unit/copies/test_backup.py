import json
import shutil
from pathlib import Path

import pytest

import amos.api
from amos.copies.store import back_up
from amos.errors import BusyError, InputError, IntegrityError, UsageError
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.moves import back_up as back_up_store
from amos.moves import restore
from amos.views.moves import restore_lines
from committed_rows import NOW, commit, new_shard, story
from households import line, write_lines

SHARD = Path("default/default")
NOTES = [
    line("n1", "I keep the spare key under the blue pot.", 1),
    line("n2", "My sister Ines lives in Porto.", 2),
    line("n3", "I water the tomatoes on Fridays.", 3),
]


@pytest.fixture
def kept(tmp_path):
    """Return a store with three notes."""
    with amos.api.Store.create(tmp_path / "mem") as store:
        store.ingest(write_lines(tmp_path / "notes.jsonl", *NOTES), format="messages")
    return tmp_path / "mem"


def state(root, **options):
    with amos.api.Store.open(root, read_only=True, **options) as store:
        report = store.verify()
    assert report.problems == []
    return report.state_digest, report.graph_version


def contents(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_backup_is_a_store_that_verifies(kept, tmp_path):
    receipt = back_up_store(kept, tmp_path / "copy", with_keys=True)
    assert state(tmp_path / "copy") == state(kept)
    assert (receipt["graph_version"], receipt["with_keys"], receipt["registered"]) == (1, True, True)
    assert not list((tmp_path / "copy").rglob("*-wal"))


def test_without_the_key_it_is_restored_with_a_key_file_alone(kept, tmp_path):
    assert not back_up_store(kept, tmp_path / "copy")["with_keys"]
    with pytest.raises(InputError, match=r"keys\.sqlite is missing"):
        restore(tmp_path / "copy", tmp_path / "again")
    assert not (tmp_path / "again").exists()
    receipt = restore(tmp_path / "copy", tmp_path / "again", keys=kept / SHARD / "keys.sqlite")
    assert state(tmp_path / "again") == state(kept) == (receipt["state_digest"], receipt["graph_version"])


def test_the_key_of_another_store_is_refused(kept, tmp_path):
    back_up_store(kept, tmp_path / "copy")
    amos.api.Store.create(tmp_path / "other").close()
    with pytest.raises(IntegrityError, match="key of another store"):
        restore(tmp_path / "copy", tmp_path / "again", keys=tmp_path / "other" / SHARD / "keys.sqlite")


def test_a_second_backup_copies_what_is_new_and_removes_what_is_gone(tmp_path):
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with new_shard(tmp_path) as shard:
        shard._log.seal_blobs = 0
        for number in range(3):
            commit(shard, story(number, 1))
        first = back_up(folder / SHARD, copy, with_keys=True)
        commit(shard, story(3, 1))
        second = back_up(folder / SHARD, copy)
        assert second.copied.new_segments == second.copied.segments - first.copied.segments
        assert second.removed == 0
        shard.compact(most=1, now=NOW)
        third = back_up(folder / SHARD, copy)
        assert third.removed > 0
    with Shard.open(copy, read_only=True) as held:
        assert (verify_shard(held).problems, held.head) == ([], 4)
    named = {path.name for path in (copy / SHARD / "segments").rglob("*.parquet")}
    assert len(named) == third.copied.segments


def test_a_backup_that_shares_bytes_is_whole_when_the_store_is_gone(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 2, width=1 << 20))
    segment = next((tmp_path / "store" / SHARD).rglob("*.parquet"))
    back_up(tmp_path / "store" / SHARD, tmp_path / "copy", with_keys=True, is_linked=True)
    assert segment.stat().st_nlink == 2
    shutil.rmtree(tmp_path / "store")
    with Shard.open(tmp_path / "copy", read_only=True) as held:
        assert verify_shard(held).problems == []


def test_a_damaged_segment_is_named_and_no_backup_claims_to_hold_it(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 2, width=1 << 20))
    segment = next((tmp_path / "store" / SHARD).rglob("*.parquet"))
    broken = bytearray(segment.read_bytes())
    broken[100] ^= 1
    segment.write_bytes(broken)
    with pytest.raises(IntegrityError, match=segment.name):
        back_up(tmp_path / "store" / SHARD, tmp_path / "copy")
    assert json.loads((tmp_path / "copy/backup.json").read_bytes())["shards"] == {}
    assert not (tmp_path / "copy" / SHARD / "shard.sqlite").exists()


@pytest.mark.parametrize("place", ["mem/inside", "full", "other"])
def test_a_backup_never_goes_where_something_else_stands(kept, tmp_path, place):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/letter.txt").write_text("keep me")
    amos.api.Store.create(tmp_path / "other").close()
    before = contents(tmp_path / "other") if place == "other" else b""
    with pytest.raises(UsageError):
        back_up_store(kept, tmp_path / place)
    assert (tmp_path / "full/letter.txt").read_text() == "keep me"
    assert before == (contents(tmp_path / "other") if place == "other" else b"")


def test_a_backup_of_another_history_is_not_overwritten(kept, tmp_path):
    amos.api.Store.create(tmp_path / "other").close()
    back_up_store(tmp_path / "other", tmp_path / "copy")
    with pytest.raises(UsageError, match="another history"):
        back_up_store(kept, tmp_path / "copy")


def test_backups_are_registered_and_the_last_at_a_place_counts(kept, tmp_path):
    for _ in range(2):
        back_up_store(kept, tmp_path / "copy")
    back_up_store(kept, tmp_path / "second")
    with Shard.open(kept, read_only=True) as shard:
        places = [(entry.kind, entry.place, entry.graph_version) for entry in shard.copies()]
    assert places == [("backup", str(tmp_path / name), 1) for name in ("copy", "second")]


def test_restoring_never_overwrites_unless_told(kept, tmp_path):
    back_up_store(kept, tmp_path / "copy", with_keys=True)
    with pytest.raises(UsageError, match="holds a store already"):
        restore(tmp_path / "copy", kept)
    receipt = restore(tmp_path / "copy", kept, replace=True, dry_run=True)
    assert receipt["dry_run"]
    assert [path.name for path in kept.parent.iterdir() if "restoring" in path.name] == []
    with amos.api.Store.open(kept) as store:
        store.ingest(
            write_lines(tmp_path / "more.jsonl", line("n4", "My bike is red.", 4)), format="messages"
        )
        with pytest.raises(BusyError), store.shard.pin():
            restore(tmp_path / "copy", kept, replace=True)
    receipt = restore(tmp_path / "copy", kept, replace=True)
    assert state(kept) == (receipt["state_digest"], 1)
    aside = Path(receipt["moved_aside"])
    assert (aside / "shard.sqlite").exists()
    with Shard.open(kept, read_only=True) as shard:
        assert str(aside) in [entry.place for entry in shard.copies()]


def test_the_key_in_a_store_brings_what_that_store_has_forgotten(kept, tmp_path):
    back_up_store(kept, tmp_path / "copy")
    shutil.copy(kept / SHARD / "keys.sqlite", tmp_path / "apart.sqlite")
    with amos.api.Store.open(kept) as store:
        store.forget(next(row["atom_id"] for row in store.list().rows if "Porto" in json.dumps(row)))
    receipt = restore(tmp_path / "copy", tmp_path / "again", keys=kept / SHARD / "keys.sqlite")
    assert (receipt["ledgers"], receipt["erased_again"]["atoms"]) == ([str(kept)], 1)
    assert b"Porto" not in contents(tmp_path / "again")
    receipt = restore(tmp_path / "copy", tmp_path / "blind", keys=tmp_path / "apart.sqlite")
    assert (receipt["ledgers"], receipt["erased_again"]) == ([], {})
    assert any("No store of its key was at hand" in line for line in restore_lines(receipt))


def test_what_was_forgotten_since_the_backup_is_forgotten_in_the_restored_store(kept, tmp_path):
    back_up_store(kept, tmp_path / "copy", with_keys=True)
    with amos.api.Store.open(kept) as store:
        store.ingest(
            write_lines(tmp_path / "more.jsonl", line("n4", "My bike is red.", 4)), format="messages"
        )
        gone = next(row["atom_id"] for row in store.list().rows if "Porto" in json.dumps(row))
        store.forget(gone)
        expected = store.verify().state_digest
    receipt = restore(tmp_path / "copy", tmp_path / "again", live=kept)
    assert receipt["tombstones"] > 0
    assert receipt["erased_again"]["atoms"] > 0
    assert b"Porto" not in contents(tmp_path / "again")
    assert state(tmp_path / "again")[1] == 2
    with amos.api.Store.open(tmp_path / "again") as store:
        for name in ("notes.jsonl", "more.jsonl"):
            store.ingest(tmp_path / name, format="messages")
        assert store.verify().state_digest == expected


def test_a_restored_store_goes_on_as_if_nothing_had_happened(kept, tmp_path):
    back_up_store(kept, tmp_path / "copy", with_keys=True)
    restore(tmp_path / "copy", tmp_path / "again")
    with amos.api.Store.open(tmp_path / "again") as store:
        receipt = store.ingest(tmp_path / "notes.jsonl", format="messages")
    assert receipt["sources"]["linked"] == 3
    assert receipt["graph_version"] == 1
