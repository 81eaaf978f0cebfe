"""Legal holds and tombstones go along with an export, or its receipt says that they do not."""

import pytest

import amos.api
from amos.moves import back_up, export_lines, export_tables, import_export, restore
from households import line, write_lines

NOTES = (
    line("n1", "My locker number is 12.", 1),
    line("n2", "My sister Ines lives in Porto.", 2, scope={"project": "barn"}),
    line("n3", "My favourite tea is Assam.", 3),
)


@pytest.fixture
def root(tmp_path):
    with amos.api.Store.create(tmp_path / "mem") as store:
        store.ingest(write_lines(tmp_path / "notes.jsonl", *NOTES), format="messages")
    return tmp_path / "mem"


def ref_of(store, table):
    key = {"atoms": "atom_id", "sources": "source_id", "conversations": "conversation_id"}
    key["entities"] = "entity_id"
    words = {"atoms": "statement LIKE '%locker%'", "sources": "content LIKE '%locker%'",
             "entities": "name LIKE '%Ines%'"}  # fmt: skip
    condition = words.get(table, "true")
    found = store.sql(f"SELECT {key[table]} AS ref FROM {table} WHERE {condition} ORDER BY 1")
    return found["ref"][0].as_py()


def moved(root, tmp_path, form):
    place = tmp_path / f"out.{form}"
    with amos.api.Store.open(root, read_only=True) as store:
        receipt = export_tables(store, place) if form == "parquet" else export_lines(store, form, place)
    return place, receipt


def holds_of(root):
    with amos.api.Store.open(root, read_only=True) as store:
        report = store.verify()
        assert report.problems == []
        return store.holds()


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
@pytest.mark.parametrize("table", ["atoms", "sources", "conversations", "entities"])
def test_a_hold_comes_along_with_what_it_protects(root, tmp_path, form, table):
    with amos.api.Store.open(root) as store:
        there = ref_of(store, table)
        store.hold(there, reason="case_112")
        ended = store.hold(None, reason="over")
        store.release(ended["hold_id"])
    place, receipt = moved(root, tmp_path, form)
    assert not any("hold" in what for what in receipt["left_out"])
    found = import_export(tmp_path / "again", place)
    assert found["holds"] == {"repeated": 1, "linked": 0, "refused": 0, "lost": []}
    (hold,) = holds_of(tmp_path / "again")
    with amos.api.Store.open(tmp_path / "again") as store:
        here = ref_of(store, table)
        assert (hold["ref"], hold["reason"], here != there) == (here, "case_112", True)
        assert store.forget(here, dry_run=True)["held_by"][0]["hold"] == hold["hold_id"]
    again = import_export(tmp_path / "again", place)
    assert (again["holds"]["linked"], len(holds_of(tmp_path / "again"))) == (1, 1)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_hold_on_everything_stays_on_what_came_with_it(root, tmp_path, form):
    with amos.api.Store.open(root, scope={"project": "barn"}) as store:
        store.hold(None, reason="barn")
    with amos.api.Store.open(root) as store:
        store.hold(None, reason="audit")
    place, _ = moved(root, tmp_path, form)
    import_export(tmp_path / "again", place)
    told = [(hold["kind"], hold["ref"]) for hold in holds_of(tmp_path / "again")]
    assert sorted(told) == [("all", ""), ("scope", "project=barn")]
    with amos.api.Store.create(tmp_path / "other") as store:
        store.ingest(write_lines(tmp_path / "own.jsonl", line("o1", "My bike is red.", 4)), format="messages")
    found = import_export(tmp_path / "other", place)["holds"]
    assert (found["repeated"], found["refused"], found["lost"][0]["reason"]) == (1, 1, "audit")


def test_a_hold_on_what_does_not_come_in_is_told(root, tmp_path):
    with amos.api.Store.open(root) as store:
        store.hold(ref_of(store, "sources"), reason="case_112")
    place, _ = moved(root, tmp_path, "parquet")
    with amos.api.Store.create(tmp_path / "other") as store:
        store.ingest(tmp_path / "notes.jsonl", format="messages")
        store.forget(ref_of(store, "sources"))
    found = import_export(tmp_path / "other", place)["holds"]
    assert (found["refused"], found["lost"][0]["kind"]) == (1, "sources")
    assert holds_of(tmp_path / "other") == []


def test_a_hold_that_was_released_here_stays_released(root, tmp_path):
    with amos.api.Store.open(root) as store:
        store.hold(ref_of(store, "sources"), reason="case_112")
    place, _ = moved(root, tmp_path, "jsonl")
    import_export(tmp_path / "again", place)
    with amos.api.Store.open(tmp_path / "again") as store:
        store.release(store.holds()[0]["hold_id"])
    assert import_export(tmp_path / "again", place)["holds"]["linked"] == 1
    assert holds_of(tmp_path / "again")[0]["released_at"] is not None


@pytest.mark.parametrize("form", ["jsonl", "mem0", "markdown"])
def test_what_stands_beside_the_memory_and_is_left_out_is_counted(root, tmp_path, form):
    with amos.api.Store.open(root) as store:
        store.hold(ref_of(store, "conversations"), reason="case_112")
        bans = store.forget(ref_of(store, "atoms"), suppress=True)["tombstones"]
    _, receipt = moved(root, tmp_path, form)
    assert any(f"forgotten ({bans} tombstones)" in what for what in receipt["left_out"])
    assert any(what == "1 legal hold" for what in receipt["left_out"]) == (form != "jsonl")


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_tombstones_under_another_key_are_counted_and_those_under_the_same_come_along(root, tmp_path, form):
    back_up(root, tmp_path / "copy", with_keys=True)
    restore(tmp_path / "copy", tmp_path / "twin")
    with amos.api.Store.open(root) as store:
        bans = store.forget(ref_of(store, "atoms"))["tombstones"]
    place, _ = moved(root, tmp_path, form)
    dry = import_export(tmp_path / "again", place, dry_run=True)
    found = import_export(tmp_path / "again", place)
    assert dry["tombstones"] == found["tombstones"] == {"transferred": 0, "not_transferable": bans}
    assert import_export(tmp_path / "twin", place)["tombstones"] == {
        "transferred": bans,
        "not_transferable": 0,
    }
    assert import_export(tmp_path / "twin", place)["tombstones"] == {"transferred": 0, "not_transferable": 0}
    with amos.api.Store.open(tmp_path / "twin") as store:
        assert store.verify().problems == []
        again = write_lines(tmp_path / "more.jsonl", line("n9", "My locker number is 12.", 9))
        store.ingest(again, format="messages")
        told = [row["statement"] for row in store.list().rows if "locker" in row["statement"]]
    assert len(told) == 1  # what stood there is not forgotten by an import, and nothing is added
