"""A wrong input is named with the next step and the right exit code; all that is good is stored."""

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import zipfile
from pathlib import Path

import pytest

from households import line, write_lines

GOOD = line("good", "My gate number is 9.", 3)


def stored(amos):
    return {row["text"] for row in amos("list", "sources", "--json").rows}


def refused(told, code, *said):
    """Assert one line and an advice on standard error, and nothing that looks like a crash."""
    assert told.code == code, told
    lines = told.err.strip().splitlines()
    assert lines[-2].startswith("amos: ")
    assert lines[-1].startswith("  next: ")
    assert "Traceback" not in told.err
    for part in said:
        assert part in told.err
    return True


@pytest.mark.parametrize(
    ("name", "payload", "code", "said"),
    [
        ("empty.jsonl", b"", 3, "empty"),
        ("blank.jsonl", b"\n\n  \n", 3, "blank.jsonl"),
        ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, 3, "PNG"),
        ("core.bin", bytes(range(256)) * 40, 3, "binary"),
        ("letter.txt", b"Dear all,\nthe boat sails at nine.\n", 3, "no reader knows"),
        ("odd.json", b'{"flavour": "salt", "rows": []}', 3, "'flavour'"),
        ("wide.jsonl", '{"text": "My gate number is 9."}'.encode("utf-16"), 3, "UTF-16"),
        ("broken.zip", b"PK\x03\x04 and then nothing", 3, "broken.zip"),
        ("old.db", b"SQLite format 3\x00" + bytes(200), 3, "SQLite"),
    ],
)
def test_a_file_that_cannot_be_read_is_exit_3_and_makes_no_store(amos, folder, name, payload, code, said):
    (folder / name).write_bytes(payload)
    assert refused(amos("ingest", name), code, name, said)
    assert not (folder / "amos-store").exists()


def test_a_missing_path_is_exit_2(amos, folder):
    assert refused(amos("ingest", "gone.zip"), 2, "gone.zip")
    error = amos("ingest", "gone.zip", "--json").object["error"]
    assert error["path"] == "gone.zip"
    assert not (folder / "amos-store").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", ""),
        ("ingest", "notes.jsonl", ""),
        ("ingest", "notes.jsonl", "--map", ""),
        ("run", "ingest", ""),
        ("propose", ""),
        ("packets", ""),
        ("demo", "--keep", ""),
        ("-s", "", "ingest", "notes.jsonl"),
    ],
)
def test_an_empty_path_is_exit_2_and_never_the_current_folder(amos, folder, words):
    write_lines(folder / "notes.jsonl", GOOD)
    assert refused(amos(*words), 2, "empty path")
    assert [path.name for path in folder.iterdir()] == ["notes.jsonl"]


def test_a_file_outside_is_named_by_its_whole_path(amos, folder):
    (folder / "far").mkdir()
    path = folder / "far" / "letter"
    path.write_text("root:x:0:0:root\n")
    assert refused(amos("ingest", path), 3, f"amos: {path}: no reader knows")
    assert refused(amos("ingest", "far/letter"), 3, "amos: far/letter: ")


def test_an_empty_folder_is_exit_3(amos, folder):
    (folder / "nothing").mkdir()
    assert refused(amos("ingest", "nothing"), 3, "no file")


@pytest.mark.parametrize(
    "bad",
    [
        '{"id": "x", "text": "My gate num',
        "null",
        "[]",
        "17",
        '"text"',
        '{"id": "x", "text": 5}',
        '{"text"',
        "\x00\x01",
    ],
)
def test_one_bad_line_is_named_and_the_others_are_stored(amos, folder, bad):
    write_lines(folder / "notes.jsonl", GOOD, bad)
    told = amos("ingest", "notes.jsonl", "--from", "messages", "--json")
    assert told.code == 0
    assert told.object["sources"]["unreadable"] == 1
    assert told.object["errors"][0]["record"] == 2
    assert "notes.jsonl:2" in told.err
    assert stored(amos) == {GOOD["text"]}


def test_a_half_written_last_line_is_named_and_completed_later(amos, folder):
    path = folder / "notes.jsonl"
    whole = json.dumps(GOOD) + "\n" + json.dumps(line("late", "My dock number is 4.", 4))
    path.write_text(whole[:-20])
    assert amos("ingest", path, "--json").object["sources"] == {
        "new": 1,
        "linked": 0,
        "rejected": 0,
        "unreadable": 1,
    }
    path.write_text(whole + "\n")
    assert amos("ingest", path, "--json").object["sources"] == {
        "new": 1,
        "linked": 1,
        "rejected": 0,
        "unreadable": 0,
    }


def test_nulls_in_a_message_are_absent_values(amos, folder):
    odd = {
        "id": None,
        "text": "My dock number is 4.",
        "ts": None,
        "conversation": None,
        "author": None,
        "scope": None,
    }
    write_lines(folder / "notes.jsonl", odd, {**GOOD, "text": None})
    told = amos("ingest", "notes.jsonl", "--from", "messages", "--json")
    assert told.code == 0
    assert told.object["records_read"] == sum(told.object["sources"].values()) == 2
    assert "My dock number is 4." in stored(amos)


def chatgpt(**changes):
    node = {
        "id": "n1",
        "parent": "root",
        "message": {
            "id": "n1",
            "author": {"role": "user"},
            "create_time": None,
            "content": {"content_type": "text", "parts": ["My gate number is 9."]},
        },
    }
    conversation = {
        "id": "c1",
        "conversation_id": "c1",
        "title": None,
        "create_time": None,
        "update_time": None,
        "mapping": {"root": {"id": "root", "message": None, "parent": None}, "n1": node},
        "current_node": "n1",
    }
    return [{**conversation, **changes}]


@pytest.mark.parametrize("changes", [{}, {"current_node": None}, {"title": 5}, {"create_time": "soon"}])
def test_an_export_without_titles_times_children_or_metadata_is_read(amos, folder, changes):
    (folder / "conversations.json").write_text(json.dumps(chatgpt(**changes)))
    told = amos("ingest", "conversations.json", "--json")
    assert told.code == 0, told.err
    assert told.object["sources"]["new"] == 1
    assert stored(amos) == {"My gate number is 9."}


def test_a_conversation_that_is_no_object_stops_none_of_the_others(amos, folder):
    (folder / "conversations.json").write_text(json.dumps([*chatgpt(), None, 7]))
    told = amos("ingest", "conversations.json", "--json")
    assert told.code == 0
    assert told.object["sources"]["unreadable"] >= 1
    assert "conversations.json:2" in told.err
    assert stored(amos) == {"My gate number is 9."}


def test_messages_without_ids_are_known_by_their_content_and_this_is_said(amos, folder):
    bare = [{"text": "My gate number is 9."}, {"text": "My dock number is 4."}]
    write_lines(folder / "notes.jsonl", *bare)
    told = amos("ingest", "notes.jsonl", "--from", "messages")
    assert "came without ids of their own" in told.out
    assert amos("ingest", "notes.jsonl", "--from", "messages", "--json").object["sources"]["linked"] == 2


def test_one_key_with_two_texts_is_a_conflict_that_is_refused_once(amos, folder):
    write_lines(folder / "one.jsonl", GOOD)
    write_lines(folder / "two.jsonl", {**GOOD, "text": "My gate number is 10."})
    amos("ingest", "one.jsonl")
    told = amos("ingest", "two.jsonl", "--json").object
    assert told["sources"]["rejected"] == 1
    assert told["reasons"] == {"delivery_conflict": 1}
    assert stored(amos) == {GOOD["text"]}
    again = amos("ingest", "two.jsonl", "--json").object
    assert again["graph_version"] == told["graph_version"]


def test_a_key_that_stands_twice_in_an_object_is_read_and_reported(amos, folder):
    write_lines(
        folder / "notes.jsonl", '{"id": "d", "text": "My dock number is 3.", "text": "My dock number is 4."}'
    )
    told = amos("ingest", "notes.jsonl", "--from", "messages", "--json")
    assert told.code == 0
    assert [one["code"] for one in told.object["errors"]] == ["duplicate_key"]


@pytest.mark.parametrize("depth", [100, 100_000])
def test_nesting_is_read_or_refused_but_never_crashes(amos, folder, depth):
    deep = '{"id": "deep", "text": "My dock number is 4.", "more": ' + "[" * depth + "]" * depth + "}"
    write_lines(folder / "notes.jsonl", GOOD, deep)
    told = amos("ingest", "notes.jsonl", "--from", "messages", "--json")
    assert told.code == 0
    assert told.object["sources"]["new"] == (2 if depth == 100 else 1)
    assert GOOD["text"] in stored(amos)


def test_lone_surrogates_and_bad_bytes_become_replacement_characters(amos, folder):
    path = folder / "notes.jsonl"
    path.write_bytes(
        b'{"id": "s", "text": "My cat \\ud83d name is Ada."}\n'
        b'{"id": "b", "text": "My dog \xff name is Bo."}\n'
    )
    told = amos("ingest", path, "--from", "messages", "--json")
    assert told.code == 0
    assert {one["code"] for one in told.object["errors"]} <= {
        "surrogate_replaced",
        "invalid_utf8",
        "invalid_json",
    }
    assert "My cat \ufffd name is Ada." in stored(amos)


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "123456789012345678901234567890"]
)
def test_numbers_that_json_does_not_have_harm_only_their_line(amos, folder, number):
    write_lines(
        folder / "notes.jsonl", GOOD, '{"id": "n", "text": "My dock number is 4.", "weight": ' + number + "}"
    )
    told = amos("ingest", "notes.jsonl", "--from", "messages", "--json")
    assert told.code == 0
    assert told.object["records_read"] == sum(told.object["sources"].values()) == 2
    assert GOOD["text"] in stored(amos)


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "31 June", "2026-02-30T10:00:00Z", -5, 1e18]
)
def test_an_absurd_time_is_kept_as_text_and_the_message_stored(amos, folder, moment):
    write_lines(folder / "notes.jsonl", {**GOOD, "ts": moment})
    told = amos("ingest", "notes.jsonl", "--json")
    assert told.code == 0
    (row,) = amos("list", "sources", "--json").rows
    assert row["event_time"] is None
    assert row["event_text"]
    assert "time_invalid" in row["flags"]


def test_a_zip_whose_member_climbs_out_is_read_without_it(amos, folder):
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr("../../outside.jsonl", json.dumps(line("evil", "My trap number is 1.", 1)))
        archive.writestr("notes.jsonl", json.dumps(GOOD))
    told = amos("ingest", "export.zip", "--json")
    assert told.code == 0
    assert [one["code"] for one in told.object["errors"]] == ["refused_member"]
    assert stored(amos) == {GOOD["text"]}
    assert not any(path.name == "outside.jsonl" for path in folder.parent.rglob("*"))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(amos, folder):
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.jsonl", json.dumps(GOOD) + "\n" + " " * (24 << 20))
    assert refused(amos("ingest", "bomb.zip"), 3, "bomb.zip")


def test_a_folder_that_contains_itself_is_walked_once(amos, folder):
    (folder / "export").mkdir()
    write_lines(folder / "export" / "notes.jsonl", GOOD)
    (folder / "export" / "again").symlink_to(folder / "export", target_is_directory=True)
    told = amos("ingest", "export", "--json")
    assert told.code == 0
    assert told.object["records_read"] == told.object["sources"]["new"] == 1


def test_a_file_without_permission_is_exit_3(amos, folder, monkeypatch):
    write_lines(folder / "locked.jsonl", GOOD)
    whole_open = Path.open

    def denied(self: Path, *words: object, **more: object) -> object:
        if self.name == "locked.jsonl":
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return whole_open(self, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "open", denied)
    assert refused(amos("ingest", "locked.jsonl"), 3, "locked.jsonl")


def test_a_store_of_another_user_is_exit_3(household, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 4242)
    told = household("list", "--json")
    assert told.code == 3
    assert told.object["error"]["code"] == "authorization_denied"


def test_a_full_disk_is_exit_7_and_running_again_completes(amos, folder, monkeypatch):
    notes = write_lines(
        folder / "notes.jsonl",
        *(line(f"f{n}", f"My box {n} holds {'x' * 400}.", 1 + n % 28) for n in range(4_200)),
    )

    def full(path: Path, _: object) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("amos.storage.files.write_synced", full)
        told = amos("ingest", notes)
        assert refused(told, 7, "no space left")
    assert amos("verify").code == 0
    assert amos("list", "sources", "--json").end["rows"] == 0
    assert amos("ingest", notes, "--json").object["sources"]["new"] == 4_200


@pytest.fixture
def small_disk(tmp_path):
    """Mount two megabytes of memory as a disk, where that is allowed."""
    where = tmp_path / "disk"
    where.mkdir()
    mount = shutil.which("mount")
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", where], capture_output=True, check=False
    )
    if not done or done.returncode:
        pytest.skip("mounting needs permission")
    yield where
    subprocess.run(["umount", where], check=True)


def test_a_disk_that_fills_up_keeps_what_was_committed(amos, folder, small_disk):
    first = write_lines(folder / "first.jsonl", GOOD)
    many = write_lines(
        folder / "many.jsonl",
        *(line(f"f{n}", f"My box {n} holds {os.urandom(300).hex()}.", 1) for n in range(6_000)),
    )
    store = small_disk / "mem"
    assert amos("-s", store, "ingest", first).code == 0
    told = amos("-s", store, "ingest", many)
    assert refused(told, 7, "no space left")
    assert amos("-s", store, "verify").code == 0
    assert amos("-s", store, "list", "sources", "--json").end["rows"] == 1


def test_a_store_of_a_newer_format_is_exit_4(amos, folder):
    amos("init")
    database = sqlite3.connect(folder / "amos-store" / "default" / "default" / "shard.sqlite")
    database.execute("PRAGMA user_version = 99")
    database.close()
    write_lines(folder / "notes.jsonl", GOOD)
    for words in (("list",), ("ingest", "notes.jsonl"), ("verify",)):
        assert refused(amos(*words), 4, "format 99", "Upgrade Amos")


def test_a_second_writer_waits_then_hears_who_holds_the_store(amos, folder, monkeypatch):
    from amos.journal.store import Shard

    monkeypatch.setattr("amos.storage.connections.WAIT_SECONDS", 0)
    write_lines(folder / "notes.jsonl", GOOD)
    amos("init")
    with Shard.open(folder / "amos-store") as other, other.exclusive("rebuild"):
        told = amos("ingest", "notes.jsonl", "--json")
        assert told.code == 6
        assert told.object["error"]["retryable"] is True
        assert f"process {os.getpid()}" in told.err
        assert "(rebuild)" in told.err
        assert amos("list", "sources").code == 0
    assert amos("ingest", "notes.jsonl", "--json").object["sources"]["new"] == 1


def test_two_writers_at_once_store_everything_once(folder):
    import sys

    for name in ("one", "two"):
        write_lines(
            folder / f"{name}.jsonl",
            *(line(f"{name}{n}", f"My {name} crate {n} is full.", 1 + n % 28) for n in range(300)),
            GOOD,
        )
    command = [sys.executable, "-c", "from amos.cli import main; main()", "ingest", "--json"]
    running = [
        subprocess.Popen(
            [*command, f"{name}.jsonl"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    outputs = [one.communicate(timeout=120) for one in running]
    assert [one.returncode for one in running] == [0, 0], outputs
    fates = [json.loads(out)["sources"] for out, _ in outputs]
    assert sum(one["new"] for one in fates) == 601
    assert sum(one["linked"] for one in fates) == 1


@pytest.mark.parametrize("place", ["nowhere/a.out", "notes.jsonl/a.out"])
def test_an_output_without_a_folder_is_refused_before_anything_is_read(household, folder, place):
    notes = write_lines(folder / "notes.jsonl", {"qid": "q1", "cues": ["barn"]})
    assert refused(household("packets", notes, "-o", place), 2, "there is no folder")
    assert refused(household("export", "jsonl", "-o", place), 2, "there is no folder")


def test_large_inputs_are_announced_and_compiled_for_before_the_clock_runs(amos, folder, monkeypatch):
    steps = []
    monkeypatch.setattr("amos.flow.rules.COMPILED_FROM_BYTES", 10)
    monkeypatch.setattr("amos.kernels.warmth.is_warm", lambda: bool(steps))
    monkeypatch.setattr("amos.flow.warming.warm_kernels", lambda: steps.append("warmed"))
    monkeypatch.setattr("amos.api.Store.ingest", lambda *_, **__: steps.append("read") or {}["end"])
    notes = write_lines(folder / "notes.jsonl", GOOD)
    assert "compiling the kernels" in amos("ingest", notes).err
    assert steps == ["warmed", "read"]
    assert "compiling the kernels" not in amos("ingest", notes).err
