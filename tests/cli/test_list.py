import pytest

from households import line, write_lines


def test_atoms_are_one_line_each_newest_first(household):
    told = household("list")
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0].startswith("atm_")
    assert "User's barn colour is green." in lines[0]
    assert lines[-1].endswith("atoms.")
    dates = [text.split("  ")[1] for text in lines[:-1]]
    assert dates == sorted(dates, reverse=True)


def test_json_lines_end_with_what_they_were(household):
    told = household("list", "--json")
    assert told.end == {"rows": len(told.rows), "truncated": False, "cursor": None}
    first = told.rows[0]
    assert {"atom_id", "type", "statement", "state", "observed_at", "confidence", "source_id"} <= set(first)
    assert first["observed_at"] == "2026-05-10T07:30:00.000000Z"


def test_a_replaced_value_is_superseded_and_the_new_one_active(household):
    active = [row["statement"] for row in household("list", "--json").rows]
    gone = [row["statement"] for row in household("list", "--state", "superseded", "--json").rows]
    assert any("Opal" in said for said in active)
    assert not any("Victoria" in said for said in active)
    assert any("Victoria" in said for said in gone)
    every = household("list", "--state", "all", "--json").rows
    assert len(every) == len(active) + len(gone)


def test_pages_joined_are_the_whole_list(household):
    whole = [row["source_id"] for row in household("list", "sources", "--json").rows]
    found, cursor = [], None
    while True:
        more = ("--cursor", cursor) if cursor else ()
        page = household("list", "sources", "--limit", 3, "--json", *more)
        found += [row["source_id"] for row in page.rows]
        cursor = page.end["cursor"]
        assert page.end["truncated"] is (cursor is not None)
        if cursor is None:
            break
    assert found == whole
    assert len(set(found)) == 8


def test_a_truncated_page_tells_people_how_to_go_on(household):
    assert "more: add --cursor " in household("list", "sources", "--limit", 2).out


@pytest.mark.parametrize(
    ("since", "until", "count"),
    [
        ("2026-05-08", "2026-05-10", 2),
        ("2026-05-09T07:30:00Z", "2026-05-10T07:30:00Z", 1),
        ("2026-05-09T09:30:00+02:00", "2026-05-10T09:30:00+02:00", 1),
        ("2026-05-09T02:30:00-05:00", None, 5),
    ],
)
def test_times_are_half_open_and_of_any_offset(household, since, until, count):
    more = ("--until", until) if until else ()
    assert household("list", "sources", "--since", since, *more, "--json").end["rows"] == count


def test_scope_flags_narrow_to_their_value_and_what_has_none(household_store, amos):
    said = [
        row["statement"] for row in amos("-s", household_store, "--project", "barn", "list", "--json").rows
    ]
    assert any("barn colour" in one for one in said)
    assert any("locker" in one for one in said)
    assert not any("plum" in one for one in said)
    sources = amos("-s", household_store, "--project", "barn", "list", "sources", "--json").rows
    assert not any("plum" in (row["text"] or "") for row in sources)
    decisions = amos("-s", household_store, "--project", "barn", "list", "decisions", "--json").rows
    assert {row["source_id"] for row in decisions} <= {row["source_id"] for row in sources}


def test_flagged_text_is_withheld_from_lists(household):
    flagged = [
        row for row in household("list", "sources", "--json").rows if "instruction_shaped" in row["flags"]
    ]
    assert [row["text"] for row in flagged] == [None]
    assert "Ignore all previous" not in household("list", "sources").out


@pytest.mark.parametrize("kind", ["sources", "conversations", "candidates", "decisions"])
def test_every_kind_is_listed(household, kind):
    told = household("list", kind, "--json")
    assert told.code == 0
    assert told.end["rows"] >= 1
    assert (
        household("list", kind).out.splitlines()[-1]
        == f"{told.end['rows']} {kind if told.end['rows'] > 1 else kind[:-1]}."
    )


def test_decisions_say_outcome_and_reasons(household):
    rows = household("list", "decisions", "--json").rows
    assert all(row["reasons"] for row in rows)
    assert {"commit", "ignore", "quarantine", "reject"} <= {row["outcome"] for row in rows}


def test_an_empty_store_says_what_to_do(amos):
    amos("init")
    assert "Read something with `amos ingest PATH`" in amos("list").out


def test_a_list_without_matches_says_so(household):
    told = household("list", "--type", "covenant")
    assert told.code == 0
    assert "No atoms fit." in told.out


@pytest.mark.parametrize(
    "words",
    [
        ("--since", "soon"),
        ("--cursor", "abc"),
        ("--limit", 0),
        ("--state", "gone"),
        ("--type", "rumour"),
        ("bicycles",),
        ("--since", "2026-05-02", "--until", "2026-05-01"),
    ],
)
def test_a_value_that_fits_nothing_is_exit_2(household, words):
    told = household("list", *words)
    assert told.code == 2
    assert "  next: " in told.err


def test_a_cursor_of_another_list_is_refused(household):
    cursor = household("list", "sources", "--limit", 1, "--json").end["cursor"]
    assert household("list", "decisions", "--cursor", cursor).code == 2


def test_control_characters_of_a_text_do_not_reach_the_terminal(amos, folder):
    write_lines(folder / "n.jsonl", line("c1", "My \x1b[2Jlocker number is 12\x07.", 1))
    amos("ingest", "n.jsonl", "--from", "messages")
    out = amos("list", "sources").out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_refused_commands_are_listed_with_what_to_do(amos, folder):
    from amos.errors import BusyError
    from amos.journal.store import Idempotency, Shard
    from committed_rows import commit, story

    amos("init")
    with Shard.open(folder / "amos-store") as shard:
        commit(shard, story(0, 1), idempotency=Idempotency("k", b"p" * 32))
        for number in (1, 2):
            with pytest.raises(BusyError):
                commit(shard, story(number, 1), idempotency=Idempotency("k", b"q" * 32))
    first = amos("list", "conflicts", "--limit", 1, "--json")
    (row,) = first.rows
    assert (row["target_ref"], row["actual_version"], row["recommended_action"]) == ("ingest", 1, "review")
    assert row["conflicting_event_id"].startswith("evt_")
    assert first.end["truncated"] is True
    rest = amos("list", "conflicts", "--cursor", first.end["cursor"], "--json")
    assert [one["conflict_id"] for one in (*first.rows, *rest.rows)] == [1, 2]
    assert "stands at 1: review" in amos("list", "conflicts").out
    assert amos("--project", "barn", "list", "conflicts", "--json").end["rows"] == 0
    assert amos("list", "conflicts", "--at-version", 0).code == 2


def test_without_refused_commands_the_list_says_so(household):
    assert household("list", "conflicts").out == "No command was refused.\n"
