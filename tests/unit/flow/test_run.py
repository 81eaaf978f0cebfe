"""One ingest run: replays, interruptions, and another writer in between."""

import json

import pytest

from amos.clock import utc_now
from amos.flow.ingest import Run
from amos.flow.rules import default_rules
from amos.identity import random_id
from amos.sources.reading import read_batches
from laws import digest_of, scratch

TEXTS = (
    "My locker is 14.",
    "I like rye toast.",
    "Actually my locker is 22.",
    "I moved to Ghent.",
    "My sister is Ilse.",
    "No, I like plum cake.",
)


def write_parts(folder, parts, *, each=12, offset=0):
    """Write so many files of messages; each becomes a batch of its own."""
    paths = []
    for part in range(parts):
        path = folder / f"part-{offset + part}.jsonl"
        rows = [
            {
                "id": f"m{number}",
                "conversation": f"c{number // 5}",
                "turn": number,
                "role": "user",
                "ts": f"2026-03-{1 + number % 28:02}T10:00:00Z",
                "text": TEXTS[number % len(TEXTS)],
            }
            for number in range((offset + part) * each, (offset + part + 1) * each)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        paths.append(path)
    return paths


def run_over(store, batches, progress=None):
    run = Run(shard=store.shard, rules=default_rules(size=0), actor="owner", run_id=random_id(), now=utc_now)
    run.ingest(batches, progress)
    return run.receipt


def batches_of(paths):
    for path in paths:
        yield from read_batches([path], format="messages")


def outcome(paths_of):
    """Return digest, counts and head of a store that read the files `paths_of` names."""
    with scratch() as (folder, store):
        receipt = run_over(store, batches_of(paths_of(folder)))
        counts = (
            dict(receipt.sources),
            dict(receipt.decisions),
            dict(receipt.reasons),
            receipt.atoms_written,
        )
        return digest_of(store), counts, store.shard.head


def test_replays_among_new_batches_change_counts_of_records_alone():
    plain = outcome(lambda folder: write_parts(folder, 4))
    repeated = outcome(lambda folder: [*(paths := write_parts(folder, 4)), *paths[::2]])
    assert (repeated[0], repeated[2]) == (plain[0], plain[2])
    assert repeated[1][1:] == plain[1][1:]
    assert repeated[1][0] == {**plain[1][0], "linked": 24}


def test_what_was_read_before_a_failure_is_stored_and_counted():
    told = []
    with scratch() as (folder, store):
        paths = write_parts(folder, 2)

        def failing():
            yield from batches_of(paths)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_over(store, failing(), lambda records, size: told.append((records, size)))
        assert [records for records, _ in told] == [12, 12]
        assert store.shard.head == 2


def test_another_writer_in_between_makes_it_decide_again(monkeypatch):
    with scratch() as (folder, store):
        paths = write_parts(folder, 3)
        real = store.shard.commit
        raced = []

        def commit(rows, **terms):
            if not raced:
                raced.append(True)
                run_over(store, batches_of(paths[:1]))
            return real(rows, **terms)

        monkeypatch.setattr(store.shard, "commit", commit)
        receipt = run_over(store, batches_of(paths))
        assert sum(receipt.sources.values()) == 36
        raced_digest = digest_of(store)
    assert raced_digest == outcome(lambda folder: write_parts(folder, 3))[0]
