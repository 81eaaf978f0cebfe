"""Outcomes and feedback as they are printed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from amos.flow.printed import shown_id, shown_score, shown_time
from amos.flow.sight import Sight

Row = dict[str, Any]


def outcome_rows(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001 - one shape for all printers
    """Return outcomes: of which packet, with which labels, and what its items are known from."""
    return [
        {
            "outcome_id": shown_id("outcome_id", row["outcome_id"]),
            "packet_id": shown_id("packet_id", row["packet_id"]),
            "source_id": shown_id("source_id", row["source_id"]),
            "packet_version": row["packet_version"],
            "processor": row["processor"],
            "profile": row["profile"],
            "labels": row["labels"],
            "use_status": row["use_status"],
            "membership": row["membership"],
            "recorded_at": shown_time(row["recorded_at"]),
            "rule": row["rule"],
        }
        for row in rows.to_pylist()
    ]


def feedback_rows(sight: Sight, rows: pa.Table) -> list[Row]:  # noqa: ARG001
    """Return feedback: what an item or an edge was to an outcome, and what that may add."""
    names = ("feedback_id", "outcome_id", "packet_id", "source_id", "atom_id", "turn_id", "edge_id")
    return [
        {
            **{name: shown_id(name, row[name]) for name in names},
            "kind": row["kind"],
            "rank": row["rank"],
            "score": shown_score(row["score_ppm"]),
            "utility": shown_score(row["utility_ppm"]),
            "salience": shown_score(row["salience_ppm"]),
            "recorded_at": shown_time(row["recorded_at"]),
        }
        for row in rows.to_pylist()
    ]
