"""Any order of writing, forgetting, tidying and crashing leaves what a plain dictionary says is stored."""

import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from amos.api import Store
from amos.clock import utc_now
from amos.errors import UsageError
from amos.identity import id_text
from amos.storage import failpoints
from forgotten import traces_of
from households import line, write_lines

THINGS = ("locker", "shelf", "bay", "barn", "crate", "ladder", "boat", "piano")
NUMBERS = st.integers(0, len(THINGS) - 1)
STEPS = st.integers(1, 40)


def message(number):
    """Return the one message about a thing; no other holds its code."""
    return line(f"k{number}", f"My {THINGS[number]} number is {code(number)}.", 1 + number)


def code(number):
    return f"ZQ{7919 * (number + 3)}"


class CutShortError(Exception):
    """The store as it stood at a step was copied; what the living one does after it is of no interest."""


class StoreMachine(RuleBasedStateMachine):
    """One store, and what it must hold: the keys at each graph version, and what was forgotten."""

    @initialize()
    def make(self):
        """Begin with an empty store."""
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "store-0"
        self.copies = 0
        self.store = Store.create(self.root)
        self.kept = {0: frozenset()}
        self.gone = set()
        self.retained = 0

    def teardown(self):
        """Look at everything once more, and leave no folder."""
        if hasattr(self, "store"):
            try:
                assert [str(one) for one in self.store.verify(deep=True).problems] == []
                assert self.store.shard.orphans() == {}
            finally:
                self.store.close()
                shutil.rmtree(self.folder)

    @property
    def head(self):
        """The newest graph version that the model knows."""
        return max(self.kept)

    @property
    def present(self):
        """The numbers of the things that are stored now."""
        return self.kept[self.head]

    def keys_at(self, version=None):
        """Return the numbers of the things that the store tells at a version."""
        with self.store.shard.pin(version) as snapshot:
            rows = snapshot.current("sources", ["delivery_key"])["delivery_key"].to_pylist()
        assert len(rows) == len(set(rows))
        return frozenset(int(key.rpartition("/k")[2]) for key in rows)

    def ingested(self, numbers):
        """Ingest messages; return what is stored then."""
        path = write_lines(self.folder / "talk.jsonl", *map(message, sorted(numbers)))
        sources = self.store.ingest(path, format="messages")["sources"]
        assert sources["new"] == len(numbers - self.present - self.gone)
        assert sources["rejected"] == len(numbers & self.gone)

    def ref_of(self, number):
        """Return the reference of a stored message."""
        with self.store.shard.pin() as snapshot:
            rows = snapshot.current("sources", ["source_id", "delivery_key"]).to_pylist()
        return next(
            id_text("sources", row["source_id"])
            for row in rows
            if row["delivery_key"].endswith(f"/k{number}")
        )

    def reached(self, present):
        """Note what the versions since the last step hold."""
        for version in range(self.head + 1, self.store.shard.head + 1):
            self.kept[version] = present

    @rule(numbers=st.sets(NUMBERS, min_size=1, max_size=3))
    def ingest(self, numbers):
        """Write new messages, known ones and forgotten ones; only new ones are stored."""
        self.ingested(numbers)
        self.reached(self.present | (numbers - self.gone))

    @precondition(lambda self: self.present)
    @rule(pick=NUMBERS)
    def forget(self, pick):
        """Take a message out of every file and every version."""
        number = sorted(self.present)[pick % len(self.present)]
        report = self.store.forget(self.ref_of(number))
        assert (report["status"], report["removed"]["sources"]) == ("purged", 1)
        self.forgotten(number)
        assert traces_of(self.root, code(number)) == []

    def forgotten(self, number):
        """Take a message out of the model."""
        self.gone.add(number)
        self.kept = {version: keys - {number} for version, keys in self.kept.items()}
        self.reached(self.present)

    @rule(is_full=st.booleans())
    def compact(self, is_full):
        """Merge files; nothing else changes."""
        self.store.compact(full=is_full)

    @rule()
    def seal(self):
        """Move the hot tail into files."""
        self.store.shard._log.seal_all()

    @rule()
    def collect(self):
        """Remove replaced files, long after."""
        now = utc_now()
        self.store.shard.collect_garbage(now=now.replace(year=now.year + 1))

    @precondition(lambda self: self.present)
    @rule(drops=st.booleans())
    def snapshot(self, drops):
        """Register the state; at times drop the history below it."""
        version = self.store.snapshot()["graph_version"]
        self.reached(self.present)
        if drops:
            self.store.compact(drop_history=True)
            self.retained = max(self.retained, self.store.shard.retained_from)
            assert self.retained <= version
            self.reached(self.present)

    @rule()
    def purge(self):
        """Purging again finds nothing to do, and does no harm."""
        assert self.store.shard.purge(wait_seconds=0).is_done

    @rule()
    def reopen(self):
        """Close and open again."""
        self.store.close()
        self.store = Store.open(self.root)

    @rule()
    def verify(self):
        """All is as it was committed."""
        assert [str(one) for one in self.store.verify().problems] == []

    @rule(pick=st.integers(0, 1000))
    def travel(self, pick):
        """An earlier version tells what it told, less what was forgotten; a dropped one tells nothing."""
        version = pick % (self.head + 1)
        if 0 < version < self.retained:
            with pytest.raises(UsageError, match="beyond retention"):
                self.keys_at(version)
        else:
            assert self.keys_at(version) == self.kept[version]

    @rule(numbers=st.sets(NUMBERS, min_size=1, max_size=3), step=STEPS)
    def crash_ingest(self, numbers, step):
        """Lose power while writing: nothing or everything of it is stored."""
        with self.crash_at(step):
            self.ingested(numbers)
        wanted = self.present | (numbers - self.gone)
        moved = self.store.shard.head > self.head
        self.reached(wanted if moved else self.present)

    @precondition(lambda self: self.present)
    @rule(pick=NUMBERS, step=STEPS)
    def crash_forget(self, pick, step):
        """Lose power while forgetting: the message stands whole, or the next writer finishes the purge."""
        number = sorted(self.present)[pick % len(self.present)]
        ref = self.ref_of(number)
        with self.crash_at(step):
            self.store.forget(ref)
        if self.store.shard.head > self.head:
            self.forgotten(number)
            assert {entry.status for entry in self.store.shard.erasures()} == {"purged"}
            assert traces_of(self.root, code(number)) == []

    @rule(step=STEPS)
    def crash_compact(self, step):
        """Lose power while merging: old files or new ones."""
        with self.crash_at(step):
            self.store.compact(full=True)

    @contextmanager
    def crash_at(self, step):
        """Go on in a copy of the store, made when the block passed its n-th step, or after its last."""
        self.copies += 1
        image = self.folder / f"store-{self.copies}"
        passes = 0

        def copy(*_):
            nonlocal passes
            passes += 1
            if passes == step:
                # another process copies: closing a file here would drop SQLite's locks on it
                subprocess.run(["cp", "-a", self.root, image], check=True)
                raise CutShortError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(failpoints, "_ARMED", "any")
            patch.setattr(failpoints, "_maybe_die", copy)
            try:
                yield
            except CutShortError:
                pass
            finally:
                self.store.close()
        if image.exists():
            shutil.rmtree(self.root)
            self.root = image
        self.store = Store.open(self.root)

    @invariant()
    def agrees(self):
        """The store is where the model is, and holds what it holds."""
        if hasattr(self, "store"):
            assert self.store.shard.head == self.head
            assert self.keys_at() == self.present
            assert self.present & self.gone == set()


SIZES = settings(deadline=None, suppress_health_check=list(HealthCheck))


def test_a_store_does_what_a_dictionary_would():
    run_state_machine_as_test(StoreMachine, settings=settings(SIZES, max_examples=10, stateful_step_count=24))


@pytest.mark.nightly
def test_a_store_does_what_a_dictionary_would_for_long():
    run_state_machine_as_test(
        StoreMachine, settings=settings(SIZES, max_examples=300, stateful_step_count=60)
    )
