"""Rows of the atoms that a batch makes or changes, built by columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.admission.cells import cells
from amos.admission.comparison import Work, are_among, table_of
from amos.admission.history import Folded
from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.vocabulary import MemoryClass

I64 = NDArray[np.int64]
FULL = 1_000_000
_COPIED = [
    "type",
    "memory_class",
    "subject_id",
    "slot_id",
    "payload",
    "polarity",
    "source_id",
    "source_revision",
    "spans",
    *(f"scope_{name}" for name in SCOPE_NAMES),
]
_READ = [*_COPIED, "event_time", "trust"]
_DURABLE = str(MemoryClass.DURABLE_FACT)


def atom_rows(work: Work) -> tuple[pa.Table, int]:
    """Return the next version of every changed atom, and how many are new.

    A claim that a late source left without support is archived with no interval.
    """
    claims = np.array(work.changed_claims, np.int64)
    before, after = work.before.opener[claims], work.after.opener[claims]
    opener = np.where(after >= 0, after, before)
    claims, before, after, opener = (part[opener >= 0] for part in (claims, before, after, opener))
    taken = work.candidates.select(_READ).take(pa.array(work.encoded.rows[opener]))
    is_held = after >= 0
    count = len(claims)
    ids = work.encoded.claim_ids.take(pa.array(claims))
    stored = work.atom_versions
    version = np.array([stored.get(one, 0) + 1 for one in cells(ids)], np.int32)
    classes = cells(taken["memory_class"])
    confidence, retention = work.policy.confidence_ppm, work.policy.retention
    layers = ["consolidated_long_term" if one == _DURABLE else "recent_episodic" for one in classes]
    half = pa.array(np.full(count, FULL // 2, np.int32))
    columns = {
        "atom_id": ids,
        "version": pa.array(version),
        "lifecycle_state": _either(is_held, "active", "archived"),
        "health_status": _either(work.after.disputed[claims] >= 0, "contradicted", "healthy"),
        "intervals": _intervals(work.after, claims),
        "observed_at": taken["event_time"],
        "evidence_count": pa.array(work.after.support_count[claims].astype(np.int32)),
        "root_count": pa.array(work.after.root_count[claims].astype(np.int32)),
        "confidence_ppm": pa.array([confidence.get(one, 0) for one in cells(taken["trust"])], pa.int32()),
        "salience_ppm": half,
        "utility_ppm": half,
        "layer": pa.array(layers, pa.string()),
        "retention_class": pa.array([retention.get(one, "standard") for one in classes], pa.string()),
        **{name: taken[name] for name in _COPIED},
    }
    return table_of("atoms", columns), int((version == 1).sum())


def _intervals(folded: Folded, claims: I64) -> pa.ListArray:
    """Return per claim its validity, from and until in turn, the earliest first."""
    wanted = are_among(folded.interval_claim, claims, folded.opener.size)
    owner = np.searchsorted(claims, folded.interval_claim[wanted])
    order = np.lexsort((folded.interval_from[wanted], owner))
    bounds = np.stack((folded.interval_from[wanted], folded.interval_until[wanted]), axis=1)[order]
    offsets = np.zeros(len(claims) + 1, np.int32)
    np.cumsum(2 * np.bincount(owner, minlength=len(claims)), out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, pa.array(bounds.reshape(-1)))


def _either(holds: NDArray[np.bool_], yes: str, no: str) -> pa.Array:
    return pa.array([yes if one else no for one in holds.tolist()], pa.string())
