"""A disk, a database or a memory that fails is told in a line, with the next step and its exit code."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from amos.api import Store
from amos.cli.failures import report_failure
from households import HOUSEHOLD, write_lines


def broken(number, path="mem/default/default/segments/atoms/a.parquet"):
    return OSError(number, os.strerror(number), path)


CASES = [
    (broken(errno.EIO), 5, "disk_failed"),
    (broken(errno.ESTALE), 5, "disk_failed"),
    (OSError(errno.EIO, os.strerror(errno.EIO)), 5, "disk_failed"),
    (broken(errno.ENOSPC), 7, "capacity_limited"),
    (broken(errno.EROFS), 3, "unreadable"),
    (broken(errno.EMFILE), 7, "capacity_limited"),
    (broken(errno.ENOENT), 3, "unreadable"),
    (broken(errno.ENAMETOOLONG), 3, "unreadable"),
    (MemoryError(), 7, "capacity_limited"),
    (apsw.IOError("IOError: disk I/O error"), 5, "disk_failed"),
    (apsw.FullError("database or disk is full"), 7, "capacity_limited"),
    (apsw.BusyError("database is locked"), 6, "store_busy"),
    (apsw.ReadOnlyError("attempt to write a readonly database"), 3, "unreadable"),
    (apsw.CorruptError("database disk image is malformed"), 5, "verification_failed"),
    (apsw.ConstraintError("UNIQUE constraint failed"), 5, "verification_failed"),
    (OSError("no number"), 1, "unexpected"),
]


@pytest.mark.parametrize(("failure", "code", "name"), CASES, ids=lambda one: repr(one)[:40])
def test_a_failure_of_the_system_is_told_in_one_line(failure, code, name, capsys):
    assert report_failure(failure, ["list", "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == name
    said, advice = err.rstrip().split("\n")
    assert said.startswith("amos: ")
    assert advice.startswith("  next: ")
    assert "Traceback" not in err


def test_a_disk_that_fails_inside_a_command_is_told(amos, folder, monkeypatch):
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD)
    monkeypatch.setattr("amos.flow.inputs.measure_inputs", _fail)
    done = amos("ingest", notes, "--from", "messages")
    assert (done.code, done.out) == (5, "")
    assert "the disk failed" in done.err
    assert "amos verify" in done.err


def _fail(*_, **__):
    raise broken(errno.EIO)


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["export", "jsonl"]])
def test_a_full_disk_under_the_output_is_told_as_such(household_store, words):
    program = [sys.executable, "-m", "amos", "-s", str(household_store), *words]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 7
    assert done.stderr.startswith("amos: no space left where the output goes"), done.stderr


def test_a_full_disk_under_an_export_names_its_place_and_leaves_no_trace(
    household_store, household, folder, monkeypatch
):
    monkeypatch.setattr("amos.flow.export_shapes.write_lines", _fill)
    told = household("export", "jsonl", "-o", "out.jsonl")
    assert (told.code, "no space left for out.jsonl" in told.err) == (7, True)
    assert list(folder.iterdir()) == []
    with Store.open(household_store, read_only=True) as store:
        assert not any(str(folder) in copy.place for copy in store.shard.copies())


def _fill(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
