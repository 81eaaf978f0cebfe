"""What was learned of claims and edges from the outcomes of packets, folded from the rows of feedback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.atoms.feedback import HEALTHY, LOW_UTILITY, WEAKENING, Fed, fed_by
from amos.flow.printed import shown_score, shown_time
from amos.flow.sight import Sight
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.retrieval.stored_facts import Lessons
from amos.schemas.columns import ID, TIME

COLUMNS = ["source_id", "packet_id", "atom_id", "turn_id", "edge_id", "kind", "utility_ppm", "salience_ppm",
           "recorded_at"]  # fmt: skip
_BASE = ["atom_id", "version", "utility_ppm", "salience_ppm", "health_status"]


def feedback_in_sight(sight: Sight, column: str, ids: Iterable[bytes]) -> dict[bytes, Fed]:
    """Return the feedback on some rows from outcomes in sight, by the id in `column`."""
    if sight.snapshot.row_count("feedback") == 0:
        return {}
    wanted = pa.array(list(dict.fromkeys(ids)), ID)
    rows = sight.seen("feedback", sight.snapshot.lookup("feedback", column, wanted))
    return fed_by(rows.select(COLUMNS).to_pylist(), column)


def shown_learned(fed: Fed, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are printed of a claim whose stored row is given."""
    standing = fed.standing(row["utility_ppm"], row["salience_ppm"], row["health_status"])
    return {
        "health": standing.health,
        "utility": shown_score(standing.utility_ppm),
        "salience": shown_score(standing.salience_ppm),
        "last_accessed_at": shown_time(fed.last),
        **fed.counts(),
    }


def with_learned(sight: Sight, atoms: pa.Table) -> pa.Table:
    """Return claims with the columns of `shown_learned`; `last_accessed_at` as an instant."""
    fed = feedback_in_sight(sight, "atom_id", atoms["atom_id"].to_pylist())
    names = ("utility_ppm", "salience_ppm", "health_status")
    bases = zip(*(atoms[name].to_pylist() for name in names), strict=True)
    nothing = Fed()
    found = [fed.get(one, nothing) for one in atoms["atom_id"].to_pylist()]
    standings = [one.standing(*base) for one, base in zip(found, bases, strict=True)]
    none = nothing.counts()
    counts = [none if one is nothing else one.counts() for one in found]
    columns: dict[str, pa.Array] = {
        "health": pa.array([one.health for one in standings], pa.string()),
        "utility": pa.array([shown_score(one.utility_ppm) for one in standings], pa.float64()),
        "salience": pa.array([shown_score(one.salience_ppm) for one in standings], pa.float64()),
        "last_accessed_at": pa.array([one.last for one in found], TIME),
    }
    columns |= {name: pa.array([one[name] for one in counts], pa.int32()) for name in none}
    for name, column in columns.items():
        atoms = atoms.append_column(name, column)
    return atoms


class LowUtility:
    """Tells which healthy claims count as of low utility, for callers of any scope.

    A caller is told of the outcomes in sight alone, so that nothing is learned of what happened elsewhere.
    """

    def __init__(self, snapshot: Snapshot, now: datetime) -> None:
        self._snapshot = snapshot
        self._now = now
        self._known: dict[tuple[tuple[str, str], ...], frozenset[bytes]] = {}

    def __call__(self, scope: Mapping[str, str]) -> frozenset[bytes]:
        """Return the ids of these claims as a caller of this scope sees them."""
        key = tuple(sorted(scope.items()))
        if key not in self._known:
            self._known[key] = self._read(Sight(snapshot=self._snapshot, now=self._now, scope=scope))
        return self._known[key]

    def _read(self, sight: Sight) -> frozenset[bytes]:
        if self._snapshot.row_count("feedback") == 0:
            return frozenset()
        rows = self._snapshot.table("feedback", COLUMNS)
        rows = rows.filter(pc.and_(pc.is_valid(rows["atom_id"]), pc.not_equal(rows["utility_ppm"], 0)))
        weakened = rows.filter(pc.is_in(rows["kind"], value_set=pa.array(WEAKENING)))
        ids = weakened["atom_id"].combine_chunks().unique()
        if not len(ids):
            return frozenset()
        told = sight.seen("feedback", rows.filter(pc.is_in(rows["atom_id"], value_set=ids)))
        found = fed_by(told.to_pylist(), "atom_id")
        atoms = latest(self._snapshot.lookup("atoms", "atom_id", ids, _BASE), "atoms")
        return frozenset(
            row["atom_id"]
            for row in atoms.to_pylist()
            if row["atom_id"] in found and _health(found[row["atom_id"]], row) == LOW_UTILITY
        )


def lessons_of(snapshot: Snapshot, now: datetime) -> Lessons:
    """Return what outcomes taught of claims and edges, for callers of any scope."""
    known: dict[tuple[object, ...], dict[bytes, Fed]] = {}

    def fed(scope: Mapping[str, str], column: str) -> dict[bytes, Fed]:
        if snapshot.row_count("feedback") == 0:
            return {}
        key = (column, tuple(sorted(scope.items())))
        if key not in known:
            known[key] = read_fed(scope, column)
        return known[key]

    def read_fed(scope: Mapping[str, str], column: str) -> dict[bytes, Fed]:
        rows = snapshot.table("feedback", COLUMNS)
        told = Sight(snapshot=snapshot, now=now, scope=scope).seen("feedback", rows)
        return fed_by(told.filter(pc.is_valid(told[column])).to_pylist(), column)

    def standings(scope: Mapping[str, str]) -> dict[bytes, tuple[int, int]]:
        found = fed(scope, "atom_id")
        if not found:
            return {}
        rows = latest(snapshot.lookup("atoms", "atom_id", pa.array(sorted(found), ID), _BASE), "atoms")
        return {row["atom_id"]: _worth(found[row["atom_id"]], row) for row in rows.to_pylist()}

    def factors(scope: Mapping[str, str]) -> dict[bytes, int]:
        return {one: told.factor_ppm for one, told in fed(scope, "edge_id").items()}

    return Lessons(standings, factors)


def _worth(fed: Fed, row: Mapping[str, Any]) -> tuple[int, int]:
    standing = fed.standing(row["utility_ppm"], row["salience_ppm"], row["health_status"])
    return standing.utility_ppm, standing.salience_ppm


def with_low_utility(atoms: pa.Table, low: frozenset[bytes]) -> pa.Table:
    """Return claims with the health of those of low utility, by id, where they are healthy otherwise."""
    if not low:
        return atoms
    is_low = pc.and_(
        pc.is_in(atoms["atom_id"], value_set=pa.array(sorted(low), ID)),
        pc.equal(atoms["health_status"], HEALTHY),
    )
    place = atoms.schema.get_field_index("health_status")
    health = pc.if_else(is_low, LOW_UTILITY, atoms["health_status"])
    return atoms.set_column(place, atoms.schema.field(place), health)


def _health(fed: Fed, row: Mapping[str, Any]) -> str:
    return fed.standing(row["utility_ppm"], row["salience_ppm"], row["health_status"]).health
