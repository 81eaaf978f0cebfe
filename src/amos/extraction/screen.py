"""Screen sources before anything is stored: secrets, requests to stay off the record, planted orders."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.extraction.screen_cuts import apply_cuts
from amos.extraction.screen_prefilter import holds_keys, needed_families, needed_families_of_json
from amos.extraction.screen_text import (
    EVERYTHING,
    Rules,
    copy_rules,
    find_in_json,
    find_in_name,
    find_in_text,
    message_rules,
)
from amos.extraction.screen_view import Hit
from amos.schemas.findings import FINDINGS
from amos.schemas.vocabulary import Reason, Trust

__all__ = ["FINDINGS", "SCREEN_VERSION", "apply_cuts", "screen"]

SCREEN_VERSION = 3
"""Raise when findings change for the same sources."""

_MAY_INSTRUCT = (Trust.TRUSTED_USER, Trust.AGENT)
_SPOKEN_KINDS = ("text", "thinking", "caption")
_TITLES = ("conversation_title", "channel")
_NAMES = (
    "author", "session", "reply_to", "locator", "event_text", "scope_project", "scope_user", "scope_agent",
    "scope_session", "scope_task", "scope_tool_environment",
)  # fmt: skip
_BULK_ROWS = 64  # below both, an exact look at every text is cheaper than loading the bulk filter
_BULK_BYTES = 1 << 16
_BULK_ROWS_LOADED = 8  # … and where it is loaded already, only a few texts are looked at one by one
_SHORT_TEXTS = (32, 1 << 10)  # … or some that are short together: below these rows and these bytes
_SHORT_NAMES = (128, 1 << 13)  # a name is asked for keys alone
_LONGEST_KNOWN = 128  # characters
_MOST_KNOWN = 4_096
_CLEAN: set[tuple[str, str, Rules, int]] = set()
"""Short texts that were searched and hold nothing; no text with a find is kept."""

Rows = npt.NDArray[np.int64]
Found = tuple[int, str, Hit]


def screen(sources: pa.Table) -> pa.Table:
    """Find what must be cut or flagged in every text, name and `extra` string of `sources`.

    sources: RAW or SOURCES rows, or any table with `text` (or `content`), `trust` and `kind`;
    further columns are screened where present.  Ranges are half-open UTF-8 bytes of the
    field, of `extra` in its JSON text.  Returns FINDINGS, ordered by all its columns but
    `action`; linear in the bytes given.
    """
    names = set(sources.column_names)
    text_column = "text" if "text" in names else "content"
    rows = np.arange(sources.num_rows, dtype=np.int64)
    may_instruct = _flags(pc.is_in(sources["trust"], value_set=pa.array(_MAY_INSTRUCT)))
    is_spoken = may_instruct & _flags(pc.is_in(sources["kind"], value_set=pa.array(_SPOKEN_KINDS)))
    found: list[Found] = []
    for spoken in (True, False):
        for trusted in (True, False):
            chosen = rows[(is_spoken == spoken) & (may_instruct == trusted)]
            rules = message_rules(is_message=spoken, may_instruct=trusted)
            found += _in_column(sources[text_column], "content", chosen, rules=rules, may_instruct=trusted)
    for trusted in (True, False):
        chosen = rows[may_instruct == trusted]
        rules = message_rules(is_message=True, may_instruct=trusted)
        for name in (*_TITLES, "extra"):
            if name in names:
                found += _in_column(sources[name], name, chosen, rules=rules, may_instruct=trusted)
    for name in _NAMES:
        if name in names:
            found += _in_column(
                sources[name],
                name,
                rows,
                rules=message_rules(is_message=True, may_instruct=True),
                may_instruct=True,
            )
    found += _copies(sources, text_column, found)
    return _as_table(found)


def _flags(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    flags: npt.NDArray[np.bool_] = column.to_numpy(zero_copy_only=False).astype(np.bool_)
    return flags


def _in_column(
    column: pa.ChunkedArray, field: str, rows: Rows, *, rules: Rules, may_instruct: bool
) -> Iterator[Found]:
    """Yield the finds of one column at `rows`; equal texts are looked at once."""
    if not rows.size or column.null_count == len(column):
        return
    chosen = column if rows.size == len(column) else column.take(pa.array(rows))
    encoded = pc.dictionary_encode(chosen).combine_chunks()
    distinct = encoded.dictionary.cast(pa.string())
    places: dict[int, list[Hit]] = {}
    for place, families in _needed(distinct, field, may_instruct=may_instruct):
        hits = _searched(distinct[place].as_py(), field, rules, families)
        if hits:
            places[place] = hits
    if not places:
        return
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    for at in np.flatnonzero(np.isin(codes, list(places))):
        for hit in places[int(codes[at])]:
            yield int(rows[at]), field, hit


def _searched(text: str, field: str, rules: Rules, families: int) -> list[Hit]:
    """Return what `_search` finds; short texts in which it found nothing are not searched again.

    Small calls of one process bring the same words over and over: greetings, thanks, names, formats.
    """
    if len(text) > _LONGEST_KNOWN:
        return _search(text, field, rules, families)
    asked = text, field, rules, families
    if asked in _CLEAN:
        return []
    hits = _search(*asked)
    if not hits:
        if len(_CLEAN) >= _MOST_KNOWN:
            _CLEAN.clear()
        _CLEAN.add(asked)
    return hits


def _search(text: str, field: str, rules: Rules, families: int) -> list[Hit]:
    if field in _NAMES:
        return find_in_name(text)
    find = find_in_json if field == "extra" else find_in_text
    return find(text, rules, families)


def _needed(distinct: pa.Array, field: str, *, may_instruct: bool) -> Iterable[tuple[int, int]]:
    """Yield the positions of the texts that need an exact look, with the families they need."""
    if _are_few(distinct, field):
        return ((place, EVERYTHING) for place in range(len(distinct)))
    if field in _NAMES:
        needed = holds_keys(distinct).astype(np.int32)
    elif field == "extra":
        needed = needed_families_of_json(distinct, may_instruct=may_instruct)
    else:
        needed = needed_families(distinct, may_instruct=may_instruct)
    places = np.flatnonzero(needed)
    return zip(places.tolist(), needed[places].tolist(), strict=True)


def _are_few(distinct: pa.Array, field: str) -> bool:
    """Return whether an exact look at each of `distinct` costs less than asking the bulk filter."""
    is_loaded = "polars" in sys.modules
    count, size = len(distinct), distinct.nbytes
    if count < (_BULK_ROWS_LOADED if is_loaded else _BULK_ROWS) and size < _BULK_BYTES:
        return True
    rows, most_bytes = _SHORT_NAMES if field in _NAMES else _SHORT_TEXTS
    return is_loaded and count < rows and size < most_bytes


def _copies(sources: pa.Table, text_column: str, found: list[Found]) -> Iterator[Found]:
    """Yield the strings of `extra` that repeat what is cut from the same row's content."""
    if "extra" not in sources.column_names:
        return
    rows: dict[int, list[Hit]] = {}
    for row, field, hit in found:
        if field == "content" and action_for(hit.reason) == "cut":
            rows.setdefault(row, []).append(hit)
    for row, hits in rows.items():
        extra = sources["extra"][row].as_py()
        if extra is not None:
            rules = copy_rules(sources[text_column][row].as_py(), hits)
            yield from ((row, "extra", hit) for hit in find_in_json(extra, rules))


def action_for(reason: str) -> str:
    """Return what a finding of `reason` does to its bytes; orders are kept as evidence."""
    return "flag" if reason == Reason.INSTRUCTION_SHAPED_CONTENT else "cut"


def _as_table(found: list[Found]) -> pa.Table:
    """Return FINDINGS of `found`, sorted; encoded orders are kept like plain ones."""
    orders = {
        (row, field, hit.start, hit.end)
        for row, field, hit in found
        if hit.reason == Reason.INSTRUCTION_SHAPED_CONTENT
    }
    cuts = {
        (row, field, hit.start, hit.end)
        for row, field, hit in found
        if hit.reason in {Reason.SECRET_MATERIAL_DETECTED, Reason.EXPLICIT_EXCLUSION_SIGNAL}
    }
    kept = orders - cuts
    rows = sorted({(row, field, *hit) for row, field, hit in found})
    actions = [
        "flag" if row[:4] in kept and row[5] == Reason.ENCODED_CONTENT else action_for(row[5]) for row in rows
    ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 6
    arrays = [*columns[:5], actions, columns[5]]
    return pa.table(
        [pa.array(values, field.type) for values, field in zip(arrays, FINDINGS, strict=True)],
        schema=FINDINGS,
    )
