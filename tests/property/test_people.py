"""Who is meant depends on what was said: not on batches, not on arrival, not on what was forgotten."""

from hypothesis import given, settings
from hypothesis import strategies as st

from amos.identity import id_text
from laws import digest_of, references
from people import talks_about_people
from remembered import remembered

TABLES = (
    "sources",
    "entities",
    "candidates",
    "decisions",
    "atoms",
    "edges",
    "lineage",
    "disputes",
    "mentions",
)


def state_of(memory):
    """Return the digest of each table, and that the store is sound."""
    assert memory.store.verify().problems == []
    assert references(memory.store) == []
    every = {*TABLES, "echoes", "tombstones"}
    return {table: digest_of(memory.store, but=every - {table}) for table in TABLES}


def after(*runs):
    """Return the state of a store that heard some runs of lines."""
    with remembered() as memory:
        for lines in filter(None, runs):
            memory.hear(*lines)
        return state_of(memory)


@settings(max_examples=6, deadline=None)
@given(talks_about_people(), st.randoms(use_true_random=False))
def test_order_and_size_of_batches_do_not_matter(lines, random):
    shuffled = random.sample(lines, len(lines))
    middle = random.randrange(len(lines))
    whole = after(lines)
    assert after(*([line] for line in shuffled)) == whole
    assert after(shuffled[middle:], shuffled[:middle]) == whole


@settings(max_examples=6, deadline=None)
@given(talks_about_people(), st.data())
def test_what_was_forgotten_resolves_nothing_any_more(lines, data):
    gone = data.draw(st.sampled_from(lines))
    rest = [line for line in lines if line is not gone]
    with remembered(*lines) as memory:
        (source,) = [
            row["source_id"]
            for row in memory.rows("sources")
            if row["delivery_key"].endswith(f"/{gone['id']}")
        ]
        memory.store.forget(id_text("sources", source))
        state = state_of(memory)
    assert state == after(rest)


@settings(max_examples=4, deadline=None)
@given(talks_about_people())
def test_hearing_it_again_or_reading_it_again_changes_nothing(lines):
    with remembered(*lines) as memory:
        state, version = state_of(memory), memory.store.shard.head
        memory.hear(*lines)
        assert (state_of(memory), memory.store.shard.head) == (state, version)
        compared = memory.store.reprocess()
        assert [compared[name] for name in ("added", "lost", "changed", "flipped")] == [0, 0, 0, 0]
