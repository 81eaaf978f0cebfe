"""Captured interactions: screened like anything else, reinforcing once per conversation, forgotten wholly."""

import json

import pytest

from delivered import lines
from laws import digest_of
from remembered import remembered, told

LIKING = "I like rye bread with butter."
ANSWER = "As you like rye bread with butter, bake one."


def turn(identifier="i1", **fields):
    """Return one interaction in a session of its own."""
    own = {"id": identifier, "prompt": "What now?", "response": ANSWER, "session": f"s-{identifier}"}
    return {**own, **fields}


def likes(memory, **options):
    """Return the printed liking."""
    (row,) = [row for row in memory.listed(**options) if "rye" in row["statement"]]
    return row


def sound(memory):
    """Check the whole store."""
    assert [str(one) for one in memory.store.verify(deep=True).problems] == []


def test_what_the_agent_had_been_given_is_an_exposure():
    with remembered(told("m1", LIKING)) as memory:
        for ref in (likes(memory)["atom_id"], likes(memory)["atom_id"][:12]):
            receipt = memory.store.capture(turn(ref, memories_used=["nonsense", 7, ref]))
            (echo,) = receipt["reinforced"]["echoes"]
            assert (echo["kind"], echo["applied"], echo["new"]) == ("exposure", False, 0.9)
        assert likes(memory)["reference_count"] == 0


def test_repeating_what_was_just_said_is_an_exposure():
    with remembered() as memory:
        receipt = memory.store.capture(turn(prompt=LIKING))
        assert [echo["kind"] for echo in receipt["reinforced"]["echoes"]] == ["exposure"]
        assert likes(memory)["effective_confidence"] == likes(memory)["confidence"]


def test_a_conversation_adds_once_and_every_reply_counts():
    with remembered(told("m1", LIKING)) as memory:
        for number in range(3):
            memory.store.capture(turn(f"i{number}", session="one"))
        row = likes(memory)
        assert (row["reinforcement"], row["reference_count"]) == (0.02, 3)


def test_capturing_again_adds_nothing():
    with remembered(told("m1", LIKING)) as memory:
        memory.store.capture(turn(created_at="2026-06-01T08:00:00Z"))
        before, version = digest_of(memory.store), memory.store.shard.head
        again = memory.store.capture(turn(created_at="2026-06-01T09:00:00Z"))
        assert (again["sources"]["linked"], again["reinforced"]["written"]) == (1, 0)
        assert (digest_of(memory.store), memory.store.shard.head) == (before, version)


def test_one_id_with_another_text_is_refused():
    with remembered() as memory:
        memory.store.capture(turn())
        receipt = memory.store.capture(turn(prompt="And then?"))
        assert receipt["reasons"] == {"delivery_conflict": 1}
        assert memory.store.interaction("i1")["prompt"] == "What now?"


def test_the_order_and_size_of_passes_change_nothing():
    digests = set()
    turns = [
        turn(f"i{number}", session=f"s{number % 3}", created_at=f"2026-06-0{number + 1}")
        for number in range(6)
    ]
    for order in (turns, turns[::-1]):
        for size in (1, 2, 6):
            with remembered(told("m1", LIKING)) as memory:
                memory.store.capture(order, reinforce=False)
                names = [one["id"] for one in order]
                for start in range(0, len(names), size):
                    memory.store.reinforce(names[start : start + size])
                digests.add(digest_of(memory.store))
                sound(memory)
    assert len(digests) == 1


def test_a_dry_run_says_what_would_be_noted_and_writes_nothing():
    with remembered(told("m1", LIKING)) as memory:
        memory.store.capture(turn(), reinforce=False)
        version = memory.store.shard.head
        done = memory.store.reinforce(dry_run=True)
        assert ([echo["applied"] for echo in done["echoes"]], done["written"]) == ([True], 0)
        assert memory.store.shard.head == version


def test_a_prompt_is_decided_like_any_message_and_an_answer_tells_nothing():
    with remembered() as memory:
        memory.store.capture(turn(prompt="I like plum jam.", response="You like plum jam. You hate figs."))
        assert memory.said() == ["User likes plum jam."]


def test_secrets_are_cut_from_prompt_answer_and_lists():
    key = "sk-" + "a1B2c3D4" * 6
    with remembered() as memory:
        memory.store.capture(
            turn(
                prompt=f"My key is {key}",
                response=f"Noted: {key}",
                response_summary=f"Key {key}",
                chunks_used=[key],
            )
        )
        assert key not in json.dumps(memory.store.interaction("i1"))
        assert all(key not in json.dumps(row, default=str) for row in memory.rows("sources"))


@pytest.mark.parametrize("selected", ["atom", "reply"])
def test_an_echo_goes_with_the_memory_and_with_the_reply(selected):
    with remembered(told("m1", LIKING)) as memory:
        memory.store.capture(turn())
        (echo,) = memory.rows("echoes")
        ref = (
            likes(memory)["atom_id"] if selected == "atom" else memory.store.interaction("i1")["response_id"]
        )
        memory.store.forget(ref)
        assert memory.rows("echoes") == []
        assert echo["atom_id"] is not None
        sound(memory)
        if selected == "reply":
            assert likes(memory)["reference_count"] == 0
            assert memory.store.interaction("i1")["response"] is None


def test_a_reply_that_repeats_what_was_forgotten_brings_nothing_back():
    with remembered(told("m1", LIKING)) as memory:
        memory.store.forget(likes(memory)["atom_id"])
        receipt = memory.store.capture(turn(response=LIKING))
        assert receipt["reinforced"]["echoes"] == []
        assert memory.said() == []
        assert "rye bread" not in json.dumps(memory.store.interaction("i1"))


def test_a_memory_that_was_of_use_ranks_higher():
    morning, evening = "I like plum jam in the morning.", "I like plum jam in the evening."
    with remembered(told("m1", morning), told("m2", evening)) as memory:
        memory.store.capture(turn(response="You like plum jam in the evening, don't you?"))
        found = {
            item["statement"]: item["score_components"]["confidence"]
            for item in memory.packet("plum jam")["items"]
            if item["item_kind"] == "atom"
        }
        assert found == {
            "User likes plum jam in the morning.": 0.9,
            "User likes plum jam in the evening.": 0.92,
        }


def test_a_narrowed_caller_is_told_of_no_echo_elsewhere():
    with remembered(told("m1", LIKING)) as memory:
        memory.store.capture(turn(user="ben"))
        assert likes(memory)["reference_count"] == 1
        memory.store.scope = {"user": "ana"}
        assert likes(memory)["reference_count"] == 0
        assert memory.store.interactions()["interactions"] == []


def test_a_file_is_captured_line_by_line_and_bad_lines_are_listed(tmp_path):
    path = lines(
        tmp_path / "turns.jsonl", [turn("i1"), {"response": "x"}, "{", turn("i2", prompt=" "), turn("i3")]
    )
    with remembered(told("m1", LIKING)) as memory:
        receipt = memory.store.capture_file(path)
        assert receipt["interactions"] == ["i1", "i3"]
        assert receipt["sources"] == {"new": 2, "linked": 0, "rejected": 0, "unreadable": 3}
        assert receipt["reinforced"]["written"] == 2
        again = memory.store.capture_file(path)
        assert (again["sources"]["linked"], again["reinforced"]["written"]) == (2, 0)


def test_echoes_move_with_an_export(tmp_path):
    from amos.api import Store
    from amos.moves import export_tables, import_export

    with remembered(told("m1", LIKING)) as memory:
        memory.store.capture(turn())
        wanted = digest_of(memory.store)
        export_tables(memory.store, tmp_path / "out", secret=b"a long secret for a test")
    import_export(tmp_path / "new", tmp_path / "out", secret=b"a long secret for a test")
    with Store.open(tmp_path / "new") as store:
        assert digest_of(store) == wanted


def test_an_earlier_version_knows_no_later_echo():
    with remembered(told("m1", LIKING)) as memory:
        version = memory.store.shard.head
        memory.store.capture(turn())
        then = memory.store.show(likes(memory)["atom_id"], at_version=version)["item"]
        assert (then["reference_count"], likes(memory)["reference_count"]) == (0, 1)


def test_an_echo_of_what_never_stood_there_is_named():
    import pyarrow as pa

    from amos.clock import utc_now
    from amos.flow.reinforcing import UNSALTED_ECHOES
    from amos.journal.store import EventRows

    with remembered(told("m1", LIKING)) as memory:
        memory.store.capture(turn())
        (echo,) = memory.rows("echoes")
        false = {**echo, "echo_id": b"e" * 16, "atom_id": b"a" * 16}
        del false["salt"]
        memory.store.shard.commit(
            [EventRows("atom_reinforced", "echoes", pa.Table.from_pylist([false], UNSALTED_ECHOES))],
            operation="reinforce",
            actor="tester",
            run_id=b"r" * 16,
            now=utc_now(),
            base=memory.store.shard.head,
            reads={},
        )
        assert {one.kind for one in memory.store.verify(deep=True).problems} == {"echo_dangling"}


def test_echoes_can_be_asked_in_sql_shown_and_explained():
    with remembered(told("m1", LIKING)) as memory:
        memory.store.capture(turn())
        (row,) = memory.store.sql("SELECT * FROM echoes").to_pylist()
        assert (row["kind"], row["delta_ppm"], row["rule"]) == ("reinforcement", 20_000, "echo@1")
        ref = likes(memory)["atom_id"]
        (echo,) = memory.store.why(ref)["echoes"]
        assert (echo["atom_id"], echo["kind"], echo["delta"]) == (ref, "reinforcement", 0.02)
        shown = memory.store.show(echo["echo_id"])["item"]
        assert (shown["table"], shown["source_id"]) == ("echoes", echo["source_id"])


def test_replies_without_an_id_are_found_after_something_was_forgotten():
    with remembered(told("m1", LIKING), told("m2", "I hate figs.")) as memory:
        (figs,) = [row for row in memory.listed() if "figs" in row["statement"]]
        memory.store.forget(figs["atom_id"])
        receipt = memory.store.capture({"prompt": "What now?", "response": ANSWER})
        (echo,) = receipt["reinforced"]["echoes"]
        (listed,) = memory.store.interactions()["interactions"]
        assert listed["response_summary"] == ANSWER
        for name in (listed["interaction_id"], *receipt["interactions"]):
            assert memory.store.interaction(name)["response"] == ANSWER
            assert memory.store.reinforce([name])["written"] == 0
        assert echo["interaction"] == listed["interaction_id"]
        sound(memory)
