"""How long candidates of a store have been waiting for a person: old ones show that review has stalled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.clock import to_us
from amos.flow.sight import Sight
from amos.schemas.vocabulary import Outcome, Reason

_DAY_US = 86_400_000_000
_SOURCE = ("source_id", "trust", "channel", "format", "ingest_time")
_DECISION = ("source_id", "outcome", "reasons", "extractor", "policy", "deadline")
_SENSITIVE = (str(Reason.SENSITIVE_CONTENT), str(Reason.THIRD_PARTY_SENSITIVE))


def waiting_report(sight: Sight, *, tenant: str) -> dict[str, Any]:
    """Return how many decisions hold something back, since when, and how many are past their deadline.

    The age of a held candidate counts from when this store accepted the words that it cites.
    """
    held = _held(sight)
    ages = np.maximum(to_us(sight.now) - _microseconds(held["ingest_time"]), 0) / _DAY_US
    is_late = pc.fill_null(pc.less(held["deadline"], pa.scalar(sight.now, held["deadline"].type)), False)
    late = is_late.to_numpy().astype(bool)
    labels = {
        "reason": held["reason"].to_pylist(),
        "channel": pc.coalesce(held["channel"], held["trust"]).to_pylist(),
        "format": held["format"].to_pylist(),
        "extractor": held["extractor"].to_pylist(),
        "policy": held["policy"].to_pylist(),
        "tenant": [tenant] * held.num_rows,
        "privacy_class": [_privacy(reason) for reason in held["reason"].to_pylist()],
    }
    return {
        "graph_version": sight.snapshot.version or None,
        **_ages(ages, late),
        "by": {name: _grouped(values, ages, late) for name, values in labels.items()},
    }


def _held(sight: Sight) -> pa.Table:
    """Return the decisions that hold something back, each with the source it cites."""
    decisions = sight.current("decisions", list(_DECISION))
    held = decisions.filter(pc.equal(decisions["outcome"], str(Outcome.QUARANTINE)))
    sources = sight.current("sources", list(_SOURCE))
    places = pc.index_in(held["source_id"], value_set=sources["source_id"].combine_chunks())
    cited = sources.take(places.combine_chunks())
    first = pa.array([reasons[0] for reasons in held["reasons"].to_pylist()], pa.string())
    columns = {name: held[name] for name in ("extractor", "policy", "deadline")}
    return pa.table({"reason": first, **columns, **{name: cited[name] for name in _SOURCE}})


def _microseconds(column: pa.ChunkedArray) -> NDArray[np.int64]:
    found: NDArray[np.int64] = column.cast(pa.int64()).to_numpy()
    return found


def _privacy(reason: str) -> str:
    return reason.removesuffix("_content") if reason in _SENSITIVE else "plain"


def _grouped(
    labels: Iterable[str], ages: NDArray[np.float64], late: NDArray[np.bool_]
) -> dict[str, dict[str, Any]]:
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    return {label: _ages(ages[places[label]], late[places[label]]) for label in sorted(places)}


def _ages(ages: NDArray[np.float64], late: NDArray[np.bool_]) -> dict[str, Any]:
    if not ages.size:
        return {"waiting": 0, "past_deadline": 0, "median_days": None, "oldest_days": None}
    return {
        "waiting": int(ages.size),
        "past_deadline": int(late.sum()),
        "median_days": round(float(np.median(ages)), 2),
        "oldest_days": round(float(ages.max()), 2),
    }
