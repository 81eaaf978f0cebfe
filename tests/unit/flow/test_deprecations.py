"""An entity out of use is marked, keeps its claims, and resolves until nothing names it."""

import json

import pytest

from amos.errors import UsageError
from households import call
from laws import references
from remembered import remembered, told

SISTER = told("m1", "My sister Ana likes tea.")


def one(memory, text="Ana"):
    """Return the listed entity that is called so."""
    (found,) = memory.store.entities(text=text)
    return found


def test_a_sister_is_a_person_and_a_dog_an_animal():
    lines = [SISTER, told("m2", "My dog is called Rex."), told("m3", "My desk is 5.")]
    with remembered(*lines) as memory:
        kinds = {row["name"]: row["kind"] for row in memory.store.entities()}
        assert kinds["user's sister Ana"] == "person"
        assert kinds["user's dog Rex"] == "animal"
        assert [row["name"] for row in memory.store.entities(kinds=("person",))] == ["user's sister Ana"]


def test_an_entity_out_of_use_keeps_its_claims_and_says_since_when():
    with remembered(SISTER) as memory:
        ana = one(memory)
        done = memory.store.deprecate(ana["entity_id"], note="moved away")
        assert (done["decision"], done["in_use"]) == ("deprecate", True)
        shown = memory.store.entity(ana["entity_id"])
        assert shown["deprecated_at"] is not None
        assert [row["statement"] for row in shown["atoms"]] == ["User's sister Ana likes tea."]
        assert one(memory)["deprecated_at"] == shown["deprecated_at"]
        assert memory.store.verify(deep=True).problems == []
        assert references(memory.store) == []


def test_it_resolves_until_its_last_user_is_gone():
    with remembered(SISTER, told("m2", "My desk is 5.")) as memory:
        ana = one(memory)["entity_id"]
        memory.store.deprecate(ana)
        assert memory.store.entity(ana)["name"] == "user's sister Ana"
        (source,) = memory.rows_of("m1")
        memory.store.forget(source["source_id"])
        with pytest.raises(UsageError):
            memory.store.entity(ana)
        assert memory.store.entities(text="Ana") == []


def test_it_can_be_taken_back_once_and_declared_once():
    with remembered(SISTER) as memory:
        ana = one(memory)["entity_id"]
        with pytest.raises(UsageError, match="in use"):
            memory.store.deprecate(ana, undo=True)
        memory.store.deprecate(ana)
        with pytest.raises(UsageError, match="out of use already"):
            memory.store.deprecate(ana)
        memory.store.deprecate(ana, undo=True)
        assert one(memory)["deprecated_at"] is None


def test_a_dry_run_changes_nothing():
    with remembered(SISTER) as memory:
        version = memory.store.shard.head
        assert memory.store.deprecate(one(memory)["entity_id"], dry_run=True)["dry_run"]
        assert memory.store.shard.head == version


def test_a_merge_stands_beside_it():
    lines = [SISTER, told("m2", "My sister Eva hates fennel.", 2)]
    with remembered(*lines) as memory:
        ana, eva = one(memory)["entity_id"], one(memory, "Eva")["entity_id"]
        memory.store.merge(ana, eva)
        memory.store.deprecate(ana)
        assert memory.store.entity(ana)["merged_into"] == eva
        memory.store.deprecate(ana, undo=True)
        assert memory.store.entity(ana)["merged_into"] == eva


def test_the_command_line_declares_it(tmp_path):
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps(SISTER) + "\n", encoding="utf-8")
    assert call("-s", tmp_path / "mem", "ingest", talk, "--from", "messages").code == 0
    listed = call("-s", tmp_path / "mem", "entities", "list", "Ana", "--json").out
    ana = json.loads(listed.splitlines()[0])
    done = call("-s", tmp_path / "mem", "entities", "deprecate", ana["entity_id"], "--note", "gone")
    assert "is out of use" in done.out
    assert "out of use since" in call("-s", tmp_path / "mem", "entities").out
    assert "Out of use since" in call("-s", tmp_path / "mem", "entities", "show", ana["entity_id"]).out
