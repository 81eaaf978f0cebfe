"""Deliveries whose key is taken by another text: they are refused, and the refusal is a row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from amos.admission.comparison import UNSALTED
from amos.flow.prepare import Rules
from amos.identity import keyed_id
from amos.schemas.choosing import empty
from amos.schemas.vocabulary import Action, Modality, Outcome, Reason

_CONFLICT = ("source_id", "delivery_digest")


def conflict_decisions(conflicts: pa.Table, *, rules: Rules, key: bytes) -> pa.Table:
    """Return the refusal of deliveries whose key is taken by another text.

    conflicts: columns `source_id` of the stored source and `delivery_digest` of the refused text;
    repeating the same refused delivery gives the same decision.
    """
    schema = UNSALTED["decisions"]
    count = conflicts.num_rows
    if count == 0:
        return empty(schema)
    refused = [
        b"conflict\x00" + source + digest
        for source, digest in zip(*(conflicts[name].to_pylist() for name in _CONFLICT), strict=True)
    ]
    columns: dict[str, Any] = {
        "decision_id": [keyed_id(key, "decisions", one) for one in refused],
        "version": [1] * count,
        "candidate_id": [None] * count,
        "source_id": conflicts["source_id"].to_pylist(),
        "outcome": [str(Outcome.REJECT)] * count,
        "action": [str(Action.REJECT)] * count,
        "reasons": [[str(Reason.DELIVERY_CONFLICT)]] * count,
        "modality": [str(Modality.NONE)] * count,
        "policy": [rules.policy.label] * count,
        "extractor": [rules.extractor.name] * count,
        "utility": [0] * count,
        "risk": [0] * count,
        "atom_id": [None] * count,
        "targets": [[]] * count,
        "deadline": [None] * count,
    }
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)
