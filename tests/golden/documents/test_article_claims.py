"""How Experience Enters Memory, sections 4 to 7: mentions, identities, claims, events.

Each test is a solved exercise, or a sentence of the text, that states what an engine does.
"""

import json

from amos.evaluation.cases import read_cases
from amos.evaluation.counts import counts_of
from amos.evaluation.judging import judge
from amos.evaluation.measures import measures
from amos.schemas.vocabulary import AtomType
from proposed import claims_in, lines_of, only_claim_in, written_in
from remembered import remembered, told

REQUEST = "It is evening, so please suggest something without caffeine."
OUTCOME = "Last time the mint tea worked well."


def test_4_1_last_time_is_a_mention_and_becomes_no_entity():
    with remembered(told("m1", OUTCOME)) as memory:
        assert sorted(row["name"] for row in memory.rows("entities")) == ["mint tea", "user"]


def test_4_2_the_span_keeps_the_construction_that_turns_the_polarity():
    claim = only_claim_in(REQUEST)
    assert "without caffeine" in claim["excerpt"]
    assert claim["polarity"] == "negative"


def test_4_3_and_4_4_precision_and_recall_of_mentions_are_those_of_the_exercise():
    from collections import Counter

    found = measures(Counter({("spans", "hit"): 18, ("spans", "false"): 2, ("spans", "missed"): 4}))["spans"]
    assert (found["precision"], round(found["recall"], 3)) == (0.9, 0.818)


def test_4_5_perfect_spans_do_not_make_a_write_correct(tmp_path):
    path = tmp_path / "case.jsonl"
    expected = {"admission": "quarantine", "admission_never": ["commit"], "span": "My locker is 12"}
    path.write_text(json.dumps({"id": "c", "text": "My locker is 12.", "expected": expected}))
    (case,) = read_cases([path]).cases
    found = measures(counts_of(judge(case, lines_of("My locker is 12."))))
    assert found["spans"]["f1"] == 1
    assert found["writes"]["precision"] == 0
    assert found["harmful"] == 1


def test_5_1_a_mention_may_stay_unresolved():
    unresolved = only_claim_in("Her favourite snack is olives.")
    assert (unresolved["outcome"], unresolved["reasons"]) == ("quarantine", ["ambiguous_referent"])
    assert unresolved["subject"] == "her"


def test_5_2_people_of_one_name_are_not_merged():
    lines = [
        told("m1", "Robin's desk is 4.", author="Lia", scope={"project": "north"}),
        told("m2", "Robin's desk is 9.", author="Lia", scope={"project": "south"}),
    ]
    with remembered(*lines) as memory:
        robins = [row for row in memory.rows("entities") if row["name"] == "Robin"]
        assert len({row["entity_id"] for row in robins}) == 2
        assert memory.said() == ["Robin's desk is 4.", "Robin's desk is 9."]


def test_5_2_two_sisters_of_two_authors_are_two_people():
    lines = [
        told("m1", "My sister's desk is 4.", author="Lia"),
        told("m2", "My sister's desk is 9.", author="Noor", turn=1),
    ]
    with remembered(*lines) as memory:
        sisters = [row for row in memory.rows("entities") if "sister" in row["name"]]
        assert len({row["owner_id"] for row in sisters}) == 2
        assert len(memory.said()) == 2


def test_5_3_the_authenticated_author_resolves_i():
    with remembered(told("m1", "I live in Ghent.", author="Lia")) as memory:
        (candidate,) = memory.rows("candidates")
        (author,) = [row for row in memory.rows("entities") if row["kind"] == "author"]
        assert candidate["subject_id"] == author["entity_id"]


def test_5_4_a_later_source_changes_no_word_of_an_earlier_one():
    with remembered(told("m1", OUTCOME)) as memory:
        before = memory.rows("sources") + memory.rows("candidates")
        memory.hear(told("m2", "By last time, I meant our conversation of 24 March 2026.", 2, turn=1))
        after = memory.rows("sources") + memory.rows("candidates")
        assert [row for row in after if row in before] == before


def test_5_5_an_unresolved_episode_commits_with_that_said_and_an_unresolved_person_waits():
    outcome = next(claim for claim in claims_in(OUTCOME) if claim["type"] == "episode")
    assert outcome["outcome"] == "commit"
    assert only_claim_in("He likes mint tea.", context=["My boss is Karl.", "My son is Tom."])["outcome"] == (
        "quarantine"
    )


def test_6_1_not_choosing_coffee_is_no_dislike_of_coffee():
    assert written_in("I did not choose coffee.") == []


def test_6_2_what_somebody_should_do_was_not_done():
    assert written_in("Aurora should suggest tea.") == []
    assert [
        claim for claim in claims_in("Aurora should suggest tea.") if claim["type"] == "action_outcome"
    ] == []


def test_6_3_each_evidence_of_a_claim_can_be_inspected_by_itself():
    with remembered(
        told("m1", "My boat is Petrel."), told("m2", "As I said, my boat is Petrel.", 3)
    ) as memory:
        (atom,) = memory.listed()
        evidence = memory.store.why(atom["atom_id"])["evidence"]
        assert [one["excerpt"] for one in evidence] == ["My boat is Petrel", "my boat is Petrel"]
        assert len({one["source_id"] for one in evidence}) == 2


def test_6_4_a_constraint_of_an_evening_becomes_no_permanent_rule():
    claim = only_claim_in(REQUEST)
    assert claim["memory_class"] == "temporary_state"
    assert claim["valid_until"] is not None
    assert claim["statement"] == "User asks for no caffeine this evening."


def test_6_5_every_claim_has_a_type_of_the_closed_list():
    texts = (
        "My locker is 12.",
        "I like olives.",
        OUTCOME,
        "I promise to water the ferns.",
        "Mein Hut ist rot.",
    )
    types = {claim["type"] for text in texts for claim in claims_in(text)}
    assert types <= set(AtomType)


def test_6_please_suggest_is_a_request_and_maybe_is_doubt_and_worked_well_an_evaluation():
    assert only_claim_in(REQUEST)["modality"] == "request"
    assert written_in("Please suggest something.") == []
    assert only_claim_in("Maybe my locker is 12.")["modality"] == "uncertain"
    assert claims_in(OUTCOME)[0]["value"] == "worked well"


def test_7_1_a_recommendation_and_its_outcome_are_two_sources_and_the_agents_word_is_no_outcome():
    lines = [
        told("m1", "I recommend the mint tea.", role="assistant"),
        told("m2", OUTCOME, 2, turn=1),
    ]
    with remembered(*lines) as memory:
        (outcome,) = [row for row in memory.listed(state="all") if row["type"] == "episode"]
        assert [one["role"] for one in memory.store.why(outcome["atom_id"])["evidence"]] == ["user"]


def test_7_1_an_agent_never_reports_its_own_success():
    for text in ("I fixed the export.", "The export succeeded.", "I successfully restarted the broker."):
        assert written_in(text, trust="agent") == []


def test_7_3_last_time_gets_no_date():
    outcome = next(claim for claim in claims_in(OUTCOME) if claim["type"] == "episode")
    assert outcome["valid_from"] is None
    assert "2026" not in outcome["statement"]


def test_7_4_one_thing_after_another_is_no_cause():
    lines = [
        told("m1", "On 3 May 2026 I drank the mint tea.", 4),
        told("m2", "On 4 May 2026 I won the race.", 5, turn=1),
    ]
    with remembered(*lines) as memory:
        assert memory.rows("edges") == []


def test_7_5_an_unresolved_episode_is_named_as_such_and_no_identity_is_invented():
    with remembered(told("m1", OUTCOME)) as memory:
        (outcome,) = [row for row in memory.rows("candidates") if row["type"] == "episode"]
        assert json.loads(outcome["payload"])["time"] == {"precision": "relative", "text": "Last time"}
        assert [row["kind"] for row in memory.rows("entities") if row["name"] != "mint tea"] == ["author"]
