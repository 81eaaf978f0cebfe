import hashlib

import pytest


def atom(household, said, *words):
    rows = household("list", "--json", *words).rows
    return next(row for row in rows if said in row["statement"])


def test_why_leads_from_a_claim_to_bytes_decision_history_and_events(household):
    ref = atom(household, "Opal")["atom_id"]
    answer = household("why", ref, "--json").object
    assert {"evidence", "decision", "lineage", "events", "maintenance"} <= set(answer)
    (piece,) = answer["evidence"]
    said = "My favourite plum is the Opal."
    assert said.encode()[piece["start"] : piece["end"]].decode() == piece["excerpt"]
    assert piece["excerpt_sha256"] == hashlib.sha256(piece["excerpt"].encode()).hexdigest()
    assert piece["source_sha256"] == hashlib.sha256(said.encode()).hexdigest()
    assert piece["locator"].endswith("notes.jsonl#3")
    assert answer["decision"]["outcome"] == "commit"
    assert answer["decision"]["reasons"]
    assert answer["decision"]["policy"] == "default@1"
    (row,) = answer["lineage"]
    assert row["successor_id"] == ref
    assert "Victoria" in row["predecessor"]
    assert answer["maintenance"] == []


def test_events_name_their_row_by_number(household):
    answer = household("why", atom(household, "Opal")["atom_id"], "--json").object
    kinds = {event["table"]: event for event in answer["events"]}
    assert kinds["sources"]["event_type"] == "evidence_captured"
    assert kinds["candidates"]["event_type"] == "candidate_proposed"
    assert kinds["decisions"]["event_type"] == "candidate_decided"
    assert kinds["atoms"]["event_type"] == "atom_committed"
    assert all(isinstance(event["row"], int) and event["event_id"] for event in answer["events"])


def test_a_replaced_claim_knows_what_follows_it(household):
    answer = household(
        "why", atom(household, "Victoria", "--state", "superseded")["atom_id"], "--json"
    ).object
    assert "Opal" in answer["lineage"][0]["successor"]


def test_people_read_evidence_decision_history_and_events(household):
    out = household("why", atom(household, "Opal")["atom_id"]).out
    for part in ("Evidence:", "“My favourite plum is the Opal", "Decision: commit", "History:", "Events:"):
        assert part in out


def test_why_of_a_source_lists_its_atoms_and_decisions(household):
    ref = atom(household, "Opal")["source_id"]
    answer = household("why", ref, "--json").object
    assert [row["statement"] for row in answer["atoms"]] == [atom(household, "Opal")["statement"]]
    assert answer["decisions"][0]["outcome"] == "commit"


@pytest.mark.parametrize("kind", ["candidates", "decisions"])
def test_why_explains_candidates_and_decisions(household, kind):
    key = f"{kind[:-1]}_id"
    ref = household("list", kind, "--json").rows[0][key]
    answer = household("why", ref, "--json").object
    assert answer["ref"] == ref
    assert answer["decision"]["reasons"]


def test_why_of_a_refusal_withholds_flagged_text(household):
    rows = household("list", "sources", "--json").rows
    flagged = next(row for row in rows if "instruction_shaped" in row["flags"])
    told = household("why", flagged["source_id"], "--json")
    assert told.object["decision"]["outcome"] == "quarantine"
    assert "barn key" not in told.out
    assert "barn key" not in household("why", flagged["source_id"]).out


def test_evidence_of_another_scope_is_not_shown(household_store, household, amos):
    ref = atom(household, "Opal")["atom_id"]
    told = amos("-s", household_store, "--project", "barn", "why", ref)
    assert told.code == 2
    assert "Opal" not in told.out + told.err


def test_a_reference_that_names_nothing_is_exit_2(household):
    told = household("why", "atm_aaaaaaaaaa", "--json")
    assert told.code == 2
    assert told.object["error"]["code"] == "not_found"


def test_a_row_on_which_nothing_was_decided_is_exit_2(household):
    ref = household("list", "conversations", "--json").rows[0]["conversation_id"]
    assert "amos show" in household("why", ref).err
