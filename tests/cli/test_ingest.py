import functools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from amos.cli.reading import Progress
from amos.sources.reading import read_batches
from households import HOUSEHOLD, line, write_lines

FATES = {"new", "linked", "rejected", "unreadable"}
OUTCOMES = {"commit", "link", "quarantine", "ignore", "reject"}


@pytest.fixture
def notes(folder):
    return write_lines(folder / "notes.jsonl", *HOUSEHOLD)


def test_the_receipt_has_the_contracted_keys_and_reconciles(amos, notes):
    told = amos("ingest", notes, "--json")
    receipt = told.object
    assert {
        "records_read",
        "sources",
        "decisions",
        "atoms_written",
        "errors",
        "errors_total",
        "graph_version",
        "seconds",
    } <= set(receipt)
    assert set(receipt["sources"]) == FATES
    assert set(receipt["decisions"]) == OUTCOMES
    assert receipt["records_read"] == sum(receipt["sources"].values()) == len(HOUSEHOLD)
    assert "made the store amos-store" in told.err


def test_fields_without_a_meaning_are_kept_and_named_once(amos, folder):
    odd = {"mood": "calm", "scope": {"user": "u1", "team": "x"}, "a\x1b[31m": 1}
    rows = [{"id": str(place), "text": f"I like figs {place}.", **odd} for place in range(3)]
    notes = write_lines(folder / "odd.jsonl", *rows)
    told = amos("ingest", notes, "--from", "messages", "--json").object
    assert told["unknown_fields"] == ["(odd name)", "mood", "scope.team"]
    assert (told["sources"]["new"], told["errors_total"], told["notes_total"]) == (3, 0, 0)
    kept = amos("sql", "SELECT DISTINCT extra FROM sources", "--json").rows
    assert [json.loads(row["extra"]) for row in kept] == [
        {"mood": "calm", "scope": {"team": "x"}, "a\x1b[31m": 1}
    ]


def test_fields_without_number_are_told_to_be_more(amos, folder):
    rows = [{"id": str(place), "text": "I like figs.", f"f{place:03}": 1} for place in range(150)]
    told = amos("ingest", write_lines(folder / "odd.jsonl", *rows), "--from", "messages", "--json").object
    assert len(told["unknown_fields"]) == 101
    assert told["unknown_fields"][-1] == "…"


def test_columns_of_a_table_without_a_field_are_named(amos, folder):
    (folder / "notes.csv").write_text("id,what,mood\n1,I like figs.,calm\n")
    (folder / "map.toml").write_text('name = "desk"\n[fields]\nid = "id"\ntext = "what"\n')
    told = amos("ingest", "notes.csv", "--map", "map.toml", "--json")
    assert told.object["unknown_fields"] == ["mood"], told.err


def test_the_summary_says_what_came_in_what_was_decided_and_what_was_cut(amos, notes):
    told = amos("ingest", notes)
    assert told.code == 0
    assert "Read 8 records" in told.out
    assert "8 new + 0 already known + 0 refused + 0 unreadable" in told.out
    assert "Formats: 8 messages." in told.out
    assert "7 trusted_user, 1 untrusted_web" in told.out
    assert "Cut before storing:" in told.out
    assert "hunter-EXAMPLE-7788" not in told.out


def test_reading_again_adds_nothing_and_says_so(amos, notes, folder):
    first = amos("ingest", notes, "--json").object
    moved = folder / "moved.jsonl"
    moved.write_bytes(notes.read_bytes())
    again = amos("ingest", moved, "--json")
    assert again.object["sources"] == {"new": 0, "linked": 8, "rejected": 0, "unreadable": 0}
    assert sum(again.object["decisions"].values()) == 0
    assert again.object["graph_version"] == first["graph_version"]
    assert again.err == ""
    assert "Nothing new was decided." in amos("ingest", moved).out


def test_a_secret_is_nowhere_in_the_store(amos, notes, folder):
    amos("ingest", notes)
    stored = b"".join(path.read_bytes() for path in (folder / "amos-store").rglob("*") if path.is_file())
    assert b"hunter-EXAMPLE-7788" not in stored
    assert b"Victoria" in stored


def test_a_dry_run_lists_what_would_be_cut_and_stores_nothing(amos, notes, folder):
    told = amos("ingest", notes, "--dry-run")
    assert told.code == 0
    assert "Would cut:" in told.out
    assert "secret_material_detected" in told.out
    assert "Nothing was stored" in told.out
    assert not (folder / "amos-store").exists()
    places = amos("ingest", notes, "--dry-run", "--json").object["cut_places"]
    assert {"locator", "field", "start", "end", "rule", "reason"} <= set(places[0])


def test_a_dry_run_on_a_store_leaves_it_as_it_is(amos, notes):
    amos("init")
    told = amos("ingest", notes, "--dry-run", "--json")
    assert told.object["sources"]["new"] == 8
    assert told.object["graph_version"] is None
    assert amos("list", "sources", "--json").end["rows"] == 0


def test_problems_are_named_on_standard_error_the_first_ten_and_a_count(amos, folder):
    path = write_lines(folder / "torn.jsonl", line("k1", "My kettle colour is blue.", 1), *["{torn"] * 14)
    told = amos("ingest", path)
    assert told.code == 0
    assert told.err.count("torn.jsonl:") == 10
    assert "… and 4 more problems" in told.err
    assert "1 new + 0 already known + 0 refused + 14 unreadable" in told.out
    listed = amos("ingest", path, "--json").object
    assert listed["errors_total"] == len(listed["errors"]) == 14
    assert set(listed["errors"][0]) == {"file", "record", "code", "message"}


def test_strict_is_exit_3_after_everything_good_was_stored(amos, folder):
    path = write_lines(folder / "torn.jsonl", line("k1", "My kettle colour is blue.", 1), "{torn")
    assert amos("ingest", path, "--strict").code == 3
    assert amos("list", "sources", "--json").end["rows"] == 1


def test_a_run_that_can_keep_nothing_is_exit_3_and_says_so(amos, folder):
    path = write_lines(folder / "torn.jsonl", '{"id": "k1", "text": 7}', "{torn", "17")
    told = amos("ingest", path, "--from", "messages")
    assert told.code == 3
    assert "nothing could be kept: 3 records read, none of them readable" in told.err
    assert told.err.splitlines()[-1] == "  next: Leave `--from messages` out, or name another format."
    assert "3 problems; nothing is stored." in told.out
    assert amos("ingest", path, "--from", "messages", "--dry-run").code == 3
    assert amos("ingest", path, "--from", "messages", "--json").object["sources"]["unreadable"] == 3
    assert amos("run", "ingest", path, "--set", "read.format=messages").code == 3


LINE = '{"id": "k1", "text": "I row.", '
REFUSED = [
    (['{"id": "k1", "text": "I swim."}'], "delivery_conflict", "ids unique"),
    (
        [LINE + '"retain": false}', LINE.replace("k1", "k2") + '"retain": false}'],
        "unauthorized_scope",
        "retain",
    ),
    ([LINE + '"scope": {"tenant": "other"}}'], "tenant_boundary", "--tenant"),
    ([LINE + '"scope": {"tenant": "other"}}', "{torn"], "tenant_boundary", "--tenant"),
]


@pytest.mark.parametrize(("rows", "reason", "advice"), REFUSED)
def test_a_run_that_refuses_everything_is_exit_3_and_says_why(amos, folder, rows, reason, advice):
    if reason == "delivery_conflict":
        assert amos("ingest", write_lines(folder / "first.jsonl", LINE + '"role": "user"}')).code == 0
    path = write_lines(folder / "refused.jsonl", *rows)
    for options in (["--dry-run"], []):
        told = amos("ingest", path, *options)
        assert told.code == 3
        (said, following) = told.err.splitlines()[-2:]
        assert said.startswith(f"amos: nothing could be kept: {len(rows)} record")
        assert f"refused ({reason})" in said
        assert following.startswith("  next: ")
        assert advice in following
        assert "0 new + 0 already known" in told.out
    listed = amos("-s", "fresh" if reason == "unauthorized_scope" else "amos-store", "ingest", path, "--json")
    assert listed.code == 3
    assert f"refused ({reason})" in listed.err.splitlines()[-2]
    assert sum(listed.object["sources"].values()) == listed.object["records_read"] == len(rows)


def test_what_was_forgotten_stays_out_without_an_error(amos, folder):
    path = write_lines(folder / "one.jsonl", LINE + '"role": "user"}')
    amos("ingest", path)
    (row,) = amos("list", "sources", "--json").rows
    assert amos("forget", row["source_id"]).code == 0
    told = amos("ingest", path)
    assert (told.code, told.err) == (0, "")
    assert "1 refused" in told.out


def test_one_kept_record_is_enough_for_exit_0(amos, folder):
    path = write_lines(folder / "torn.jsonl", line("k1", "My kettle colour is blue.", 1), "{torn")
    for _ in range(2):
        told = amos("ingest", path)
        assert told.code == 0
        assert "1 problem; everything else is stored." in told.out


@pytest.fixture
def export(folder):
    """Return a folder like an export as it is downloaded, with what comes along."""
    made = folder / "export"
    made.mkdir()
    talk = {"uuid": "c", "name": "", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hello."}]}
    (made / "conversations.json").write_text(json.dumps([talk]))
    (made / "user.json").write_text('{"id": "u", "email": "someone@example.org"}')
    (made / "chat.html").write_text(f"<html><script>var shown = {json.dumps([talk])};</script></html>")
    return made


def test_what_comes_along_with_an_export_is_a_note_and_no_problem(amos, export):
    amos("init")
    told = amos("ingest", export, "--strict")
    assert (told.code, told.err) == (0, "")
    assert "problem" not in told.out
    assert "1 note on what is no transcript" in told.out
    quiet = amos("-q", "ingest", export)
    assert quiet.err == ""
    assert "note" not in quiet.out
    spoken = amos("-v", "ingest", export)
    assert "amos: note: " in spoken.err
    assert "chat.html" in spoken.err
    assert "user.json" in spoken.err
    listed = amos("ingest", export, "--json").object
    assert (listed["errors"], listed["errors_total"], listed["notes_total"]) == ([], 0, 1)
    assert [one["code"] for one in listed["notes"]] == ["skipped_files"]


def test_a_folder_with_the_store_in_it_is_read_without_the_store(amos, notes):
    assert notes.parent == Path.cwd()
    first = amos("ingest", ".", "--json").object
    again = amos("ingest", ".", "--json")
    assert again.err == ""
    assert again.object["sources"] == {**first["sources"], "new": 0, "linked": len(HOUSEHOLD)}
    assert again.object["errors"] == []
    assert [(one["file"], one["code"]) for one in again.object["notes"]] == [("amos-store", "store_folder")]
    told = amos("ingest", "amos-store")
    assert told.code == 3
    assert "amos-store: it is an Amos store" in told.err


@pytest.fixture
def taken(folder):
    """Return two files whose ids are the same and whose texts are not."""
    (folder / "in").mkdir()
    for name, colour in (("one", "blue"), ("two", "red")):
        told = (line(f"k{n}", f"My crate {n} colour is {colour}.", n) for n in range(1, 9))
        write_lines(folder / "in" / f"{name}#1.jsonl", *told)
    return folder / "in"


def test_texts_under_a_taken_id_are_named_with_what_to_do(amos, taken):
    told = amos("ingest", taken.name)
    assert told.code == 0
    assert "8 new + 0 already known + 8 refused + 0 unreadable" in told.out
    (refused, following) = told.err.splitlines()[-2:]
    places = ", ".join(f"in/two#1.jsonl:{number}" for number in range(1, 6))
    assert refused == f"amos: refused, another text has their id: {places}, 3 more (delivery_conflict)"
    assert following.startswith("  next: ")
    assert "`conversation`" in following
    assert "8 problems; everything else is stored." in told.out


def test_texts_under_a_taken_id_are_errors_of_a_strict_run_and_of_its_object(amos, taken):
    told = amos("ingest", taken.name, "--strict", "--json")
    assert told.code == 3
    receipt = told.object
    assert receipt["sources"] == {"new": 8, "linked": 0, "rejected": 8, "unreadable": 0}
    assert receipt["errors_total"] == receipt["conflicts"] == 8
    assert [(one["file"], one["record"], one["code"]) for one in receipt["errors"]] == [
        ("in/two#1.jsonl", number, "delivery_conflict") for number in range(1, 9)
    ]
    again = amos("ingest", taken.name, "--json").object
    assert again["errors"] == receipt["errors"]
    assert again["graph_version"] == receipt["graph_version"]


def test_messages_name_the_path_as_given_and_the_store_keeps_the_name_alone(amos, folder):
    (folder / "far" / "away").mkdir(parents=True)
    write_lines(
        folder / "far" / "away" / "torn.jsonl", line("k1", "My kettle colour is blue.", 1), "x", "{torn"
    )
    told = amos("ingest", "far/away/torn.jsonl")
    assert "amos: far/away/torn.jsonl:2: " in told.err
    absolute = folder / "far" / "away" / "torn.jsonl"
    assert amos("ingest", absolute, "--json").object["errors"][0]["file"] == str(absolute)
    (row,) = amos("list", "sources", "--json").rows
    assert row["locator"] == "torn.jsonl#1"


def test_named_speakers_are_told_of_by_their_names(amos, folder):
    turns = [
        {"speaker": "Ida", "dia_id": "D1:1", "text": "I live in Porto."},
        {"speaker": "Tove", "dia_id": "D1:2", "text": "I live in Bergen."},
    ]
    talk = {
        "speaker_a": "Ida",
        "speaker_b": "Tove",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns,
    }
    (folder / "talks.json").write_text(json.dumps([{"sample_id": "s1", "conversation": talk}]))
    write_lines(folder / "group.jsonl", line("g1", "I live in Leiden.", 1, author="Sanne"))
    write_lines(folder / "own.jsonl", line("o1", "I live in Ghent.", 1))
    amos("ingest", "talks.json", "group.jsonl", "own.jsonl")
    told = amos("list", "atoms").out
    for said in (
        "Ida's home city is Porto",
        "Tove's home city is Bergen",
        "Sanne's home city is Leiden",
        "User's home city is Ghent",
    ):
        assert said in told, told


def test_quiet_prints_the_summary_and_no_notices(amos, notes):
    told = amos("-q", "ingest", notes)
    assert told.err == ""
    assert "Read 8 records" in told.out


def test_no_progress_bar_where_standard_error_is_no_terminal(amos, notes):
    assert "reading" not in amos("ingest", notes).err


def test_a_ceiling_of_trust_keeps_claims_from_committing(amos, notes):
    receipt = amos("ingest", notes, "--trust", "untrusted_web", "--json").object
    assert receipt["decisions"]["commit"] == 0
    assert receipt["trusts"] == {"untrusted_web": 8}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "telegram"), "no format is called 'telegram'"),
        (("--trust", "blind"), "no trust is called 'blind'"),
        (("--zone", "Mars/Olympus"), "no time zone is called"),
        (("--map", "gone.toml"), "gone.toml"),
    ],
)
def test_an_option_that_names_nothing_is_exit_2_and_makes_no_store(amos, notes, folder, words, said):
    told = amos("ingest", notes, *words)
    assert told.code == 2
    assert said in told.err
    assert not (folder / "amos-store").exists()


def test_ctrl_c_between_commits_keeps_them_and_running_again_completes(amos, notes, monkeypatch):
    def interrupt(progress: object, records: int, size: int) -> None:
        told(progress, records, size)
        if progress.records >= 6:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    told = Progress.__call__
    in_threes = functools.partial(read_batches, batch_records=3)
    with monkeypatch.context() as patch:
        patch.setattr("amos.sources.reading.read_batches", in_threes)
        patch.setattr("amos.cli.reading.Progress.__call__", interrupt)
        stopped = amos("ingest", notes, "--json")
    assert stopped.code == 130
    assert "6 records are stored for good" in stopped.err
    assert "Run the same command again" in stopped.err
    assert stopped.object["error"]["code"] == "interrupted"
    assert amos("ingest", notes, "--json").object["sources"] == {
        "new": 2,
        "linked": 6,
        "rejected": 0,
        "unreadable": 0,
    }


def commits(catalog):
    """Return how many commits a store holds that another process is writing."""
    if not catalog.exists():
        return 0
    database = sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)
    try:
        return database.execute("SELECT count(*) FROM commits").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        database.close()


MANY = 40_000
"""Lines of several batches, so that the second is at work while the first is stored."""


def interrupt(running):
    """Press Ctrl-C, and again where a callback of the interpreter swallowed it; return what was said."""
    for _ in range(5):
        running.send_signal(signal.SIGINT)
        try:
            return running.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            continue
    return running.communicate(timeout=60)


@pytest.mark.crash
def test_a_real_ctrl_c_says_what_is_stored_and_running_again_completes(folder):
    many = write_lines(
        folder / "many.jsonl",
        *(line(f"m{n}", f"My crate {n} colour is red.", 1 + n % 28) for n in range(MANY)),
    )
    command = [sys.executable, "-c", "from amos.cli import main; main()", "ingest", str(many), "--json"]
    running = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    catalog = folder / "amos-store" / "default" / "default" / "shard.sqlite"
    deadline = time.monotonic() + 120
    while commits(catalog) < 1 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    out, err = interrupt(running)
    assert running.returncode == 130, err
    assert "are stored for good" in err
    assert json.loads(out)["error"]["code"] == "interrupted"
    again = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env=os.environ)
    receipt = json.loads(again.stdout)
    assert receipt["sources"]["new"] + receipt["sources"]["linked"] == MANY
    assert receipt["sources"]["linked"] > 0
