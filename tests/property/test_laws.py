"""The laws of the engine, end to end on stores on disk."""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from amos.flow.digest import state_digest
from laws import digest_of, scratch
from strategies import message_logs, write_lines

FEW = settings(max_examples=16, deadline=None, suppress_health_check=list(HealthCheck))


_PASSES = ("My pass is blue from 3 June 2026 to 9 June 2026.", "My pass is red since 2025.")
BACK_AND_FORTH = [
    {"id": f"m{number}", "conversation": talk, "turn": number, "text": text, "ts": said and f"2026-{said}Z"}
    for number, (talk, text, said) in enumerate(
        [
            ("c1", _PASSES[0], None),
            ("c2", _PASSES[1], "02-08T11:38:00"),
            ("c1", "My floor is 3.", "02-16T23:39:00"),
            ("c3", _PASSES[0], "04-16T08:19:00"),
            ("c4", _PASSES[1], "02-17T05:45:00"),
            ("c1", "My floor is 3.", "02-06T22:45:00"),
        ]
    )
]
"""Two values that give way to each other twice; the last line moves the first one before all others."""


def ingest_each(groups):
    """Ingest groups of lines one after the other into a fresh store; return its digest."""
    with scratch() as (folder, store):
        for number, lines in enumerate(groups):
            if lines:
                store.ingest([write_lines(folder / f"part-{number}.jsonl", lines)], format="messages")
        return digest_of(store)


@FEW
@example(lines=BACK_AND_FORTH)
@given(lines=message_logs())
def test_one_batch_and_many_batches_give_the_same_state(lines):
    assert ingest_each([lines]) == ingest_each([[line] for line in lines])


@FEW
@given(lines=message_logs(), seed=st.randoms(use_true_random=False))
def test_arrival_order_does_not_change_the_state(lines, seed):
    shuffled = list(lines)
    seed.shuffle(shuffled)
    assert ingest_each([lines]) == ingest_each([[line] for line in shuffled])


@FEW
@given(lines=message_logs())
def test_ingesting_again_adds_nothing(lines):
    with scratch() as (folder, store):
        path = write_lines(folder / "talk.jsonl", lines)
        store.ingest([path], format="messages")
        moved = path.rename(folder / "moved.jsonl")
        with store.shard.pin() as snapshot:
            before = (snapshot.version, snapshot.counts(), state_digest(snapshot))
        again = store.ingest([moved], format="messages")
        with store.shard.pin() as snapshot:
            assert (snapshot.version, snapshot.counts(), state_digest(snapshot)) == before
        assert again["sources"] == {"new": 0, "linked": len(lines), "rejected": 0, "unreadable": 0}
        assert sum(again["decisions"].values()) == 0


@FEW
@given(lines=message_logs())
def test_two_stores_with_different_keys_agree(lines):
    assert ingest_each([lines]) == ingest_each([lines])


@FEW
@given(lines=message_logs())
def test_every_span_rederives_and_every_count_reconciles(lines):
    with scratch() as (folder, store):
        receipt = store.ingest([write_lines(folder / "talk.jsonl", lines)], format="messages")
        assert receipt["records_read"] == len(lines) == sum(receipt["sources"].values())
        with store.shard.pin() as snapshot:
            sources = {row["source_id"]: row for row in snapshot.current("sources").to_pylist()}
            candidates = snapshot.current("candidates").to_pylist()
            decisions = snapshot.current("decisions").to_pylist()
            atoms = snapshot.current("atoms").to_pylist()
        decided = [row["candidate_id"] for row in decisions if row["candidate_id"] is not None]
        assert sorted(decided) == sorted(row["candidate_id"] for row in candidates)
        assert {row["source_id"] for row in decisions} == set(sources)
        assert all(row["reasons"] for row in decisions)
        for row in [*candidates, *atoms]:
            raw = sources[row["source_id"]]["content"].encode()
            spans = row["spans"]
            for start, end in zip(spans[::2], spans[1::2], strict=True):
                assert 0 <= start < end <= len(raw)
                assert "\x1a" not in raw[start:end].decode()
