"""Look-ups through stored ids: the same rows, without reading the table."""

import pyarrow as pa
import pytest

from amos.journal.store import Shard
from committed_rows import NOW, commit, new_shard, number_id, story


@pytest.fixture(autouse=True)
def _store_soon(monkeypatch):
    monkeypatch.setattr("amos.journal.snapshot.STORED_AT_REST", 8)


def files(shard):
    return sorted(path.name for path in shard.folder.joinpath("derived/ids").glob("*"))


def found(shard, numbers):
    keys = pa.array([number_id("atoms", number) for number in numbers], pa.binary(16))
    with shard.pin() as snapshot:
        return snapshot.lookup("atoms", "atom_id", keys).to_pylist()


@pytest.fixture
def stored(tmp_path):
    """A store with 30 atoms whose ids stand in a file, and what a look-up of some returns."""
    with new_shard(tmp_path) as shard:
        for number in range(3):
            commit(shard, story(number * 10, 10))
        rows = found(shard, range(0, 30, 7))
        shard.tidy(now=NOW)
        assert files(shard) == ["atoms.atom_id.ids"]
    return tmp_path / "store", rows


def reads_of_ids(shard):
    """Count how often the id column of atoms is read from now on."""
    seen = []
    index = shard._reading.index

    def counted(ledger, table, column):
        result = index(ledger, table, column)
        seen.append(result.tail_keys)
        return result

    shard._reading.index = counted
    return seen


def test_another_process_uses_the_file(stored):
    root, rows = stored
    with Shard.open(root, read_only=True) as shard:
        held = reads_of_ids(shard)
        assert found(shard, range(0, 30, 7)) == rows
        assert held == [0]


def test_later_commits_are_found_beside_the_file(stored):
    root, _ = stored
    with Shard.open(root) as shard:
        commit(shard, story(30, 2))
        held = reads_of_ids(shard)
        assert len(found(shard, [3, 31])) == 2
        assert held == [2]
        commit(shard, story(40, 20))
        assert len(found(shard, [3, 31, 59])) == 3
        shard.tidy(now=NOW)
        assert len(found(shard, [3, 31, 59])) == 3
        assert held[-1] == 0


def test_files_of_another_history_do_not_count(stored, tmp_path):
    root, _ = stored
    (tmp_path / "other").mkdir()
    with new_shard(tmp_path / "other") as other:
        commit(other, story(100, 40))
        folder = other.folder / "derived/ids"
        folder.mkdir()
        source = root / "default/default/derived/ids/atoms.atom_id.ids"
        (folder / source.name).write_bytes(source.read_bytes())
        assert len(found(other, [3, 101, 139])) == 2


def test_a_damaged_file_is_done_without_and_written_anew(stored):
    root, rows = stored
    path = root / "default/default/derived/ids/atoms.atom_id.ids"
    octets = bytearray(path.read_bytes())
    octets[5] ^= 1
    path.write_bytes(octets)
    with Shard.open(root) as shard:
        assert found(shard, range(0, 30, 7)) == rows
        shard.tidy(now=NOW)
    with Shard.open(root, read_only=True) as shard:
        held = reads_of_ids(shard)
        assert found(shard, range(0, 30, 7)) == rows
        assert held == [0]


def test_erased_rows_leave_with_the_file(stored):
    root, _ = stored
    with Shard.open(root) as shard:
        with shard.pin() as snapshot:
            doomed = {"atoms": snapshot.table("atoms").slice(0, 5)}
        terms = {"operation": "forget", "actor": "tester", "run_id": bytes(16), "now": NOW}
        shard.erase((), doomed=doomed, request="{}", base=shard.head, reads={}, **terms)
        assert len(found(shard, [0, 7, 29])) == 2
        assert shard.purge().is_done
        assert files(shard) == []
        assert len(found(shard, [0, 7, 29])) == 2


def test_a_reader_of_an_older_state_sees_that_state(stored):
    root, _ = stored
    keys = pa.array([number_id("atoms", number) for number in (3, 23)], pa.binary(16))
    with Shard.open(root, read_only=True) as shard:
        for version, count in ((1, 1), (2, 1), (3, 2)):
            with shard.pin(version) as snapshot:
                assert snapshot.lookup("atoms", "atom_id", keys).num_rows == count


def test_a_reader_writes_no_file(tmp_path):
    with new_shard(tmp_path) as shard:
        commit(shard, story(0, 20))
    with Shard.open(tmp_path / "store", read_only=True) as shard:
        assert len(found(shard, [3])) == 1
        shard._reading.store_indexes(shard._ledger)
        assert files(shard) == []
