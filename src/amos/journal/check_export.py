"""Check an exported journal or a proof of Amos without Amos: one file, standard library only.

    python -I check_export.py journal.jsonl [--checkpoint FILE]
    python -I check_export.py proof.json [--checkpoint FILE]

A journal is checked from its first line to its last: every row against its commitment, every commitment
against its event, every event against its checksum, the running links, and the tree over all events.
Exit code 0: everything is what was committed.  1: something differs, and is named.  2: not readable.
The format is described in `docs/formats/journal.md`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FIRST_LINK = bytes(32)
LEAF, INNER = b"\x00", b"\x01"
EMPTY_ROOT = hashlib.sha256(b"").digest()
TAKING = ("erased", "segment_compacted")
MOST_NAMED = 50

Columns = Sequence[Sequence[str]]


class DifferenceError(Exception):
    """Something is not what was committed; the message says what and where."""


def cell_bytes(kind: str, value: Any) -> bytes:
    """Return the canonical bytes of one value."""
    if value is None:
        return b"\x00"
    if kind in ("int", "bool", "time"):
        return b"\x01" + struct.pack("<q", int(value))
    if kind in ("text", "hex"):
        return b"\x01" + _sized(kind, value)
    head = b"\x01" + struct.pack("<I", len(value))
    if kind == "ints":
        return head + b"".join(struct.pack("<q", item) for item in value)
    return head + b"".join(_sized(kind[:-1] if kind == "texts" else "hex", item) for item in value)


def _sized(kind: str, value: str) -> bytes:
    raw = value.encode() if kind == "text" else bytes.fromhex(value)
    return struct.pack("<I", len(raw)) + raw


def row_bytes(columns: Columns, values: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of one row: a version byte, then its values in column order."""
    return b"\x01" + b"".join(cell_bytes(kind, values[name]) for name, kind in columns)


def commitment(table: str, salt: bytes, columns: Columns, values: Mapping[str, Any]) -> bytes:
    """Return the digest that stands for a row."""
    return hashlib.sha256(b"amos/row/1/" + table.encode() + salt + row_bytes(columns, values)).digest()


def event_checksum(columns: Columns, values: Mapping[str, Any]) -> bytes:
    """Return the digest of an event: all of its columns but the previous link and the checksum."""
    return hashlib.sha256(row_bytes(columns[:-2], values)).digest()


class Tree:
    """The root over a stream of leaves, with one node per level; RFC 9162, section 2.1.1."""

    def __init__(self) -> None:
        self.size = 0
        self._waiting: list[bytes | None] = []

    def add(self, leaf: bytes) -> None:
        """Append one leaf."""
        node = hashlib.sha256(LEAF + leaf).digest()
        self.size += 1
        for level, held in enumerate(self._waiting):
            if held is None:
                self._waiting[level] = node
                return
            node = inner(held, node)
            self._waiting[level] = None
        self._waiting.append(node)

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        right: bytes | None = None
        for held in self._waiting:
            if held is not None:
                right = held if right is None else inner(held, right)
        return EMPTY_ROOT if right is None else right


def root_of(leaves: Sequence[bytes]) -> bytes:
    """Return the root over some leaves."""
    tree = Tree()
    for leaf in leaves:
        tree.add(leaf)
    return tree.root()


def root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Return the root that a leaf and its path, lowest first, lead to; RFC 9162, section 2.1.3."""
    if not 0 <= index < size:
        raise DifferenceError(f"leaf {index} is not in a tree of {size}")
    beside = iter(path)

    def node(index: int, size: int) -> bytes:
        if size == 1:
            return hashlib.sha256(LEAF + leaf).digest()
        split = split_of(size)
        if index < split:
            return inner(node(index, split), next(beside, b""))
        right = node(index - split, size - split)
        return inner(next(beside, b""), right)

    root = node(index, size)
    if next(beside, None) is not None:
        raise DifferenceError("the path is too long")
    return root


def split_of(size: int) -> int:
    """Return the largest power of two below `size`."""
    return 1 << ((size - 1).bit_length() - 1)


def inner(left: bytes, right: bytes) -> bytes:
    """Return the node over two nodes."""
    return hashlib.sha256(INNER + left + right).digest()


class JournalCheck:
    """Walks through the lines of a journal.

    problems: what is wrong.  mark: events, link and root after the commit that is watched.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.link, self.tree = FIRST_LINK, Tree()
        self.commits = self.rows = self.erased = self.version = 0
        self._columns: dict[str, Columns] = {}
        self._accepted = -(2**63)
        self._left_events = 0
        self._commit: Mapping[str, Any] = {}
        self._wanted: tuple[str, str, bytes, int] | None = None
        self._digests: list[bytes] = []
        self._numbers: dict[str, int] = {}
        self._gone: dict[tuple[int, str], list[tuple[int, int, bytes]]] = {}
        self.mark: tuple[int, str, str] | None = None
        self._watched: int | None = None
        self._is_ended = False

    def check(self, lines: Iterator[str], watched: int | None = None) -> None:
        """Check all lines.  watched: a graph version whose mark is to be kept.  Raises ValueError."""
        self._watched = watched
        for number, text in enumerate(lines, 1):
            try:
                self._take(json.loads(text), number)
            except (LookupError, TypeError, AttributeError, struct.error) as cause:
                raise ValueError(f"line {number}: {cause!r}") from cause
        if not self._is_ended:
            self._say("the end is missing: the journal is cut off")

    def _say(self, problem: str) -> None:
        if len(self.problems) < MOST_NAMED:
            self.problems.append(problem)

    def _take(self, line: Mapping[str, Any], number: int) -> None:
        if number == 1:
            if line.get("amos_journal") != 1:
                raise ValueError("this is no journal of format 1")
            self._columns = line["tables"]
        elif self._is_ended:
            self._say(f"line {number}: something follows the end")
        elif "row" in line or "erased" in line:
            self._take_row(line, number)
        elif "event" in line:
            self._take_event(line["event"], number)
        elif "commit" in line:
            self._take_commit(line, number)
        elif "end" in line:
            self._take_end(line["end"])
        else:
            self._say(f"line {number}: unknown")

    def _take_commit(self, line: Mapping[str, Any], number: int) -> None:
        self._finish_commit()
        if line["commit"] != self.version + 1:
            self._say(f"line {number}: commit {line['commit']} follows commit {self.version}")
        if line["accepted_us"] < self._accepted:
            self._say(f"commit {line['commit']}: accepted before the commit below it")
        self.commits += 1
        self.version, self._accepted = line["commit"], line["accepted_us"]
        self._commit, self._left_events, self._numbers = line, line["event_count"], {}

    def _finish_commit(self) -> None:
        """Check what a commit says after its last event and row."""
        self._finish_event()
        if self._left_events:
            self._say(f"commit {self.version}: {self._left_events} events are missing")
            self._left_events = 0
        if self._commit and bytes.fromhex(self._commit["link"]) != self.link:
            self._say(f"commit {self.version}: the running link differs")
            self.link = bytes.fromhex(self._commit["link"])
        if self.version == self._watched:
            self.mark = self.tree.size, self.link.hex(), self.tree.root().hex()
        self._commit = {}

    def _take_event(self, event: Mapping[str, Any], number: int) -> None:
        self._finish_event()
        where = f"event {self.tree.size + 1}, commit {self.version}"
        if self._left_events == 0:
            self._say(f"line {number}: an event that its commit does not count")
        self._left_events = max(self._left_events - 1, 0)
        found = event_checksum(self._columns["events"], event)
        if found.hex() != event["checksum"]:
            self._say(f"{where}: its checksum differs from its columns")
        if event["previous_event_hash"] != self.link.hex():
            self._say(f"{where}: the link before it differs")
        self._compare(event, where)
        self.link = hashlib.sha256(self.link + found).digest()
        self.tree.add(found)
        payload = json.loads(event["payload"])
        if "rows" in payload:
            self._wanted = (
                payload["table"],
                event["payload"],
                bytes.fromhex(event["payload_digest"]),
                payload["rows"],
            )
        elif event["event_type"] in TAKING and "table" in payload:
            self._check_taking(event, payload, where)
        self._finish_event(is_early=True)

    def _compare(self, event: Mapping[str, Any], where: str) -> None:
        """Say what an event and its commit both state, and state differently."""
        run = json.loads(event["authorization_context"]).get("run")
        pairs = (
            ("version", event["version"], self.version),
            ("time", event["accepted_at"], self._commit.get("accepted_us")),
            ("skew", event["accepted_at"] - event["occurred_at"], self._commit.get("skew_us")),
            ("actor", event["actor"], self._commit.get("actor")),
            ("operation", json.loads(event["payload"]).get("operation"), self._commit.get("operation")),
            ("run", run, run if run is None else self._commit.get("run_id")),
        )
        differing = [name for name, stated, logged in pairs if stated != logged]
        if differing:
            self._say(f"{where}: {', '.join(differing)} differ from its commit")

    def _check_taking(self, event: Mapping[str, Any], payload: Mapping[str, Any], where: str) -> None:
        waiting = sorted(self._gone.pop((self.version, payload["table"]), []))
        count = payload.get("erased", len(waiting))
        root = root_of([digest for _, _, digest in waiting[:count]])
        if hashlib.sha256(event["payload"].encode() + root).hexdigest() != event["payload_digest"]:
            self._say(f"{where}: the rows that are gone are not those that it took")
        if waiting[count:]:
            self._gone[self.version, payload["table"]] = waiting[count:]

    def _take_row(self, line: Mapping[str, Any], number: int) -> None:
        table, version, place = line.get("row") or line["erased"]
        if self._wanted is None or self._wanted[0] != table or version != self.version:
            self._say(f"line {number}: a row of {table}, commit {version}, that no event promises here")
            return
        if place != self._numbers.get(table, 0):
            self._say(
                f"line {number}: row {place} of {table} where {self._numbers.get(table, 0)} should stand"
            )
        self._numbers[table] = self._numbers.get(table, 0) + 1
        self.rows += 1
        if "row" in line:
            digest = commitment(table, bytes.fromhex(line["salt"]), self._columns[table], line["values"])
        else:
            digest = bytes.fromhex(line["commitment"])
            self.erased += 1
            self._gone.setdefault((line["erased_by"], table), []).append((version, place, digest))
        self._digests.append(digest)
        self._finish_event(is_early=True)

    def _finish_event(self, *, is_early: bool = False) -> None:
        """Compare the rows of an event with what it promised, once all are there."""
        if self._wanted is None or (is_early and len(self._digests) < self._wanted[3]):
            return
        table, payload, digest, rows = self._wanted
        where = f"event {self.tree.size}, commit {self.version}"
        if len(self._digests) != rows:
            self._say(f"{where}: {len(self._digests)} rows of {table}, it promised {rows}")
        elif hashlib.sha256(payload.encode() + root_of(self._digests)).digest() != digest:
            self._say(f"{where}: its rows of {table} are not those that it promised")
        self._wanted, self._digests = None, []

    def _take_end(self, end: Mapping[str, Any]) -> None:
        self._finish_commit()
        self._is_ended = True
        for (version, table), rows in sorted(self._gone.items()):
            self._say(f"{len(rows)} rows of {table} are gone in commit {version}, and no event says so")
        said = {"graph_version": self.version, "events": self.tree.size, "rows": self.rows}
        said |= {"link": self.link.hex(), "root": self.tree.root().hex()}  # type: ignore[dict-item]
        for name, found in said.items():
            if end[name] != found:
                self._say(f"the end says {name} {end[name]}, found {found}")


def check_proof(proof: Mapping[str, Any]) -> str:
    """Return the root of the tree that a proof leads to.  Raises DifferenceError where it leads nowhere."""
    row, event, columns = proof["row"], proof["event"], proof["columns"]
    found = bytes.fromhex(row["commitment"])
    if "values" in row:
        salt = bytes.fromhex(row["salt"])
        if commitment(proof["table"], salt, columns[proof["table"]], row["values"]) != found:
            raise DifferenceError("the row is not the one of its commitment")
    inside = proof["in_event"]
    root = root_from_path(found, inside["index"], inside["size"], _digests(inside["path"]))
    if hashlib.sha256(event["payload"].encode() + root).hexdigest() != event["payload_digest"]:
        raise DifferenceError("the row is not among those of the event")
    payload = json.loads(event["payload"])
    if payload["table"] != proof["table"] or event["version"] != row["graph_version"]:
        raise DifferenceError("the event is about other rows")
    within = proof["in_tree"]
    leaf = event_checksum(columns["events"], event)
    top = root_from_path(leaf, within["index"], within["size"], _digests(within["path"]))
    if top.hex() != proof["root"]:
        raise DifferenceError("the event is not in the tree of this root")
    return top.hex()


def _digests(path: Sequence[str]) -> list[bytes]:
    return [bytes.fromhex(node) for node in path]


def _journal(path: Path, checkpoint: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what is wrong with a journal; the last line, which begins with `ok`, when nothing is."""
    check = JournalCheck()
    with path.open(encoding="utf-8") as stream:
        check.check(stream, None if checkpoint is None else checkpoint["graph_version"])
    yield from check.problems
    said = None if checkpoint is None else tuple(checkpoint[name] for name in ("event_count", "link", "root"))
    if said is not None and said[0] and check.mark != said:
        yield "the history is not the continuation of the checkpoint"
    elif not check.problems:
        counts = (
            f"{check.commits} commits, {check.tree.size} events, {check.rows} rows, {check.erased} erased"
        )
        end = f"graph version {check.version}, link {check.link.hex()}, root {check.tree.root().hex()}"
        yield f"ok: {counts}; {end}"


def _proof(proof: Mapping[str, Any], checkpoint: Mapping[str, Any] | None) -> Iterator[str]:
    root, row = check_proof(proof), proof["row"]
    found = proof["in_tree"]["size"], root
    if checkpoint is not None and checkpoint["event_count"] != found[0]:
        yield f"the proof was taken at {found[0]} events, the checkpoint at {checkpoint['event_count']}"
    elif checkpoint is not None and checkpoint["root"] != root:
        yield "the checkpoint is of another history"
    else:
        yield f"ok: {proof['ref']} is row {row['row_number']} of commit {row['graph_version']}; root {root}"


def _checked(path: Path, checkpoint: Mapping[str, Any] | None) -> Iterator[str]:
    with path.open(encoding="utf-8") as stream:
        first = stream.readline()
    if '"amos_journal"' in first[:80]:
        return _journal(path, checkpoint)
    return _proof(json.loads(path.read_text(encoding="utf-8")), checkpoint)


def _read(path: Path | None) -> Mapping[str, Any] | None:
    return None if path is None else dict(json.loads(path.read_text(encoding="utf-8")))


def main(words: Sequence[str] | None = None) -> int:
    """Check the file that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description="Check an exported journal or proof of Amos.")
    parser.add_argument("file", type=Path, help="journal or proof")
    parser.add_argument("--checkpoint", type=Path, help="a checkpoint that the file must agree with")
    given = parser.parse_args(words)
    try:
        lines = list(_checked(given.file, _read(given.checkpoint)))
    except DifferenceError as difference:
        lines = [str(difference)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as cause:
        sys.stderr.write(f"{given.file}: {cause!r}\n")
        return 2
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0 if lines and lines[-1].startswith("ok: ") else 1


if __name__ == "__main__":
    sys.exit(main())
