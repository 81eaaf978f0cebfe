"""Stories about people: who is meant, who may be, and what a late message changes."""

import pytest

from amos.clock import utc_now
from amos.errors import UsageError
from amos.flow.references import mention_rows
from amos.flow.sight import Sight
from remembered import remembered, told


def claims(memory, state="active"):
    """Return what is remembered."""
    return memory.said(state)


def mentions(memory):
    """Return what the mentions of a store say: as said, as meant, and how that was found."""
    with memory.store.shard.pin() as snapshot:
        sight = Sight(snapshot=snapshot, now=utc_now())
        return mention_rows(sight, snapshot.current("mentions"))


def mention_of(memory, said):
    (found,) = [row for row in mentions(memory) if row["said"] == said]
    return found


def test_a_pronoun_means_the_one_who_was_spoken_of():
    with remembered(told("m1", "My sister lives in Ghent. She works as a nurse.")) as memory:
        assert claims(memory) == [
            "User's sister's home city is Ghent.",
            "User's sister's occupation is a nurse.",
        ]
        found = mention_of(memory, "she")
        assert (found["meant"], found["reason"], found["rule"]) == (
            "user's sister", "resolved_from_bounded_window", "referents@1",
        )  # fmt: skip
        assert [(one["name"], one["score"]) for one in found["referents"]] == [
            ("user's sister", 0.693877), (None, 0.306122),
        ]  # fmt: skip
        assert found["evidence"] == [found["source_id"]]


def test_a_pronoun_reaches_back_over_turns_and_over_the_answers_of_an_agent():
    lines = [
        told("m1", "My brother moved to Oslo."),
        told("m2", "How nice for your brother!", role="assistant"),
        told("m3", "He likes skiing."),
    ]
    with remembered(*lines) as memory:
        assert "User's brother likes skiing." in claims(memory)


@pytest.mark.parametrize(
    ("before", "claim"),
    [
        ("Tom called Max.", "He lives in Ghent."),
        ("My sister met a nurse.", "She lives in Ghent."),
        ("My sister met Ana.", "Her favourite colour is green."),
        ("Tom and Karl came by.", "His favourite colour is green."),
        ("Karl came by after Tom.", "His favourite colour is green."),
        ("Ann and Noor both came.", "Her favourite colour is green."),
        ("My brother came.", "She lives in Ghent."),
        ("My parents and Tom came.", "They love hiking."),
        ("I moved to Bonn.", "She lives in Ghent."),
    ],
)
def test_where_several_or_nobody_may_be_meant_the_claim_waits(before, claim):
    with remembered(told("m1", before), told("m2", claim)) as memory:
        assert ("m2", "quarantine", "ambiguous_referent") in memory.decided()
        assert not [one for one in claims(memory) if "Ghent" in one or "green" in one or "hiking" in one]


def test_everybody_who_may_be_meant_is_kept_with_the_score_of_nobody():
    with remembered(told("m1", "Tom called Max. He lives in Ghent.")) as memory:
        found = mention_of(memory, "he")
        assert {one["name"] for one in found["referents"]} == {"Tom", "Max", None}
        assert (found["meant"], found["reason"]) == (None, "ambiguous_referent")


def test_the_sister_of_another_speaker_is_not_mine():
    lines = [
        told("m1", "My sister lives in Ghent.", author="Kim"),
        told("m2", "She works as a nurse.", author="Lia"),
    ]
    with remembered(*lines) as memory:
        assert claims(memory) == ["Kim's sister's home city is Ghent."]


def test_a_window_ends_after_eight_turns_and_with_the_conversation():
    filler = [told(f"f{number}", "I had soup.", turn=number) for number in range(1, 9)]
    far = told("m9", "She works as a nurse.", turn=9)
    other = told("o1", "She works as a nurse.", conversation="other", turn=1)
    with remembered(told("m0", "My sister lives in Ghent.", turn=0), *filler, far, other) as memory:
        assert claims(memory) == ["User's sister's home city is Ghent."]


def test_one_author_has_one_sister_until_another_one_is_named():
    lines = [
        told("m1", "My sister lives in Ghent.", 1),
        told("m2", "My sister Ana likes tea.", 2),
        told("m3", "My sister works as a nurse.", 3),
        told("m4", "Ana moved to Bonn. Ana likes jazz.", 4),
        told("m5", "My sister Eva likes opera.", 5),
        told("m6", "My sister likes olives.", 6),
    ]
    with remembered(*lines) as memory:
        own = [one for one in claims(memory) if one.startswith("User's sister Ana")]
        assert "User's sister Ana likes jazz." in own
        assert "User's sister Ana's occupation is a nurse." in own
        assert "User's sister Eva likes opera." in claims(memory)
        assert ("m6", "quarantine", "ambiguous_referent") in memory.decided()
        assert not [one for one in claims(memory, "all") if one.startswith("User's sister's")]


def test_a_role_that_changes_hands_means_whoever_holds_it():
    lines = [
        told("m1", "My boss is Maria.", 1),
        told("m2", "My boss likes slides.", 2),
        told("m3", "My boss is Tom.", 3),
        told("m4", "My boss likes chess.", 4),
    ]
    with remembered(*lines) as memory:
        assert {"User's boss Maria likes slides.", "User's boss Tom likes chess."} <= set(claims(memory))


def test_two_people_of_one_name_stay_two_and_the_bare_name_waits():
    lines = [
        told("m1", "My brother Tom loves chess.", 1),
        told("m2", "Tom likes rye.", 2),
        told("m3", "Tom from work lives in Riga.", 3),
        told("m4", "Tom likes olives.", 4),
    ]
    with remembered(*lines) as memory:
        assert claims(memory) == [
            "Tom from work lives in Riga.",
            "User's brother Tom likes chess.",
            "User's brother Tom likes rye.",
        ]
        doubted = [row for row in mentions(memory) if row["reason"] == "ambiguous_referent"]
        assert [{one["name"] for one in row["referents"]} for row in doubted] == [
            {"Tom from work", "user's brother Tom", None}
        ]
        assert ("m4", "quarantine", "ambiguous_referent") in memory.decided()


def test_friends_and_longer_names_are_bound_to_nobody():
    lines = [
        told("m1", "My friend Ana lives in Ghent.", 1),
        told("m2", "My friend lives in Oslo.", 2),
        told("m3", "Tom Baker lives in Rome.", 3),
        told("m4", "Tom likes rye.", 4),
    ]
    with remembered(*lines) as memory:
        said = claims(memory)
        assert "User's friend's home city is Oslo." in said
        assert "Tom likes rye." in said


def test_a_late_message_resolves_again_what_it_touches_and_keeps_the_history():
    with remembered(told("m2", "She works as a nurse.", turn=2)) as memory:
        assert claims(memory) == []
        memory.hear(told("m1", "My sister lives in Ghent.", turn=1))
        assert "User's sister's occupation is a nurse." in claims(memory)
        with memory.store.shard.pin() as snapshot:
            history = snapshot.table("mentions", ["version", "reason"]).to_pylist()
        assert history == [
            {"version": 1, "reason": "no_referent_in_bounded_window"},
            {"version": 2, "reason": "resolved_from_bounded_window"},
        ]
        memory.hear(told("m0", "My aunt came.", turn=1))
        assert "User's sister's occupation is a nurse." not in claims(memory)


def test_people_are_never_resolved_across_scopes():
    lines = [
        told("m1", "My sister Ana likes tea.", 1, scope={"project": "north"}),
        told("m2", "Ana lives in Bonn.", 2, scope={"project": "south"}, conversation="other"),
    ]
    with remembered(*lines) as memory:
        assert "Ana's home city is Bonn." in claims(memory)


def test_what_an_agent_or_a_page_says_introduces_nobody():
    lines = [
        told("m1", "My sister Ana likes tea.", 1, role="assistant"),
        told("m2", "My sister Ana likes tea.", 2, trust="untrusted_web"),
        told("m3", "Ana lives in Bonn.", 3),
    ]
    with remembered(*lines) as memory:
        assert claims(memory) == ["Ana's home city is Bonn."]


def test_a_claim_that_was_forgotten_does_not_return_by_another_name():
    lines = [told("m1", "My sister Ana lives in Bonn.", 1), told("m2", "My sister Ana likes tea.", 2)]
    with remembered(*lines) as memory:
        (claim,) = [row for row in memory.listed() if "Bonn" in row["statement"]]
        memory.store.forget(claim["atom_id"])
        memory.hear(told("m3", "Ana lives in Bonn.", 3))
        assert claims(memory, "all") == ["User's sister Ana likes tea."]
        assert "Bonn" not in str(memory.rows("sources"))


def test_a_reviewer_says_who_was_meant_and_that_stands():
    lines = [
        told("m1", "My brother Tom loves chess.", 1),
        told("m3", "Tom from work lives in Riga.", 3),
        told("m4", "Tom likes olives.", 4),
    ]
    with remembered(*lines) as memory:
        (case,) = memory.store.review().rows
        memory.store.decide("edit", case["ref"], referent="user's brother Tom", note="asked")
        assert "User's brother Tom likes olives." in claims(memory)
        assert memory.store.review().rows == []
        memory.hear(told("m2", "My colleague Tom likes rye.", 2))
        memory.store.reprocess()
        assert "User's brother Tom likes olives." in claims(memory)
        assert memory.store.verify(deep=True).problems == []


@pytest.mark.parametrize("name", ["Nobody", "user's brother Max", "he"])
def test_a_reviewer_names_somebody_whom_the_author_speaks_of(name):
    with remembered(told("m1", "Tom called Max. He lives in Riga.")) as memory:
        (case,) = memory.store.review().rows
        with pytest.raises(UsageError, match="nobody whom the author"):
            memory.store.decide("edit", case["ref"], referent=name)
        memory.store.decide("edit", case["ref"], referent="Max")
        assert claims(memory) == ["Max's home city is Riga."]


@pytest.mark.parametrize("name", ["user's sister", "Ana", "user's sister Ana"])
def test_forgetting_somebody_by_any_name_takes_all_that_is_theirs(name):
    lines = [
        told("m1", "My sister lives in Ghent. She works as a nurse.", 1),
        told("m2", "My sister Ana likes tea.", 2),
        told("m3", "Ana likes jazz.", 3),
        told("m4", "I live in Metz.", 4),
    ]
    with remembered(*lines) as memory:
        memory.store.forget(subject=name)
        assert claims(memory, "all") == ["User's home city is Metz."]
        assert [row["name"] for row in memory.rows("entities")] == ["user"]
        memory.hear(told("m5", "Ana likes jazz.", 5))
        assert "jazz" not in str(memory.rows("sources"))
