"""What claims bring along and take over from their sources, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.identity import CLAIM_SCOPE, Scope
from amos.kernels.hashing import Part, identities
from amos.schemas.buffers import column_arrays
from amos.schemas.claims import CLAIMS

_SOURCE_COLUMNS = (
    "format", "content", "trust", "author", "author_id", "is_owner", "event_time", "conversation_key",
)  # fmt: skip
_PURPOSE = "personalization"


class Origin(NamedTuple):
    """What a claim takes over from its source."""

    format: str
    content: bytes
    trust: str
    author: str | None
    author_id: bytes
    is_owner: bool
    event_time: int | None
    conversation_key: str
    is_authorised: bool
    scope: Scope
    identity: bytes
    conversation: bytes


def identity_rows(parts: Sequence[str | pa.Array | pa.ChunkedArray], count: int) -> NDArray[np.uint8]:
    """Return (count, 32) uint8: the unkeyed identity of each row of `parts`."""
    ready: list[Part] = [part if isinstance(part, str) else column_arrays(part) for part in parts]
    return identities(ready, count)


_Claim: Any = NamedTuple("_Claim", [(one, Any) for one in CLAIMS.names])  # type: ignore[misc]


def read_claims(claims: pa.Table) -> Iterable[Any]:
    """Return the rows of CLAIMS as named tuples, times as microseconds."""
    return map(_Claim._make, zip(*(_plain(claims[name]) for name in CLAIMS.names), strict=True))


def read_origins(taken: pa.Table) -> Iterator[Origin]:
    """Return what claims take over from the sources `taken`: SOURCES and `conversation_key`."""
    scopes = zip(*(taken[name].to_pylist() for name in CLAIM_SCOPE), strict=True)
    count = taken.num_rows
    key, talk = taken["delivery_key"], taken["conversation_key"]
    sources = identity_rows(("source", taken["format"], key, taken["block"]), count)
    talks = identity_rows(("conversation", taken["format"], talk), count)
    columns = taken.set_column(
        taken.schema.get_field_index("content"), "content", taken["content"].cast(pa.binary())
    )
    plain = (_plain(columns[name]) for name in _SOURCE_COLUMNS)
    return map(
        Origin._make,
        zip(*plain, _authorised(taken), scopes, _digests(sources), _digests(talks), strict=True),
    )


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Return a column as Python values, times as microseconds."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return column.to_pylist()


def _authorised(taken: pa.Table) -> list[bool]:
    """Tell per source whether it may be kept and used for personalisation."""
    purposes = taken["purposes"].combine_chunks()
    meant = pc.equal(purposes.flatten(), _PURPOSE).to_numpy(zero_copy_only=False)
    allowed = np.zeros(taken.num_rows, np.bool_)
    allowed[pc.list_parent_indices(purposes).to_numpy()[meant]] = True
    return (allowed & taken["may_retain"].to_numpy()).tolist()


def _digests(rows: NDArray[np.uint8]) -> list[bytes]:
    raw, width = rows.tobytes(), rows.shape[1]
    return [raw[start : start + width] for start in range(0, len(raw), width)]
