"""Values that change, return, end or are told twice: one current answer, nothing merged, nothing lost."""

import pytest

from remembered import remembered, told


def intervals(memory, statement):
    """Return (from, until) days of one claim, the earliest first."""
    (row,) = [row for row in memory.listed() if row["statement"] == statement]
    return [tuple(edge and edge[:10] for edge in span.values()) for span in row["intervals"]]


def test_a_new_value_is_current_and_the_old_one_answers_for_its_time():
    with remembered(
        told("old", "My favourite soup is leek.", 3), told("new", "My favourite soup is pea.", 20)
    ) as memory:
        assert memory.said() == ["User's favourite soup is pea."]
        assert memory.said("superseded") == ["User's favourite soup is leek."]
        assert memory.found("favourite soup") == ["new"]
        then = 1_778_500_000_000_000  # 11 May 2026
        assert memory.found("favourite soup", as_of_us=then) == ["old"]
        assert intervals(memory, "User's favourite soup is leek.") == [("2026-05-03", "2026-05-20")]


@pytest.mark.parametrize(
    ("first", "second", "now"),
    [
        ("I like rye bread.", "I no longer like rye bread.", "User avoids rye bread."),
        ("I love night trains.", "I don't like night trains anymore.", "User avoids night trains."),
    ],
)
def test_a_preference_that_ends_turns_negative_and_closes_the_old_one(first, second, now):
    with remembered(told("a", first, 1), told("b", second, 9)) as memory:
        (row,) = memory.listed(state="active")
        assert (row["statement"], row["type"], row["polarity"]) == (now, "preference", "negative")
        assert len(memory.said("superseded")) == 1


def test_three_revisions_leave_one_current_value_and_a_chain_of_two():
    texts = ["My desk height is 70 cm.", "My desk height is 74 cm.", "My desk height is 112 cm."]
    lines = [told(f"m{day}", text, day) for day, text in enumerate(texts, 1)]
    with remembered(*lines) as memory:
        assert memory.said() == ["User's desk height is 112 cm."]
        assert len(memory.said("superseded")) == 2
        lineage = [(row["predecessor_id"], row["successor_id"]) for row in memory.rows("lineage")]
        assert len(lineage) == 2
        assert len({end for pair in lineage for end in pair}) == 3


def test_a_value_that_returns_is_one_claim_that_holds_twice():
    with remembered(
        told("a", "My parking bay is C3.", 1),
        told("b", "My parking bay is D9.", 5),
        told("c", "My parking bay is C3.", 12),
    ) as memory:
        assert memory.said() == ["User's parking bay is C3."]
        assert intervals(memory, "User's parking bay is C3.") == [
            ("2026-05-01", "2026-05-05"),
            ("2026-05-12", None),
        ]


PERIODS = {
    "spring": "My badge is blue from 3 June 2026 to 20 June 2026.",
    "autumn": "My badge is blue from 1 October 2026 to 9 October 2026.",
}


@pytest.mark.parametrize("order", [("spring", "autumn"), ("autumn", "spring")])
def test_two_separate_periods_are_two_occurrences_whichever_is_told_first(order):
    lines = [told(name, PERIODS[name], day) for day, name in enumerate(order, 1)]
    with remembered(*lines) as memory:
        assert intervals(memory, "User's badge is blue.") == [
            ("2026-06-03", "2026-06-21"),
            ("2026-10-01", "2026-10-10"),
        ]
        for day, holds in ((10, True), (32, False), (122, True), (200, False)):
            instant = 1_780_272_000_000_000 + day * 86_400_000_000  # days after 1 June 2026
            items = memory.packet("badge blue", as_of_us=instant)["items"]
            claims = [item["statement"] for item in items if item["item_kind"] == "atom"]
            assert claims == (["User's badge is blue."] if holds else [])
            assert holds or not items


def test_an_earlier_period_of_another_value_leaves_the_later_one_alone():
    with remembered(
        told("a", "My bay is B2 from 1 October 2026 to 9 October 2026.", 1),
        told("b", "My bay is B7 from 3 June 2026 to 20 June 2026.", 2),
    ) as memory:
        assert intervals(memory, "User's bay is B2.") == [("2026-10-01", "2026-10-10")]
        assert intervals(memory, "User's bay is B7.") == [("2026-06-03", "2026-06-21")]
        assert not memory.rows("lineage")


@pytest.mark.parametrize(
    "text",
    [
        "My badge is blue from 20 June 2026 to 3 June 2026.",
        "My shift is nights until 2 February 2020.",
        "My permit is valid from 9 May 2026 to 8 May 2026.",
    ],
)
def test_validity_that_ends_before_it_begins_is_refused_and_said(text):
    with remembered(told("m", text)) as memory:
        assert memory.decided() == [("m", "reject", "temporal_invalid")]
        assert not memory.listed()


@pytest.mark.parametrize("day", ["from 1 August 2026", "since 2024"])
def test_a_property_that_holds_from_a_day_on_does_not_end_in_the_evening(day):
    with remembered(told("m", f"My locker is 12 {day}.")) as memory:
        assert [until for _, until in intervals(memory, "User's locker is 12.")] == [None]


@pytest.mark.parametrize(
    "reminder",
    [
        "Do not forget to feed the hens before you open my gate.",
        "Don't forget my gate code.",
        "It is not only my gate code that matters.",
        "Why not try my gate code?",
    ],
)
def test_a_negation_word_in_a_reminder_contradicts_nothing(reminder):
    with remembered(told("a", "My gate code is brass lion.", 1), told("b", reminder, 2)) as memory:
        assert "User's gate code is brass lion." in memory.said()
        assert not memory.said("superseded")
        assert not memory.rows("disputes")
        assert not [row for row in memory.rows("edges") if row["relation"] == "contradicts"]


def test_a_repeated_sentence_links_and_deletes_nothing():
    with remembered(told("a", "The office kettle is named Rosa.", 1)) as memory:
        receipt = memory.hear(told("b", "The office kettle is named Rosa.", 9))
        assert receipt["decisions"] == {"commit": 0, "link": 1, "quarantine": 0, "ignore": 0, "reject": 0}
        (row,) = memory.listed(state="active")
        assert row["evidence_count"] == 2
        evidence = memory.store.why(row["atom_id"])["evidence"]
        assert sorted(piece["record_key"].rpartition("/")[2] for piece in evidence) == ["a", "b"]


def test_letter_case_and_spaces_do_not_make_a_twin():
    texts = ["The office kettle is named Rosa.", "the office  kettle is named ROSA."]
    with remembered(*[told(str(number), text) for number, text in enumerate(texts)]) as memory:
        assert len(memory.listed()) == 1


def test_one_prompt_seen_by_many_agents_is_one_claim():
    lines = [
        told(f"m{number}", "My spare pump hangs in the hall.", conversation=f"agent-{number}")
        for number in range(40)
    ]
    with remembered(*lines) as memory:
        (row,) = memory.listed()
        assert row["evidence_count"] == 40


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The buoy of lane 3 is orange.", "The buoy of lane 8 is orange."),
        ("The mast of the Heron is 14 m.", "The mast of the Heron's tender is 14 m."),
        ("My shed colour is teal.", "My barn colour is teal."),
        ("The bench of crew A is number 14.", "The bench of crew B is number 41."),
        ("The canoe of Emily is red.", "The canoe of Tobias is red."),
        ("The boat of the family is red.", "The boat of the club is red."),
        ("My sister's bay is 14.", "My brother's bay is 14."),
    ],
)
def test_look_alikes_with_other_numbers_or_names_stay_apart(one, two):
    with remembered(told("a", one), told("b", two)) as memory:
        assert len(memory.listed(state="active")) == 2
        assert not memory.rows("lineage")


def test_members_of_a_list_that_shrinks_stay_in_what_was_said():
    with remembered(
        told("a", "My instruments are fiddle and harp.", 1),
        told("b", "My instruments are fiddle and zither.", 2),
    ) as memory:
        said = " ".join(row["statement"] for row in memory.listed(state="all"))
        assert {"fiddle", "harp", "zither"} <= set(said.replace(".", "").replace(",", "").split())


def test_a_like_is_kept_under_one_type():
    with remembered(told("a", "I like plum cake."), told("b", "I love plum cake!")) as memory:
        assert [row["type"] for row in memory.listed()] == ["preference"]


def test_values_told_at_one_moment_join_one_dispute_however_they_arrive():
    lines = [
        told(f"m{number}", f"My bay number is {number}.", conversation=f"c{number}") for number in range(9)
    ]
    with remembered() as memory:
        for line in lines:
            assert memory.hear(line)["sources"]["new"] == 1
        (dispute,) = memory.rows("disputes")
        assert (dispute["status"], len(dispute["sides"])) == ("open", 9)
        assert memory.store.verify().problems == []


def test_a_value_that_a_late_correction_put_away_goes_on_from_its_stored_version():
    first, second = (
        {"id": f"{talk}1", "conversation": talk, "text": text}
        for talk, text in (("a3", "My locker number is 12."), ("b3", "Correction: my locker number is 14."))
    )  # without times the talks' own order decides: the correction comes first
    with remembered(first) as memory:
        memory.hear(second)
        assert sorted(row["lifecycle_state"] for row in memory.rows("atoms")) == ["active", "archived"]
        memory.hear(told("again", "My locker number is 12.", conversation="a3"))
        (row,) = [row for row in memory.rows("atoms") if '"12"' in row["payload"]]
        assert (row["version"], row["lifecycle_state"]) == (3, "active")
        assert [receipt["atoms_written"] for receipt in memory.receipts] == [1, 1, 0]
