"""Cut forgotten words out of stored sources: their evidence, and where the same words stand again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.addressed import may_address
from amos.admission.tombstones import FORBID, Graves, Rule
from amos.evidence.capture import CAPTURED
from amos.extraction.screen_cuts import apply_cuts, merge_ranges
from amos.flow.tombstoned import Echo, as_findings, find_echoes, told_to_somebody, words_at
from amos.identity import Scope
from amos.journal.store import Snapshot
from amos.kernels.hashing import sha256_rows
from amos.kernels.wordings import wording_of
from amos.schemas.buffers import column_arrays
from amos.schemas.columns import DIGEST, ID

Ranges = dict[bytes, list[tuple[int, int]]]
"""Byte ranges of the content of sources, by source id."""

_RULE = Rule(FORBID, 0)
_TEXTS = ("content", "extra", "author", "channel", "session", "locator", "event_text", "reply_to")
SCOPES = ("scope_project", "scope_user", "scope_agent", "scope_task", "scope_tool_environment")
"""Columns of a scope within which words are the same words."""

Passage = tuple[tuple[str, ...], Scope]


def find_copies(snapshot: Snapshot, graves: Graves) -> pa.Array:
    """Return ids of the sources that repeat one of the passages of `graves` in any of their texts.

    Few texts are read closely: those in which the words may stand.
    """
    found = []
    columns = ["source_id", "role", *_TEXTS, *SCOPES, "scope_session"]
    for rows in snapshot.tables("sources", columns):
        likely = rows.filter(pa.array(_may_hold(rows, graves)))
        if likely.num_rows:
            hit = sorted({echo.row for echo in find_echoes(likely, graves)})
            found.append(likely["source_id"].take(pa.array(hit, pa.int64())).combine_chunks())
    return pa.concat_arrays(found).unique() if found else pa.array([], ID)


def _may_hold(rows: pa.Table, graves: Graves) -> np.ndarray:
    likely = np.zeros(rows.num_rows, np.bool_)
    for name in _TEXTS:
        if rows[name].null_count < rows.num_rows:
            likely |= graves.likely(rows[name])
    if not graves.is_empty:
        told = np.array(told_to_somebody(rows), np.bool_)
        likely[told] |= may_address(rows.filter(pa.array(told))["content"])
    return likely


def cut_sources(rows: pa.Table, ranges: Ranges, graves: Graves) -> tuple[pa.Table, Ranges]:
    """Return the next revision of the sources that lose bytes, and what their contents lose.

    rows: current sources.  ranges: what goes from their content.  graves: the forgotten passages,
    which go from every text of the rows.
    """
    ids = rows["source_id"].to_pylist()
    found = list(find_echoes(rows, graves))
    for row, source in enumerate(ids):
        found += [Echo(row, "content", start, end, _RULE) for start, end in ranges.get(source, ())]
    if not found:
        return CAPTURED.empty_table(), {}
    lost: Ranges = {}
    for echo in found:
        if echo.field == "content":
            lost.setdefault(ids[echo.row], []).append((echo.start, echo.end))
    return _revised(rows, found), {source: merge_ranges(parts) for source, parts in lost.items()}


def _revised(rows: pa.Table, found: list[Echo]) -> pa.Table:
    raw = rows.rename_columns(["text" if name == "content" else name for name in rows.column_names])
    cut, sizes = apply_cuts(raw, as_findings(found, raw))
    touched = np.flatnonzero(sizes)
    cut = cut.take(touched).combine_chunks()
    text = column_arrays(cut["text"])
    assert text.offsets is not None
    digests = np.ascontiguousarray(sha256_rows(text.values, text.offsets))
    changes = {
        "content": cut["text"],
        "revision": pc.add(cut["revision"], pa.scalar(1, pa.int32())),
        "content_digest": pa.Array.from_buffers(DIGEST, len(cut), [None, pa.py_buffer(digests.tobytes())]),
        "cut_bytes": pc.add(cut["cut_bytes"], pa.array(sizes[touched])),
    }
    arrays = [changes.get(field.name, cut[field.name] if field.name in cut.column_names else None)
              for field in CAPTURED]  # fmt: skip
    return pa.table(arrays, schema=CAPTURED)


def covered(candidates: pa.Table, lost: Ranges, passages: Sequence[Passage]) -> pa.Array:
    """Return which candidates lose their evidence to the cuts, or repeat a passage in their payload."""
    texts = {" ".join(words) for words, _ in passages}
    columns = (candidates[name].to_pylist() for name in ("source_id", "spans", "payload"))
    return pa.array(
        [
            source in lost and (_is_inside(spans[0], spans[1], lost[source]) or _repeats(payload, texts))
            for source, spans, payload in zip(*columns, strict=True)
        ],
        pa.bool_(),
    )


def _is_inside(start: int, end: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= start and end <= last for first, last in ranges)


def _repeats(payload: str, texts: set[str]) -> bool:
    said = f" {' '.join(wording_of(payload).words)} "
    return any(f" {text} " in said for text in texts)


def passages_of(candidates: pa.Table, contents: dict[bytes, str]) -> list[Passage]:
    """Return the words of every claim span of `candidates`, with their scope.

    contents: by source id the text before any cut; candidates of other sources are left out.
    """
    found: dict[Passage, None] = {}
    names = ("source_id", "spans", *SCOPES)
    for source, spans, *scope in zip(*(candidates[name].to_pylist() for name in names), strict=True):
        text = contents.get(source)
        if text is not None:
            for start, end in zip(spans[::2], spans[1::2], strict=True):
                found[words_at(text, start, end), tuple(scope)] = None
    return [passage for passage in found if passage[0]]
