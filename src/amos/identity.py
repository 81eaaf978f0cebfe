"""Ids: keyed 16-byte digests inside the store, `prefix_base32` text at the rim.

An id is the first 16 bytes of HMAC-SHA256 under the shard's erasure key over
`amos/1/<table>`, a zero byte and the row's *unkeyed identity*; the identity itself is the
SHA-256 of length-prefixed parts.  Without the key an id confirms no guess about content.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from amos.errors import UsageError

ID_BYTES = 16
_TEXT_CHARS = 26
_SHORTEST_PREFIX = 6
_REFERENCES_ADVICE = "Use `amos list` for references; their first characters are enough."

PREFIXES = {
    "sources": "src",
    "conversations": "cnv",
    "candidates": "can",
    "decisions": "dec",
    "events": "evt",
    "atoms": "atm",
    "edges": "edg",
    "entities": "ent",
    "lineage": "lin",
    "disputes": "dsp",
    "echoes": "ech",
    "outcomes": "out",
    "feedback": "fbk",
    "mentions": "mtn",
    "tombstones": "tmb",
    "holds": "hld",
    "runs": "run",
    "packets": "pkt",
}
TABLES = {prefix: table for table, prefix in PREFIXES.items()}


_KNOWN = 1 << 12
"""Whom many claims are about is told once."""


def unkeyed_identity(parts: Iterable[bytes | str | int | None]) -> bytes:
    """Return the 32-byte digest of `parts`, each length-prefixed so that none can merge."""
    pieces = []
    for part in parts:
        if part is None:
            pieces.append(b"\x00")
            continue
        raw = part if isinstance(part, bytes) else str(part).encode()
        pieces.append(b"\x01%b%b" % (len(raw).to_bytes(4, "little"), raw))
    return hashlib.sha256(b"".join(pieces)).digest()


def keyed_id(key: bytes, table: str, identity: bytes) -> bytes:
    """Return the 16-byte id of `identity` in `table` under the shard's `key`."""
    return hmac.digest(key, b"amos/1/" + table.encode() + b"\x00" + identity, "sha256")[:ID_BYTES]


Scope = tuple[str | None, ...]
"""Scope of what is claimed: project, user, agent, task, tool environment; see CLAIM_SCOPE."""

CLAIM_SCOPE = ("scope_project", "scope_user", "scope_agent", "scope_task", "scope_tool_environment")
"""Scope columns that belong to a claim; the session only says where it was said."""


def source_identity(source_format: str, delivery_key: str, block: int) -> bytes:
    """Return the 32-byte unkeyed identity of one content block of one delivery."""
    return unkeyed_identity(("source", source_format, delivery_key, block))


def conversation_identity(source_format: str, conversation_key: str) -> bytes:
    """Return the 32-byte unkeyed identity of a conversation."""
    return unkeyed_identity(("conversation", source_format, conversation_key))


@lru_cache(maxsize=_KNOWN)
def author_identity(scope: Scope, author: str, is_owner: bool) -> bytes:
    """Return the 32-byte unkeyed identity of an author's entity.

    An owner whom the format calls nothing but `user` is the same in every format of the scope; a
    name stays its own identity: two entities too many are better than one too few.  See `plain_name` for
    what is one name.
    """
    is_nameless = is_owner and author in NAMELESS
    name = None if is_nameless else plain_name(author) or UNNAMED
    return unkeyed_identity(("entity", "author", name, *scope))


UNNAMED = "unknown"
"""What an author is called whom no format names."""
_UNSEEN = dict.fromkeys(
    (0x00AD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
)
"""Characters that show nothing: exports put some around names, and between words that may break."""


def plain_name(name: str) -> str:
    """Return the name of an author as it reads, so that one name in two encodings is one author.

    Composed letters, single spaces, no character that shows nothing; case and letters stay.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", name.translate(_UNSEEN))
    return " ".join(name.split())


NAMELESS = ("user", UNNAMED)
"""Author words that name nobody."""


@lru_cache(maxsize=_KNOWN)
def subject_identity(scope: Scope, kind: str, name: str, owner: bytes | None) -> bytes:
    """Return the 32-byte unkeyed identity of an entity that is no author."""
    return unkeyed_identity(("entity", kind, name, owner, *scope))


def slot_identity(subject: bytes, holder_property: str, scope: Scope, applicability: str | None) -> bytes:
    """Return the 32-byte unkeyed slot key of a property of a subject."""
    return unkeyed_identity(("slot", subject, holder_property, applicability, *scope))


def statement_slot_identity(subject: bytes, statement: str, scope: Scope, applicability: str | None) -> bytes:
    """Return the 32-byte unkeyed slot key of a statement without a property."""
    return unkeyed_identity(("statement", subject, statement, applicability, *scope))


def claim_identity(slot: bytes, polarity: str, kind: str, canonical: str) -> bytes:
    """Return the 32-byte unkeyed claim id: slot, polarity class and normalised value."""
    return unkeyed_identity(("claim", slot, polarity, kind, canonical))


def history_identity(slot: bytes, arity: str, kind: str, canonical: str) -> bytes:
    """Return the 32-byte identity of the history that decides a claim: its slot, or slot and value."""
    return slot if arity == "single" else unkeyed_identity(("history", slot, kind, canonical))


def candidate_identity(source: bytes, spans: Iterable[int], extractor: str, claim: bytes) -> bytes:
    """Return the 32-byte unkeyed identity of a candidate."""
    return unkeyed_identity(("candidate", source, ",".join(map(str, spans)), extractor, claim))


def random_id() -> bytes:
    """Return a fresh random 16-byte id (events, runs, packets)."""
    return os.urandom(ID_BYTES)


@lru_cache(maxsize=65_536)
def id_text(table: str, identifier: bytes) -> str:
    """Return the printed form, for example `atm_` and 26 characters of base32."""
    body = base64.b32encode(identifier).decode().rstrip("=").lower()
    return f"{PREFIXES[table]}_{body}"


def parse_ref(ref: str) -> tuple[str, str]:
    """Split a printed reference into (table, base32 prefix of 6 to 26 characters).

    Raises UsageError when the prefix is unknown or the rest too short or not base32.
    """
    prefix, _, body = ref.strip().lower().partition("_")
    table = TABLES.get(prefix)
    if table is None:
        known = ", ".join(f"{name}_" for name in sorted(TABLES))
        raise UsageError(
            f"{ref!r} is no reference: it starts with none of {known}", path=ref, advice=_REFERENCES_ADVICE
        )
    if not _SHORTEST_PREFIX <= len(body) <= _TEXT_CHARS or set(body) - set(
        "abcdefghijklmnopqrstuvwxyz234567"
    ):
        raise UsageError(
            f"{ref!r} needs {_SHORTEST_PREFIX} to {_TEXT_CHARS} base32 characters after the underscore",
            path=ref,
            advice=_REFERENCES_ADVICE,
        )
    return table, body


def read_id(ref: str) -> tuple[str, bytes]:
    """Return table and 16-byte id of a whole printed reference.  Raises UsageError for any other text."""
    table, body = parse_ref(ref)
    if len(body) != _TEXT_CHARS:
        raise UsageError(f"{ref!r} is no whole reference", path=ref, advice=_REFERENCES_ADVICE)
    return table, base64.b32decode(body.upper() + "======")


def prefix_range(body: str) -> tuple[bytes, bytes]:
    """Return the inclusive (lowest, highest) 16-byte ids whose text starts with `body`."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    bits = 0
    for char in body:
        bits = bits << 5 | alphabet.index(char)
    width = ID_BYTES * 8
    used = 5 * len(body)
    if used >= width:
        value = (bits >> (used - width)).to_bytes(ID_BYTES, "big")
        return value, value
    low = bits << (width - used)
    high = low | ((1 << (width - used)) - 1)
    return low.to_bytes(ID_BYTES, "big"), high.to_bytes(ID_BYTES, "big")
