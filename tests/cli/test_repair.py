import shutil

import apsw
import pytest

from households import call


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


def test_a_backup_that_is_none_is_a_usage_error(household, folder):
    assert household("repair", "--from", folder / "absent").code == 2
    (folder / "empty").mkdir()
    assert household("repair", "--from", folder / "empty").code == 2
