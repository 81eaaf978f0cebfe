"""Commits of threads that wait at once share a transaction, and stay commits of their own."""

import threading
import time

import pyarrow as pa
import pytest

from amos.errors import CapacityError
from amos.journal.refusals import VersionConflict
from amos.journal.store import HeadMoved, Idempotency
from amos.journal.verify import verify_shard
from committed_rows import commit, new_shard, number_id, story


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path) as opened:
        yield opened


def together(shard, *commands):
    """Run commands, one thread each, that all wait before the first is served; return what came of each."""
    answers = [None] * len(commands)

    def run(place, rows, terms):
        try:
            answers[place] = commit(shard, rows, base=0, **terms)
        except Exception as failure:  # noqa: BLE001 - looked at by the test
            answers[place] = failure

    threads = []
    with shard._lock:
        for place, (rows, terms) in enumerate(commands):
            threads.append(threading.Thread(target=run, args=(place, rows, terms)))
            threads[-1].start()
            while len(shard._waiting._tickets) <= place:  # in this order
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    return answers


def transactions(shard, monkeypatch):
    """Count the write transactions from now on."""
    begun = []
    begin = shard._catalog._begin
    monkeypatch.setattr(
        shard._catalog, "_begin", lambda operation: begun.append(operation) or begin(operation)
    )
    return begun


def test_many_wait_and_one_transaction_holds_them_all(shard, monkeypatch):
    begun = transactions(shard, monkeypatch)
    assert together(shard, *((story(number, 1), {}) for number in range(10))) == list(range(1, 11))
    assert len(begun) == 1
    with shard.pin() as snapshot:
        keys = snapshot.table("sources", ["delivery_key", "graph_version"]).to_pylist()
    assert [(row["delivery_key"], row["graph_version"]) for row in keys] == [
        (f"m{number}", number + 1) for number in range(10)
    ]
    assert verify_shard(shard).problems == []


def test_what_is_refused_is_taken_back_alone(shard):
    overtaken = {("atoms", "atom_id"): pa.array([number_id("atoms", 0)], pa.binary(16))}
    found = together(
        shard,
        (story(0, 1), {}),
        (story(1, 1), {"reads": overtaken}),
        (story(2, 1), {"expected": {("atoms", number_id("atoms", 0)): 5}}),
        (story(3, 1), {}),
    )
    assert (found[0], found[3], [entry.operation for entry in shard.records().commits][2:]) == (
        1,
        2,
        ["command_rejected"],
    )
    assert isinstance(found[1], HeadMoved)
    assert isinstance(found[2], VersionConflict)
    assert [entry.actual for entry in shard.conflicts()] == ["1"]
    assert verify_shard(shard).problems == []


def test_a_key_repeated_among_those_that_wait_is_one_commit(shard):
    promise = {"idempotency": Idempotency("k", b"p" * 32)}
    assert together(shard, (story(0, 1), promise), (story(0, 1), promise), (story(1, 1), {})) == [1, 1, 2]


def test_a_transaction_that_fails_fails_for_all_in_it(shard, monkeypatch):
    append, calls = shard._log.append, []

    def full_at_second(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise CapacityError("no space left")
        append(*arguments)

    monkeypatch.setattr(shard._log, "append", full_at_second)
    found = together(shard, *((story(number, 1), {}) for number in range(3)))
    assert [type(one) for one in found] == [CapacityError] * 3
    assert shard.head == 0
    monkeypatch.setattr(shard._log, "append", append)
    assert commit(shard, story(0, 1)) == 1
    assert verify_shard(shard).problems == []


def test_a_large_commit_goes_alone_and_in_its_turn(shard, monkeypatch):
    begun = transactions(shard, monkeypatch)
    large = story(1, 1, width=1 << 20)
    assert together(shard, (story(0, 1), {}), (large, {}), (story(2, 1), {})) == [1, 2, 3]
    assert len(begun) == 3
    assert {entry.table for entry in shard.records().segments} == {"sources"}


def test_sealing_in_the_middle_of_a_group_loses_nothing(shard):
    shard._log.seal_blobs = 12
    assert together(shard, *((story(number, 1), {}) for number in range(9))) == list(range(1, 10))
    assert shard.records().segments
    with shard.pin() as snapshot:
        assert snapshot.table("sources").num_rows == 9
    assert verify_shard(shard).problems == []
