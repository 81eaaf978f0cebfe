"""Decide histories again without the candidates that go, and find which stored rows that changes.

The histories are folded afresh from what is left, as a store would that never held the rest; stored
rows that say the same stay, others get a new version, and versions that name what is gone go too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.comparison import UNSALTED
from amos.admission.policy import Policy
from amos.admission.reviewed import flagged, is_accepting
from amos.admission.settle import settle
from amos.flow.current import NothingStored
from amos.identity import keyed_id
from amos.journal.store import Snapshot
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS
from amos.schemas.vocabulary import Reason

Row = dict[str, Any]
Place = tuple[int, int]
"""Graph version and row number of a stored row."""

_SILENT = {"version", "salt", "graph_version", "row_number", "deadline", "policy", "predecessor_version"}
"""Columns in which rows that say the same may differ."""


@dataclass(kw_only=True)
class Gone:
    """Stored rows that go: per table the id of each by its place."""

    places: dict[str, dict[Place, bytes]] = field(default_factory=dict)

    def add(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add stored rows; each holds its id, graph version and row number."""
        key = PRIMARY_KEYS[table]
        held = self.places.setdefault(table, {})
        held.update({(row["graph_version"], row["row_number"]): row[key] for row in rows})

    def add_table(self, table: str, rows: pa.Table) -> None:
        """Add stored rows given as a table."""
        names = (PRIMARY_KEYS[table], "graph_version", "row_number")
        columns = [rows[name].to_pylist() for name in names]
        held = self.places.setdefault(table, {})
        held.update({(version, row): one for one, version, row in zip(*columns, strict=True)})


@dataclass(frozen=True, kw_only=True)
class Left:
    """What stays of the touched histories.

    candidates: current ones that stay, as they will be (no salt).  claims: all claims of those
    histories.  histories: their ids.  lost: evidence that goes, as (source, spans) of candidates.
    stale: sources whose stored revisions go while they stay.  decisions: ids of decisions that go.
    """

    candidates: pa.Table
    claims: pa.Array
    histories: pa.Array
    lost: set[tuple[bytes, tuple[int, ...]]]
    stale: set[bytes]
    decisions: set[bytes]


@dataclass(kw_only=True)
class Resettled:
    """New row versions by table, without salts, and the claims that no longer stand."""

    rows: dict[str, pa.Table]
    vanished: set[bytes]


def resettle(
    snapshot: Snapshot, left: Left, gone: Gone, *, key: bytes, policy: Policy, now: datetime
) -> Resettled:
    """Return what to append for the touched histories; rows to erase are added to `gone`."""
    eligible = left.candidates.filter(pc.is_null(left.candidates["gate"]))
    settled = settle(
        eligible,
        eligible.schema.empty_table(),
        NothingStored(snapshot),
        replaced=eligible.schema.empty_table(),
        key=key,
        policy=policy,
        now=now,
    )
    work = _Work(snapshot=snapshot, left=left, gone=gone, key=key)
    atoms = work.atoms(settled.atoms.to_pylist())
    rows = {
        "decisions": work.decisions(settled.decisions.to_pylist()),
        "atoms": atoms,
        "edges": work.edges(settled.edges.to_pylist()),
        "lineage": work.lineage(settled.lineage.to_pylist()),
        "disputes": work.disputes(settled.disputes.to_pylist()),
    }
    tables = {name: pa.Table.from_pylist(found, schema=UNSALTED[name]) for name, found in rows.items()}
    return Resettled(rows=tables, vanished=work.vanished)


def _says_same(one: Row, other: Row, table: str) -> bool:
    return all(_same(one[name], other[name]) for name in UNSALTED[table].names if name not in _SILENT)


def _same(one: Any, other: Any) -> bool:
    """Compare two cells; ids in lists may stand in any order."""
    if isinstance(one, list) and one and isinstance(one[0], bytes):
        return sorted(one) == sorted(other)
    return bool(one == other)


@dataclass(kw_only=True)
class _Work:
    snapshot: Snapshot
    left: Left
    gone: Gone
    key: bytes
    vanished: set[bytes] = field(default_factory=set)
    reworded: set[bytes] = field(default_factory=set)
    versions: dict[bytes, int] = field(default_factory=dict)

    def _stored(self, table: str, ids: Mapping[str, Iterable[bytes]]) -> dict[bytes, list[Row]]:
        """Return all stored versions of rows by id, oldest first; ids: keys by the column that holds them."""
        found: dict[Place, Row] = {}
        for column, keys in ids.items():
            wanted = pa.array(sorted(set(keys)), ID)
            for row in self.snapshot.lookup(table, column, wanted).to_pylist():
                found[row["graph_version"], row["row_number"]] = row
        by_id: dict[bytes, list[Row]] = defaultdict(list)
        for place in sorted(found):
            by_id[found[place][PRIMARY_KEYS[table]]].append(found[place])
        return by_id

    def atoms(self, settled: list[Row]) -> list[Row]:
        """Return new versions of atoms; those without support left vanish."""
        wanted = {row["atom_id"]: row for row in settled}
        stays = set(self.left.candidates["claim_id"].to_pylist())
        added = []
        claims = self.left.claims.to_pylist()
        stored = self._stored("atoms", {"atom_id": claims})
        for claim in claims:
            held, row = stored.get(claim, []), wanted.get(claim)
            if row is None:
                is_void = bool(held) and held[-1]["evidence_count"] == 0 and claim in stays
                if is_void and not any(map(self._cites_lost, held)):
                    continue  # an earlier decision had made it void already
                self.gone.add("atoms", held)
                self.vanished.add(claim)
                continue
            version = held[-1]["version"] if held else 0
            if not held or not _says_same(held[-1], row, "atoms"):
                version += 1
                added.append({**row, "version": version})
            lost = [one for one in held if self._cites_lost(one)]
            self.gone.add("atoms", lost)
            self.versions[claim] = version
            if lost:
                self.reworded.add(claim)
        return added

    def _cites_lost(self, row: Row) -> bool:
        cited = (row["source_id"], tuple(row["spans"]))
        return cited in self.left.lost or row["source_id"] in self.left.stale

    def decisions(self, settled: list[Row]) -> list[Row]:
        """Return new versions of decisions on candidates that stay."""
        wanted = {row["decision_id"]: row for row in settled}
        stored = self._stored("decisions", {"decision_id": wanted})
        rows: list[Row] = []
        for identifier, told in wanted.items():
            held = stored.get(identifier, [])
            row = self._reviewed(held, told) if is_accepting(told["reasons"]) else told
            rows += [
                _own(one, "decisions") for one in self._next("decisions", held, row, self._names_vanished)
            ]
        return rows

    def _reviewed(self, held: list[Row], told: Row) -> Row:
        """Return what a person decided: as stored, flagged where what it rested on went or moved."""
        if not held or not is_accepting(held[-1]["reasons"]):
            return told
        if self._names_vanished(held[-1]):
            return {**told, "reasons": [*told["reasons"], str(Reason.BASIS_CHANGED)]}
        return flagged(held[-1], told) or held[-1]

    def _names_vanished(self, decision: Row) -> bool:
        named = {decision["atom_id"], *decision["targets"]}
        return not named.isdisjoint(self.vanished)

    def _next(
        self, table: str, held: list[Row], row: Row | None, is_lost: Callable[[Row], bool]
    ) -> list[Row]:
        """Erase the versions that are lost; return `row` as the next version unless the last one says it."""
        lost = [one for one in held if is_lost(one)]
        self.gone.add(table, lost)
        if row is None or (held and held[-1] not in lost and _says_same(held[-1], row, table)):
            return []
        return [{**row, "version": held[-1]["version"] + 1 if held else 1}]

    def edges(self, settled: list[Row]) -> list[Row]:
        """Return edges that appear, return or retire; edges of what vanished go."""
        wanted = {row["edge_id"]: row for row in settled}
        claims = self.left.claims.to_pylist()
        stored = self._stored("edges", {"from_id": claims, "to_id": claims})
        rows: list[Row] = []
        for identifier in {**stored, **wanted}:
            held, row = stored.get(identifier, []), wanted.get(identifier)
            if held and not {held[-1]["from_id"], held[-1]["to_id"]}.isdisjoint(self.vanished):
                self.gone.add("edges", held)
                continue
            if row is None and held and _is_retired_by_settling(held[-1]):
                row = {**held[-1], "lifecycle_state": "archived"}
            rows += [_own(one, "edges") for one in self._next("edges", held, row, lambda _: False)]
        return rows

    def lineage(self, settled: list[Row]) -> list[Row]:
        """Return successions that appear, and withdrawals of those that no longer hold."""
        wanted = {_name(row): row for row in settled if row["retracts"] is None}
        claims = self.left.claims.to_pylist()
        stored = self._stored("lineage", {"predecessor_id": claims, "successor_id": claims})
        groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for held in stored.values():
            groups[_name(held[0])] += held
        rows = []
        for name in {**groups, **wanted}:
            held, row = groups.get(name, []), wanted.get(name)
            if self._is_lost_succession(name):
                self.gone.add("lineage", held)
                held = []
            rows += self._succession(held, row)
        return rows

    def _is_lost_succession(self, name: tuple[Any, ...]) -> bool:
        _, predecessor, successor, decision = name
        ends = {predecessor, successor}
        kept = ends.isdisjoint(self.vanished) and ends.isdisjoint(self.reworded)
        return not kept or decision in self.left.decisions

    def _succession(self, held: list[Row], row: Row | None) -> list[Row]:
        withdrawn = {one["retracts"] for one in held}
        standing = [one for one in held if one["retracts"] is None and one["lineage_id"] not in withdrawn]
        if (row is None) == (not standing):
            return []
        model = row if row is not None else standing[-1]
        name = b"".join(_raw(part) for part in _name(model))
        return [
            _own(
                {
                    **model,
                    "lineage_id": keyed_id(self.key, "lineage", name + b"%d" % len(held)),
                    "predecessor_version": self.versions.get(model["predecessor_id"], 1),
                    "retracts": None if row is not None else model["lineage_id"],
                },
                "lineage",
            )
        ]

    def disputes(self, settled: list[Row]) -> list[Row]:
        """Return disputes that open, change or close."""
        wanted = {row["dispute_id"]: row for row in settled}
        ids = [keyed_id(self.key, "disputes", history) for history in self.left.histories.to_pylist()]
        stored = self._stored("disputes", {"dispute_id": ids})
        rows: list[Row] = []
        for identifier in {**stored, **wanted}:
            held, row = stored.get(identifier, []), wanted.get(identifier)
            if row is None and held and self._has_vanished_side(held[-1]):
                self.gone.add("disputes", held)
                continue
            if row is None and held and held[-1]["status"] == "open":
                row = {**held[-1], "status": "closed"}
            found = self._next("disputes", held, row, self._has_vanished_side)
            rows += [_own(one, "disputes") for one in found]
        return rows

    def _has_vanished_side(self, dispute: Row) -> bool:
        return not self.vanished.isdisjoint(dispute["sides"])


def _is_retired_by_settling(edge: Row) -> bool:
    return edge["lifecycle_state"] == "active" and edge["derivation"].startswith("admission.")


def _name(row: Row) -> tuple[Any, ...]:
    return row["relation"], row["predecessor_id"], row["successor_id"], row["decision_id"]


def _raw(part: str | bytes) -> bytes:
    return part.encode() + b"\x00" if isinstance(part, str) else part


def _own(row: Row, table: str) -> Row:
    return {name: row[name] for name in UNSALTED[table].names}
