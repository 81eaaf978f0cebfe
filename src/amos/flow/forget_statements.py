"""The sentences in which claims are printed: packets, exports and echoes of them repeat a forgotten one."""

from __future__ import annotations

import pyarrow as pa

from amos.atoms.statement import statements
from amos.flow.claims import subject_label
from amos.flow.forget_cuts import SCOPES, Passage
from amos.flow.forget_selection import current_rows
from amos.journal.store import Snapshot
from amos.kernels.wordings import wording_of

SHORTEST_STATEMENT = 3
"""Words of the shortest sentence that is looked for: shorter ones anybody says."""


def statement_passages(snapshot: Snapshot, candidates: pa.Table) -> list[Passage]:
    """Return the words of every sentence in which a claim of `candidates` is printed, with their scope."""
    subjects = current_rows(
        snapshot, "entities", "entity_id", candidates["subject_id"].combine_chunks().unique()
    )
    labels = {row["entity_id"]: subject_label(row) for row in subjects.to_pylist()}
    names = [labels.get(one) or "" for one in candidates["subject_id"].to_pylist()]
    kinds, payloads, signs = (candidates[name].to_pylist() for name in ("type", "payload", "polarity"))
    scopes = zip(*(candidates[name].to_pylist() for name in SCOPES), strict=True)
    found: dict[Passage, None] = {}
    for text, scope in zip(statements(kinds, payloads, signs, names), scopes, strict=True):
        words = tuple(wording_of(text).words)
        if len(words) >= SHORTEST_STATEMENT:
            found[words, scope] = None
    return list(found)
