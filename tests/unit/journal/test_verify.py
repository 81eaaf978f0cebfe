import hashlib
import shutil
import sqlite3
from pathlib import Path

import pytest

import damaged_stores
from amos.errors import IntegrityError
from amos.journal import row_check
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from committed_rows import EventRows, commit, new_shard, number_id, rows_of, story
from damaged_stores import execute, kinds, report_of


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return damaged_stores.make_store(tmp_path_factory.mktemp("original"))


@pytest.fixture
def root(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "store"))


def test_a_sound_store_verifies_and_says_what_was_checked(root):
    seen = []
    with Shard.open(root) as shard:
        report = verify_shard(shard, progress=lambda *step: seen.append(step), digest=lambda _: "d1")
    assert report.problems == []
    record = report.as_record()
    assert record["ok"] is True
    assert record["checked"]["commits"] == 5
    assert record["checked"]["events"] == 20
    assert record["checked"]["rows"] == 36
    assert record["checked"]["spans"] == 18
    assert record["checked"]["segments"] == 7
    assert record["checked"]["bytes"] > 1000
    assert (record["graph_version"], record["state_digest"], record["mode"]) == (5, "d1", "fast")
    assert {step[0] for step in seen} == {"files", "rows", "spans"}


def test_an_empty_store_verifies(tmp_path):
    with new_shard(tmp_path) as shard:
        record = verify_shard(shard).as_record()
    assert (record["ok"], record["graph_version"]) == (True, None)


def test_rows_are_checked_in_parts_that_split_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(row_check, "PART_ROWS", 3)
    with new_shard(tmp_path) as shard:
        for number in range(6):
            *rest, atoms = story(3 * number, 3)
            first, last = (EventRows("atom_committed", "atoms", atoms.rows.slice(at, 2)) for at in (0, 2))
            commit(shard, [*rest, first, last])  # two events of one commit tell of atoms
        assert verify_shard(shard, is_deep=True).problems == []


def test_sealed_rows_between_hot_ones_are_checked_in_the_order_of_commits(tmp_path):
    with new_shard(tmp_path) as shard:
        for number, width in enumerate((0, 1 << 20, 0, 1 << 20, 0)):
            commit(shard, story(2 * number, 2, width=width))
        held = [(entry.table, entry.first_version) for entry in shard.layout().segments]
        assert held == [("sources", 2), ("sources", 4)]
        assert verify_shard(shard, is_deep=True).problems == []


def test_verification_changes_nothing(root):
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    report_of(root)
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert {path for path in after if before.get(path) != after[path]} <= {
        root / "default/default/shard.sqlite-shm",
        root / "default/default/shard.sqlite-wal",
        root / "default/default/tmp/pins.lock",
        root / "default/default/derived/verified.sqlite",
    }


def test_a_missing_segment_is_found(root):
    next((root / "default/default/segments/atoms").glob("*.parquet")).unlink()
    assert "segment_missing" in kinds(root)


def test_an_unnamed_segment_is_found(root):
    folder = root / "default/default/segments/atoms"
    for name, kind in (("1-1-00", "segment_orphan"), ("7-7-00", "catalog_older")):
        (folder / f"{name}.parquet").write_bytes(b"stray")
        assert kinds(root) == {kind}
        (folder / f"{name}.parquet").unlink()


SWAP_AUTHOR = """
UPDATE segment_files SET constants = replace(constants, '"author": null', '"author": "41"')
WHERE table_name = 'sources'
"""


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("UPDATE commits SET link = zeroblob(32) WHERE graph_version = 2", "link_broken"),
        ("UPDATE commits SET accepted_us = accepted_us + 9 WHERE graph_version = 4", "event_changed"),
        ("UPDATE commits SET accepted_us = 0 WHERE graph_version = 3", "time_backwards"),
        ("UPDATE commits SET actor = 'stranger' WHERE graph_version = 2", "event_changed"),
        ("UPDATE commits SET operation = 'import' WHERE graph_version = 5", "event_changed"),
        ("UPDATE commits SET skew_us = 7 WHERE graph_version = 1", "event_changed"),
        ("UPDATE texts SET body = 'be quick'", "text_changed"),
        ("UPDATE commits SET event_count = 3 WHERE graph_version = 1", "event_count"),
        ("DELETE FROM commits WHERE graph_version = 3", "commit_missing"),
        ("DELETE FROM commits WHERE graph_version = 5", "event_without_commit"),
        ("UPDATE segment_files SET sha256 = zeroblob(32) WHERE segment_id = 1", "segment_damaged"),
        ("UPDATE segment_files SET row_count = row_count + 1 WHERE segment_id = 2", "catalog_changed"),
        ("DELETE FROM segment_files WHERE table_name = 'decisions'", "rows_missing"),
        (SWAP_AUTHOR, "rows_changed"),
    ],
)
def test_changes_to_the_catalog_are_found(root, sql, kind):
    execute(root, sql)
    assert kind in kinds(root)


def test_what_differs_from_the_commit_log_is_named(root):
    execute(root, "UPDATE commits SET actor = 'stranger', operation = 'import' WHERE graph_version = 3")
    said = {problem.detail for problem in report_of(root).problems}
    assert said == {"actor, operation differ from the commit log"}


def damage_page(root, number):
    path = root / "default/default/shard.sqlite"
    raw = bytearray(path.read_bytes())
    raw[(number - 1) * 4096 : number * 4096] = bytes(4096)
    path.write_bytes(raw)


def root_page(root, name):
    connection = sqlite3.connect(root / "default/default/shard.sqlite")
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
    connection.close()
    return page


@pytest.mark.parametrize("name", ["hot_by_version", "runs", "commits"])
def test_a_damaged_page_of_the_catalog_is_reported(root, name):
    damage_page(root, root_page(root, name))
    assert "catalog_damaged" in kinds(root)


def test_a_catalog_that_cannot_be_opened_is_an_integrity_error(root):
    damage_page(root, root_page(root, "meta"))
    with pytest.raises(IntegrityError, match="damaged"):
        Shard.open(root)


def problems_after(tmp_path, rows):
    with new_shard(tmp_path) as shard:
        commit(shard, rows)
        return {problem.kind for problem in verify_shard(shard).problems}


def changed(table, **columns):
    """Return the story of one message with some columns of one table replaced."""
    found = []
    for group in story(0, 1):
        rows = group.rows
        if group.table == table:
            held = {name: rows[name].to_pylist() for name in rows.column_names}
            rows = rows_of(table, 1, **{**held, **columns})
        found.append(group._replace(rows=rows))
    return found


@pytest.mark.parametrize(
    ("spans", "is_sound"),
    [
        ([0, 2], False),  # inside the two bytes of é
        ([1, 3], True),
        ([0, 1, 1, 4], True),
        ([3, 3], False),
        ([-1, 3], False),
        ([5, 4], False),
        ([0, 900], False),
        ([4], False),
    ],
)
@pytest.mark.parametrize("table", ["candidates", "atoms"])
def test_spans_must_lie_on_character_boundaries_of_their_source(tmp_path, table, spans, is_sound):
    found = problems_after(tmp_path, changed(table, spans=[spans]))
    assert found == (set() if is_sound else {f"{table[:-1]}_span_invalid"})


def test_evidence_must_name_a_stored_source_and_revision(tmp_path):
    assert problems_after(tmp_path, changed("atoms", source_revision=[4])) == {"span_without_source"}
    stranger = changed("atoms", source_id=[number_id("sources", 99)])
    assert problems_after(tmp_path / "b", stranger) == {"span_without_source"}


def test_contents_must_hash_to_their_digest(tmp_path):
    rows = changed("sources", content_digest=[hashlib.sha256(b"other").digest()])
    assert problems_after(tmp_path, rows) == {"content_changed"}


def test_every_candidate_and_source_needs_a_decision(tmp_path):
    without = [group for group in story(0, 1) if group.table != "decisions"]
    assert problems_after(tmp_path, without) == {"candidate_undecided", "source_undecided"}


def test_every_decision_needs_a_reason(tmp_path):
    assert problems_after(tmp_path, changed("decisions", reasons=[[]])) == {"decision_without_reason"}


def test_a_candidate_has_one_current_decision(tmp_path):
    again = changed("decisions", decision_id=[number_id("decisions", 5)])[2]
    assert problems_after(tmp_path, [*story(0, 1), again]) == {"candidate_decided_twice"}
    newer = changed("decisions", version=[2])[2]
    assert problems_after(tmp_path / "b", [*story(0, 1), newer]) == set()


def test_no_two_rows_share_id_and_version(tmp_path):
    found = problems_after(tmp_path, [*story(0, 1), story(0, 1)[3]])
    assert found == {"version_repeated"}


def test_a_candidate_needs_its_source(tmp_path):
    lost = changed("candidates", source_id=[number_id("sources", 77)])
    assert "candidate_without_source" in problems_after(tmp_path, lost)


def test_long_lists_of_problems_are_counted(tmp_path):
    rows = [group for group in story(0, 30) if group.table != "decisions"]
    with new_shard(tmp_path) as shard:
        commit(shard, rows)
        report = verify_shard(shard)
    assert any(problem.where == "10 more" for problem in report.problems)


def test_lineage_and_other_tables_are_covered_too(tmp_path):
    lineage = EventRows("edge_committed", "lineage", rows_of("lineage", 2))
    assert problems_after(tmp_path, [*story(0, 1), lineage]) == set()


def damaged(root, table):
    """Flip a bit in the first file of a table; return its name."""
    path = sorted((root / "default/default/segments" / table).glob("*.parquet"))[0]
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    return path.relative_to(root / "default/default").as_posix()


@pytest.mark.parametrize("table", ["sources", "atoms", "events"])
def test_one_damaged_file_is_one_problem_and_says_what_hides_behind_it(root, table):
    file = damaged(root, table)
    report = report_of(root)
    assert [(one.kind, one.where) for one in report.problems] == [("segment_damaged", file)]
    assert report.unchecked[0].because == file
    assert report.unchecked[0].findings > 0
    assert ("the chain" if table == "events" else f"rows of {table}") in report.unchecked[0].what
    assert "references" in report.unchecked[-1].what
    assert report.as_record()["ok"] is False


def test_a_missing_file_is_one_problem_too(root):
    file = damaged(root, "events")
    (root / "default/default" / file).unlink()
    assert kinds(root) == {"segment_missing"}


def test_what_does_not_follow_from_a_damaged_file_is_named_beside_it(root):
    damaged(root, "sources")
    execute(root, "DELETE FROM commits WHERE graph_version = 4")
    execute(root, "UPDATE meta SET value = 7 WHERE name = 'hot_blobs'")
    found = kinds(root)
    assert {"segment_damaged", "commit_missing", "counter_changed"} <= found


def test_rows_of_other_commits_than_the_damaged_ones_stay_named(root):
    file = damaged(root, "sources")
    last = int(file.rpartition("/")[2].split("-")[1])
    execute(root, "DELETE FROM hot WHERE table_name = 'sources'")
    places = {one.where for one in report_of(root).problems if one.kind == "rows_missing"}
    assert places
    assert all(int(place.rpartition(" ")[2]) > last for place in places if "commit" in place)


def test_a_damaged_blob_of_events_is_one_problem(root):
    execute(root, "UPDATE hot SET body = zeroblob(length(body)) WHERE table_name = 'events'")
    report = report_of(root)
    assert {one.kind for one in report.problems} == {"hot_damaged"}
    assert report.unchecked[0].findings > 0


def test_a_sound_store_leaves_nothing_unchecked(root):
    assert report_of(root).unchecked == []
