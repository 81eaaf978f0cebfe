"""The sentences in which claims are printed: packets, exports and echoes of them repeat a forgotten one."""

from __future__ import annotations

import pyarrow as pa

from amos.atoms.statement import statements
from amos.flow.claims import labels_of
from amos.flow.forget_cuts import SCOPES, Passage
from amos.flow.forget_selection import current_rows
from amos.journal.store import Snapshot
from amos.kernels.wordings import wording_of
from amos.schemas.labels import NOBODY, label_of

SHORTEST_STATEMENT = 3
"""Words of the shortest sentence that is looked for: shorter ones anybody says."""


def statement_passages(snapshot: Snapshot, candidates: pa.Table) -> list[Passage]:
    """Return the words of every sentence in which a claim of `candidates` is printed, with their scope.

    What a named speaker has is looked for under their name, and as the one who is spoken to would have it.
    """
    ids = candidates["subject_id"].combine_chunks().unique()
    subjects = current_rows(snapshot, "entities", "entity_id", ids).to_pylist()
    addressed = {row["entity_id"]: label_of(row, None) for row in subjects}
    kinds, payloads, signs = (candidates[name].to_pylist() for name in ("type", "payload", "polarity"))
    scopes = list(zip(*(candidates[name].to_pylist() for name in SCOPES), strict=True))
    found: dict[Passage, None] = {}
    for labels in (labels_of(snapshot, subjects), addressed):
        names = [labels.get(one, NOBODY) for one in candidates["subject_id"].to_pylist()]
        for text, scope in zip(statements(kinds, payloads, signs, names), scopes, strict=True):
            words = tuple(wording_of(text).words)
            if len(words) >= SHORTEST_STATEMENT:
                found[words, scope] = None
    return list(found)
