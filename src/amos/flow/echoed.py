"""What echoes say of atoms: how often each was repeated, when last, and what that adds to confidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from amos.atoms.echoes import effective_ppm, reinforcement_ppm
from amos.flow.printed import shown_score, shown_time
from amos.flow.sight import Sight
from amos.journal.store import Snapshot
from amos.schemas.columns import ID

REINFORCEMENT, EXPOSURE = "reinforcement", "exposure"
_COLUMNS = ["atom_id", "conversation_id", "kind", "delta_ppm", "referenced_at"]


@dataclass(kw_only=True)
class Echoed:
    """The echoes of one atom."""

    count: int = 0
    exposures: int = 0
    last: Any = None
    deltas: dict[bytes, int] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one echo; of several in one conversation the largest adds."""
        if row["kind"] == EXPOSURE:
            self.exposures += 1
            return
        self.count += 1
        talk = row["conversation_id"]
        self.deltas[talk] = max(self.deltas.get(talk, 0), row["delta_ppm"])
        times = [at for at in (self.last, row["referenced_at"]) if at is not None]
        self.last = max(times) if times else None

    @property
    def reinforced_ppm(self) -> int:
        """What they add to confidence."""
        return reinforcement_ppm(self.deltas)

    def shown(self, confidence_ppm: int) -> dict[str, Any]:
        """Return the fields that are printed beside an atom of this confidence."""
        return {
            "effective_confidence": shown_score(effective_ppm(confidence_ppm, self.reinforced_ppm)),
            "reinforcement": shown_score(self.reinforced_ppm),
            "reference_count": self.count,
            "last_referenced_at": shown_time(self.last),
        }


def echoes_of(snapshot: Snapshot, atom_ids: Iterable[bytes]) -> dict[bytes, Echoed]:
    """Return the echoes of the atoms that have any, by atom."""
    found: dict[bytes, Echoed] = {}
    if snapshot.row_count("echoes") == 0:
        return found
    ids = pa.array(list(dict.fromkeys(atom_ids)), ID)
    for row in snapshot.lookup("echoes", "atom_id", ids, _COLUMNS).to_pylist():
        found.setdefault(row["atom_id"], Echoed()).add(row)
    return found


def echoes_in_sight(sight: Sight, atom_ids: pa.ChunkedArray) -> dict[bytes, Echoed]:
    """Return the echoes of atoms in replies that the caller sees, by atom."""
    found: dict[bytes, Echoed] = {}
    if sight.snapshot.row_count("echoes") == 0:
        return found
    rows = sight.snapshot.lookup("echoes", "atom_id", atom_ids.combine_chunks())
    for row in sight.seen("echoes", rows).select(_COLUMNS).to_pylist():
        found.setdefault(row["atom_id"], Echoed()).add(row)
    return found


def reinforced_atoms(snapshot: Snapshot) -> dict[bytes, int]:
    """Return what echoes add to the confidence of atoms, in parts per million, by atom."""
    if snapshot.row_count("echoes") == 0:
        return {}
    found: dict[bytes, Echoed] = {}
    for row in snapshot.table("echoes", _COLUMNS).to_pylist():
        found.setdefault(row["atom_id"], Echoed()).add(row)
    return {atom: echoed.reinforced_ppm for atom, echoed in found.items() if echoed.reinforced_ppm}
