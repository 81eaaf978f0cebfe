"""Every format: an input that is read again, moved and renamed, adds nothing to a store."""

import pytest

from delivered import CASES, copied, example
from laws import digest_of, scratch


@pytest.mark.parametrize("case", CASES)
def test_an_input_read_again_adds_nothing(case):
    paths, options = example(case)
    with scratch() as (folder, store):
        first = store.ingest(paths, **options)
        before = digest_of(store)
        again = store.ingest(copied(case, folder), **options)
        assert again["sources"]["new"] == 0
        assert again["graph_version"] == first["graph_version"]
        assert digest_of(store) == before
        assert [str(one) for one in store.verify(deep=True).problems] == []


@pytest.mark.parametrize("case", ["mem0", "mem0-lines", "letta", "zep", "memory-folder", "mcp-memory"])
def test_what_a_product_remembered_is_no_evidence_of_its_user(case):
    paths, _ = example(case)
    with scratch() as (_, store):
        store.ingest(paths)
        with store.shard.pin() as snapshot:
            trust = {row["source_id"]: row["trust"] for row in snapshot.current("sources").to_pylist()}
            atoms = snapshot.current("atoms").to_pylist()
        others = {(row["type"], trust[row["source_id"]]) for row in atoms} - {("action_outcome", "tool")}
        assert {trusted for _, trusted in others} <= {"trusted_user"}
