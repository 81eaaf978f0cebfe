"""What the index keeps of each row: ids, order, holder, time, trust and scope as NumPy columns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.identity import plain_name
from amos.schemas.buffers import column_arrays
from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.cuts import erased
from amos.schemas.state import OPEN_UNTIL
from amos.schemas.vocabulary import MemoryClass, Outcome, Reason, Role, Trust

Array = npt.NDArray[Any]
Rows = Mapping[str, Array]
"""Equally long columns; `id` is S16.  A key that ends in `_at` is a CSR: its values follow in `_values`."""

UNKNOWN_US = -(2**63)
"""Stands for an unknown time."""
NO_ID = b""
"""An S16 cell without an id: sixteen zero bytes."""

TRUSTS = tuple(Trust)
ROLES = tuple(Role)
KINDS = ("text", "thinking", "tool_use", "tool_result", "attachment", "caption", "code", "record")
LIFECYCLES = ("proposed", "active", "archived", "tombstoned", "deleted")
OTHER = 255
"""A word outside its closed list."""
ERASED = 1 << 30
"""Bit of `flags`, beside those of `SourceFlag`: nothing that was said is left of the text."""

_SCOPE_COLUMNS = tuple(f"scope_{name}" for name in SCOPE_NAMES)
_SOURCE_WORDS = """
source_id revision format delivery_key block kind role trust author author_id is_owner event_time
ingest_time conversation_id session turn flags
"""
_ATOM_WORDS = """
atom_id version type memory_class subject_id slot_id payload polarity lifecycle_state health_status
intervals spans observed_at source_id confidence_ppm
"""
SOURCE_COLUMNS = (*_SOURCE_WORDS.split(), *_SCOPE_COLUMNS)
ATOM_COLUMNS = (*_ATOM_WORDS.split(), *_SCOPE_COLUMNS)
DECISION_COLUMNS = ("decision_id", "version", "source_id", "outcome", "reasons", "atom_id")

_MIX = np.uint64(0x9E3779B97F4A7C15)


def text_hash(text: str) -> int:
    """Return the 64-bit number that stands for a text; never 0, which stands for null."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") or 1


def mixed(left: Array, right: Array) -> Array:
    """Return one well-spread uint64 per pair; `left` and `right` are uint64."""
    value = left ^ (right * _MIX)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def ids_of(column: pa.ChunkedArray) -> Array:
    """Return binary(16) cells as S16; null is NO_ID."""
    if column.null_count:
        column = pc.fill_null(column, bytes(16))
    arrays = column_arrays(column)
    assert arrays.offsets is not None
    low, high = int(arrays.offsets[0]), int(arrays.offsets[-1])
    return np.ascontiguousarray(arrays.values[low:high]).view("S16")


def id_array(ids: Array) -> pa.Array:
    """Return S16 ids as binary(16); NO_ID becomes null."""
    present = np.packbits(ids != NO_ID, bitorder="little").tobytes()
    buffers = [pa.py_buffer(present), pa.py_buffer(np.ascontiguousarray(ids).tobytes())]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(ids), buffers)


def _by_distinct(column: pa.ChunkedArray, number: Callable[[str], int], dtype: Any, null: int) -> Array:
    """Return `number(value)` per cell, computed once per distinct value."""
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(array, pa.ChunkedArray):
        return np.zeros(0, dtype)
    coded = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
    table = np.array([number(value) for value in coded.dictionary.to_pylist()] + [null], dtype)
    indices = coded.indices.fill_null(len(table) - 1)
    return table[indices.to_numpy(zero_copy_only=False)]


def hashes_of(column: pa.ChunkedArray) -> Array:
    """Return `text_hash` per cell, 0 for null."""
    return _by_distinct(column, text_hash, np.uint64, 0)


def _words_of(column: pa.ChunkedArray, words: tuple[str, ...]) -> Array:
    known = {word: number for number, word in enumerate(words)}
    return _by_distinct(column, lambda word: known.get(word, OTHER), np.uint8, OTHER)


def times_of(column: pa.ChunkedArray) -> Array:
    """Return microseconds since 1970, UNKNOWN_US for null."""
    arrays = column_arrays(column)
    values = arrays.values.astype(np.int64)
    return values if arrays.valid is None else np.where(arrays.valid, values, UNKNOWN_US)


def _ints_of(column: pa.ChunkedArray, dtype: Any) -> Array:
    return column_arrays(column).values.astype(dtype)


def _scopes(table: pa.Table) -> dict[str, Array]:
    return {f"scope_{name}": hashes_of(table[f"scope_{name}"]) for name in SCOPE_NAMES}


def latest(table: pa.Table, key: str, version: str) -> pa.Table:
    """Return the row of the highest version per id, in the order of the ids."""
    ids, versions = ids_of(table[key]), _ints_of(table[version], np.int64)
    order = np.lexsort((versions, ids))
    ordered = ids[order]
    is_last = np.ones(len(ordered), bool)
    is_last[:-1] = ordered[1:] != ordered[:-1]
    return table.take(pa.array(order[is_last]))


def turn_rows(sources: pa.Table) -> Rows:
    """Return the index columns of rows of SOURCE_COLUMNS and `content`, one version per id."""
    is_erased = erased(sources["content"]).to_numpy(zero_copy_only=False).astype(bool)
    record = hashes_of(sources["delivery_key"])
    message = mixed(record, hashes_of(sources["format"]))
    block = _ints_of(sources["block"], np.int32)
    conversation = ids_of(sources["conversation_id"]).view(">u8").reshape(-1, 2)[:, 0].astype(np.uint64)
    return {
        "id": ids_of(sources["source_id"]),
        "message": message,
        "tie": mixed(message, block.astype(np.uint64)),
        "conversation": conversation,
        "session": mixed(conversation, hashes_of(sources["session"])),
        "turn": _ints_of(sources["turn"], np.int64),
        "block": block,
        "holder": _by_distinct(sources["author"], lambda name: text_hash(plain_name(name)), np.uint64, 0),
        "is_owner": _ints_of(sources["is_owner"], np.uint8),
        "event_us": times_of(sources["event_time"]),
        "ingest_us": times_of(sources["ingest_time"]),
        "trust": _words_of(sources["trust"], TRUSTS),
        "role": _words_of(sources["role"], ROLES),
        "kind": _words_of(sources["kind"], KINDS),
        "flags": np.where(is_erased, ERASED, 0).astype(np.int32) | _ints_of(sources["flags"], np.int32),
        **_scopes(sources),
    }


def atom_rows(atoms: pa.Table, statements: list[str], names: list[str], owners: list[bool]) -> Rows:
    """Return the index columns of ATOM_COLUMNS rows, one version per id.

    statements, names, owners: per row the rendered claim, its subject, and whether that is the owner.
    """
    intervals = column_arrays(atoms["intervals"])
    assert intervals.offsets is not None
    low, high = int(intervals.offsets[0]), int(intervals.offsets[-1])
    ends = intervals.values[low:high].astype(np.int64)
    is_event = pc.equal(atoms["memory_class"], MemoryClass.EPISODE.value).to_numpy().astype(bool)
    # what happened stays true when it is over
    ends[1::2][np.repeat(is_event, np.diff(intervals.offsets) // 2)] = OPEN_UNTIL
    distinct = {name: text_hash(name) for name in dict.fromkeys(names)}
    kinds = atoms["type"].to_pylist()
    return {
        "id": ids_of(atoms["atom_id"]),
        "tie": np.array(
            [text_hash(f"{a}\x00{b}") for a, b in zip(kinds, statements, strict=True)], np.uint64
        ),
        "type": hashes_of(atoms["type"]),
        "holder": np.array([distinct[name] for name in names], np.uint64),
        "is_owner": np.array(owners, np.uint8),
        "event_us": times_of(atoms["observed_at"]),
        "lifecycle": _words_of(atoms["lifecycle_state"], LIFECYCLES),
        "health": hashes_of(atoms["health_status"]),
        "confidence": _ints_of(atoms["confidence_ppm"], np.int32),
        "source": ids_of(atoms["source_id"]),
        "slot": ids_of(atoms["slot_id"]),
        "intervals_at": (intervals.offsets - low).astype(np.int64),
        "intervals_values": ends,
        **_scopes(atoms),
    }


def support_rows(decisions: pa.Table) -> Rows:
    """Return who supports what: one row per current decision.

    is_held: its candidate waits as a third party's sensitive claim.
    """
    outcomes = decisions["outcome"]
    waits = pc.equal(outcomes, Outcome.QUARANTINE.value).to_numpy(zero_copy_only=False).astype(bool)
    supports = pc.is_in(outcomes, pa.array([Outcome.COMMIT.value, Outcome.LINK.value]))
    reasons = column_arrays(decisions["reasons"])
    held = np.zeros(decisions.num_rows, np.uint8)
    if waits.any() and reasons.offsets is not None:
        lists = decisions["reasons"].take(pa.array(np.flatnonzero(waits))).to_pylist()
        held[waits] = [Reason.THIRD_PARTY_SENSITIVE.value in row for row in lists]
    atoms = ids_of(decisions["atom_id"]).copy()
    atoms[~supports.to_numpy(zero_copy_only=False).astype(bool)] = NO_ID
    return {
        "id": ids_of(decisions["decision_id"]),
        "source": ids_of(decisions["source_id"]),
        "atom": atoms,
        "is_held": held,
    }


def joined(parts: Iterable[Rows]) -> Rows:
    """Return the rows of all parts under each other, CSR columns included."""
    present = list(parts)
    result: dict[str, Array] = {}
    for name in present[0]:
        if not name.endswith("_at"):
            result[name] = np.concatenate([part[name] for part in present])
            continue
        widths = np.concatenate([np.diff(part[name]) for part in present])
        result[name] = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    return result


def picked(rows: Rows, chosen: Array) -> Rows:
    """Return the rows at positions `chosen`, in that order."""
    result: dict[str, Array] = {}
    for name, values in rows.items():
        if name.endswith("_at"):
            widths = np.diff(values)[chosen]
            starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
            within = np.arange(int(starts[-1])) - np.repeat(starts[:-1], widths)
            result[name] = starts
            base = name.removesuffix("_at") + "_values"
            result[base] = rows[base][np.repeat(values[:-1][chosen], widths) + within]
        elif not name.endswith("_values"):
            result[name] = values[chosen]
    return result


def row_count(rows: Rows) -> int:
    """Return how many rows there are."""
    return len(rows["id"])


def is_replaced(older: Rows, newer: Rows) -> Array:
    """Return (n,) bool: a row of `older` whose id occurs in `newer`."""
    if not row_count(newer):
        return np.zeros(row_count(older), bool)
    return np.isin(older["id"], newer["id"])
