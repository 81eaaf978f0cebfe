"""Gates of a batch of claims: facts by columns, one decision for each distinct set of facts."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import cells, instants, mask
from amos.admission.claim_spans import Spans, are_sound
from amos.admission.gates import Facts, gate_of
from amos.admission.policy import Policy
from amos.admission.values import fold_property
from amos.schemas.buffers import ColumnArrays
from amos.schemas.choosing import with_column
from amos.schemas.vocabulary import AtomType, Cue, MemoryClass, Trust

Mask = NDArray[np.bool_]
_FORMER = int(Cue.FORMER)
_OPERATIONAL = int(Cue.OPERATIONAL)
_AUTHORITY = int(Cue.AUTHORITY)
_PURPOSE = "personalization"
_TOOL = str(Trust.TOOL)
_ANSWERING = pa.array([_TOOL, str(Trust.UNTRUSTED_WEB)])


def gates_of(
    claims: pa.Table,
    cited: pa.Table,
    text: ColumnArrays,
    spans: Spans,
    *,
    is_bounded: Mask,
    policy: Policy,
) -> list[str | None]:
    """Return per claim `outcome:reason` of the gate that stops it, None where none does.

    cited: the source of each claim.  text: contents of the batch's sources, which the claims
    name by `source_row`.
    """

    def gate(*facts: Any) -> str | None:
        found = gate_of(Facts(*facts), policy)
        return None if found is None else f"{found[0]}:{found[1]}"

    rows = claims["source_row"].to_numpy()
    columns: dict[str, list[Any]] = {
        "has_bound": is_bounded.tolist(),
        "is_authorised": (mask(cited["may_retain"]) & _are_for(_PURPOSE, cited["purposes"])).tolist(),
        "is_ordered_in_time": _are_ordered(claims, cited).tolist(),
        "is_span_sound": are_sound(spans, text, rows).tolist(),
        "is_too_long": _are_too_long(claims, spans, text, rows, policy.value.longest).tolist(),
        "trust": cells(cited["trust"]),
    }
    facts = (columns[name] if name in columns else cells(claims[name]) for name in Facts._fields)
    return list(map(cache(gate), *facts))


def with_authority(claims: pa.Table, cited: pa.Table, policy: Policy) -> pa.Table:
    """Return `claims` with the cues of what an operation owns, and of who is the authority for it.

    An extractor may say of a tool only that it is the authority for what became of its own calls.
    """
    cues = claims["cues"].to_numpy()
    is_operational = cues & _OPERATIONAL != 0
    is_given = cues & _AUTHORITY != 0
    if not (is_operational | is_given).any() and not policy.authority.registered:
        return claims
    if is_given.any():
        is_outcome = mask(pc.equal(claims["type"], str(AtomType.ACTION_OUTCOME)))
        is_answer = mask(pc.is_in(cited["trust"], value_set=_ANSWERING))
        cues = np.where(is_outcome & is_answer, cues, cues & ~_AUTHORITY)
    held = [None if one is None else fold_property(one) for one in cells(claims["property"])]
    operational = {fold_property(one) for one in policy.authority.operational}
    is_free = np.array([one is not None and one not in operational for one in held], np.bool_)
    cues = np.where(is_operational & is_free, cues & ~_OPERATIONAL, cues)
    owned = {
        author: {fold_property(one) for one in properties}
        for author, properties in policy.authority.registered.items()
    }
    told_by = zip(cells(cited["trust"]), cells(cited["author"]), held, strict=True)
    is_owned = [trust == _TOOL and one in owned.get(author, ()) for trust, author, one in told_by]
    cues = cues | np.where(is_owned, _AUTHORITY, 0)
    return with_column(claims, "cues", pa.array(cues.astype(np.int32)))


def _are_for(purpose: str, purposes: pa.ChunkedArray) -> Mask:
    """Tell per row whether its list of purposes names `purpose`."""
    lists = purposes.combine_chunks()
    named = [one == purpose for one in cells(lists.flatten())]
    before = np.concatenate(([0], np.cumsum(named)))
    edges = lists.offsets.to_numpy()
    edges = edges - edges[0]
    return np.asarray(before[edges[1:]] > before[edges[:-1]], np.bool_)


def _are_ordered(claims: pa.Table, cited: pa.Table) -> Mask:
    """Tell per claim that its validity does not end before it begins."""
    until, has_until = instants(claims["valid_until"])
    if not has_until.any():
        return ~has_until
    start, has_start = instants(claims["valid_from"])
    said, is_said = instants(cited["event_time"])
    is_episode = np.array([one == MemoryClass.EPISODE for one in cells(claims["memory_class"])])
    is_over = is_episode | (claims["cues"].to_numpy() & _FORMER != 0)
    takes_event = ~has_start & ~is_over & is_said  # what holds now cannot have ended before it was said
    start = np.where(takes_event, said, start)
    return ~(has_until & (has_start | takes_event) & (until <= start))


def _are_too_long(
    claims: pa.Table, spans: Spans, text: ColumnArrays, rows: NDArray[np.int32], longest: int
) -> Mask:
    """Tell per claim whether its value, or the whole statement where there is none, is too long to keep."""
    is_long = np.array([value is not None and len(value) > longest for value in cells(claims["value"])])
    start, end = spans.first()
    bare = np.flatnonzero((end - start > longest) & mask(claims["value"].is_null()))
    if bare.size == 0:
        return is_long
    assert text.offsets is not None
    for claim in bare.tolist():
        content = text.values[text.offsets[rows[claim]] : text.offsets[rows[claim] + 1]]
        said = content[start[claim] : end[claim]].tobytes()
        is_long[claim] = len(said.decode(errors="replace")) > longest
    return is_long
