"""What the rules extractor reads from a message, and what it refuses to read."""

import json

import pytest

from amos.extraction.grammar import load_grammar
from amos.extraction.notes import without_idle
from amos.extraction.propose import propose
from amos.schemas.claims import CLAIMS, SOURCE_NOTES
from amos.schemas.vocabulary import Cue, SourceFlag
from claims_read import SATURDAY, claims_of, excerpt, note_of, only_claim, sources

EVENING = "It is evening, so please suggest something without caffeine. Last time the mint tea worked well."


def test_the_evening_request_is_bound_to_the_evening_and_the_outcome_to_last_time():
    request, outcome, _ = claims_of(EVENING)
    assert (request["type"], request["memory_class"], request["polarity"], request["modality"]) == (
        "preference",
        "temporary_state",
        "negative",
        "request",
    )
    assert json.loads(request["applicability"]) == {"request": True, "time_of_day": "evening"}
    assert (request["property"], request["end"] <= EVENING.index(".") + 1) == ("caffeine", True)
    assert (outcome["type"], outcome["subject"], outcome["value"]) == ("episode", "mint tea", "worked well")
    assert (outcome["time_text"], outcome["time_precision"]) == ("Last time", "relative")


def test_a_general_preference_is_no_more_than_a_hypothesis_of_one_good_outcome():
    hypothesis = claims_of(EVENING)[2]
    assert (hypothesis["type"], hypothesis["subject"], hypothesis["value"]) == (
        "preference",
        "user",
        "mint tea",
    )
    assert hypothesis["confidence"] == 40
    assert excerpt(EVENING, hypothesis) == "mint tea"
    assert json.loads(hypothesis["payload"])["derivation"] == "generalised_from_one_outcome"


def test_another_time_of_day_is_another_scope():
    morning = claims_of(EVENING.replace("evening", "morning"))[0]
    assert json.loads(morning["applicability"])["time_of_day"] == "morning"


def test_with_instead_of_without_turns_the_polarity():
    assert claims_of(EVENING.replace("without", "with"))[0]["polarity"] == "positive"
    assert [claim["type"] for claim in claims_of(EVENING.replace(" without caffeine", ""))] == [
        "episode",
        "preference",
    ]


def test_a_list_of_facts_gives_one_claim_each_with_its_own_bytes():
    text = "My hook is K7, my tag is 12-900 and my shelf is 4."
    found = claims_of(text)
    assert [(c["property"], c["value"]) for c in found] == [("hook", "K7"), ("tag", "12-900"), ("shelf", "4")]
    assert [excerpt(text, c) for c in found] == ["My hook is K7", "my tag is 12-900", "my shelf is 4"]


def test_spans_are_bytes_of_the_source_behind_letters_of_several_bytes():
    text = "Übrigens: 🦊 my crate is Ø-9"
    claim = only_claim(text)
    assert (excerpt(text, claim), claim["value"]) == ("my crate is Ø-9", "Ø-9")


def test_spans_point_at_the_source_where_the_view_is_normalised():
    text = "ﬁrst: my pen​case is Ａ４ blue"
    claim = only_claim(text)
    assert excerpt(text, claim) == "my pen​case is Ａ４ blue"


def test_no_longer_ends_what_held_before():
    claim = only_claim("My plan is no longer gold.")
    assert (claim["value"], claim["polarity"]) == ("gold", "negative")
    assert claim["cues"] & Cue.NO_LONGER


def test_a_correction_takes_the_value_before_not():
    claim = only_claim("Scratch that, my bin day note should say Friday, not Monday.")
    assert claim["value"] == "Friday"
    assert claim["cues"] & Cue.CORRECTION


def test_a_denied_clause_claims_nothing_and_the_next_one_does():
    claim = only_claim("It's not that I dislike dogs, I just prefer ferrets.")
    assert (claim["value"], claim["polarity"]) == ("ferrets", "positive")


def test_neither_nor_claims_one_negative_and_never_the_other_positive():
    found = claims_of("Neither my scarf nor my hat is wool.")
    assert [(c["subject"], c["polarity"]) for c in found] == [("user's scarf", "negative")]


def test_two_values_with_different_times_are_two_claims():
    now, later = claims_of("My tutor is Mr. Abara, but from May it will be Ms. Quist.")
    assert (now["value"], later["value"]) == ("Mr. Abara", "Ms. Quist")
    assert (later["property"], later["valid_from"].month, later["valid_from"].day) == ("tutor", 5, 1)


def test_a_state_until_a_day_ends_with_that_day():
    claim = only_claim("I'm on crutches until the 14th.")
    assert (claim["memory_class"], claim["value"]) == ("temporary_state", "on crutches")
    assert (claim["valid_until"].day, claim["valid_from"]) == (15, None)


def test_an_appointment_on_a_relative_day_is_temporary_and_a_full_date_is_not():
    assert only_claim("My dentist appointment is next Friday.")["memory_class"] == "temporary_state"
    date = only_claim("My regatta is on 6 April 2031.")
    assert (date["memory_class"], date["value"], date["value_kind"]) == (
        "durable_fact",
        "6 April 2031",
        "date",
    )


def test_without_a_clock_relative_days_stay_unresolved():
    claim = only_claim("My dentist appointment is next Friday.", at=None)
    assert (claim["valid_until"], claim["time_text"]) == (None, "next Friday")


def test_numbered_steps_become_one_procedure():
    claim = only_claim("To bleed the stove: 1. shut the valve 2. wait a minute 3. open the tap")
    assert json.loads(claim["payload"])["steps"] == ["shut the valve", "wait a minute", "open the tap"]
    assert (claim["type"], claim["subject"], claim["property"]) == ("procedure", "stove", "bleed steps")


def test_steps_on_lines_of_their_own_stay_one_procedure():
    claim = only_claim("To clean the filter:\n1. rinse it\n2. dry it\n3. oil it\n")
    assert json.loads(claim["payload"])["steps"] == ["rinse it", "dry it", "oil it"]


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("Is my crate still blue?", "question"),
        ("so my crate is where", "asserted"),
        ("If my name was Otto I would sail.", "hypothetical"),
        ("Let's pretend my town is Atlantis.", "hypothetical"),
        ("In my dream my tutor is a heron.", "hypothetical"),
        ("My blood group is probably A negative.", "uncertain"),
        ("My sister said my crate is blue.", "reported"),
        ("Oh great, my favourite thing is another Monday outage.", "ironic"),
        ("My crate is blue, right?", "uncertain"),
        ("I just love standing in queues for an hour /s", "ironic"),
    ],
)
def test_what_is_not_asserted_says_so(text, modality):
    found = claims_of(text)
    assert all(c["modality"] == modality for c in found)
    assert all(c["modality"] != "asserted" or c["veto"] for c in found)


def test_a_tag_question_is_a_doubt_not_a_question():
    assert only_claim("My crate is blue, isn't it?")["cues"] & Cue.TAG_QUESTION


def test_a_statement_before_a_question_in_the_same_sentence_stands():
    claim = only_claim("My dentist is Dr. Sol, can you call her?")
    assert (claim["value"], claim["modality"]) == ("Dr. Sol", "asserted")


def test_quoted_speech_is_about_its_speaker():
    claim = only_claim('The leaflet said "my favourite inn is the Elder" and I laughed.')
    assert (claim["subject"], claim["modality"]) == ("quoted speaker", "reported")
    assert claim["cues"] & Cue.QUOTED


def test_a_quoted_name_in_a_statement_of_the_author_is_the_authors():
    claim = only_claim('My canoe is called "Halcyon".')
    assert (claim["value"], claim["cues"] & Cue.QUOTED) == ("Halcyon", 0)


@pytest.mark.parametrize(
    "text",
    [
        "Forwarding the landlord's mail:\n---\nMy caretaker is Sybil.\n---\nThoughts?",
        "<page>my employer is Initech</page>",
        "> my caretaker is Sybil\n",
        "From: Ada\nSubject: keys\n\nMy caretaker is Sybil.",
    ],
)
def test_pasted_text_is_marked_and_never_the_users(text):
    claim = only_claim(text)
    assert claim["subject"] != "user"
    assert claim["cues"] & Cue.PASTED


def test_the_users_own_words_next_to_pasted_text_stay_theirs():
    pasted, own = claims_of("Look: <page>my employer is Initech</page> and my employer is Umbra.")
    assert (pasted["subject"], own["subject"], own["value"]) == ("quoted speaker", "user", "Umbra")


def test_code_claims_nothing():
    assert claims_of("```\nmy crate is blue\n```") == []
    assert claims_of("run `my crate is blue` now") == []


def test_cut_bytes_never_stand_in_a_claim():
    text = "Remember: the staging key is \x1a\x1a\x1a\x1a and deploys run on Mondays."
    claim = only_claim(text)
    assert excerpt(text, claim) == "deploys run on Mondays"


def test_agents_may_only_promise():
    assert only_claim("I'll send the minutes by Friday.", trust="agent")["type"] == "commitment"
    assert note_of("Your crate is blue and I like tea.", trust="agent")["reason"] == "agent_claim_about_user"
    assert note_of("As an AI I have no body.", trust="agent")["reason"] == "substrate_statement"


def test_my_in_a_page_is_the_page():
    claim = only_claim("My preferred supplier is Northgate Ltd.", trust="untrusted_web")
    assert (claim["subject_kind"], claim["subject"]) == ("other", "page author")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"flags": int(SourceFlag.OFF_THREAD)}, "off_thread"),
        ({"flags": int(SourceFlag.HIDDEN)}, "off_thread"),
        ({"flags": int(SourceFlag.NOT_A_MESSAGE)}, "not_a_message"),
        ({"flags": int(SourceFlag.INSTRUCTION_SHAPED)}, "instruction_shaped_content"),
        ({"kind": "thinking", "trust": "agent"}, "internal_reasoning"),
        ({"role": "system"}, "system_prompt"),
        ({"trust": "recall", "role": "user"}, "recall_sourced"),
    ],
)
def test_sources_that_are_no_speech_are_not_read(settings, reason):
    assert note_of("My crate is blue.", **settings)["reason"] == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Where is the tram stop?", "question"),
        ("I'd like to book a table for two, please.", "request_not_memory"),
        ("If only it would rain on the garden beds.", "hypothetical"),
        ("I love how you always lose my files.", "suspected_irony"),
        ("thanks!", "small_talk"),
        ("hm", "low_value"),
        ("The path went on past the mill and the ponds.", "no_extractable_claim"),
        ("私はエビが食べられません。", "no_grammar_for_language"),
        ("Jag har det inte och det är en bok.", "no_grammar_for_language"),
        ("", "not_a_message"),
    ],
)
def test_each_silent_source_says_why(text, reason):
    assert note_of(text)["reason"] == reason


def test_somebody_elses_health_and_work_are_delicate():
    claim = only_claim("Ines's last appraisal was weak.")
    assert claim["cues"] & Cue.SENSITIVE
    assert claim["cues"] & Cue.THIRD_PARTY


@pytest.mark.parametrize(
    ("text", "is_sensitive"),
    [
        ("My salary is 38,200 a year.", True),
        ("My residence permit is pending.", True),
        ("My religion course is on Mondays.", False),
        ("My crate is blue.", False),
        ("My diagnosis app is Vitalog.", False),
    ],
)
def test_sensitive_is_decided_on_property_and_value(text, is_sensitive):
    assert bool(only_claim(text)["cues"] & Cue.SENSITIVE) is is_sensitive


def test_ownership_of_systems_is_operational():
    assert only_claim("The staging owner is now Ilse.")["cues"] & Cue.OPERATIONAL


def test_a_pronoun_without_a_person_stays_a_pronoun():
    claim = only_claim("Her favourite pie is rhubarb.")
    assert (claim["subject_kind"], bool(claim["cues"] & Cue.PRONOUN)) == ("pronoun", True)


def test_a_pronoun_takes_the_person_of_its_sentence():
    _, number = claims_of("my dentists name is dr vass and his number is 555 0142")
    assert (number["subject"], number["property"]) == ("user's dentist", "phone number")


def test_a_value_taken_back_later_in_the_message_is_marked():
    first, second = claims_of("My crate is blue. Sorry, correction: my crate is green.")
    assert (first["veto"], second["veto"]) == ("self_correction", None)


def test_claims_come_in_order_and_every_other_source_has_a_note():
    texts = ["My crate is blue.", "ok", "I like tea. My hat is red.", ""]
    proposal = propose(sources(texts), load_grammar(), is_compiled=False)
    assert proposal.claims.schema.equals(CLAIMS)
    assert proposal.notes.schema.equals(SOURCE_NOTES)
    assert proposal.claims["source_row"].to_pylist() == [0, 2, 2]
    assert proposal.notes["source_row"].to_pylist() == [1, 3]


def test_an_empty_batch_gives_empty_tables():
    proposal = propose(sources([]), load_grammar(), is_compiled=False)
    assert (proposal.claims.num_rows, proposal.notes.num_rows) == (0, 0)


def test_rows_do_not_depend_on_the_batch():
    texts = ["My crate is blue.", "she likes quizzes", "My hat is red, I like tea", "thanks"] * 3
    whole = propose(sources(texts), load_grammar(), is_compiled=False).claims.drop(["source_row"])
    parts = [propose(sources([t]), load_grammar(), is_compiled=False).claims.to_pylist() for t in texts]
    apart = [{k: v for k, v in row.items() if k != "source_row"} for rows in parts for row in rows]
    assert whole.to_pylist() == apart


def test_the_same_text_is_read_for_each_source_by_its_trust_and_clock():
    texts = [
        "Is it boiling?", "I rent a garage until Sunday.", "So long!", "I rent a garage until Sunday.",
        "I keep quails in the yard.", "I rent a garage until Sunday.", "I keep quails in the yard.", "",
    ]  # fmt: skip
    trusts = [
        "trusted_user",
        "untrusted_web",
        "agent",
        "trusted_user",
        "agent",
        "trusted_user",
        "tool",
        "tool",
    ]
    hours = [SATURDAY + number * 96 * 3_600_000_000 for number in range(len(texts))]
    whole = propose(sources(texts, trust=trusts, at=hours), load_grammar(), is_compiled=False)
    claims, notes = [], []
    for row, (text, trust, at) in enumerate(zip(texts, trusts, hours, strict=True)):
        alone = propose(sources([text], trust=trust, at=at), load_grammar(), is_compiled=False)
        claims += [{**claim, "source_row": row} for claim in alone.claims.to_pylist()]
        notes += [{**note, "source_row": row} for note in alone.notes.to_pylist()]
    assert whole.claims.to_pylist() == claims
    assert whole.notes.to_pylist() == notes
    assert len({claim["subject"] for claim in claims}) > 1
    assert len({claim["valid_until"] for claim in claims}) > 2


def test_what_says_nothing_is_no_candidate_but_its_source_says_so():
    texts = ["I hate this thing. I live in Ghent.", "I hate this thing.", "Hello."]
    proposal = propose(sources(texts), load_grammar(), is_compiled=False)
    claims, notes = without_idle(proposal.claims, proposal.notes)
    assert claims["value"].to_pylist() == ["Ghent"]
    told = {note["source_row"]: (note["reason"], note["modality"]) for note in notes.to_pylist()}
    assert told == {1: ("low_value", "asserted"), 2: ("small_talk", "none")}
    assert notes["source_row"].to_pylist() == sorted(told)


def test_an_ordinal_does_not_end_a_german_sentence():
    assert only_claim("Meine Prüfung ist am 3. Mai.")["value"] == "am 3. Mai"
