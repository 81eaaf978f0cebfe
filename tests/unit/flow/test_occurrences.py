"""Around what happened: participants, what comes next, and what is only told next."""

from remembered import remembered, told


def around(memory, words):
    """Return the occurrence part of `why` of the atom whose statement holds `words`."""
    (atom,) = (row for row in memory.listed() if words in row["statement"])
    return memory.store.why(atom["atom_id"])["occurrence"]


def test_a_known_time_orders_what_happened_and_what_held_is_in_no_order():
    lines = [
        told("m1", "I went to Rome yesterday.", 3, turn=0),
        told("m2", "I live in Ghent.", 9, turn=1),
        told("m3", "I visited the museum on 7 May 2026.", 9, turn=2),
    ]
    with remembered(*lines) as memory:
        rome = around(memory, "Rome")
        assert [one["statement"] for one in rome["precedes"]] == ["User: I visited the museum on 7 May 2026."]
        assert rome["followed_by"] is None  # days lie between: another window
        assert around(memory, "Ghent") is None


def test_what_is_told_next_without_a_time_follows_and_precedes_nothing():
    lines = [
        told("a", "Exit code 1", role="tool", author="make", reply_to="x", turn=0, ts=None),
        told("b", "Exit code 0", role="tool", author="make", reply_to="y", turn=1, ts=None),
    ]
    with remembered(*lines) as memory:
        failed = around(memory, "failed")
        assert failed["precedes"] == []
        assert failed["followed_by"]["statement"] == "make succeeded (exit code 0)."


def test_a_conversation_shows_its_windows_and_a_message_its_languages():
    lines = [told("m1", "Was ist das? I think it is the one.", 3), told("m2", "I live in Ghent.", 9)]
    with remembered(*lines) as memory:
        (talk,) = memory.listed("conversations")
        windows = memory.store.show(talk["conversation_id"])["item"]["windows"]
        assert [(one["turns"], one["opened_by"]) for one in windows] == [
            ([0, 0], "start"),
            ([1, 1], "silence"),
        ]
        (mixed,) = memory.rows_of("m1")
        shown = memory.store.show(mixed["source_id"])["item"]
        assert set(shown["languages"]) == {"de", "en"}
        assert len(shown["sentences"]) == 2


def test_rows_of_another_scope_are_no_part_of_it():
    lines = [
        told("a", "Exit code 1", 1, role="tool", author="make", reply_to="x", scope={"project": "p"}),
        told("b", "Exit code 0", 2, role="tool", author="make", reply_to="y", scope={"project": "q"}),
    ]
    with remembered(*lines) as memory:
        (atom,) = (row for row in memory.listed() if "failed" in row["statement"])
        assert around(memory, "failed")["precedes"] != []
        memory.store.scope = {"project": "p"}
        assert memory.store.why(atom["atom_id"])["occurrence"]["precedes"] == []
