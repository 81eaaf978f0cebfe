"""Find messages that still hold the value of a forgotten claim, beside what is recognised as it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.forget_cuts import SCOPES
from amos.flow.forget_mentions import folded_texts
from amos.flow.forget_plan import ErasurePlan
from amos.flow.forget_report import SHOWN_ROWS, TEXT_CHARS
from amos.flow.forget_selection import Selected, current_rows
from amos.identity import Scope, id_text
from amos.journal.store import Snapshot
from amos.kernels.wordings import wording_of
from amos.schemas.columns import ID
from amos.schemas.cuts import marked

SHORTEST_VALUE = 3
"""Characters of the shortest value that is looked for: less stands anywhere."""
_FEW_VALUES = 32
"""So many are looked for in bulk before a text is read word by word."""

Words = tuple[str, ...]
Row = dict[str, Any]


class Still(NamedTuple):
    """Messages that stay and hold a value: references, texts and values, the first of them.

    total: how many there are.
    """

    rows: list[Row]
    total: int


NOTHING_SAID = Still([], 0)


def still_said(snapshot: Snapshot, selected: Selected, plan: ErasurePlan) -> Still:
    """Return the messages that hold the value of a selected claim once `plan` is done.

    A value counts as whole words, whatever their case, spacing or Unicode form, in the scope of its claim.
    """
    values = _values(snapshot, selected)
    if not values:
        return NOTHING_SAID
    revised = _revised(plan)
    gone = set(plan.gone.places.get("sources", {}).values()) - revised.keys()
    rows = []
    for source, text, scope in _likely(snapshot, values):
        told = revised.get(source, text)
        held = None if source in gone else _held(told, values[scope])
        if held is not None:
            rows.append({"ref": id_text("sources", source), "text": told, "value": held})
    rows.sort(key=lambda row: row["ref"])
    shown = [{**row, "text": marked(row["text"])[:TEXT_CHARS]} for row in rows[:SHOWN_ROWS]]
    return Still(shown, len(rows))


def shown_still(found: Still) -> Row:
    """Return `still_said`, messages that hold a forgotten value, and `still_said_total`."""
    return {"still_said": found.rows, "still_said_total": found.total}


def _values(snapshot: Snapshot, selected: Selected) -> dict[Scope, dict[Words, str]]:
    """Return by scope the values of the selected claims: as words, and as they are written."""
    found: dict[Scope, dict[Words, str]] = {}
    told = snapshot.lookup("candidates", "claim_id", selected.claims, ["claim_id", "payload", *SCOPES])
    columns = (told[name].to_pylist() for name in ("payload", *SCOPES))
    for payload, *scope in zip(*columns, strict=True):
        value = json.loads(payload).get("value")
        words = tuple(wording_of(value).words) if isinstance(value, str) else ()
        if sum(map(len, words)) >= SHORTEST_VALUE:
            found.setdefault(tuple(scope), {}).setdefault(words, value)
    return found


def _revised(plan: ErasurePlan) -> dict[bytes, str]:
    """Return the texts that messages have once the plan is done, of those that it changes."""
    found: dict[bytes, str] = {}
    for group in plan.rows:
        if group.table == "sources":
            columns = (group.rows[name].to_pylist() for name in ("source_id", "content"))
            found.update(zip(*columns, strict=True))
    return found


def _likely(snapshot: Snapshot, values: dict[Scope, dict[Words, str]]) -> Iterator[tuple[bytes, str, Scope]]:
    """Yield the current messages of the scopes that may hold a value: source, text and scope."""
    ids = []
    longest = {max(words, key=len) for of_scope in values.values() for words in of_scope}
    for rows in snapshot.tables("sources", ["source_id", "content"]):
        if len(longest) <= _FEW_VALUES:
            texts = folded_texts(rows["content"])
            hits = [pc.match_substring(texts, word) for word in sorted(longest)]
            rows = rows.filter(pa.chunked_array(_any(hits)))
        ids.append(rows["source_id"].combine_chunks())
    found = pa.concat_arrays(ids).unique() if ids else pa.array([], ID)
    current = current_rows(snapshot, "sources", "source_id", found)
    columns = (current[name].to_pylist() for name in ("source_id", "content", *SCOPES))
    for source, text, *scope in zip(*columns, strict=True):
        if tuple(scope) in values:
            yield source, text, tuple(scope)


def _any(masks: list[pa.ChunkedArray]) -> list[pa.Array]:
    found = masks[0]
    for mask in masks[1:]:
        found = pc.or_(found, mask)
    return list(found.chunks)


def _held(text: str, values: dict[Words, str]) -> str | None:
    """Return the first value that stands in `text` as whole words, None where none does."""
    words = wording_of(text).words
    lengths = sorted({len(value) for value in values})
    for at in range(len(words)):
        for length in lengths:
            value = values.get(tuple(words[at : at + length]))
            if value is not None:
                return value
    return None
