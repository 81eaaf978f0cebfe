"""Tell new deliveries from replays and from other texts under a key that is taken."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.evidence.capture import identify_sources
from amos.journal.store import Snapshot
from amos.schemas.columns import ID
from amos.schemas.vocabulary import EDITED_BY_TEXT, SourceFlag

_NAME_CHARS = 16


@dataclass(frozen=True, kw_only=True)
class Deliveries:
    """The fate of every block of a batch: fresh, linked, in conflict with a stored one, or forgotten."""

    raw: pa.Table
    source_ids: pa.Array
    fresh: NDArray[np.int64]
    linked: NDArray[np.int64]
    conflicts: pa.Table
    conflict_rows: NDArray[np.int64]
    forgotten: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def fates(self) -> Counter[str]:
        """Return records by fate; a record with any new block is new, with any conflict refused."""
        locators = self.raw["locator"].combine_chunks().dictionary_encode()
        codes, count = locators.indices.to_numpy(), len(locators.dictionary)
        is_new = np.zeros(count, bool)
        is_refused = np.zeros(count, bool)
        is_new[codes[self.fresh]] = True
        is_refused[codes[self.conflict_rows]] = True
        is_refused[codes[self.forgotten]] = True
        may_retain = self.raw["may_retain"].to_numpy(zero_copy_only=False)
        if self.fresh.size == codes.size and may_retain.all():
            return Counter(new=count)
        withheld = np.zeros(count, bool)
        withheld[codes[~may_retain]] = True
        refused = (is_refused & ~is_new) | (withheld & is_new)
        new = int((is_new & ~refused).sum())
        return Counter(new=new, rejected=int(refused.sum()), linked=count - new - int(refused.sum()))


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """Blocks as delivered: RAW rows, their ids, their digests, and the source that each one revises."""

    raw: pa.Table
    source_ids: pa.Array
    digests: pa.Array
    revises: pa.Array


def name_edits(
    snapshot: Snapshot, raw: pa.Table, source_ids: pa.Array, digests: pa.Array, key: bytes
) -> Delivered:
    """Give every edit that its format marks an identity of its own, which revises the stored source.

    An edit is another text under a taken key, marked with a time after the one that was stored.  It
    counts as said when it was edited; an older export that comes late is no edit.
    """
    nothing = Delivered(
        raw=raw, source_ids=source_ids, digests=digests, revises=pa.nulls(len(source_ids), ID)
    )
    marked = np.flatnonzero(pc.is_valid(raw["revised_us"]).to_numpy(zero_copy_only=False))
    if marked.size == 0:
        return nothing
    wanted = source_ids.take(pa.array(marked))
    known = snapshot.lookup("sources", "source_id", wanted, ["source_id", "delivery_digest", "event_time"])
    times = known["event_time"].cast(pa.int64()).to_pylist()
    stored = {
        source: (digest, at)
        for source, digest, at in zip(
            known["source_id"].to_pylist(), known["delivery_digest"].to_pylist(), times, strict=True
        )
    }
    edits = _edits_among(raw, source_ids, digests, set(marked.tolist()), stored)
    if not edits:
        return nothing
    renamed = _renamed(raw, edits)
    old = source_ids.to_pylist()
    revises = [None] * len(old)
    for row in edits:
        revises[row] = old[row]
    return Delivered(
        raw=renamed,
        source_ids=identify_sources(renamed, key),
        digests=digests,
        revises=pa.array(revises, ID),
    )


def _edits_among(
    raw: pa.Table,
    source_ids: pa.Array,
    digests: pa.Array,
    marked: set[int],
    stored: dict[bytes, tuple[bytes, int | None]],
) -> list[int]:
    """Return the marked rows that are edits of what is stored, or of what came before in the batch."""
    ids = source_ids.to_pylist()
    wanted = {ids[row] for row in marked}
    columns = (ids, digests.to_pylist(), raw["event_us"].to_pylist(), raw["revised_us"].to_pylist())
    edits = []
    for row, (source, digest, event_us, revised_us) in enumerate(zip(*columns, strict=True)):
        if source not in wanted:
            continue
        held = stored.setdefault(source, (digest, event_us))
        is_later = held[1] is None or (revised_us is not None and revised_us > held[1])
        if row in marked and held[0] != digest and is_later:
            edits.append(row)
    return edits


def _renamed(raw: pa.Table, edits: list[int]) -> pa.Table:
    """Return `raw` with the edits' keys, times and flags."""
    chosen = np.zeros(raw.num_rows, np.bool_)
    chosen[edits] = True
    is_edit = pa.array(chosen)
    revised = raw["revised_us"]
    suffixed = pc.binary_join_element_wise(raw["record_key"], _edit_names(raw, is_edit), "@")
    edited = pc.bit_wise_or(raw["flags"], pa.scalar(int(SourceFlag.EDITED), pa.int32()))
    changes = {
        "record_key": pc.if_else(is_edit, suffixed, raw["record_key"]),
        "event_us": pc.if_else(is_edit, revised, raw["event_us"]),
        "event_text": pc.if_else(is_edit, pa.scalar(None, pa.string()), raw["event_text"]),
        "flags": pc.if_else(is_edit, edited, raw["flags"]),
    }
    for name, column in changes.items():
        field = raw.schema.field(name)
        raw = raw.set_column(raw.schema.get_field_index(name), field, column.cast(field.type))
    return raw


def _edit_names(raw: pa.Table, is_edit: pa.Array) -> pa.Array | pa.ChunkedArray:
    """Return what tells the edits of a record apart: their time, or their text where a copy has another."""
    named = raw["revised_us"].cast(pa.string())
    by_text = pc.and_(is_edit, pc.is_in(raw["format"], value_set=pa.array(sorted(EDITED_BY_TEXT))))
    if not pc.any(by_text).as_py():
        return named
    rows = zip(named.to_pylist(), raw["text"].to_pylist(), by_text.to_pylist(), strict=True)
    names = [
        hashlib.sha256(text.encode()).hexdigest()[:_NAME_CHARS] if chosen else name
        for name, text, chosen in rows
    ]
    return pa.array(names, pa.string())


def without_forgotten(deliveries: Deliveries, refused: NDArray[np.bool_]) -> Deliveries:
    """Return the deliveries without those of `refused` (n,), which a tombstone keeps out."""
    if not refused.any():
        return deliveries
    stays_out = refused[deliveries.fresh]
    return replace(deliveries, fresh=deliveries.fresh[~stays_out], forgotten=deliveries.fresh[stays_out])


def sort_deliveries(
    snapshot: Snapshot, raw: pa.Table, source_ids: pa.Array, delivered: pa.Array
) -> Deliveries:
    """Tell fresh blocks from replays and conflicts, against the store and inside the batch."""
    known = snapshot.lookup("sources", "source_id", source_ids, ["source_id", "delivery_digest"])
    fresh, linked, rows = _sorted_rows(known, source_ids, delivered)
    conflicts = pa.table({"source_id": source_ids.take(rows), "delivery_digest": delivered.take(rows)})
    return Deliveries(
        raw=raw,
        source_ids=source_ids,
        fresh=fresh,
        linked=linked,
        conflicts=conflicts,
        conflict_rows=rows,
    )


def _sorted_rows(known: pa.Table, source_ids: pa.Array, delivered: pa.Array) -> tuple[NDArray[np.int64], ...]:
    """Return the rows that are fresh, linked and refused, given stored ids with their digests."""
    if known.num_rows == 0 and len(source_ids.unique()) == len(source_ids):
        nothing = np.zeros(0, np.int64)
        return np.arange(len(source_ids), dtype=np.int64), nothing, nothing
    stored = dict(zip(known["source_id"].to_pylist(), known["delivery_digest"].to_pylist(), strict=True))
    fresh: list[int] = []
    linked: list[int] = []
    refused: list[int] = []
    for row, (source, digest) in enumerate(zip(source_ids.to_pylist(), delivered.to_pylist(), strict=True)):
        held = stored.get(source)
        if held is None:
            stored[source] = digest
            fresh.append(row)
        elif held == digest:
            linked.append(row)
        else:
            refused.append(row)
    return np.array(fresh, np.int64), np.array(linked, np.int64), np.array(refused, np.int64)
