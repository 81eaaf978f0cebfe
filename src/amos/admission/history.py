"""Sort the histories of claims, fold them, and name the reason of every step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import cells, instants, mask
from amos.admission.values import do_words_refine, words_of
from amos.kernels import history as kernel
from amos.kernels.compiled import compiled, is_worth_compiling
from amos.schemas.state import OPEN_FROM, OPEN_UNTIL
from amos.schemas.vocabulary import Cue, Reason

I64 = NDArray[np.int64]

REASONS = [
    Reason.NEW_FACT_FOR_SLOT,
    Reason.NEW_UNKEYED_FACT,
    Reason.EQUIVALENT_VALUE,
    Reason.DUPLICATE_OF_ACTIVE_RECORD,
    Reason.EXPLICIT_CORRECTION,
    Reason.REFINES_CURRENT_VALUE,
    Reason.CONTRADICTS_CURRENT_VALUE,
    Reason.DISPUTED_NO_CLEAR_AUTHORITY,
    Reason.HISTORICAL_OBSERVATION,
    Reason.LESS_CORROBORATED,
]
LOSING = np.array([kernel.OUTRANKED, kernel.OUTBACKED])
"""Actions of rows that do not stand, and support nothing."""
_CODE = {reason: code for code, reason in enumerate(REASONS)}
_TIE_BREAKS = ["conversation_order", "turn", "order_key", "spans", "claim_id"]
_CORRECTING = int(Cue.CORRECTION | Cue.NO_LONGER)
_ZONE_ASSUMED = int(Cue.ZONE_ASSUMED)
_APPROVED = int(Cue.APPROVED)
_AUTHORITY = int(Cue.AUTHORITY)
_CONCLUDED = ".hypothesis"
"""Ending of the patterns of claims that were concluded from an outcome."""
_LATEST = np.iinfo(np.int64).max
_FOLDED_FROM_ROWS = 32
"""Rows from which a compiled fold is faster: handing nine columns over costs as much as 25 plain rows."""


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """Eligible candidates as integer columns; codes are shared by every fold over them."""

    rows: I64
    group: I64
    claim: I64
    twin: I64
    order_us: I64
    conversation: I64
    from_us: I64
    until_us: I64
    traits: NDArray[np.int16]
    payload: I64
    has_property: NDArray[np.bool_]
    is_correction: NDArray[np.bool_]
    claim_ids: pa.Array
    payload_texts: pa.Array

    @property
    def claim_count(self) -> int:
        """Return the number of distinct claims."""
        return len(self.claim_ids)


@dataclass(frozen=True, kw_only=True)
class Folded:
    """What a fold says, aligned with the rows folded (`place` in Encoded, in order)."""

    place: I64
    action: NDArray[np.int8]
    reason: NDArray[np.int8]
    pair_place: I64
    pair_claim: I64
    interval_claim: I64
    interval_from: I64
    interval_until: I64
    disputed: I64
    opener: I64
    support_count: I64
    root_count: I64


def encode_histories(candidates: pa.Table) -> Encoded:
    """Return the eligible rows of `candidates`, sorted by history and order, as integers."""
    rows = np.flatnonzero(mask(candidates["gate"].is_null()))
    event_time = candidates["event_time"]
    order_us, is_known = instants(_first_known(candidates["order_time"], event_time))
    group = _codes(candidates["history_id"].take(pa.array(rows)))[0]
    order = _order(candidates, rows, group, np.where(is_known, order_us, _LATEST)[rows])
    rows, group = rows[order], group[order]
    claim, claim_ids = _codes(candidates["claim_id"].take(pa.array(rows)))
    cues = candidates["cues"].to_numpy()[rows]
    is_negative = np.array([one == "negative" for one in cells(candidates["polarity"])], np.bool_)[rows]
    is_correction = (cues & _CORRECTING) != 0
    traits = (
        is_known[rows] * kernel.KNOWN
        + is_correction * kernel.CORRECTS
        + ((cues & _ZONE_ASSUMED) != 0) * kernel.ZONE_ASSUMED
        + is_negative * kernel.NEGATIVE
        + ((cues & _APPROVED) != 0) * kernel.APPROVED
        + ((cues & _AUTHORITY) != 0) * kernel.AUTHORITY
        + mask(pc.ends_with(candidates["pattern"], _CONCLUDED))[rows] * kernel.IMPLIED
    ).astype(np.int16)
    payload, payload_texts = _codes(candidates["payload"])
    payload = payload[rows]
    has_property = mask(pc.match_substring(payload_texts, '"property":'))
    until_us, is_until_known = instants(candidates["valid_until"])
    from_us, is_from_known = _starts(candidates, until_us, is_until_known)
    return Encoded(
        rows=rows,
        group=group,
        claim=claim,
        twin=_twins(claim, payload, payload_texts, group, is_negative, len(claim_ids)),
        order_us=order_us[rows],
        conversation=_codes(candidates["conversation_id"])[0][rows],
        from_us=np.where(is_from_known, from_us, OPEN_FROM)[rows],
        until_us=np.where(is_until_known, until_us, OPEN_UNTIL)[rows],
        traits=traits,
        payload=payload,
        has_property=has_property[payload],
        is_correction=is_correction,
        claim_ids=claim_ids,
        payload_texts=payload_texts,
    )


def _starts(
    candidates: pa.Table, until_us: I64, is_until_known: NDArray[np.bool_]
) -> tuple[I64, NDArray[np.bool_]]:
    """Return when each claim begins to hold, and whether that is known: as stated, else when it was said.

    What was over by then, such as what happened "last time", began at some moment that nobody stated.
    """
    stated_us, is_stated = instants(candidates["valid_from"])
    said_us, is_said = instants(candidates["event_time"])
    was_over = is_until_known & (until_us <= said_us)
    return np.where(is_stated, stated_us, said_us), is_stated | (is_said & ~was_over)


def _order(candidates: pa.Table, rows: I64, group: I64, order_us: I64) -> I64:
    """Return the places of `rows` by history and time; rows of one time by `_TIE_BREAKS` in turn.

    group, order_us: of each of `rows`; the time is the highest number where it is unknown.
    """
    order: I64 = np.lexsort((order_us, group))
    is_tied = np.zeros(order.size, np.bool_)
    same = (np.diff(group[order]) == 0) & (np.diff(order_us[order]) == 0)
    is_tied[:-1] |= same
    is_tied[1:] |= same
    if not is_tied.any():
        return order
    tied = np.sort(order[is_tied])
    ties = candidates.select(_TIE_BREAKS).take(pa.array(rows[tied]))
    keys = (
        *_halves(ties["claim_id"])[::-1],
        pc.list_element(ties["spans"], 0).to_numpy(),
        *_halves(ties["order_key"])[::-1],
        ties["turn"].to_numpy(),
        *_halves(ties["conversation_order"])[::-1],
        order_us[tied],
        group[tied],
    )
    order[is_tied] = tied[np.lexsort(keys)]
    return order


def fold(encoded: Encoded, place: I64, root: I64) -> Folded:
    """Fold the rows of `encoded` at `place` (ascending); root: code of what each row rests on."""
    claim = encoded.claim[place]
    columns = (
        encoded.group[place],
        claim,
        encoded.twin,
        encoded.order_us[place],
        encoded.conversation[place],
        encoded.from_us[place],
        encoded.until_us[place],
        encoded.traits[place] | _is_first_of_root(claim, root[place]) * np.int16(kernel.ROOT),
    )
    if is_worth_compiling(place.size, once_loaded=_FOLDED_FROM_ROWS):
        told = compiled(kernel.fold_histories)(*columns, encoded.claim_count)
    else:
        plain: list[Any] = [*(column.tolist() for column in columns), encoded.claim_count]
        told = kernel.fold_histories(*plain)
    action, pair_row, pair_claim, span_claim, span_from, span_until, _, disputed, _ = told
    supports = ~np.isin(action, LOSING)
    opener = np.full(encoded.claim_count, -1, np.int64)
    opening = np.flatnonzero(supports)
    opener[claim[opening[::-1]]] = opening[::-1]  # of equal claims the first is written last, and stays
    pair_place = place[pair_row]
    reason = _reasons(encoded, place, action, opener)
    supported = _supported(claim[opening], root[place[opening]])
    return Folded(
        place=place,
        action=action,
        reason=reason,
        pair_place=pair_place,
        pair_claim=pair_claim,
        interval_claim=span_claim,
        interval_from=span_from,
        interval_until=span_until,
        disputed=np.where(disputed >= 0, place[np.maximum(disputed, 0)] if place.size else -1, -1),
        opener=np.where(opener >= 0, place[np.maximum(opener, 0)] if place.size else -1, -1),
        support_count=np.bincount(claim[opening], minlength=encoded.claim_count),
        root_count=np.bincount(supported, minlength=encoded.claim_count),
    )


def _is_first_of_root(claim: I64, root: I64) -> NDArray[np.bool_]:
    """Tell which rows are the first of their claim that rest on their root; claim, root: (n,) in order."""
    is_first = np.ones(claim.size, np.bool_)
    shared = np.flatnonzero(np.bincount(root)[root] > 1) if root.size else root
    pairs = claim[shared] * (int(root.max(initial=0)) + 1) + root[shared]
    _, first = np.unique(pairs, return_index=True)
    is_first[shared] = False
    is_first[shared[first]] = True
    return is_first


def _supported(claim: I64, root: I64) -> I64:
    """Return the claim of each distinct pair of claim and root."""
    is_shared = np.bincount(root)[root] > 1 if root.size else np.zeros(0, np.bool_)
    roots = int(root.max(initial=0)) + 1
    shared = np.unique(claim[is_shared] * roots + root[is_shared]) // roots
    return np.concatenate((claim[~is_shared], shared))


def _reasons(
    encoded: Encoded,
    place: I64,
    action: NDArray[np.int8],
    opener: I64,
) -> NDArray[np.int8]:
    claim = encoded.claim[place]
    payload = encoded.payload[place]
    fresh = np.where(
        encoded.has_property[place], _CODE[Reason.NEW_FACT_FOR_SLOT], _CODE[Reason.NEW_UNKEYED_FACT]
    )
    same_words = payload == payload[np.maximum(opener[claim], 0)]
    linked = np.where(same_words, _CODE[Reason.DUPLICATE_OF_ACTIVE_RECORD], _CODE[Reason.EQUIVALENT_VALUE])
    reason = np.choose(
        action,
        (
            fresh,
            fresh,
            linked,
            np.full(place.size, _CODE[Reason.CONTRADICTS_CURRENT_VALUE]),
            np.full(place.size, _CODE[Reason.DISPUTED_NO_CLEAR_AUTHORITY]),
            np.full(place.size, _CODE[Reason.HISTORICAL_OBSERVATION]),
            linked,
            np.full(place.size, _CODE[Reason.LESS_CORROBORATED]),
        ),
    ).astype(np.int8)
    corrects = (action == kernel.SUPERSEDE) & encoded.is_correction[place]
    reason[corrects] = _CODE[Reason.EXPLICIT_CORRECTION]
    return reason


def name_refinements(encoded: Encoded, folded: Folded, places: I64) -> None:
    """Tell refinements from contradictions among the rows of `folded` at `places`.

    Only rows whose decision changes need it: the texts behind it are the same in both folds.
    """
    position = np.searchsorted(folded.place, folded.pair_place)
    asks = folded.reason[position] == _CODE[Reason.CONTRADICTS_CURRENT_VALUE]
    is_asked = np.zeros(encoded.rows.size, np.bool_)
    is_asked[places] = True
    asks &= is_asked[folded.pair_place]
    asks &= encoded.twin[folded.pair_claim] != encoded.claim[folded.pair_place]
    asks &= folded.action[position] == kernel.SUPERSEDE
    if not asks.any():
        return
    old = encoded.payload[folded.opener[folded.pair_claim[asks]]]
    new = encoded.payload[folded.pair_place[asks]]
    codes, places = np.unique(np.concatenate((old, new)), return_inverse=True)
    words = [_words_said(text) for text in cells(encoded.payload_texts.take(pa.array(codes)))]
    pairs = zip(places[: old.size].tolist(), places[old.size :].tolist(), strict=True)
    refines = [do_words_refine(words[one], words[two]) for one, two in pairs]
    folded.reason[position[asks][np.array(refines)]] = _CODE[Reason.REFINES_CURRENT_VALUE]


@lru_cache(maxsize=1 << 14)
def _words_said(payload: str) -> tuple[str, ...]:
    fields = msgspec.json.decode(payload)
    return words_of(str(fields.get("value") or fields.get("claim") or ""))


def _codes(column: pa.ChunkedArray) -> tuple[I64, pa.Array]:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = array.dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary


def _halves(column: pa.ChunkedArray) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return 16-byte ids as two unsigned columns that sort as the bytes do."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if len(array) == 0:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    buffer = array.buffers()[1]
    words = np.frombuffer(buffer, dtype=">u8", count=2 * len(array), offset=16 * array.offset)
    pairs = words.reshape(-1, 2).astype(np.uint64)
    return pairs[:, 0], pairs[:, 1]


def _first_known(column: pa.ChunkedArray, fallback: pa.ChunkedArray) -> pa.ChunkedArray:
    return fallback if column.null_count == len(column) else pc.coalesce(column, fallback)


def _twins(
    claim: I64, payload: I64, texts: pa.Array, group: I64, is_negative: NDArray[np.bool_], count: int
) -> I64:
    """Return per claim the claim with the same value and the other polarity, or -1."""
    twin = np.full(count, -1, np.int64)
    if not is_negative.any():
        return twin
    mixed = np.isin(group, np.unique(group[is_negative]))
    by_value: dict[tuple[int, str], dict[bool, int]] = {}
    for row in np.flatnonzero(mixed).tolist():
        normal = str(msgspec.json.decode(texts[int(payload[row])].as_py())["normal"])
        by_value.setdefault((int(group[row]), normal), {})[bool(is_negative[row])] = int(claim[row])
    for sides in by_value.values():
        if len(sides) == 2:
            twin[sides[True]], twin[sides[False]] = sides[False], sides[True]
    return twin
