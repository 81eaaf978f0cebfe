import pytest

from households import call


@pytest.fixture
def copied(household_store, folder):
    """Return the folder of a backup of the household."""
    done = call("-s", household_store, "backup", folder / "copy", "--with-keys", "--json")
    assert done.code == 0, done.err
    return folder / "copy"


def test_a_backup_opens_as_a_store(household, copied):
    kept = household("verify", "--json").object
    found = call("-s", copied, "verify", "--json").object
    assert (found["ok"], found["state_digest"]) == (True, kept["state_digest"])


def test_a_dry_run_writes_nothing(household, folder):
    told = household("backup", folder / "copy", "--dry-run", "--json")
    assert (told.code, told.object["dry_run"]) == (0, True)
    assert list(folder.iterdir()) == []
    assert "Would back up graph version" in household("backup", folder / "copy", "--dry-run").out


def test_the_size_of_a_backup_counts_its_catalog_as_the_dry_run_does(household, folder):
    planned = household("backup", folder / "copy", "--dry-run", "--json").object["bytes"]
    made = household("backup", folder / "copy", "--json").object["bytes"]
    (catalog,) = folder.glob("copy/*/*/shard.sqlite")
    assert min(planned, made) >= catalog.stat().st_size > 0


def test_people_are_told_where_the_key_is(household, folder):
    assert "The key is not in it" in household("backup", folder / "bare").out
    assert "The key is in it" in household("backup", folder / "whole", "--with-keys").out


def test_a_backup_is_restored_beside_the_store(household, household_store, copied, folder):
    told = call("-s", household_store, "restore", copied, folder / "again", "--json")
    assert told.code == 0, told.err
    assert told.object["erased_again"] == {}
    assert told.object["state_digest"] == household("verify", "--json").object["state_digest"]
    assert call("-s", folder / "again", "verify").code == 0


def test_restoring_over_a_store_is_refused_and_says_how(copied, folder):
    assert call("restore", copied, folder / "again").code == 0
    told = call("restore", copied, folder / "again")
    assert told.code == 2
    assert "--replace" in told.err
    told = call("restore", copied, folder / "again", "--replace")
    assert told.code == 0, told.err
    assert "moved to" in told.out


def test_what_is_no_backup_is_named(folder):
    (folder / "empty").mkdir()
    told = call("restore", folder / "empty", folder / "again")
    assert told.code == 2
    assert "there is no backup" in told.err
    assert not (folder / "again").exists()


def test_a_store_inside_itself_is_refused(household_store):
    told = call("-s", household_store, "backup", household_store / "copy")
    assert told.code == 2
    assert "lies inside the store" in told.err
