"""How Experience Enters Memory, sections 1 to 3: sources, envelopes, processing views.

Each test is a solved exercise, or a sentence of the text, that states what an engine does.
"""

import hashlib

import pytest

from proposed import claims_in, only_claim_in, written_in
from remembered import remembered, told

TEA = "Mint tea worked well."


def test_1_1_one_comfortable_blue_chair_proves_no_preference_for_blue():
    assert written_in("The blue chair was comfortable.") == []
    for claim in claims_in("Last time the blue chair worked well."):
        assert claim["type"] == "episode" or claim["outcome"] == "quarantine"


def test_1_2_a_candidate_that_was_not_admitted_reaches_no_answer_and_no_export():
    with remembered(told("m1", "My salary is 41,500 a year."), told("m2", "My locker is 12.")) as memory:
        assert memory.said(state="all") == ["User's locker is 12."]
        assert [item["atom_id"] for item in memory.packet("salary")["items"]] == [None]  # the turn itself
        assert memory.store.sql("SELECT count(*) AS n FROM atoms").to_pylist() == [{"n": 1}]


def test_1_3_rejecting_a_candidate_keeps_its_source():
    with remembered(told("m1", "My pass is blue from 9 June 2026 to 3 June 2026.")) as memory:
        assert memory.decided() == [("m1", "reject", "temporal_invalid")]
        assert memory.rows("sources")[0]["content"].startswith("My pass is blue")


def test_1_4_extraction_enlarges_the_candidates_and_admission_alone_the_graph():
    lines = [
        told("m1", "My locker is 12."),
        told("m2", "My salary is 41,500 a year."),
        told("m3", "Her name is Ann."),
        told("m4", "Maybe my badge is 7."),
    ]
    with remembered(*lines) as memory:
        outcomes = [row["outcome"] for row in memory.listed("candidates")]
        assert sorted(outcomes) == ["commit", "quarantine", "quarantine", "quarantine"]
        assert len(memory.rows("atoms")) == outcomes.count("commit")


def test_1_5_no_confidence_buys_an_unauthorised_medical_claim():
    sure = only_claim_in("I have asthma.", retain=True)
    assert sure["confidence"] >= 60
    assert sure["outcome"] == "quarantine"
    with remembered(told("m1", "I have asthma.", purposes=["support"])) as memory:
        assert memory.decided() == [("m1", "reject", "unauthorized_scope")]
        assert memory.rows("atoms") == []


def test_2_1_a_note_of_day_40_that_arrives_on_day_55_has_both_times():
    with remembered(told("m1", "My locker is 12.", ts="2026-02-09T08:00:00Z")) as memory:
        (source,) = memory.rows("sources")
        assert source["event_time"].isoformat() == "2026-02-09T08:00:00+00:00"
        assert source["ingest_time"] > source["event_time"]
        (atom,) = memory.listed()
        assert atom["intervals"][0]["from"] == "2026-02-09T08:00:00.000000Z"
        (event,) = [e for e in memory.store.why(atom["atom_id"])["events"] if e["table"] == "atoms"]
        assert event["accepted_at"] >= source["ingest_time"].strftime("%Y-%m-%dT%H:%M:%S")


def test_2_2_equal_words_of_two_users_are_two_sources_about_two_people():
    lines = [
        told("m1", "My locker is 12.", author="Lia", conversation="a"),
        told("m2", "My locker is 12.", author="Noor", conversation="b"),
    ]
    with remembered(*lines) as memory:
        one, other = memory.rows("sources")
        assert one["content_digest"] == other["content_digest"]
        assert one["source_id"] != other["source_id"]
        assert memory.said() == ["Lia's locker is 12.", "Noor's locker is 12."]
        assert {row["evidence_count"] for row in memory.rows("atoms")} == {1}


def test_2_3_the_author_field_says_who_i_is():
    assert only_claim_in("I like olives.", author="Lia")["subject"] == "Lia"
    assert only_claim_in("I like olives.")["subject"] == "user"


def test_2_4_the_digest_stands_beside_the_content_and_not_for_it():
    with remembered(told("m1", TEA)) as memory:
        (source,) = memory.rows("sources")
        assert source["content"] == TEA
        assert source["content_digest"] == hashlib.sha256(TEA.encode()).digest()


def test_2_5_where_keeping_is_forbidden_the_durable_write_is_rejected_and_no_byte_stays():
    with remembered(told("m1", "My locker is 12.", retain=False)) as memory:
        assert memory.decided() == [("m1", "reject", "unauthorized_scope")]
        assert set(memory.rows("sources")[0]["content"]) == {"\x1a"}
        assert memory.rows("atoms") == []


def test_2_a_correction_arrives_as_a_new_source_and_rewrites_no_evidence():
    with remembered(told("m1", "My locker is 12.")) as memory:
        before = memory.rows("sources")
        memory.hear(told("m2", "Actually, my locker is 21.", 2, turn=1))
        assert [row for row in memory.rows("sources") if row in before] == before


def test_3_1_the_case_of_the_source_is_kept():
    with remembered(told("m1", "My bank is NORVIA and my bike is a Kestrel.")) as memory:
        assert memory.rows("sources")[0]["content"] == "My bank is NORVIA and my bike is a Kestrel."
        assert {row["value"] for row in memory.listed()} == {"NORVIA", "a Kestrel"}


@pytest.mark.parametrize("text", ["👍 my locker is 12", "my locker is 12 👍🏽", "👍"])
def test_3_2_an_emoji_is_never_lost_from_the_source(text):
    with remembered(told("m1", text)) as memory:
        assert memory.rows("sources")[0]["content"] == text


def test_3_3_last_time_belongs_to_the_same_speaker_and_conversation():
    text = "It is evening. Last time the mint tea worked well."
    with remembered(told("m1", text, author="Lia", conversation="aurora")) as memory:
        outcome = next(row for row in memory.rows("candidates") if row["type"] == "episode")
        (source,) = memory.rows("sources")
        assert outcome["source_id"] == source["source_id"]
        assert (source["author"], outcome["conversation_id"]) == ("Lia", source["conversation_id"])


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("ok, my pen\u200bcase is Ａ４ blue", "my pen\u200bcase is Ａ４ blue"),
        ("Cafe\u0301: my locker is 12", "my locker is 12"),
        ("My **locker** is 12. Thanks!", "My **locker** is 12"),
    ],
)
def test_3_4_a_span_of_the_view_leads_back_to_the_bytes_of_the_source(text, cited):
    claim = only_claim_in(text)
    start, end = claim["span"]
    assert text.encode()[start:end].decode() == claim["excerpt"] == cited


def test_3_5_another_version_of_the_reader_makes_no_new_source():
    with remembered(told("m1", "My locker is 12.")) as memory:
        sources = memory.rows("sources")
        path = memory.folder / "part-0.jsonl"
        receipt = memory.read(path, format="messages", extractor="rules@1")
        assert receipt["sources"]["linked"] == 1
        assert memory.rows("sources") == sources


def test_3_boundaries_of_quotation_and_of_sentences_are_kept_apart():
    text = 'My locker is 12. Noor said "my badge is 7" yesterday.'
    assert [claim["excerpt"] for claim in written_in(text)] == ["My locker is 12"]
    assert {c["outcome"] for c in claims_in(text) if "badge" in c["excerpt"]} <= {"ignore", "quarantine"}
