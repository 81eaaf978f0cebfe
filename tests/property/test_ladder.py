"""Whatever is sealed, merged, registered or dropped: the same rows, at every version that can be told."""

import hashlib

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.flow.snapshotting import take_snapshot
from amos.journal.store import EventRows, Shard
from amos.journal.verify import verify_shard
from committed_rows import NOW, RUN, commit, new_shard, number_id, rows_of, story

WHO = {"actor": "tester", "run_id": RUN, "now": NOW}
LATER = NOW.replace(year=NOW.year + 1)
TABLES = ("sources", "decisions", "atoms", "events")
STEPS = ("commit", "revise", "seal", "merge", "merge to one", "snapshot", "drop", "tidy", "reopen")


def digest(snapshot):
    found = hashlib.sha256()
    for name in ("sources", "decisions", "atoms"):
        found.update(repr(snapshot.current(name).to_pylist()).encode())
    return found.hexdigest()


class World:
    """A shard, and what it said at every version: current rows, and those of every id of an atom."""

    def __init__(self, root):
        self.root = root
        self.shard = new_shard(root)
        self.said, self.atoms, self.versions = {}, 0, {}

    def remember(self):
        for version in range(max(self.said, default=-1) + 1, self.shard.head + 1):
            self.said[version] = self.told(self.shard, version)

    def told(self, shard, version):
        with shard.pin(version) as snapshot:
            keys = pa.array([number_id("atoms", n) for n in range(self.atoms)], pa.binary(16))
            found = snapshot.lookup("atoms", "atom_id", keys)
            latest = {row["atom_id"]: row for row in found.to_pylist()}
            rows = {name: snapshot.current(name).to_pylist() for name in TABLES}
        return {"rows": rows, "looked up": latest}

    def commit(self):
        commit(self.shard, story(self.atoms, 2))
        self.versions |= {self.atoms: 1, self.atoms + 1: 1}
        self.atoms += 2

    def revise(self):
        if not self.atoms:
            return
        number = self.atoms % 3 % self.atoms
        self.versions[number] += 1
        spans = {"spans": [[0, 4]], "source_id": [number_id("sources", number)], "source_revision": [1]}
        ids = {"atom_id": [number_id("atoms", number)], "version": [self.versions[number]]}
        rows = rows_of("atoms", 1, **ids, **spans)
        commit(self.shard, [EventRows("atom_updated", "atoms", rows)])

    def take(self, step):
        shard = self.shard
        if step == "commit":
            self.commit()
        elif step == "revise":
            self.revise()
        elif step == "seal":
            shard._log.seal_all()
            shard._refresh()
        elif step.startswith("merge"):
            shard.compact(now=NOW, most=1 if step.endswith("one") else 2)
        elif step == "snapshot" and shard.head:
            take_snapshot(shard, digest=digest, **WHO)
        elif step == "drop" and shard.snapshots():
            shard.drop_history(operation="drop", **WHO)
        elif step == "tidy":
            shard.collect_garbage(now=LATER)
            shard.tidy(now=NOW)
        elif step == "reopen":
            shard.close()
            self.shard = Shard.open(self.root / "store")


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(STEPS), min_size=4, max_size=10), st.integers(0, 4))
def test_nothing_that_can_be_told_changes(tmp_path_factory, steps, pinned_at):
    world = World(tmp_path_factory.mktemp("ladder"))
    world.commit()
    world.remember()
    pinned = reader = None
    for number, step in enumerate(steps):
        if number == pinned_at:
            reader = Shard.open(world.root / "store", read_only=True)
            pinned, atoms = reader.pin(), world.atoms
        world.take(step)
        world.remember()
        for version in range(world.shard.retained_from, world.shard.head + 1):
            told = world.told(world.shard, version)
            assert told["rows"] == world.said[version]["rows"]
            early = world.said[version]["looked up"]
            assert {key: told["looked up"][key] for key in early} == early
    problems = verify_shard(world.shard, is_deep=True, digest=digest).problems
    assert [one.kind for one in problems] == []
    if pinned is not None:
        rows = {name: pinned.current(name).to_pylist() for name in TABLES}
        assert rows == world.said[pinned.version]["rows"]
        keys = pa.array([number_id("atoms", n) for n in range(atoms)], pa.binary(16))
        assert set(pinned.lookup("atoms", "atom_id", keys)["atom_id"].to_pylist()) == set(keys.to_pylist())
        pinned.close()
        reader.close()
    world.shard.close()
