"""Ids of candidates and of what they claim, batch by batch; equal to those of `amos.identity`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import mask
from amos.identity import CLAIM_SCOPE
from amos.kernels.hashing import Part, identities, keyed_ids
from amos.schemas.buffers import column_arrays
from amos.schemas.choosing import distinct_rows

Octets = NDArray[np.uint8]


class Named(NamedTuple):
    """What the ids of a batch of claims rest on, one value per claim each.

    subject: unkeyed identities.  holder_property: folded, None for a statement without a property.
    """

    subject: Sequence[bytes]
    holder_property: Sequence[str | None]
    kind: Sequence[str]
    canonical: Sequence[str]
    applicability: Sequence[str | None]


def source_identities(cited: pa.Table) -> Octets:
    """Return the (n, 32) unkeyed identities of the sources in `cited`."""
    parts = ("source", cited["format"], cited["delivery_key"], cited["block"])
    return _identities(parts, cited.num_rows)


def conversation_identities(cited: pa.Table) -> Octets:
    """Return the (n, 32) unkeyed identities of the conversations of `cited`."""
    told = cited.select(["format", "conversation_key"])
    first, which = distinct_rows(told)
    named = told.take(first)
    return _identities(("conversation", *named.columns), named.num_rows)[which]


def candidate_ids(
    named: Named,
    claims: pa.Table,
    cited: pa.Table,
    *,
    sources: Octets,
    span_texts: pa.Array,
    extractor: str,
    key: bytes,
) -> dict[str, pa.Array]:
    """Return slot, history, claim and candidate ids per claim.

    sources: (n, 32) identities of the sources.  span_texts: spans as `Spans.as_texts` writes them.
    """
    count = claims.num_rows
    slot, claim = claim_identities(named, claims["polarity"], cited)
    candidate = _identities(("candidate", id_array(sources), span_texts, extractor, id_array(claim)), count)
    is_single = mask(pc.equal(claims["arity"], "single"))
    history = slot
    if not is_single.all():
        kind, canonical = (pa.array(part, pa.string()) for part in (named.kind, named.canonical))
        per_value = _identities(("history", id_array(slot), kind, canonical), count)
        history = np.where(is_single[:, None], slot, per_value)
    rows = {
        "candidate_id": ("candidates", candidate),
        "slot_id": ("slots", slot),
        "history_id": ("histories", history),
        "claim_id": ("atoms", claim),
    }
    return {name: id_array(keyed_ids(key, table, digests)) for name, (table, digests) in rows.items()}


def claim_identities(named: Named, polarity: pa.ChunkedArray, cited: pa.Table) -> tuple[Octets, Octets]:
    """Return the (n, 32) unkeyed identities of slots and of claims; `cited` holds their scopes."""
    slot = _slots(named, cited)
    parts = ("claim", id_array(slot), polarity, pa.array(named.kind, pa.string()))
    return slot, _identities((*parts, pa.array(named.canonical, pa.string())), len(slot))


def _slots(named: Named, cited: pa.Table) -> Octets:
    """Return the identity of each claim's slot: of its property, or of the statement itself."""
    held, canonical = (pa.array(part, pa.string()) for part in (named.holder_property, named.canonical))
    parts: list[str | pa.Array | pa.ChunkedArray] = [
        pc.if_else(held.is_null(), "statement", "slot"),
        pa.array(named.subject, pa.binary()),
        pc.coalesce(held, canonical),
        pa.array(named.applicability, pa.string()),
    ]
    return _identities([*parts, *(cited[name] for name in CLAIM_SCOPE)], len(held))


def _identities(parts: Sequence[str | pa.Array | pa.ChunkedArray], count: int) -> Octets:
    ready: list[Part] = [part if isinstance(part, str) else column_arrays(part) for part in parts]
    return identities(ready, count)


def id_array(rows: Octets) -> pa.Array:
    """Return the rows of an (n, width) matrix as fixed-size bytes."""
    raw = np.ascontiguousarray(rows)
    return pa.Array.from_buffers(pa.binary(raw.shape[1]), len(raw), [None, pa.py_buffer(raw.tobytes())])
