"""Forgetting: what is left equals a store that never saw it, verifies, and names nothing that is gone."""

import json
import re

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from amos.identity import id_text
from households import call
from laws import digest_of, references, scratch
from strategies import message_logs, write_lines

FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def key_of(line):
    return f"{line['conversation']}/{line['id']}"


@FEW
@given(lines=message_logs(), chosen=st.sets(st.integers(0, 11)), parts=st.integers(1, 3))
def test_what_is_left_equals_a_store_that_never_saw_the_rest(lines, chosen, parts):
    gone = {key_of(line) for number, line in enumerate(lines) if number in chosen}
    rest = [line for line in lines if key_of(line) not in gone]
    with scratch() as (folder, store):
        for part in range(min(parts, len(lines))):
            store.ingest(
                [write_lines(folder / f"{part}.jsonl", lines[part :: min(parts, len(lines))])],
                format="messages",
            )
        with store.shard.pin() as snapshot:
            rows = snapshot.current("sources", ["source_id", "delivery_key"]).to_pylist()
        refs = [id_text("sources", row["source_id"]) for row in rows if row["delivery_key"] in gone]
        if refs:
            report = store.forget(*refs)
            assert report["status"] == "purged"
            assert report["removed"]["sources"] == len(refs)
        found, left = digest_of(store), digest_of(store, but=["tombstones"])
        assert (found == left) is (not refs)
        assert [str(one) for one in store.verify().problems] == []
        assert references(store) == []
        again = store.ingest([write_lines(folder / "again.jsonl", lines)], format="messages")
        assert digest_of(store) == found
        assert again["sources"]["rejected"] == len(refs)
    with scratch() as (folder, other):
        if rest:
            other.ingest([write_lines(folder / "rest.jsonl", rest)], format="messages")
        assert digest_of(other) == left


@FEW
@given(lines=message_logs(), pick=st.integers(0, 50))
def test_a_forgotten_claim_leaves_no_reference_and_does_not_return(lines, pick):
    with scratch() as (folder, store):
        store.ingest([write_lines(folder / "talk.jsonl", lines)], format="messages")
        with store.shard.pin() as snapshot:
            ids = sorted(set(snapshot.current("candidates", ["claim_id"])["claim_id"].to_pylist()))
            atoms = sorted(snapshot.current("atoms", ["atom_id"])["atom_id"].to_pylist())
        if not atoms:
            return
        claim = atoms[pick % len(atoms)]
        store.forget(id_text("atoms", claim))
        assert [str(one) for one in store.verify().problems] == []
        assert references(store) == []
        for line in lines:
            line["id"] = f"again-{line['id']}"
        store.ingest([write_lines(folder / "again.jsonl", lines)], format="messages")
        with store.shard.pin() as snapshot:
            for table, column in (("candidates", "claim_id"), ("atoms", "atom_id")):
                assert claim not in set(snapshot.table(table, [column])[column].to_pylist())
        assert claim in ids
        assert references(store) == []


def printed_after_forgetting(value):
    """Return what commands print once `value` is forgotten, without references, places and sizes."""
    lines = [
        {"id": "a", "conversation": "c", "role": "user", "text": f"I live in {value}."},
        {"id": "b", "conversation": "c", "role": "assistant", "text": "Where do you live by the sea?"},
        {
            "id": "c",
            "conversation": "c",
            "role": "user",
            "text": f"Write it down: I live in {value}! By the sea.",
        },
    ]
    with scratch() as (folder, store):
        store.ingest([write_lines(folder / "talk.jsonl", lines)], format="messages")
        (claim,) = [row["atom_id"] for row in store.list().rows if value in row["statement"]]
        store.forget(claim)
        with store.shard.pin() as snapshot:
            refs = [id_text("sources", one) for one in snapshot.current("sources")["source_id"].to_pylist()]
        root = folder / "store"
        asked = "where do I live by the sea"
        said = [
            call("-s", root, *words, *form).out
            for form in ((), ("--json",))
            for words in (
                ("packet", asked),
                ("search", asked),
                ("list", "sources"),
                *(("show", one) for one in refs),
            )
        ]
    shown = sorted(line for text in said for line in text.splitlines())
    return [re.sub(r"[a-z]{3}_[a-z2-7]{26}|[0-9a-f]{64}|\d[\d.:TZ-]*| {2,}", "*", line) for line in shown]


@settings(FEW, max_examples=4, phases=[Phase.generate])
@given(sizes=st.lists(st.integers(4, 60), min_size=2, max_size=2, unique=True))
def test_nothing_that_is_printed_tells_the_length_of_what_was_forgotten(sizes):
    short, long = (printed_after_forgetting("Z" + "a" * (size - 1)) for size in sizes)
    assert sorted(short) == sorted(long)
    assert any("[cut]" in line for line in short)
    assert not any(block in line for line in short for block in ("\x1a", json.dumps("\x1a")[1:-1], "█"))
