"""Two entities become one, and two again: what moves, what stays, what survives."""

import pytest

from amos.errors import UsageError
from amos.identity import id_text
from laws import digest_of, references
from remembered import remembered, told

LINES = [
    told("m1", "Ana lives in Ghent.", 1),
    told("m2", "My sister likes tea.", 2),
    told("m3", "My brother Tom likes rye.", 3),
    told("m4", "Tom from work lives in Riga.", 4),
    told("m5", "Tom likes jazz.", 5),
]


def entity(memory, name):
    """Return the reference of the entity of a name."""
    (found,) = [row["entity_id"] for row in memory.store.entities() if row["name"] == name]
    return found


def events(memory):
    """Return the types of all events."""
    return {row["event_type"] for row in memory.rows("events")}


def sound(memory):
    """Tell that a store is sound and names nothing that is not there."""
    return memory.store.verify(deep=True).problems == [] and references(memory.store) == []


def test_the_claims_of_a_merged_entity_follow_and_so_does_what_is_said_later():
    with remembered(*LINES) as memory:
        done = memory.store.merge(entity(memory, "Ana"), entity(memory, "user's sister"), note="asked")
        assert (done["claims_moved"], done["other_name"]) == (1, "user's sister")
        memory.hear(told("m6", "Ana likes opera.", 6))
        assert {"User's sister's home city is Ghent.", "User's sister likes opera."} <= set(memory.said())
        assert not [one for one in memory.said() if one.startswith("Ana")]
        assert sound(memory)


def test_a_merge_is_journaled_with_who_and_why_and_the_old_reference_still_resolves():
    with remembered(*LINES) as memory:
        old = entity(memory, "Ana")
        memory.store.merge(old, entity(memory, "user's sister"), note="asked on the phone")
        assert memory.store.entity(old)["merged_into"] == entity(memory, "user's sister")
        assert "entity_merged" in events(memory)
        (record,) = [row for row in memory.rows("sources") if row["format"] == "review"]
        assert (record["content"], record["author"]) == ("asked on the phone", memory.store.principal.name)
        (mention,) = memory.store.entity(entity(memory, "user's sister"))["mentions"]
        assert (mention["said"], mention["evidence"]) == ("Ana", [id_text("sources", record["source_id"])])


def test_a_split_gives_back_what_a_merge_took():
    with remembered(*LINES) as memory:
        before = digest_of(memory.store, but=("sources", "entities", "decisions", "mentions"))
        said, old = memory.said(), entity(memory, "Ana")
        memory.store.merge(old, entity(memory, "user's sister"))
        memory.store.split(old, note="two people after all")
        assert memory.said() == said
        assert digest_of(memory.store, but=("sources", "entities", "decisions", "mentions")) == before
        assert "entity_split" in events(memory)
        assert sound(memory)


def test_merging_two_of_one_name_decides_what_waited_for_it():
    with remembered(*LINES) as memory:
        assert ("m5", "quarantine", "ambiguous_referent") in memory.decided()
        memory.store.merge(entity(memory, "Tom from work"), entity(memory, "user's brother Tom"))
        assert "User's brother Tom likes jazz." in memory.said()
        memory.store.split(entity(memory, "Tom from work"))
        assert "User's brother Tom likes jazz." not in memory.said()
        assert ("m5", "quarantine", "ambiguous_referent") in memory.decided()
        assert sound(memory)


def test_reading_again_and_hearing_again_keep_a_merge():
    with remembered(*LINES) as memory:
        memory.store.merge(entity(memory, "Ana"), entity(memory, "user's sister"))
        state = digest_of(memory.store)
        memory.hear(*LINES)
        compared = memory.store.reprocess()
        assert [compared[name] for name in ("added", "lost", "changed", "flipped")] == [0, 0, 0, 0]
        assert digest_of(memory.store) == state


def test_a_dry_run_changes_nothing():
    with remembered(*LINES) as memory:
        head = memory.store.shard.head
        done = memory.store.merge(entity(memory, "Ana"), entity(memory, "user's sister"), dry_run=True)
        assert (done["claims_moved"], memory.store.shard.head) == (1, head)


def test_what_a_reviewer_let_in_follows_a_merge():
    with remembered(
        told("m1", "Ana is allergic to squid.", 1), told("m2", "My sister likes tea.", 2)
    ) as memory:
        (case,) = memory.store.review().rows
        memory.store.decide("approve", case["ref"])
        memory.store.merge(entity(memory, "Ana"), entity(memory, "user's sister"))
        assert memory.said() == ["User's sister likes tea.", "User's sister's allergy is squid."]
        assert ("m1", "commit", "approved_by_reviewer") in memory.decided()
        assert sound(memory)


def test_forgetting_either_side_takes_the_claims_and_the_record():
    with remembered(*LINES) as memory:
        memory.store.merge(entity(memory, "Ana"), entity(memory, "user's sister"), note="asked")
        memory.store.forget(subject=entity(memory, "user's sister"))
        assert not [one for one in memory.said("all") if "sister" in one or "Ana" in one]
        assert not [row for row in memory.rows("sources") if row["format"] == "review"]
        assert "Ghent" not in str(memory.rows("sources"))
        assert sound(memory)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Ana", "Ana", "one entity already"),
        ("Ana", "user", "not somebody"),
        ("Ana", "Noor", "different authors or scopes"),
        ("user's canoe", "Ana", "not somebody"),
    ],
)
def test_what_cannot_be_one_is_refused(one, other, why):
    lines = [
        *LINES,
        told("m6", "Noor lives in Ulm.", 6, author="Kim"),
        told("m7", "My canoe is in the garage.", 7),
    ]
    with remembered(*lines) as memory, pytest.raises(UsageError, match=why):
        memory.store.merge(entity(memory, one), entity(memory, other))


def test_merging_twice_and_splitting_what_is_whole_are_refused():
    with remembered(*LINES) as memory:
        ana, sister = entity(memory, "Ana"), entity(memory, "user's sister")
        with pytest.raises(UsageError, match="not merged"):
            memory.store.split(ana)
        memory.store.merge(ana, sister)
        with pytest.raises(UsageError, match="already"):
            memory.store.merge(ana, entity(memory, "user's brother Tom"))
        with pytest.raises(UsageError, match="one entity already"):
            memory.store.merge(sister, ana)
