"""A store that has heard some lines, and what it answers; for tests that tell a small story."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from amos.api import Store
from amos.flow.look import Wanted
from amos.flow.paging import PageRequest
from amos.packets.packet import packet_json
from laws import scratch
from strategies import write_lines

EVERYTHING = PageRequest(limit=100_000)


def told(identifier, text, day=1, **fields):
    """Return one `messages` line, said in the morning of a day of May 2026."""
    return {
        "id": identifier,
        "conversation": "talk",
        "text": text,
        "ts": f"2026-05-{day:02d}T07:45:00Z",
        **fields,
    }


@dataclass
class Remembered:
    """One open store; every call of `hear` is a run of its own."""

    folder: Path
    store: Store
    receipts: list = field(default_factory=list)

    def hear(self, *lines):
        """Ingest `messages` lines as one file and return the receipt."""
        path = write_lines(self.folder / f"part-{len(self.receipts)}.jsonl", lines)
        return self.read(path, format="messages")

    def read(self, *paths, **options):
        """Ingest files and return the receipt."""
        self.receipts.append(self.store.ingest(list(paths), **options))
        return self.receipts[-1]

    def rows(self, table):
        """Return the current rows of a table, as stored."""
        with self.store.shard.pin() as snapshot:
            return snapshot.current(table).to_pylist()

    def rows_of(self, key):
        """Return the printed sources of one message."""
        own = {row["locator"] for row in self.rows("sources") if row["delivery_key"].endswith(f"/{key}")}
        return [row for row in self.listed("sources") if row["locator"] in own]

    def listed(self, kind="atoms", state="all", **page):
        """Return every printed row of a list."""
        request = PageRequest(**{"limit": EVERYTHING.limit, **page})
        return self.store.list(Wanted(kind=kind, state=state, page=request)).rows

    def said(self, state="active"):
        """Return the statements in a state, sorted."""
        return sorted(row["statement"] for row in self.listed(state=state))

    def decided(self):
        """Return (outcome, first reason) of every current decision by the key of its message, sorted.

        Records of policies are no messages, and left out.
        """
        rows = self.rows("sources")
        keys = {row["source_id"]: row["delivery_key"] for row in rows if row["format"] != "amos-policy"}
        return sorted(
            (keys[row["source_id"]].rpartition("/")[2], row["outcome"], row["reasons"][0])
            for row in self.rows("decisions")
            if row["source_id"] in keys
        )

    def packet(self, *cues, **options):
        """Return a packet as its JSON object."""
        return json.loads(packet_json(self.store.packet(*cues, **options)))

    def found(self, text, **options):
        """Return the message keys of what a search finds, best first."""
        keys = {row["source_id"]: row["locator"] for row in self.listed("sources")}
        lines = {row["locator"]: row["delivery_key"] for row in self.rows("sources")}
        page = self.store.search(text, **options)
        return [lines[keys[row["source_id"]]].rpartition("/")[2] for row in page.rows]


@contextmanager
def remembered(*lines):
    """Yield a fresh store that has heard `lines`."""
    with scratch() as (folder, store):
        memory = Remembered(folder, store)
        if lines:
            memory.hear(*lines)
        yield memory
