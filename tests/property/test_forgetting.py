"""Forgetting: what is left equals a store that never saw it, verifies, and names nothing that is gone."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amos.identity import id_text
from laws import digest_of, references, scratch
from strategies import message_logs, write_lines

FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


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
