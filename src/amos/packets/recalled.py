"""What a packet is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """Everything a packet is made from.

    items: RANKED.  evidence: EVIDENCE.  claims: CLAIM_CARDS of items and conflict sides.
    conflicts: CONFLICTS.  omitted: counts per reason.  sample: OMITTED.  total: items that passed, of
    which `items` holds the best.  empty_reason: set when nothing was ranked.  profile: ranking
    profile.  degradation: what the index disclosed.  is_erased_since: rows of
    this past state were erased later.
    """

    items: pa.Table
    evidence: pa.Table
    claims: pa.Table
    conflicts: pa.Table
    sample: pa.Table
    omitted: Mapping[str, int]
    empty_reason: str | None
    total: int
    is_withheld: bool
    profile: str
    graph_version: int | None
    profile_digest: str = ""
    degradation: tuple[str, ...] = field(default=())
    is_erased_since: bool = False
    is_behind: bool = False
    pressure: str = "green"
    trace: Mapping[str, Any] | None = None
    guarding: frozenset[bytes] = frozenset()
