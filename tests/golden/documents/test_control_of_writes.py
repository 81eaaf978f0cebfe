"""The document on controlling how memories are written, rule by rule."""

import json

import pytest

from amos.api import Store
from amos.flow.look import Wanted
from proposed import decided_of, lines_of, only_claim_in, written_in
from remembered import remembered, told
from strategies import write_lines

# A stage of candidates between extraction and use


def test_a_candidate_carries_its_source_spans_type_and_confidence():
    with remembered(told("m1", "My locker is 12.")) as memory:
        (candidate,) = memory.listed("candidates")
        assert candidate["source_id"].startswith("src_")
        assert candidate["spans"] == [0, 15]
        assert candidate["type"] == "belief"
        assert 0 <= candidate["confidence"] <= 100


def test_no_claim_becomes_memory_without_a_decision_that_names_it():
    lines = [
        told(f"m{turn}", text, turn=turn) for turn, text in enumerate(("My locker is 12.", "I like olives."))
    ]
    with remembered(*lines) as memory:
        decided = {row["atom_id"] for row in memory.rows("decisions") if row["outcome"] == "commit"}
        assert {row["atom_id"] for row in memory.rows("atoms")} == decided


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"text": "My pass is blue from 9 June 2026 to 3 June 2026."}, "temporal_invalid"),
        ({"text": "My locker is 12.", "retain": False}, "unauthorized_scope"),
        ({"text": "My locker is 12.", "purposes": ["billing"]}, "unauthorized_scope"),
    ],
)
def test_checks_reject_what_is_malformed_or_outside_its_permission(fields, reason):
    text = fields.pop("text")
    with remembered(told("m1", text, **fields)) as memory:
        assert memory.decided() == [("m1", "reject", reason)]


def test_a_value_of_another_tenant_is_refused_at_the_door():
    with remembered() as memory:
        receipt = memory.hear(told("m1", "My locker is 12.", scope={"tenant": "other"}))
        assert [one["code"] for one in receipt["errors"]] == ["tenant_boundary"]
        assert memory.rows("sources") == []


# Rules of promotion by type


def test_an_explicit_wish_is_accepted_under_the_identity_of_who_has_it():
    kept = only_claim_in("Please remember that I prefer email for this project.", author="Lia")
    assert (kept["outcome"], kept["type"], kept["subject"]) == ("commit", "preference", "Lia")


@pytest.mark.parametrize(
    "text",
    [
        "Jonas's last appraisal was poor.",
        "Jonas's diagnosis is epilepsy.",
        "Ingrid's last blood test was bad.",
        "Tom's access level is administrator.",
    ],
)
def test_health_access_and_performance_of_somebody_else_are_never_stored(text):
    assert written_in(text) == []
    assert [line for line in lines_of(text) if line["type"] == "preference"] == []


@pytest.mark.parametrize(
    "text", ["The production owner is now Kwame.", "The on-call engineer of the gateway is Ada."]
)
def test_a_change_of_operation_waits_for_its_own_source(text):
    assert decided_of(text) == [("quarantine", "operational_authority_required")]


# Deduplication needs semantics


def test_equal_words_of_two_projects_are_two_records():
    lines = [
        told("m1", "My build target is debug.", scope={"project": "north"}),
        told("m2", "My build target is debug.", 2, turn=1, scope={"project": "south"}),
    ]
    with remembered(*lines) as memory:
        assert len(memory.rows("atoms")) == 2
        assert {row["scope"]["project"] for row in memory.listed()} == {"north", "south"}


def test_two_values_of_two_projects_never_replace_each_other():
    lines = [
        told("m1", "My build target is debug.", scope={"project": "north"}),
        told("m2", "My build target is release.", 2, turn=1, scope={"project": "south"}),
    ]
    with remembered(*lines) as memory:
        assert memory.said() == ["User's build target is debug.", "User's build target is release."]
        assert memory.rows("lineage") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My alarm is at 2.30 pm.", "My alarm is at 14:30."),
        ("My exam is on 4 May 2031.", "My exam is on 2031-05-04."),
        ("My rucksack is 2 kg.", "My rucksack is 2000 g."),
        ("My shoe size is 43.", "My shoe size is 43.0."),
        ("My bank is NORVIA.", "My bank is Norvia."),
    ],
)
def test_values_are_normalised_before_they_are_compared(one, other):
    again = only_claim_in(other, context=[one])
    assert (again["outcome"], again["action"]) == ("link", "noop")


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("My appointment is on Friday.", "2026-03-06"),
        ("My dentist appointment is next Friday.", "2026-03-06"),
        ("My exam is tomorrow.", "2026-03-03"),
    ],
)
def test_friday_and_the_date_that_it_meant_are_one_value(said, date):
    property_words = said.partition(" is ")[0]
    written = f"{property_words} is on {date}."
    for one, other in ((said, written), (written, said)):
        again = only_claim_in(other, context=[one])
        assert (again["outcome"], again["value"]) == ("link", date)
    moved = only_claim_in(said, context=[f"{property_words} is on 2026-03-21."])
    assert (moved["outcome"], moved["action"]) == ("commit", "supersede")


def test_friday_without_a_clock_stays_friday():
    assert only_claim_in("My appointment is on Friday.", ts=None)["value"] == "Friday"


def test_two_periods_of_one_value_are_two_times_of_one_claim():
    lines = [
        told("m1", "My pass is blue from 1 April 2026 to 8 April 2026."),
        told("m2", "My pass is blue from 3 June 2026 to 9 June 2026.", 2, turn=1),
    ]
    with remembered(*lines) as memory:
        (atom,) = memory.rows("atoms")
        assert len(atom["intervals"]) == 4
        assert memory.rows("lineage") == []


# Conflict


def test_a_replacement_is_created_and_linked_and_nothing_is_overwritten():
    with remembered(told("m1", "My locker is 12.")) as memory:
        (before,) = memory.rows("atoms")
        memory.hear(told("m2", "My locker is 21.", 2, turn=1))
        every = memory.store.shard
        with every.pin() as snapshot:
            versions = snapshot.table("atoms", ["atom_id", "version", "payload"]).to_pylist()
        assert {"atom_id": before["atom_id"], "version": 1, "payload": before["payload"]} in versions
        (row,) = memory.rows("lineage")
        assert (row["relation"], row["predecessor_id"]) == ("supersedes", before["atom_id"])


def test_where_neither_source_wins_the_property_is_disputed_and_retrieval_says_so():
    lines = [
        told("m1", "My locker is 12.", conversation="a"),
        told("m2", "My locker is 21.", conversation="b"),
    ]
    with remembered(*lines) as memory:
        (dispute,) = memory.rows("disputes")
        assert (dispute["status"], dispute["reason"]) == ("open", "disputed_no_clear_authority")
        assert {row["health"] for row in memory.listed()} == {"contradicted"}
        packet = memory.packet("what is my locker")
        assert json.dumps(packet["conflicts"]).count("User's locker is") == 2
        assert all(item["is_disputed"] for item in packet["items"] if item["item_kind"] == "atom")


def test_a_later_clear_source_settles_the_dispute():
    lines = [
        told("m1", "My locker is 12.", conversation="a"),
        told("m2", "My locker is 21.", conversation="b"),
        told("m3", "Actually, my locker is 30.", 9, conversation="c"),
    ]
    with remembered(*lines) as memory:
        assert memory.said() == ["User's locker is 30."]
        assert {row["status"] for row in memory.rows("disputes")} <= {"closed"}


# Boundaries


def test_a_run_over_many_transcripts_links_nobody_to_anybody_else():
    lines = [
        told(f"m{turn}", "My locker is 12.", turn=turn, scope={"user": user}, author=user)
        for turn, user in enumerate(("lia", "noor", "tom"))
    ]
    with remembered(*lines) as memory:
        assert len(memory.rows("atoms")) == 3
        assert {row["evidence_count"] for row in memory.rows("atoms")} == {1}
        assert memory.rows("edges") == []


def test_tenants_share_no_row_and_no_id(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [told("m1", "My locker is 12.")])
    ids = []
    for tenant in ("north", "south"):
        with Store.create(tmp_path / "store", tenant=tenant) as store:
            store.ingest([path], format="messages")
            ids.append(store.list(Wanted(kind="atoms")).rows[0]["atom_id"])
            assert len(store.list(Wanted(kind="atoms")).rows) == 1
    assert ids[0] != ids[1]


def test_a_caller_of_one_scope_finds_nothing_of_another():
    lines = [
        told("m1", "My locker is 12.", scope={"project": "north"}),
        told("m2", "My badge is 7.", turn=1, scope={"project": "south"}),
    ]
    with remembered(*lines) as memory, Store.open(memory.store.root, scope={"project": "north"}) as narrowed:
        assert [row["statement"] for row in narrowed.list().rows] == ["User's locker is 12."]
        assert narrowed.search("badge").rows == []


# Versions


def test_every_decision_names_the_versions_that_made_it_and_they_can_be_asked_for():
    with remembered(told("m1", "My locker is 12.")) as memory:
        memory.hear(told("m2", "My badge is 7.", turn=1))
        found = memory.store.sql("SELECT DISTINCT extractor, policy FROM decisions").to_pylist()
        assert found == [{"extractor": "rules@2", "policy": "default@1"}]
        (atom, _) = memory.listed()
        decision = memory.store.why(atom["atom_id"])["decision"]
        assert (decision["extractor"], decision["policy"]) == ("rules@2", "default@1")


def test_chosen_sources_are_read_again_and_the_earlier_record_is_not_pretended_away():
    with remembered() as memory:
        path = write_lines(memory.folder / "old.jsonl", [told("m1", "My focus right now is the audit.")])
        memory.read(path, format="messages", extractor="rules@1")
        version = memory.store.shard.head
        memory.store.apply_run(memory.store.reprocess(extractor="rules@2")["run_id"])
        (current,) = [row for row in memory.listed() if row["memory_class"] == "temporary_state"]
        assert memory.store.why(current["atom_id"])["decision"]["extractor"] == "rules@2"
        then = memory.store.sql("SELECT extractor FROM decisions", at_version=version).to_pylist()
        assert then == [{"extractor": "rules@1"}]
