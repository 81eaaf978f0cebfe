"""Nothing counts as purged while another writer's drafts or a late index may hold the words."""

import os
import threading

import pytest

import amos.api
from amos.flow.recall import refresh
from amos.retrieval import store as index_store
from amos.storage.commit_log import CommitLog
from amos.storage.tallies import KEYS
from damaged_stores import drafts_of
from forgotten import contents, traces_of
from households import HOUSEHOLD, line, write_lines

WORD = "Zanzibarian"


@pytest.fixture
def store(tmp_path):
    with amos.api.Store.create(tmp_path / "store") as store:
        store.ingest(write_lines(tmp_path / "notes.jsonl", *HOUSEHOLD))
        store.shard._log.seal_all()
        store.ingest(write_lines(tmp_path / "more.jsonl", line("z", f"My favourite tea is {WORD}.", 19)))
        store.shard._log.seal_all()
        yield store


def atom(store):
    rows = store.list().rows
    return next(row["atom_id"] for row in rows if WORD in row["statement"])


def forget_elsewhere(store):
    with amos.api.Store.open(store.root) as other:
        return other.forget(atom(other), wait_seconds=0)


def test_a_merge_in_another_process_makes_an_erasure_wait(store, monkeypatch):
    reports = []
    merged = CommitLog.merged

    def interrupted(log, run):
        made = merged(log, run)
        if not reports:  # files of the old rows stand now, and nothing names them yet
            reports.append(forget_elsewhere(store))
        return made

    monkeypatch.setattr(CommitLog, "merged", interrupted)
    store.compact(full=True)
    assert reports[0]["status"] == "pending"
    assert reports[0]["waiting_for"]
    assert store.shard.purge(wait_seconds=0).is_done
    assert traces_of(store.root, WORD) == []


@pytest.mark.parametrize("pid", [2**22 + 1, os.getpid(), 1], ids=["dead", "own number", "number of another"])
def test_what_a_killed_merge_left_goes_before_it_counts_as_purged(store, pid):
    folder = drafts_of(store.shard, pid)
    (folder / "rewrite-atoms-0.parquet").write_text(WORD)
    left = store.shard.folder / "segments/atoms/1-2-00.parquet"
    left.write_text(WORD)
    assert store.forget(atom(store))["status"] == "purged"
    assert not folder.exists()
    assert not left.exists()
    assert traces_of(store.root, WORD) == []


def test_an_index_that_is_written_while_something_is_erased_keeps_no_word(store, monkeypatch):
    reports = []
    place_file = index_store.place_file

    def late(*given, **terms):
        thread = threading.Thread(target=lambda: reports.append(forget_elsewhere(store)))
        thread.start()
        thread.join()
        place_file(*given, **terms)

    monkeypatch.setattr(index_store, "place_file", late)
    assert refresh(store.shard, at_least=1)
    assert reports[0]["status"] == "pending"
    assert store.shard.purge(wait_seconds=0).is_done
    assert traces_of(store.root, WORD) == []


def sums_of(store):
    return {name: store.shard.meta(f"tally_{name}") for name in KEYS}


def test_sums_over_rows_beside_the_memory_confirm_no_guess_at_a_row_that_was_cut(store, tmp_path):
    quoting = {**line("q", "hello", 20), "role": f"My favourite tea is {WORD}"}
    store.ingest(write_lines(tmp_path / "role.jsonl", quoting))
    before, receipts = sums_of(store), [run.receipt for run in store.shard.runs()]
    assert any(WORD in receipt for receipt in receipts)
    assert store.forget(atom(store))["status"] == "purged"
    after = sums_of(store)
    assert after["runs"] != before["runs"]
    assert store.shard.differing() == []  # each sum is that of the rows that stand: none of a row that went
    gone = {value for name, value in before.items() if value != after[name] and any(value)}
    assert before["runs"] in gone
    for path in store.root.rglob("*"):
        if path.is_file():
            assert [where for where, content in contents(path) if any(one in content for one in gone)] == []
