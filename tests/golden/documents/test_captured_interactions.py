"""What the document on capture and reinforcement states, each behaviour under its own name.

Where Amos goes further the decision is in `docs/decisions/0011-capture-and-echoes.md`: an echo of what
the agent had been given for that turn is an exposure, and each conversation adds once.
"""

import json
import logging

import pytest
from click.testing import CliRunner

from amos.cli import main
from amos.errors import InputError, UsageError
from amos.flow.captured import Chosen
from amos.flow.instants import instant_us
from laws import scratch
from remembered import remembered, told

PROMPT, ANSWER = "What should I eat?", "As you like rye bread with butter, bake one."
LIKING = "I like rye bread with butter."


def turn(identifier="i1", response=ANSWER, **fields):
    """Return one interaction in a session of its own."""
    return {"id": identifier, "prompt": PROMPT, "response": response, "session": f"s-{identifier}", **fields}


def atom(memory):
    """Return the only atom, as it is printed."""
    (row,) = memory.listed()
    return row


def at(hour):
    return f"2026-03-02T{hour:02d}:00:00Z"


# Capture: eleven behaviours of the service, four of the interface (thirteen tests).


def test_capture_keeps_every_field_and_gives_it_back():
    fields = {
        "response_summary": "They should bake.",
        "memories_used": ["atm_abc"],
        "chunks_used": ["doc-1", "doc-2"],
        "client": "demo",
        "session": "s1",
        "project": "kitchen",
        "created_at": at(9),
    }
    with scratch() as (_, store):
        store.capture({"id": "i1", "prompt": PROMPT, "response": ANSWER, **fields})
        found = store.interaction("i1")
    assert {name: found[name] for name in ("prompt", "response", *fields)} == {
        "prompt": PROMPT,
        "response": ANSWER,
        **fields,
        "created_at": "2026-03-02T09:00:00.000000Z",
    }


def test_a_prompt_alone_is_enough():
    with scratch() as (_, store):
        (name,) = store.capture({"prompt": PROMPT})["interactions"]
        found = store.interaction(name)
    assert (found["prompt"], found["response"], found["memories_used"]) == (PROMPT, None, [])


@pytest.mark.parametrize("prompt", ["", "   \n\t", None, 7])
def test_an_empty_prompt_is_refused(prompt):
    with scratch() as (_, store), pytest.raises(UsageError, match="without a prompt"):
        store.capture({"prompt": prompt, "response": "x"})


def test_a_missing_id_is_named():
    with scratch() as (_, store), pytest.raises(UsageError, match="'nope'"):
        store.interaction("nope")


@pytest.mark.parametrize(("name", "value"), [("project", "pier"), ("session", "s2"), ("client", "other")])
def test_lists_are_narrowed_by_project_session_and_client(name, value):
    with scratch() as (_, store):
        store.capture(turn("i1", project="kitchen", client="demo"))
        store.capture(turn("i2", **{"project": "kitchen", "client": "demo", name: value}))
        if name == "client":
            page = store.interactions(Chosen(client=value))
        else:
            store.scope = {name: value}
            page = store.interactions()
    assert [row["interaction_id"] for row in page["interactions"]] == ["i2"]


def test_lists_are_newest_first():
    with scratch() as (_, store):
        for hour in (9, 11, 10):
            store.capture(turn(f"i{hour}", created_at=at(hour)))
        rows = store.interactions()["interactions"]
    assert [row["interaction_id"] for row in rows] == ["i11", "i10", "i9"]


@pytest.mark.parametrize("since", [at(10), "2026-03-02T11:00:00+01:00", "2026-03-02T10:00:00.000000Z"])
def test_since_includes_its_own_instant_however_it_is_written(since):
    with scratch() as (_, store):
        for hour in (9, 10, 11):
            store.capture(turn(f"i{hour}", created_at=at(hour)))
        rows = store.interactions(Chosen(since_us=instant_us(since, "--since")))["interactions"]
    assert [row["interaction_id"] for row in rows] == ["i11", "i10"]


def test_a_limit_of_zero_is_an_empty_list():
    with scratch() as (_, store):
        store.capture(turn())
        page = store.interactions(Chosen(limit=0))
    assert page == {"interactions": [], "truncated": False, "cursor": None}


def test_a_longer_list_says_that_it_goes_on_and_loses_nothing():
    with scratch() as (_, store):
        store.capture([turn(f"i{number}", created_at=at(number)) for number in range(7)])
        names, cursor = [], None
        while True:
            page = store.interactions(Chosen(limit=3, cursor=cursor))
            names += [row["interaction_id"] for row in page["interactions"]]
            cursor = page["cursor"]
            if not page["truncated"]:
                break
    assert names == [f"i{number}" for number in range(6, -1, -1)]


def run(folder, *words):
    """Run a command on the store in `folder`; return exit code and parsed lines of output."""
    done = CliRunner().invoke(main, ["-s", str(folder / "mem"), *words])
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_interface_records_and_gives_back(tmp_path):
    words = ["--prompt", PROMPT, "--response", ANSWER, "--id", "i1", "--json"]
    code, (receipt,) = run(tmp_path, "--session", "s1", "capture", "record", *words)
    assert (code, receipt["interactions"]) == (0, ["i1"])
    code, (found,) = run(tmp_path, "capture", "show", "i1", "--json")
    assert (code, found["prompt"], found["response"], found["session"]) == (0, PROMPT, ANSWER, "s1")


def test_interface_refuses_an_empty_prompt(tmp_path):
    assert run(tmp_path, "capture", "record", "--prompt", " ")[0] == 2


def test_interface_names_a_missing_id(tmp_path):
    run(tmp_path, "capture", "record", "--prompt", PROMPT)
    assert run(tmp_path, "capture", "show", "nope")[0] == 2


def test_interface_lists_summaries_and_no_bodies(tmp_path):
    long = "word " * 200
    run(tmp_path, "capture", "record", "--prompt", PROMPT, "--response", long, "--summary", "Words.")
    code, (row, end) = run(tmp_path, "capture", "list", "--json")
    assert (code, row["response_summary"], row["response_chars"]) == (0, "Words.", len(long))
    assert "response" not in row
    assert end["amos_end"] == {"rows": 1, "truncated": False, "cursor": None}


# Reinforcement: seventeen behaviours.


def test_reinforcing_raises_confidence():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        memory.store.capture(turn(response="Bake one."))
        done = memory.store.reinforce_atom(atom(memory)["atom_id"], "i1", delta=0.02)
        assert (done["applied"], done["old"], done["new"]) == (True, 0.9, 0.92)
        assert atom(memory)["effective_confidence"] == 0.92
        assert atom(memory)["confidence"] == 0.9


def test_reinforcing_stops_at_one():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        for number in range(7):
            memory.store.capture(turn(f"i{number}"))
        row = atom(memory)
        assert (row["reinforcement"], row["effective_confidence"]) == (0.1, 1.0)


def test_reinforcing_counts_references_and_remembers_the_last():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        for number in (9, 11, 10):
            memory.store.capture(turn(f"i{number}", created_at=at(number).replace("2026", "2027")))
        row = atom(memory)
        assert (row["reference_count"], row["last_referenced_at"]) == (3, "2027-03-02T11:00:00.000000Z")


def test_reinforcing_a_candidate_is_refused():
    with remembered() as memory:
        memory.hear(told("m1", "Maybe I like rye bread with butter."))
        memory.store.capture(turn(response="Bake one."))
        (candidate,) = memory.listed("candidates")
        with pytest.raises(UsageError, match="no memory"):
            memory.store.reinforce_atom(candidate["candidate_id"], "i1")


def test_reinforcing_what_is_missing_is_refused():
    with remembered() as memory:
        memory.store.capture(turn())
        with pytest.raises(UsageError, match="there is no"):
            memory.store.reinforce_atom("atm_" + "a" * 26, "i1")


@pytest.mark.parametrize("delta", [-0.01, -1, 0.11])
def test_reinforcing_by_less_than_nothing_is_refused(delta):
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        memory.store.capture(turn(response="Bake one."))
        with pytest.raises(UsageError, match="not between"):
            memory.store.reinforce_atom(atom(memory)["atom_id"], "i1", delta=delta)
        assert atom(memory)["reference_count"] == 0


def test_an_answer_that_repeats_an_active_memory_reinforces_it():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        receipt = memory.store.capture(turn())
        (echo,) = receipt["reinforced"]["echoes"]
        assert (echo["atom_id"], echo["applied"]) == (atom(memory)["atom_id"], True)
        assert (echo["old"], echo["new"]) == (0.9, 0.92)


def test_candidates_and_what_no_longer_holds_are_never_reinforced():
    with remembered() as memory:
        memory.hear(
            told("m1", "My locker is B12 by the door."), told("m2", "My locker is C40 upstairs.", day=2)
        )
        memory.hear(told("m3", "Maybe I like rye bread with butter.", day=3))
        receipt = memory.store.capture(
            turn(response="Your locker is B12 by the door, and you like rye bread with butter.")
        )
        held = {row["atom_id"] for row in memory.listed(state="active")}
        assert {echo["atom_id"] for echo in receipt["reinforced"]["echoes"]} <= held
        assert all(row["reference_count"] == 0 for row in memory.listed() if row["state"] != "active")


def test_a_memory_of_less_than_twelve_characters_is_not_looked_for():
    with remembered() as memory:
        memory.hear(told("m1", "Tea is hot."))
        receipt = memory.store.capture(turn(response="Tea is hot."))
        assert receipt["reinforced"]["echoes"] == []


@pytest.mark.parametrize("response", ["", "   ", None])
def test_an_empty_answer_reinforces_nothing(response):
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        receipt = memory.store.capture(turn(response=response))
        assert receipt["reinforced"] == {"interactions": 1, "echoes": [], "written": 0, "dry_run": False}


def test_letter_case_and_white_space_make_no_difference():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        receipt = memory.store.capture(turn(response="YOU   like\n\trye BREAD with  butter!"))
        assert [echo["applied"] for echo in receipt["reinforced"]["echoes"]] == [True]


def test_a_memory_in_several_pools_is_reinforced_once():
    with remembered() as memory:
        memory.hear(told("m1", LIKING, scope={"project": "kitchen"}))
        text = f"{ANSWER} User likes rye bread with butter. {ANSWER}"
        receipt = memory.store.capture(turn(response=text, response_summary=ANSWER, project="kitchen"))
        assert [echo["applied"] for echo in receipt["reinforced"]["echoes"]] == [True]


def test_capturing_reinforces_by_itself():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        memory.store.capture(turn())
        assert atom(memory)["reference_count"] == 1


def test_capturing_can_leave_that_out():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        receipt = memory.store.capture(turn(), reinforce=False)
        assert receipt["reinforced"] == {"echoes": [], "written": 0}
        assert atom(memory)["reference_count"] == 0


def test_a_captured_interaction_can_be_reinforced_later_and_only_once():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        memory.store.capture(turn(), reinforce=False)
        assert memory.store.reinforce(["i1"])["written"] == 1
        version = memory.store.shard.head
        again = memory.store.reinforce(["i1"])
        assert (again["written"], [echo["applied"] for echo in again["echoes"]]) == (0, [False])
        assert memory.store.shard.head == version


def test_reinforcing_an_interaction_that_is_missing_is_refused():
    with remembered() as memory, pytest.raises(UsageError, match="'nope'"):
        memory.store.reinforce(["nope"])


def test_interface_takes_no_reinforce(tmp_path):
    words = ["--prompt", PROMPT, "--response", ANSWER, "--no-reinforce", "--json"]
    _, (receipt,) = run(tmp_path, "capture", "record", *words)
    assert receipt["reinforced"] == {"echoes": [], "written": 0}


# What else the document states.


def test_a_failure_to_reinforce_never_loses_the_capture(monkeypatch, caplog):
    with scratch() as (_, store):

        def fail(*_, **__):
            raise InputError("the comparison broke")

        monkeypatch.setattr(store, "reinforce", fail)
        with caplog.at_level(logging.WARNING):
            receipt = store.capture(turn())
        assert "broke" in receipt["reinforced"]["error"]
        assert "could not reinforce" in caplog.text
        assert store.interaction("i1")["response"] == ANSWER


def test_a_long_memory_is_compared_by_its_first_eighty_characters():
    words = "I like rye bread with butter and salt from the little bakery behind the harbour office at noon."
    with remembered() as memory:
        memory.hear(told("m1", words))
        (said,) = memory.said()
        receipt = memory.store.capture(turn(response=f"So: {said[:80]} … whatever."))
        assert len(said) > 80
        assert len(receipt["reinforced"]["echoes"]) == 1


def test_the_pool_is_the_project_and_what_is_personal():
    with remembered() as memory:
        memory.hear(
            told("m1", "I like rye bread with butter.", scope={"project": "kitchen"}),
            told("m2", "The north crane is called Berta.", scope={"project": "pier"}),
            told("m3", "The south crane is called Gerda."),
        )
        cranes = "The north crane is called Berta, the south crane is called Gerda."
        text = f"You like rye bread with butter. {cranes}"
        memory.store.capture(turn("i1", response=text, project="pier"))
        counted = {row["statement"]: row["reference_count"] for row in memory.listed()}
        assert [count for said, count in sorted(counted.items()) if "rye" in said] == [0]
        assert all(count == ("north" in said.lower()) for said, count in counted.items())


def test_nothing_is_promoted_and_no_candidate_is_made_by_reinforcing():
    with remembered() as memory:
        memory.hear(told("m1", LIKING))
        memory.store.capture(turn(), reinforce=False)
        before = (memory.rows("candidates"), memory.rows("atoms"), memory.rows("decisions"))
        memory.store.reinforce()
        assert (memory.rows("candidates"), memory.rows("atoms"), memory.rows("decisions")) == before
