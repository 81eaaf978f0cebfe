import shutil

import apsw
import pytest

import amos.api
from households import call, line, write_lines


@pytest.fixture
def damaged(household_store, folder):
    store = shutil.copytree(household_store, folder / "damaged")
    database = apsw.Connection(str(store / "default/default/shard.sqlite"))
    database.execute("UPDATE commits SET actor = 'stranger'")
    database.close()
    return store


def test_a_sound_store_needs_no_repair(household):
    told = household("repair", "--dry-run", "--json")
    assert (told.code, told.object["ok"], told.object["repaired"]) == (0, True, [])


def test_a_dry_run_says_what_would_be_done_and_a_repair_does_it(damaged):
    told = call("-s", damaged, "repair", "--dry-run")
    assert told.code == 5
    assert "would repair commit_log: commit 1: written anew from its events" in told.out
    assert call("-s", damaged, "verify").code == 5
    told = call("-s", damaged, "repair", "--json")
    assert (told.code, told.object["ok"], told.object["left"]) == (0, True, [])
    assert call("-s", damaged, "verify").code == 0


def test_what_is_left_is_named_with_its_reason(damaged, household_store):
    database = apsw.Connection(str(damaged / "default/default/shard.sqlite"))
    database.execute("DELETE FROM hot WHERE table_name = 'atoms'")
    database.close()
    told = call("-s", damaged, "repair")
    assert told.code == 5
    assert "amos repair --from BACKUP" in told.out
    told = call("-s", damaged, "repair", "--from", household_store)
    assert (told.code, told.out.splitlines()[-1]) == (0, "ok")


@pytest.fixture(scope="module")
def made_older(tmp_path_factory):
    """Return a folder with a store whose shard.sqlite is of before some commits, and the right one."""
    folder = tmp_path_factory.mktemp("older")
    store = folder / "store"
    shard = store / "default/default"
    lines = [line(f"m{day}", f"My bay {day} is green. {'x' * (1 << 20)}", day) for day in (1, 2, 3)]
    for name, batch in (("older", lines[:1]), ("right", lines[1:])):
        with amos.api.Store.create(store) as opened:
            for one in batch:
                opened.ingest(write_lines(folder / "one.jsonl", one))
        shutil.copy(shard / "shard.sqlite", folder / f"{name}.sqlite")
    shutil.copy(folder / "older.sqlite", shard / "shard.sqlite")
    for path in shard.glob("shard.sqlite-*"):
        path.unlink()
    return folder


@pytest.fixture
def older_catalog(made_older, folder):
    """Return a copy of the store, and the right catalog."""
    shutil.copy(made_older / "one.jsonl", folder)
    return shutil.copytree(made_older / "store", folder / "store"), made_older / "right.sqlite"


def segments(store):
    return sorted(store.rglob("*.parquet"))


@pytest.mark.parametrize(
    "words", [["repair"], ["ingest", "one.jsonl"], ["compact"], ["forget", "--all"], ["verify"]]
)
def test_segments_later_than_the_catalog_stay_whatever_is_done(older_catalog, words):
    store, right = older_catalog
    held = segments(store)
    told = call("-s", store, *words)
    assert (told.code, segments(store)) == (5, held), told
    assert "older one" in told.out + told.err
    shutil.copy(right, store / "default/default/shard.sqlite")
    told = call("-s", store, "verify", "--deep")
    assert (told.code, told.out.splitlines()[-1]) == (0, "ok")


def test_they_are_given_up_only_when_that_is_said(older_catalog):
    store, _ = older_catalog
    held = segments(store)
    told = call("-s", store, "repair", "--discard-newer", "--dry-run")
    assert "would repair orphan" in told.out
    assert segments(store) == held
    assert call("-s", store, "repair", "--discard-newer").code == 0
    assert len(segments(store)) < len(held)
    assert call("-s", store, "ingest", "one.jsonl").code == 0
    assert call("-s", store, "verify", "--deep").code == 0


def test_a_backup_that_is_none_is_a_usage_error(household, folder):
    assert household("repair", "--from", folder / "absent").code == 2
    (folder / "empty").mkdir()
    assert household("repair", "--from", folder / "empty").code == 2
