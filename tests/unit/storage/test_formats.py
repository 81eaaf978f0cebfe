import hashlib
import json
import shutil
from pathlib import Path

import apsw
import pytest

from amos.errors import SchemaError
from amos.flow.digest import state_digest
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.storage.catalog import Catalog
from amos.storage.upgrades import FORMAT, MINOR, new_tables
from committed_rows import commit, new_shard, story

FIXTURES = Path(__file__).parents[2] / "fixtures"
RELEASED = json.loads((FIXTURES / "stores.json").read_text(encoding="utf-8"))
SHARD = Path("default/default/shard.sqlite")


def copied(name, tmp_path):
    return Path(shutil.copytree(FIXTURES / name, tmp_path / name))


def found_in(root):
    connection = apsw.Connection(str(root / SHARD), flags=apsw.SQLITE_OPEN_READONLY)
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    number = connection.pragma("user_version")
    connection.close()
    return number, tables


def change(root, *statements):
    connection = apsw.Connection(str(root / SHARD))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def facts(shard):
    report = verify_shard(shard, digest=state_digest)
    assert report.problems == []
    return {
        "graph_version": report.graph_version,
        "state_digest": report.state_digest,
        "rows": report.checked["rows"],
    }


@pytest.mark.parametrize("name", sorted(RELEASED))
def test_the_files_of_a_released_store_are_those_of_the_list(name):
    root = FIXTURES / name
    held = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert held == set(RELEASED[name]["files"])
    for file, digest in RELEASED[name]["files"].items():
        assert hashlib.sha256((root / file).read_bytes()).hexdigest() == digest, file


@pytest.mark.parametrize("is_read_only", [True, False], ids=["reading", "upgraded"])
@pytest.mark.parametrize("name", sorted(RELEASED))
def test_a_released_store_opens_and_holds_what_it_held(tmp_path, name, is_read_only):
    root = copied(name, tmp_path)
    before = (root / SHARD).read_bytes()
    with Shard.open(root, read_only=is_read_only) as shard:
        expected = {key: RELEASED[name][key] for key in ("graph_version", "state_digest", "rows")}
        assert facts(shard) == expected
        assert [*shard.erasures(), *shard.copies(), *shard.holds(), *shard.erased_rows()] == []
    if is_read_only:
        assert (root / SHARD).read_bytes() == before
    else:
        assert found_in(root)[0] == FORMAT


def test_an_upgraded_store_takes_commits(tmp_path):
    root = copied("store-format-1", tmp_path)
    with Shard.open(root) as shard:
        head = shard.head
        commit(shard, story(0, 2))
        report = verify_shard(shard)
        assert (report.problems, report.graph_version) == ([], head + 1)


def test_every_table_that_a_format_adds_is_found_in_its_statements(tmp_path):
    root = copied("store-format-1", tmp_path)
    older = found_in(root)[1]
    Shard.open(root).close()
    assert found_in(root)[1] - older == set(new_tables(2))


def test_a_newer_minor_format_is_read_and_written_and_keeps_its_number(tmp_path):
    root = copied(f"store-format-{FORMAT}", tmp_path)
    change(
        root,
        "CREATE TABLE later_thought (name TEXT PRIMARY KEY, value ANY) STRICT",
        "INSERT INTO later_thought VALUES ('kept', 1)",
        f"INSERT OR REPLACE INTO meta VALUES ('minor_format', {MINOR + 7})",
    )
    with Shard.open(root) as shard:
        commit(shard, story(0, 2))
        assert verify_shard(shard).problems == []
    catalog = Catalog(root / SHARD.parent, read_only=True)
    assert catalog.meta("minor_format") == MINOR + 7
    assert catalog.rows("SELECT value FROM later_thought") == [(1,)]
    catalog.close()


def test_a_new_catalog_states_its_minor_format(tmp_path):
    with new_shard(tmp_path) as shard:
        assert shard._catalog.meta("minor_format") == MINOR


def test_a_newer_major_format_is_refused_with_both_numbers(tmp_path):
    root = copied("store-format-1", tmp_path)
    change(root, f"PRAGMA user_version = {FORMAT + 1}")
    for is_read_only in (True, False):
        with pytest.raises(SchemaError, match=f"is of format {FORMAT + 1}.*reads up to {FORMAT}") as caught:
            Shard.open(root, read_only=is_read_only)
        assert caught.value.code == "newer_store"
    assert found_in(root)[0] == FORMAT + 1
