import sqlite3

import pytest

from amos.storage.failpoints import FAILPOINTS, _maybe_die
from amos.storage.places import PLACES, place, table
from committed_rows import commit, new_shard, story


def test_paths_that_are_not_registered_are_refused(tmp_path):
    with pytest.raises(LookupError, match="no registered path"):
        place(tmp_path, "cache")
    with pytest.raises(LookupError, match="below it"):
        place(tmp_path, "keys.sqlite", "more")
    with pytest.raises(LookupError, match="no registered path"):
        place(tmp_path, "hot")


def test_tables_that_are_not_registered_are_refused():
    assert table("hot") == "hot"
    with pytest.raises(LookupError):
        table("scratch")
    with pytest.raises(LookupError):
        table("segments")


def test_every_place_says_what_it_holds_and_how_content_leaves_it():
    assert all(known.holds and known.eraser for known in PLACES.values())


def test_every_file_of_a_used_store_is_a_registered_place(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 2))
        commit(shard, story(2, 1, width=1 << 20))
        with shard.pin() as snapshot:
            snapshot.table("sources")
    with new_shard(tmp_path) as shard, shard.pin() as snapshot:
        snapshot.table("sources")  # reads the segment as a stranger, which leaves a stamp
    folders = {name for name, known in PLACES.items() if known.kind == "folder"}
    files = {name for name, known in PLACES.items() if known.kind == "file"}
    for path in (tmp_path / "store/default/default").rglob("*"):
        name = path.relative_to(tmp_path / "store/default/default").as_posix()
        assert name in files or name.split("/")[0] in folders, name
    roots = {path.name for path in (tmp_path / "store").iterdir() if path.is_file()}
    assert roots == {name for name, known in PLACES.items() if known.kind == "root file"}


@pytest.mark.parametrize(
    ("file", "kind"),
    [("shard.sqlite", "table"), ("keys.sqlite", "key table"), ("derived/verified.sqlite", "stamp table")],
)
def test_every_table_of_a_store_is_a_registered_place(tmp_path, file, kind):
    for _ in range(2):
        with new_shard(tmp_path) as shard:
            commit(shard, story(shard.head, 1, width=1 << 20))
            with shard.pin() as snapshot:
                snapshot.table("sources")
    connection = sqlite3.connect(tmp_path / "store/default/default" / file)
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    connection.close()
    assert names == {name for name, known in PLACES.items() if known.kind == kind}


def test_only_registered_failpoints_can_be_reached():
    assert all(FAILPOINTS.values())
    with pytest.raises(KeyError, match="no registered failpoint"):
        _maybe_die("made.up", "commit.begun")
    _maybe_die("commit.begun", "commit.begun:7")  # the first pass of seven: nothing happens
