"""Replace keys that are digests of texts by keyed ones, where a text that they cover was forgotten.

Formats without ids chain digests: a message's key covers all texts before it.  Whoever knows the rest of such
a conversation could test a guess about a forgotten message on the keys of the later ones.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.identity import conversation_identity, keyed_id, source_identity
from amos.journal.store import Snapshot
from amos.schemas.choosing import with_column
from amos.schemas.columns import ID

_DIGEST = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{32})(?![0-9a-f])")
_PATTERN = "(^|[^0-9a-f])([0-9a-f]{64}|[0-9a-f]{32})($|[^0-9a-f])"
_KEYED = "k-"
Renewed = dict[bytes, tuple[bytes, bytes, bytes]]
"""By source id: conversation id, and the first halves of the identities of conversation and source."""


def holds_digest(column: pa.ChunkedArray) -> np.ndarray:
    """Return which keys hold a digest."""
    found = pc.fill_null(pc.match_substring_regex(column, _PATTERN), False)
    mask: np.ndarray = found.to_numpy(zero_copy_only=False)
    return mask


def keyed_text(text: str, key: bytes) -> str:
    """Return `text` with every digest in it replaced by a keyed one, which looks different."""

    def replace(match: re.Match[str]) -> str:
        digest = hmac.digest(key, b"amos/rekey/1\x00" + match.group().encode(), "sha256")
        return _KEYED + base64.b32encode(digest[:16]).decode().rstrip("=").lower()

    return _DIGEST.sub(replace, text)


def is_keyed(name: str) -> bool:
    """Return whether a record's key was replaced: its sources keep ids that rest on the one before."""
    return name.startswith(_KEYED)


def _mapped(column: pa.ChunkedArray, change: Callable[[str], str]) -> pa.Array:
    return pa.array([None if text is None else change(text) for text in column.to_pylist()], pa.string())


def rekeyed_raw(snapshot: Snapshot, raw: pa.Table, key: bytes) -> pa.Table:
    """Return RAW rows with keyed keys, except in conversations that are stored with plain ones."""
    hit = holds_digest(raw["record_key"]) | holds_digest(raw["conversation_key"])
    if not hit.any():
        return raw
    names = zip(raw["format"].to_pylist(), raw["conversation_key"].to_pylist(), strict=True)
    talks = [keyed_id(key, "conversations", conversation_identity(*one)) for one in names]
    known = snapshot.lookup("conversations", "conversation_id", pa.array(talks, ID), ["conversation_id"])
    plain = set(known["conversation_id"].to_pylist())
    changes = [one and talk not in plain for one, talk in zip(hit.tolist(), talks, strict=True)]
    for name in ("record_key", "conversation_key", "reply_to"):
        changed = pc.if_else(
            pa.array(changes), _mapped(raw[name], lambda text: keyed_text(text, key)), raw[name]
        )
        raw = with_column(raw, name, changed)
    return raw


def chained_talks(rows: pa.Table) -> pa.Array:
    """Return the conversations of those source rows whose key is a digest."""
    return (
        rows["conversation_id"].filter(pa.array(holds_digest(rows["delivery_key"]))).combine_chunks().unique()
    )


def rekeyed_talks(rows: pa.Table, key: bytes) -> tuple[pa.Table, dict[bytes, tuple[bytes, str]]]:
    """Return conversation rows under keyed keys, as new ones, and by old id their new id and key."""
    names: dict[bytes, tuple[bytes, str]] = {}
    columns = (rows[name].to_pylist() for name in ("conversation_id", "format", "conversation_key"))
    for old, form, plain in zip(*columns, strict=True):
        renewed = keyed_text(plain, key)
        names[old] = keyed_id(key, "conversations", conversation_identity(form, renewed)), renewed
    olds = rows["conversation_id"].to_pylist()
    rows = with_column(rows, "conversation_id", pa.array([names[old][0] for old in olds], ID))
    rows = with_column(rows, "conversation_key", pa.array([names[old][1] for old in olds], pa.string()))
    return rows, names


def rekeyed_sources(
    rows: pa.Table, names: dict[bytes, tuple[bytes, str]], key: bytes
) -> tuple[pa.Table, Renewed]:
    """Return source rows under keyed keys, and what their candidates must name from now on."""
    talks = rows["conversation_id"].to_pylist()
    for name in ("delivery_key", "reply_to"):
        rows = with_column(rows, name, _mapped(rows[name], lambda text: keyed_text(text, key)))
    rows = with_column(rows, "conversation_id", pa.array([names[talk][0] for talk in talks], ID))
    columns = (rows[name].to_pylist() for name in ("source_id", "format", "delivery_key", "block"))
    renewed: Renewed = {}
    for talk, source, form, record, block in zip(talks, *columns, strict=True):
        order = conversation_identity(form, names[talk][1])[:16]
        renewed[source] = names[talk][0], order, source_identity(form, record, block)[:16]
    return rows, renewed


def recited(candidates: pa.Table, renewed: Renewed) -> pa.Table:
    """Return candidates that name what `renewed` says of their sources."""
    sources = candidates["source_id"].to_pylist()
    for place, name in enumerate(("conversation_id", "conversation_order", "order_key")):
        held = candidates[name].to_pylist()
        values = [
            renewed[source][place] if source in renewed else one
            for source, one in zip(sources, held, strict=True)
        ]
        candidates = with_column(candidates, name, pa.array(values, ID))
    return candidates


def names_talk(candidates: pa.Table) -> np.ndarray:
    """Return which candidates are bound to a conversation by a key that is a digest."""
    bound = pc.match_substring(candidates["payload"], '"conversation":')
    mask: np.ndarray = bound.to_numpy(zero_copy_only=False) & holds_digest(candidates["payload"])
    return mask
