"""Proofs of rows, checkpoints of histories and exported journals, checked without the store."""

import json
import subprocess
import sys
from datetime import timedelta

import pytest

from amos.errors import InputError, IntegrityError, UsageError
from amos.flow.proving import check_proof_record, export_journal, take_checkpoint, verify_since
from amos.journal import check_export
from amos.journal.checkpoint import read_checkpoint
from amos.journal.journal_export import journal_lines
from amos.journal.proof import prove_row
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.schemas.catalog import Idempotency, text_digest
from committed_rows import NOW, RUN, commit, new_shard, story
from damaged_stores import execute

TABLES = ("sources", "candidates", "decisions", "atoms")


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 3), texts={text_digest("be kind"): ("policy", "be kind")})
        commit(shard, story(3, 4), idempotency=Idempotency("k", b"\x01" * 32))
        commit(shard, story(7, 1))
        yield shard


def forget(shard, table, first, count):
    with shard.pin() as snapshot:
        doomed = {table: snapshot.table(table).slice(first, count)}
    shard.erase([], doomed=doomed, request="{}", base=shard.head, reads={}, operation="forget",
                actor="tester", run_id=RUN, now=NOW)  # fmt: skip


def proof_of(shard, table, place):
    with shard.pin() as snapshot:
        row = snapshot.table(table).slice(place, 1)
        erased = shard.erased_columns(table)
        return prove_row(snapshot, table, row, erased, ref=f"{table}-{place}", shard="default/default")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("place", [0, 4, 7])
def test_every_row_is_proven_to_the_root_of_the_checkpoint(shard, table, place):
    proof = json.loads(json.dumps(proof_of(shard, table, place)))
    checkpoint = take_checkpoint(shard, None, now=NOW)
    assert check_export.check_proof(proof) == checkpoint["root"]
    shown = check_proof_record(proof, checkpoint)
    assert (shown["ok"], shown["events"]) == (True, 12)


def test_a_row_beside_a_forgotten_one_is_still_proven(shard):
    forget(shard, "atoms", 4, 2)
    proof = proof_of(shard, "atoms", 4)  # the last of its commit, whose middle rows are gone
    assert (proof["row"]["row_number"], proof["in_event"]["size"]) == (3, 4)
    assert check_export.check_proof(proof) == proof["root"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("row", "values", "payload"), "other"),
        (("row", "salt"), "00" * 16),
        (("row", "commitment"), "00" * 32),
        (("event", "actor"), "stranger"),
        (("event", "payload"), '{"operation":"ingest","rows":3,"table":"atoms"}'),
        (("in_event", "index"), 0),
        (("in_event", "size"), 9),
        (("in_tree", "index"), 0),
        (("in_tree", "path"), []),
        (("root",), "00" * 32),
        (("table",), "decisions"),
    ],
)
def test_a_changed_proof_shows_nothing(shard, path, value):
    proof = proof_of(shard, "atoms", 4)
    place = proof
    for name in path[:-1]:
        place = place[name]
    assert place[path[-1]] != value
    place[path[-1]] = value
    with pytest.raises((IntegrityError, InputError)):
        check_proof_record(proof, None)


def test_what_is_no_proof_is_refused_and_another_checkpoint_too(shard):
    with pytest.raises(InputError, match="no proof"):
        check_proof_record({"row": 1}, None)
    early = take_checkpoint(shard, None, now=NOW)
    commit(shard, story(8, 1))
    late = proof_of(shard, "atoms", 0)
    with pytest.raises(UsageError, match="taken at 16 events, the checkpoint at 12"):
        check_proof_record(late, early)
    other = {**take_checkpoint(shard, None, now=NOW), "root": "00" * 32}
    with pytest.raises(IntegrityError, match="another history"):
        check_proof_record(late, other)


def kinds_since(shard, checkpoint):
    report = verify_shard(shard, since=read_checkpoint(checkpoint, "given"))
    return {problem.kind for problem in report.problems} - {"span_without_source"}


def test_a_checkpoint_holds_across_commits_compaction_and_forgetting(shard):
    first = take_checkpoint(shard, None, now=NOW)
    commit(shard, story(8, 2))
    shard._log.seal_all()
    commit(shard, story(10, 2))
    shard._log.seal_all()
    shard.compact(now=NOW, most=1)
    forget(shard, "atoms", 0, 3)
    assert shard.purge(wait_seconds=1).is_done
    shard.compact(now=NOW + timedelta(hours=1), most=1)
    assert kinds_since(shard, first) == set()
    later = take_checkpoint(shard, first, now=NOW)
    assert later["since"]["event_count"] == first["event_count"]


def test_a_rolled_back_catalog_is_named(shard, tmp_path):
    late = take_checkpoint(shard, None, now=NOW)
    with new_shard(tmp_path / "older") as older:
        commit(older, story(0, 3))
        assert kinds_since(older, late) == {"history_rolled_back"}
        with pytest.raises(IntegrityError, match="has 4 events"):
            take_checkpoint(older, late, now=NOW)


def test_a_history_written_anew_is_named(shard, tmp_path):
    late = take_checkpoint(shard, None, now=NOW)
    with new_shard(tmp_path / "anew") as anew:
        for first, count in ((0, 3), (3, 4), (7, 1), (8, 1)):
            commit(anew, story(first, count))
        assert kinds_since(anew, late) == {"history_rewritten"}
        with pytest.raises(IntegrityError, match="does not go on"):
            take_checkpoint(anew, late, now=NOW)


def test_a_checkpoint_of_another_shard_or_none_is_refused(shard):
    with pytest.raises(InputError, match="other/one"):
        verify_since(shard, deep=False, since={**take_checkpoint(shard, None, now=NOW), "shard": "other/one"},
                     progress=None)  # fmt: skip
    for wrong in ({}, {"amos_checkpoint": 9, **dict.fromkeys(("graph_version", "event_count"), 1), "link": "",
                       "root": "", "shard": ""}):  # fmt: skip
        with pytest.raises(InputError):
            verify_since(shard, deep=False, since=wrong, progress=None)


def test_an_empty_history_is_the_beginning_of_every_other(tmp_path):
    with new_shard(tmp_path) as shard:
        empty = take_checkpoint(shard, None, now=NOW)
        commit(shard, story(0, 1))
        assert kinds_since(shard, empty) == set()
        assert take_checkpoint(shard, empty, now=NOW)["since"] is None


def test_an_exported_journal_is_checked_by_the_file_beside_it_alone(shard, tmp_path):
    forget(shard, "sources", 1, 2)
    commit(shard, story(8, 2))
    told = export_journal(shard, tmp_path / "journal.jsonl", {}, now=NOW)
    checkpoint = tmp_path / "checkpoint.json"
    checkpoint.write_text(json.dumps(take_checkpoint(shard, None, now=NOW)))
    command = [sys.executable, "-I", told["verifier"], told["file"], "--checkpoint", str(checkpoint)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ok: 5 commits, 17 events, 40 rows, 2 erased; graph version 5")
    assert told["root"] in done.stdout


def problems_of(lines):
    check = check_export.JournalCheck()
    check.check(iter(lines))
    return check.problems


@pytest.fixture
def lines(shard, tmp_path):
    forget(shard, "atoms", 1, 1)
    path = tmp_path / "journal.jsonl"
    export_journal(shard, path, {}, now=NOW)
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("is_sealed", [False, True])
def test_a_long_journal_goes_on_where_its_last_page_of_commits_ended(shard, size, is_sealed):
    if is_sealed:
        shard.compact(now=NOW, most=1)
    whole, pages = list(journal_lines(shard)), shard.commit_pages
    shard.commit_pages = lambda until: pages(until=until, size=size)
    assert list(journal_lines(shard)) == whole
    assert problems_of(whole) == []


def test_a_removed_line_anywhere_in_a_journal_is_named(lines):
    assert problems_of(lines) == []
    for number in range(1, len(lines)):
        assert problems_of([*lines[:number], *lines[number + 1 :]]), lines[number]


def test_a_repeated_or_swapped_line_in_a_journal_is_named(lines):
    for number in range(1, len(lines) - 1):
        assert problems_of([*lines[:number], lines[number], *lines[number:]]), lines[number]
        swapped = [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]
        assert problems_of(swapped), lines[number]


def test_any_changed_value_in_a_journal_is_named(lines):
    for number in range(1, len(lines)):
        for changed in changed_lines(lines[number]):
            try:
                found = problems_of([*lines[:number], changed, *lines[number + 1 :]])
            except ValueError:
                continue  # named as unreadable
            assert found, changed


def changed_lines(line):
    """Yield the line with one digit or letter at a time turned into another, a few per line."""
    places = [at for at, mark in enumerate(line) if mark.isalnum()]
    for at in places[:: max(1, len(places) // 8)]:
        other = "7" if line[at] != "7" else "8"
        yield line[:at] + other + line[at + 1 :]


def test_a_journal_that_is_none_is_no_success(tmp_path, capsys):
    path = tmp_path / "some.jsonl"
    path.write_text('{"amos_journal": 2}\n')
    assert check_export.main([str(path)]) == 2
    path.write_text("[1, 2]\n")
    assert check_export.main([str(path)]) == 2
    assert capsys.readouterr().out == ""


def test_a_journal_is_whole_or_none(shard, tmp_path):
    from amos.errors import UsageError

    with pytest.raises(UsageError, match="whole shard"):
        export_journal(shard, tmp_path / "j.jsonl", {"project": "p"}, now=NOW)
    assert not (tmp_path / "j.jsonl").exists()


@pytest.mark.usefixtures("shard")
def test_a_journal_of_a_damaged_store_is_refused(tmp_path):
    execute(tmp_path / "store", "DELETE FROM hot WHERE table_name = 'atoms' AND graph_version = 2")
    with (
        Shard.open(tmp_path / "store", read_only=True) as damaged,
        pytest.raises(IntegrityError, match="missing"),
    ):
        export_journal(damaged, tmp_path / "j.jsonl", {}, now=NOW)
    assert not (tmp_path / "j.jsonl").exists()
