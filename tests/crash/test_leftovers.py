"""Whatever a killed process left, forgetting takes it along: no byte of the store keeps the words."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import amos.api
from amos.errors import BusyError
from amos.flow import restore as flow_restore
from amos.moves import back_up, export_lines, export_tables, repair, restore
from damaged_stores import execute, flip
from dying import run
from forgotten import traces_of
from households import HOUSEHOLD, line, write_lines

pytestmark = pytest.mark.crash

SHARD = Path("default/default")
WORD = "Zanzibarian"
AT_WORK = """
import sys
from pathlib import Path
import amos.api
from amos import moves
from amos.clock import utc_now
root = Path(sys.argv[1])
folder = root.parent
def opened():
    store = amos.api.Store.open(root)
    store.shard._log.seal_blobs = 0
    return store
"""
INGEST = "opened().ingest(folder / 'again.jsonl', format='messages')"
DRY = "opened().ingest(folder / 'again.jsonl', format='messages', dry_run=True)"
INDEX = "from amos.flow.recall import refresh; refresh(opened().shard, at_least=1)"
COMPACT = """
store = opened()
store.compact(full=True)
store.shard.collect_garbage(now=utc_now().replace(year=utc_now().year + 1))
"""
DROP = "store = opened(); store.snapshot(); store.compact(drop_history=True)"
FORGET = """
store = opened()
store.forget(next(row["atom_id"] for row in store.list().rows if "Assam" in row["statement"]))
"""
REREAD = """
store = opened()
run = store.reprocess(extractor="rules@1")["run_id"]
store.apply_run(run)
"""
BACKUP = "moves.back_up(root, folder / 'copy', with_keys=True)"
RESTORE = "moves.restore(folder / 'copy', root, replace=True)"
IMPORT = "moves.import_export(root, folder / 'moved')"
EXPORT = "moves.export_lines(opened(), 'jsonl', folder / 'out.jsonl')"
PAGES = "moves.export_lines(opened(), 'markdown', folder / 'pages')"
TABLES = "moves.export_tables(opened(), folder / 'tables')"
JOURNAL = "opened().export_journal(folder / 'journal.jsonl')"
REPAIR = "moves.repair(root, backup=folder / 'copy')"
KILLS = {
    INGEST: ("segment.placed:3", "commit.rows_inserted", "seal.hot_removed", "commit.after_sqlite_commit"),
    DRY: ("backup.catalog_copied", "commit.after_sqlite_commit"),
    INDEX: ("file.drafted",),
    COMPACT: ("rewrite.drafted", "rewrite.placed:3", "garbage.before_unlink:2"),
    DROP: ("rewrite.placed:5",),
    FORGET: ("rewrite.placed", "purge.files_gone"),
    REREAD: ("commit.after_sqlite_commit",),
    BACKUP: ("backup.segments_copied",),
    RESTORE: ("restore.built",),
    IMPORT: ("commit.before_sqlite_commit:2",),
    REPAIR: ("repair.file_copied",),
    EXPORT: ("export.drafted",),
    PAGES: ("export.drafted",),
    TABLES: ("export.drafted",),
    JOURNAL: ("export.drafted",),
}
AT_NIGHT = {
    INGEST: (
        "segment.placed", "commit.begun", "seal.segments_placed", "commit.before_sqlite_commit",
        "commit.after_sqlite_commit:2",
    ),
    DRY: ("backup.segments_copied", "backup.named", "commit.rows_inserted"),
    INDEX: ("file.renamed",),
    COMPACT: ("rewrite.placed", "replace.named", "replace.named:4"),
    DROP: ("rewrite.drafted:5", "replace.named"),
    FORGET: ("rewrite.drafted", "replace.named", "garbage.before_unlink", "purge.log_truncated"),
    REREAD: ("commit.begun", "commit.after_sqlite_commit:2"),
    BACKUP: ("backup.catalog_copied", "backup.named"),
    IMPORT: ("rewrite.drafted",),
    REPAIR: ("repair.before_commit",),
}  # fmt: skip
"""At which steps each act is killed; those of making and of upgrading a store change no row."""


def cases(kills, *marks):
    return [pytest.param(code, step, marks=marks) for code, steps in kills.items() for step in steps]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a folder with a store that knows the word in several files, a backup and an export of it."""
    folder = tmp_path_factory.mktemp("prepared")
    notes = [*HOUSEHOLD, line("a", "My favourite tea is Assam.", 18)]
    with amos.api.Store.create(folder / "store") as store:
        store.ingest(write_lines(folder / "notes.jsonl", *notes))
        store.shard._log.seal_all()
        word = line("z", f"My favourite bird is the {WORD} wren.", 19)
        store.ingest(write_lines(folder / "more.jsonl", word))
        store.shard._log.seal_all()
        export_tables(store, folder / "moved")
    back_up(folder / "store", folder / "copy", with_keys=True)
    again = line("y", f"My favourite bird is the {WORD} wren.", 21)
    write_lines(folder / "again.jsonl", again)
    return folder


def killed(root, code, failpoint):
    assert run(AT_WORK + code, root, failpoint=failpoint).was_killed


def forget_word(root, **terms):
    with amos.api.Store.open(root) as store:
        told = [row["atom_id"] for row in store.list().rows if WORD in row["statement"]]
        return store.forget(*told, **terms)


def damage(root):
    """Break a segment that a backup holds, and a row that follows from the events."""
    path = sorted((root / SHARD / "segments/sources").glob("*.parquet"))[-1]
    path.write_bytes(flip(path.read_bytes(), 90))
    execute(root, "UPDATE commits SET actor = 'stranger' WHERE graph_version = 2")


@pytest.mark.parametrize(("code", "failpoint"), [*cases(KILLS), *cases(AT_NIGHT, pytest.mark.nightly)])
def test_nothing_that_a_killed_process_left_outlives_an_erasure(prepared, tmp_path, code, failpoint):
    folder = Path(shutil.copytree(prepared, tmp_path / "all"))
    root = folder / "store"
    if code == REPAIR:
        damage(root)
    killed(root, code, failpoint)
    if code == REPAIR:
        assert repair(root, backup=folder / "copy")["ok"]
    for left in (root / SHARD / "tmp").glob("[0-9]*"):
        left.rename(left.with_name(str(os.getpid())))  # the next process may get the number of the killed one
    assert forget_word(root)["status"] == "purged"
    assert traces_of(root, WORD) == []
    known = {"store", "copy", "moved", "notes.jsonl", "more.jsonl", "again.jsonl"}
    assert {path.name for path in folder.iterdir()} == known
    back_up(root, folder / "copy")
    assert traces_of(folder / "copy", WORD) == []


def test_a_killed_export_is_named_where_it_stands_and_nowhere_else(prepared, tmp_path):
    folder = Path(shutil.copytree(prepared, tmp_path / "all"))
    root = folder / "store"
    killed(root, EXPORT, "export.drafted")
    killed(root, JOURNAL, "export.renamed")
    named = [row["what"] for row in forget_word(root)["residual"]]
    assert f"export journal {folder / 'journal.jsonl'}" in named
    assert not any("out.jsonl" in what for what in named)
    with amos.api.Store.open(root) as store:
        assert not any(copy.is_unfinished for copy in store.shard.copies())
    assert WORD in (folder / "journal.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(("code", "name"), [(EXPORT, "out.jsonl"), (TABLES, "tables")])
def test_an_export_to_the_same_place_removes_what_a_killed_one_left(prepared, tmp_path, code, name):
    folder = Path(shutil.copytree(prepared, tmp_path / "all"))
    killed(folder / "store", code, "export.drafted")
    assert list(folder.glob(f".{name}.*.draft"))
    with amos.api.Store.open(folder / "store", read_only=True) as store:
        export_lines(store, "jsonl", folder / name)
    assert list(folder.glob(f".{name}*")) == []
    assert (folder / name).exists()


def test_what_a_living_export_writes_stays_and_is_named(prepared, tmp_path):
    folder = Path(shutil.copytree(prepared, tmp_path / "all"))
    root = folder / "store"
    hold = AT_WORK + (
        "from amos.flow.noting import exporting\n"
        "with exporting(opened().shard, folder / 'out.jsonl', 'export jsonl', utc_now()) as export:\n"
        "    print(export.draft.name, flush=True); sys.stdin.read()"
    )
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=known,
    ) as exporter:  # fmt: skip
        draft = exporter.stdout.readline().strip()
        named = [row["what"] for row in forget_word(root, wait_seconds=0)["residual"]]
        assert f"unfinished export jsonl {folder / 'out.jsonl'} ({draft})" in named
        exporter.stdin.close()
    assert (exporter.returncode, (folder / "out.jsonl").exists()) == (0, True)
    with amos.api.Store.open(root) as store:
        assert "export jsonl" in [copy.kind for copy in store.shard.copies()]


def test_an_orphan_whose_removal_was_killed_goes_with_the_next_writer(prepared, tmp_path):
    root = Path(shutil.copytree(prepared, tmp_path / "all")) / "store"
    killed(root, INGEST, "segment.placed")
    killed(root, "opened()", "clean.before_remove")
    assert forget_word(root)["status"] == "purged"
    assert traces_of(root, WORD) == []


def test_a_store_that_a_killed_restore_moved_aside_is_named_by_every_erasure(prepared, tmp_path):
    folder = Path(shutil.copytree(prepared, tmp_path / "all"))
    root = folder / "store"
    killed(root, RESTORE, "restore.moved_aside")
    restore(folder / "copy", root)
    (aside,) = (root / "default").glob(".default.replaced-*")
    remains = forget_word(root)["residual"]
    assert f"replaced store {aside}" in [row["what"] for row in remains]
    assert {trace.split("/")[1] for trace in traces_of(root, WORD)} == {aside.name}


def test_an_erasure_waits_for_a_restore_that_is_under_way(prepared, tmp_path):
    root = Path(shutil.copytree(prepared, tmp_path / "all")) / "store"
    hold = (
        "import sys; from amos.copies.store import building; from pathlib import Path\n"
        "with building(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as builder:
        assert builder.stdout.readline() == "held\n"
        report = forget_word(root, wait_seconds=0)
        assert (report["status"], report["waiting_for"]) == ("pending", [builder.pid])
        builder.stdin.close()
    with amos.api.Store.open(root) as store:
        assert [entry.status for entry in store.shard.erasures()] == ["purged"]


def test_a_store_that_was_written_to_while_its_backup_was_restored_is_not_replaced(
    prepared, tmp_path, monkeypatch
):
    folder = Path(shutil.copytree(prepared, tmp_path / "all"))
    root = folder / "store"
    verified = flow_restore._verified

    def late(*given):
        forget_word(root, wait_seconds=0)
        return verified(*given)

    monkeypatch.setattr(flow_restore, "_verified", late)
    with pytest.raises(BusyError, match="written to meanwhile"):
        restore(folder / "copy", root, replace=True)
    monkeypatch.undo()
    restore(folder / "copy", root, replace=True)
    with amos.api.Store.open(root) as store:
        assert [row for row in store.list().rows if WORD in row["statement"]] == []
