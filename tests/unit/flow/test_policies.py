"""The policy of a store: chosen once, journaled, and used by every command that decides."""

import json

import pytest

from amos.admission.policy import default_policy_text
from amos.errors import InputError, SchemaError
from amos.flow.review_cases import QueueFilter
from households import call
from laws import digest_of
from remembered import remembered, told

HELD = "My blood type is AB."


def policy_file(folder, *changes, name="house", version=1):
    """Return a policy file that is the shipped one with some words changed."""
    text = default_policy_text().replace('name = "default"', f'name = "{name}"', 1)
    text = text.replace("version = 1", f"version = {version}", 1)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / f"{name}-{version}.toml"
    path.write_text(text, encoding="utf-8")
    return path


WAIT = ('non_durable = "bounded"', 'non_durable = "wait"')
PASSING = "I am in Ghent until Friday."


def test_a_store_begins_with_the_policy_that_ships():
    with remembered() as memory:
        shown = memory.store.policy()
        assert (shown["policy"], shown["source_id"]) == ("default@1", None)


def test_a_policy_that_was_chosen_decides_in_every_run_after(tmp_path):
    with remembered() as memory:
        assert memory.store.choose_policy(policy_file(tmp_path, WAIT))
        memory.hear(told("m1", PASSING))
        assert memory.decided()[-1] == ("m1", "quarantine", "non_durable_class")
        (decision,) = [row for row in memory.rows("decisions") if row["candidate_id"] is not None]
        assert decision["policy"] == "house@1"


def test_ingest_with_a_policy_chooses_it_for_those_after(tmp_path):
    with remembered() as memory:
        path = tmp_path / "talk.jsonl"
        path.write_text(json.dumps(told("m1", PASSING)) + "\n", encoding="utf-8")
        memory.read(path, format="messages", policy=policy_file(tmp_path, WAIT))
        assert memory.store.policy()["policy"] == "house@1"
        memory.hear(told("m2", "I am in Bonn until Sunday.", 2))
        assert {row["policy"] for row in memory.rows("decisions") if row["candidate_id"]} == {"house@1"}


def test_a_review_decides_by_the_policy_of_the_store(tmp_path):
    with remembered() as memory:
        memory.store.choose_policy(policy_file(tmp_path))
        memory.hear(told("m1", HELD))
        memory.store.decide("approve", wanted=QueueFilter(kinds=("claim",)))
        assert {row["policy"] for row in memory.rows("decisions") if row["candidate_id"]} == {"house@1"}


def test_waiting_ends_when_the_policy_says(tmp_path):
    with remembered() as memory:
        memory.store.choose_policy(policy_file(tmp_path, ("days = 30", "days = 3")))
        memory.hear(told("m1", HELD))
        (row,) = [row for row in memory.rows("decisions") if row["outcome"] == "quarantine"]
        (source,) = [one for one in memory.rows("sources") if one["source_id"] == row["source_id"]]
        assert (row["deadline"] - source["ingest_time"]).days == 3


def test_reading_again_decides_by_the_new_policy(tmp_path):
    with remembered(told("m1", PASSING)) as memory:
        assert memory.decided() == [("m1", "commit", "new_fact_for_slot")]
        memory.store.choose_policy(policy_file(tmp_path, WAIT))
        found = memory.store.reprocess()
        assert found["flipped"] == 1


def test_choosing_again_what_decides_changes_nothing(tmp_path):
    path = policy_file(tmp_path)
    with remembered() as memory:
        assert memory.store.choose_policy(path)
        before = digest_of(memory.store)
        assert not memory.store.choose_policy(path)
        assert digest_of(memory.store) == before


def test_the_last_of_many_policies_decides(tmp_path):
    with remembered() as memory:
        for version in range(1, 20):
            memory.store.choose_policy(policy_file(tmp_path, version=version))
        assert memory.store.policy()["policy"] == "house@19"
        (tmp_path / "shipped.toml").write_text(default_policy_text(), encoding="utf-8")
        assert memory.store.choose_policy(tmp_path / "shipped.toml")
        assert memory.store.policy()["policy"] == "default@1"


def test_a_choice_is_journaled_with_its_text_and_verified(tmp_path):
    path = policy_file(tmp_path)
    with remembered() as memory:
        memory.store.choose_policy(path)
        shown = memory.store.policy()
        (record,) = [row for row in memory.rows("sources") if row["format"] == "amos-policy"]
        assert record["content"] == path.read_text(encoding="utf-8") == shown["text"]
        assert json.loads(record["extra"])["sha256"] == shown["sha256"]
        assert memory.store.verify(deep=True).problems == []
        assert memory.listed() == []
        assert memory.found("utility") == []


def test_a_policy_that_cannot_be_read_is_not_chosen(tmp_path):
    with remembered() as memory:
        with pytest.raises(InputError):
            memory.store.choose_policy(tmp_path / "none.toml")
        (tmp_path / "odd.toml").write_text("name = 3\n", encoding="utf-8")
        with pytest.raises(SchemaError):
            memory.store.choose_policy(tmp_path / "odd.toml")
        assert memory.store.policy()["source_id"] is None


def test_init_chooses_the_policy_of_a_store_that_is_there(tmp_path):
    path = policy_file(tmp_path)
    assert call("-s", tmp_path / "mem", "init").code == 0
    told_of = call("-s", tmp_path / "mem", "init", "--policy", path)
    assert "house@1 decides" in told_of.out
    shown = json.loads(call("-s", tmp_path / "mem", "init", "--json").out)
    assert (shown["created"], shown["policy_changed"], shown["policy"]["policy"]) == (False, False, "house@1")
