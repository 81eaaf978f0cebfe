"""A small store with everything that a store can hold, and what it answers; for tests that edit it."""

import hashlib
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

import apsw
import pyarrow as pa

import amos.api
from amos.copies.store import note_copy
from amos.errors import EngineError
from amos.flow.digest import state_digest
from amos.journal.refusals import IdempotencyConflict
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.schemas.catalog import CopyEntry, Idempotency, text_digest
from amos.schemas.state import TABLES
from amos.storage.stamps import Stamps
from committed_rows import NOW, RUN
from households import HOUSEHOLD, line, write_lines

SHARD = Path("default/default")
_SETTINGS = ("integrity_check", "user_version", "application_id", "page_count", "freelist_count", "encoding")
_LOOK = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def make_full_store(folder):
    """Return the root of a store with sealed and hot rows, a snapshot, forgotten rows, texts and promises."""
    root = folder / "store"
    with amos.api.Store.create(root) as store:
        store.ingest(write_lines(folder / "notes.jsonl", *HOUSEHOLD))
        store.forget(_first_atom(store))
        used(store, folder)
        store.snapshot()
        store.ingest(write_lines(folder / "more.jsonl", line("late", "My favourite tea is Assam.", 19)))
        with store.shard.pin() as snapshot:
            dispute = snapshot.table("conversations").drop_columns(["salt", "graph_version", "row_number"])
        promised(store.shard, dispute)
        beside(store)
        store.ingest(write_lines(folder / "hot.jsonl", line("hot", "My favourite bird is the wren.", 21)))
        store.hold(_first_atom(store), reason="case_7")
    note_copy(root / SHARD, CopyEntry(bytes(16), "backup", 1, 1, "elsewhere"))
    settle(root)
    return root


def used(store, folder):
    """Let the store be worked with: people meant, a dispute, a decision, an echo, an outcome of a packet."""
    people = (
        "My sister Ana likes tea.",
        "She lives in Ghent.",
        "Tom likes jam.",
        "I like rye bread with butter.",
    )
    lines = [line(f"p{number}", text, 3 + number) for number, text in enumerate(people)]
    lines += [line(f"d{bay}", f"My bay number is {bay}.", 2, conversation=f"c{bay}") for bay in (4, 5)]
    store.ingest(write_lines(folder / "people.jsonl", *lines))
    store.capture({"prompt": "What now?", "response": "As you like rye bread with butter, bake one."})
    packet = store.packet("what do I like", record=True)
    claims = [item.atom_id for item in packet.items if item.atom_id]
    store.record_outcome(packet.packet_id, labels=["good"], used=claims[:1])
    store.decide("approve", store.review().rows[0]["ref"])


def promised(shard, conversations):
    """Commit something under an idempotency key, with a text."""
    from amos.journal.events import EventRows
    from amos.journal.snapshot import latest_rows

    latest = latest_rows(conversations["conversation_id"], conversations["version"])
    rows = conversations if latest is None else conversations.take(pa.array(latest))
    place = rows.schema.get_field_index("version")
    version = pa.array([number + 1 for number in rows["version"].to_pylist()], pa.int32())
    rows = rows.set_column(place, rows.schema.field("version"), version)
    shard.commit(
        [EventRows("evidence_captured", "conversations", rows)],
        base=shard.head,
        reads={},
        operation="retitle",
        actor="tester",
        run_id=RUN,
        now=NOW,
        idempotency=Idempotency("once", b"\x07" * 32),
        texts={text_digest("be kind"): ("policy", "be kind")},
    )


def beside(store):
    """Let the catalog keep a refused command, a lease and a replaced file."""
    store.forget(_first_atom(store), suppress=True)
    with suppress(IdempotencyConflict):
        store.shard.commit(
            [], base=store.shard.head, reads={}, operation="retitle", actor="tester", run_id=RUN, now=NOW,
            idempotency=Idempotency("once", b"\x08" * 32),
        )  # fmt: skip
    store.shard.release_lease(store.shard.take_lease("audit", now=NOW), now=NOW)
    store.ingest(write_lines(store.root.parent / "last.jsonl", line("last", "My favourite fish is cod.", 20)))
    store.forget(_first_atom(store), keep_evidence=True)
    store.compact(full=True)


def _first_atom(store):
    return store.list().rows[0]["atom_id"]


def settle(root):
    """Move what waits in write-ahead logs into their files."""
    for path in (root / SHARD).glob("*.sqlite"):
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    for path in (root / SHARD).glob("*.sqlite-*"):
        path.unlink()


def answers(root):
    """Return a digest of everything that the store tells: all rows at all versions, and what is found."""
    told = hashlib.sha256()
    with amos.api.Store.open(root, read_only=True) as store:
        for version in {store.shard.head, max(store.shard.retained_from, 1)}:
            with store.shard.pin(version) as snapshot:
                told.update(state_digest(snapshot).encode())
                for table in TABLES:
                    told.update(repr(snapshot.table(table).to_pylist()).encode())
        found = store.search("tea favourite station")
        told.update(repr(found.rows if hasattr(found, "rows") else found).encode())
    return told.hexdigest()


def is_named_or_harmless(root, expected):
    """Return whether verification reports an edit, or the store still answers the same."""
    try:
        with Shard.open(root, read_only=True) as shard:
            if not verify_shard(shard, is_deep=True, digest=state_digest).ok:
                return True
    except EngineError:
        return True
    finally:
        for path in (root / SHARD).glob("*.sqlite-*"):
            path.unlink()
    try:
        return answers(root) == expected
    finally:
        for path in (root / SHARD).glob("*.sqlite-*"):
            path.unlink()


def is_settled(root, path, before):
    """Return whether an edit of one file needs no check of the whole store to be told named or harmless.

    before: what `readings` returned for the file as it was.  A file of SQLite that is sound and of which
    every row, every count of pages and every setting reads the same is harmless, and so are stamps that can
    be read, since they are compared with files that are whole; other edits are named by single steps of
    verification: the digest of a segment, the structure of the catalog, its sums and its texts.
    """
    if path.name == "verified.sqlite":
        return isinstance(Stamps(root / SHARD)._load(), dict)
    if path.suffix == ".sqlite" and readings(path) == before:
        return True
    if path.suffix not in (".parquet", ".sqlite"):
        return False
    try:
        with Shard.open(root, read_only=True) as shard:
            if path.suffix == ".sqlite":
                return bool(shard.check_catalog() or shard.differing() or _changed_texts(shard))
            file = path.relative_to(root / SHARD).as_posix()
            named = next((entry for entry in shard.layout().segments if entry.file == file), None)
            if named is not None:
                shard.check_segment(named)
    except EngineError:
        return True
    finally:
        for left in (root / SHARD).glob("*.sqlite-*"):
            left.unlink()
    return False


def _changed_texts(shard):
    return [digest for digest, _, body in shard.texts() if text_digest(body) != digest]


def entries_of(root):
    """Return by file the segments that the catalog names."""
    with Shard.open(root, read_only=True) as shard:
        return {entry.file: entry for entry in shard.layout().segments}


def readings(path):
    """Return everything that SQLite reads from a sound file, None from a damaged one or another."""
    if path.suffix != ".sqlite":
        return None
    try:
        connection = apsw.Connection(f"file:{path}?mode=ro&immutable=1", flags=_LOOK)
        try:
            found = [connection.execute(f"PRAGMA {name}").fetchall() for name in _SETTINGS]
            found.append(connection.execute("SELECT * FROM sqlite_schema").fetchall())
            for _, name, _, _, is_keyed, _ in connection.execute("PRAGMA table_list").fetchall():
                what = "*" if is_keyed else "rowid, *"
                found.append(connection.execute(f"SELECT {what} FROM {name}").fetchall())
        finally:
            connection.close()
    except (apsw.Error, UnicodeDecodeError):
        return None
    return repr(found) if found[0] == [("ok",)] else None


def copied(root, folder):
    """Return a copy of a store."""
    return Path(shutil.copytree(root, folder / "copy"))
