"""Look for words in every byte of a store: files, pages of SQLite, log frames, blobs, segments, indexes."""

import hashlib
import re
from pathlib import Path

import apsw
import pyarrow as pa
import pyarrow.parquet as pq

from amos.identity import (
    author_identity,
    claim_identity,
    conversation_identity,
    slot_identity,
    source_identity,
    unkeyed_identity,
)

_WORD = re.compile(r"\w{4,}")


def traces_of(store, text):
    """Return where a word of `text` stands below the folder `store`, in any of its forms."""
    words = set(_WORD.findall(text))
    forms = {
        encoded
        for word in words
        for form in {word, word.casefold(), word.upper()}
        for encoded in (form.encode(), form.encode("utf-16-le"), form.encode("utf-16-be"))
    }
    found = []
    for path in sorted(Path(store).rglob("*")):
        if path.is_file():
            for where, content in contents(path):
                if any(form in content for form in forms):
                    found.append(f"{path.relative_to(store)}: {where}")
    return found


def contents(path):
    """Yield (where, bytes): the raw file, and everything that can be decoded from it."""
    raw = path.read_bytes()
    yield "raw bytes", raw
    if raw.startswith(b"SQLite format 3"):
        yield from pages(raw)
        yield from cells(path)
    if path.suffix == ".parquet":
        with pq.ParquetFile(path) as file:
            for name in file.schema_arrow.names:
                yield f"column {name}", flat(file.read(columns=[name]).column(name))
            yield "metadata", str(file.metadata).encode() + str(file.schema_arrow).encode()


def pages(raw):
    """Yield every page of a SQLite file, those of the free list too, and neighbours joined."""
    size = int.from_bytes(raw[16:18], "big")
    size = 65_536 if size == 1 else size
    free, trunk = [], int.from_bytes(raw[32:36], "big")
    while trunk:
        free.append(trunk)
        start = (trunk - 1) * size
        trunk = int.from_bytes(raw[start : start + 4], "big")
        count = int.from_bytes(raw[start + 4 : start + 8], "big")
        free += [int.from_bytes(raw[start + 8 + 4 * at : start + 12 + 4 * at], "big") for at in range(count)]
    for start in range(0, len(raw), size):
        kind = "free page" if start // size + 1 in free else "page"
        yield f"{kind} {start // size + 1}", raw[start : start + size]


def cells(path):
    """Yield every value of every table."""
    connection = apsw.Connection(
        f"file:{path}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in names:
        for row in connection.execute(f"SELECT * FROM {name}"):
            for value in row:
                yield f"table {name}", value if isinstance(value, bytes) else str(value).encode()
    connection.close()


def flat(column):
    """Return the values of a column end to end."""
    return b"\x00".join(_bytes(value) for value in column.to_pylist())


def _bytes(value):
    if isinstance(value, list):
        return b"\x00".join(map(_bytes, value))
    return value if isinstance(value, bytes) else str(value).encode()


def guesses(text, payloads, *, source=None, conversation=None):
    """Return the digests that somebody without a key can compute of what they guess was stored."""
    scope = (None,) * 5
    raw = [text.encode(), text.casefold().encode(), *(payload.encode() for payload in payloads)]
    found = {hashlib.sha256(one).digest() for one in raw}
    found |= {hashlib.sha1(one, usedforsecurity=False).digest() for one in raw}
    found |= {hashlib.md5(one, usedforsecurity=False).digest() for one in raw}
    author = author_identity(scope, "user", True)
    for held, kind, canonical in (("home city", "text", "zanzibar"),):
        slot = slot_identity(author, held, scope, None)
        found |= {slot, claim_identity(slot, "positive", kind, canonical), author}
    found |= {unkeyed_identity((one,)) for one in raw}
    if source:
        found.add(source_identity(*source))
    if conversation:
        found.add(conversation_identity(*conversation))
    return found


def confirmed(store, digests):
    """Return the places below `store`, its key apart, that hold one of `digests`, whole or its first half."""
    wanted = {digest[:16] for digest in digests}
    forms = wanted | {digest.hex().encode() for digest in wanted}
    found = []
    for path in sorted(Path(store).rglob("*")):
        if path.is_file() and not path.name.startswith("keys.sqlite"):
            for where, content in contents(path):
                if any(form in content for form in forms):
                    found.append(f"{path.relative_to(store)}: {where}")
    return found


def table_bytes(rows: pa.Table):
    """Return all values of a table."""
    return {name: flat(rows.column(name)) for name in rows.column_names}
