"""A store that is damaged is never made worse, and a backup of it can always be restored."""

import json

import pytest

import amos.api
from amos.errors import IntegrityError
from amos.journal.store import Shard
from amos.moves import back_up, repair, restore
from households import call, line, write_lines

SHARD = "default/default"


@pytest.fixture
def kept(tmp_path):
    """Return a store with a sealed note, one of which was forgotten after the backup beside it."""
    notes = [
        line("n1", "My favourite tea is Assam.", 1),
        line("n2", "My sister Ines lives in Porto.", 2),
    ]
    with amos.api.Store.create(tmp_path / "mem") as store:
        store.ingest(write_lines(tmp_path / "notes.jsonl", *notes), format="messages")
        store.shard._log.seal_all()
    back_up(tmp_path / "mem", tmp_path / "copy", with_keys=True)
    with amos.api.Store.open(tmp_path / "mem") as store:
        store.forget(next(row["atom_id"] for row in store.list().rows if "Assam" in row["statement"]))
    return tmp_path / "mem"


def lose_catalog(root):
    for path in (root / SHARD).glob("shard.sqlite*"):
        path.unlink()


def empty_catalog(root):
    (root / SHARD / "shard.sqlite").write_bytes(b"")


def cut_catalog(root):
    path = root / SHARD / "shard.sqlite"
    path.write_bytes(path.read_bytes()[:9000])


def files(root):
    return sorted(path for path in root.rglob("*.parquet"))


DAMAGES = [lose_catalog, empty_catalog, cut_catalog]


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_is_written_to_a_store_without_a_sound_catalog(kept, tmp_path, damage):
    damage(kept)
    held = files(kept)
    for make in (amos.api.Store.create, amos.api.Store.open):
        with pytest.raises(IntegrityError, match=r"shard\.sqlite") as caught:
            make(kept)
        assert "amos restore" in caught.value.advice
    with pytest.raises(IntegrityError):
        repair(kept)
    told = call("-s", str(kept), "ingest", str(tmp_path / "notes.jsonl"), "--from", "messages")
    assert (told.code, "amos restore" in told.err) == (5, True), told.err
    assert files(kept) == held


@pytest.mark.parametrize("place", ["again", "mem"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_backup_is_restored_beside_and_over_a_damaged_store_once_that_is_accepted(
    kept, tmp_path, damage, place
):
    damage(kept)
    held = files(kept)
    terms = {"live": kept, "replace": place == "mem"}
    with pytest.raises(IntegrityError, match="does not tell what was forgotten") as caught:
        restore(tmp_path / "copy", tmp_path / place, **terms)
    assert "--without-erasures" in caught.value.advice
    assert files(kept) == held
    receipt = restore(tmp_path / "copy", tmp_path / place, **terms, without_erasures=True)
    assert receipt["unread"] == [str(kept)]
    with amos.api.Store.open(tmp_path / place) as store:
        assert store.verify(deep=True).problems == []
        assert len(store.list().rows) == 2
    if place == "mem":
        with amos.api.Store.open(kept) as store:
            assert [copy.place for copy in store.shard.copies()][-1] == receipt["moved_aside"]


def test_the_command_says_what_comes_back(kept, tmp_path):
    cut_catalog(kept)
    words = ("-s", str(kept), "restore", str(tmp_path / "copy"), str(tmp_path / "again"))
    told = call(*words)
    assert (told.code, "--without-erasures" in told.err) == (5, True)
    told = call(*words, "--without-erasures")
    assert (told.code, f"is back: {kept}." in told.out) == (0, True), told.err


def test_a_damaged_key_file_leaves_the_store_readable(kept):
    (kept / SHARD / "keys.sqlite").write_bytes(b"no database" * 400)
    with Shard.open(kept, read_only=True) as shard:
        assert shard.head == 2
    with pytest.raises(IntegrityError, match=r"keys\.sqlite is damaged") as caught:
        Shard.open(kept)
    assert "from the backup" in caught.value.advice
    told = call("-s", str(kept), "verify", "--json")
    assert json.loads(told.out)["ok"]
