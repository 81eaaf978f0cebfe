"""Repairs write again what follows from the events, take the rest from a backup, and never drop a row."""

import shutil
import sqlite3
from pathlib import Path

import pytest

import damaged_stores
from amos.flow.repair import repair_shard
from amos.journal.store import Shard
from damaged_stores import execute, flip, hot_blobs, report_of

SHARD = "default/default"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return damaged_stores.make_store(tmp_path_factory.mktemp("original"))


@pytest.fixture
def root(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "store"))


@pytest.fixture
def backup(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "backup"))


def repair(root, backup=None, *, is_dry=False):
    with Shard.open_as_is(root) as shard:
        return repair_shard(shard, None if backup is None else backup / SHARD, is_dry=is_dry, progress=None)


def files_of(root):
    return {path.name: path.read_bytes() for path in (root / SHARD / "segments").rglob("*.parquet")}


@pytest.fixture(autouse=True)
def _without_digest(monkeypatch):
    monkeypatch.setattr("amos.flow.repair.state_digest", lambda _: "d")


def test_a_sound_store_needs_nothing(root):
    told = repair(root)
    assert (told["ok"], told["repaired"], told["left"]) == (True, [], [])


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE commits SET actor = 'stranger', operation = 'import' WHERE graph_version = 3",
        "UPDATE commits SET accepted_us = 5, skew_us = 9, event_count = 1 WHERE graph_version = 2",
        "UPDATE commits SET link = zeroblob(32), run_id = zeroblob(16) WHERE graph_version = 5",
        "DELETE FROM commits WHERE graph_version = 3",
        "DELETE FROM commits WHERE graph_version = 5",
        "DELETE FROM commits",
        "UPDATE meta SET value = 7 WHERE name IN ('hot_blobs', 'hot_bytes')",
        "UPDATE meta SET value = 'other' WHERE name IN ('tenant', 'workspace')",
        "DELETE FROM meta WHERE name IN ('hot_blobs', 'seal_count')",
    ],
)
def test_what_follows_from_the_events_is_written_again(root, sql):
    before = commits(root)
    execute(root, sql)
    dry = repair(root, is_dry=True)
    assert not dry["ok"]
    assert dry["repaired"]
    assert not report_of(root).ok
    assert repair(root)["ok"]
    assert commits(root) == before
    assert report_of(root).problems == []


def commits(root):
    connection = sqlite3.connect(root / SHARD / "shard.sqlite")
    found = connection.execute("SELECT * FROM commits ORDER BY graph_version").fetchall()
    connection.close()
    return found


def test_damaged_and_missing_segments_come_back_from_a_backup(root, backup):
    whole = files_of(root)
    one, other, *_ = sorted((root / SHARD / "segments").rglob("*.parquet"))
    one.write_bytes(flip(one.read_bytes(), 100))
    other.unlink()
    alone = repair(root)
    assert not alone["ok"]
    assert any("--from BACKUP" in left["why"] for left in alone["left"])
    assert repair(root, backup)["ok"]
    assert files_of(root) == whole


def test_a_file_of_the_backup_that_is_damaged_too_is_not_taken(root, backup):
    for base in (root, backup):
        path = sorted((base / SHARD / "segments").rglob("*.parquet"))[0]
        path.write_bytes(flip(path.read_bytes(), 100))
    told = repair(root, backup)
    assert not told["ok"]
    assert not any(remedy["kind"] == "segment" for remedy in told["repaired"])


def test_hot_rows_come_back_from_a_backup_when_their_event_promises_them(root, backup):
    row, _, body = next(blob for blob in hot_blobs(root) if blob[1] == "atoms")
    execute(root, "UPDATE hot SET body = ? WHERE rowid = ?", flip(body, len(body) // 2), row)
    execute(root, "DELETE FROM hot WHERE table_name = 'sources'")
    assert not repair(root)["ok"]
    told = repair(root, backup)
    assert told["ok"]
    assert {remedy["kind"] for remedy in told["repaired"]} >= {"hot_rows"}
    assert report_of(root).problems == []


def test_rows_that_nothing_holds_stay_reported_and_nothing_else_goes(root):
    execute(root, "DELETE FROM hot WHERE table_name = 'atoms'")
    segments = files_of(root)
    told = repair(root)
    assert not told["ok"]
    assert {left["kind"] for left in told["left"]} >= {"rows_missing"}
    assert files_of(root) == segments


def test_a_file_that_nothing_names_goes_only_when_all_else_is_sound(root):
    stray = root / SHARD / "segments/atoms/7-7-00.parquet"
    stray.write_bytes(b"stray")
    execute(root, "DELETE FROM hot WHERE table_name = 'atoms' AND graph_version = 5")
    assert not repair(root)["ok"]
    assert stray.exists()


def test_a_stray_file_alone_goes(root):
    stray = root / SHARD / "segments/atoms/1-1-00.parquet"
    stray.write_bytes(b"stray")
    assert repair(root)["ok"]
    assert not stray.exists()


def test_a_lost_name_of_a_segment_keeps_its_file(root):
    execute(root, "DELETE FROM segment_files WHERE table_name = 'decisions'")
    before = files_of(root)
    assert not repair(root)["ok"]
    assert files_of(root) == before


def test_a_chain_that_is_broken_itself_rewrites_no_later_commit(root):
    row, _, body = next(blob for blob in hot_blobs(root) if blob[1] == "events")
    execute(root, "UPDATE hot SET body = ? WHERE rowid = ?", flip(body, len(body) - 50), row)
    logged = commits(root)
    assert not repair(root)["ok"]
    assert commits(root) == logged


def test_a_damaged_index_of_the_catalog_is_built_anew(root):
    connection = sqlite3.connect(root / SHARD / "shard.sqlite")
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'hot_by_version'").fetchone()[
        0
    ]
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    path = root / SHARD / "shard.sqlite"
    raw = bytearray(path.read_bytes())
    raw[page * 4096 - 8 : page * 4096] = bytes(8)
    path.write_bytes(raw)
    assert "catalog_damaged" in {problem.kind for problem in report_of(root).problems}
    assert repair(root)["ok"]
