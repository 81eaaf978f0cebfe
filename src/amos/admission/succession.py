"""Lineage, disputes and edges: who gave way to whom, and who stands against whom."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from amos.admission.comparison import UNSALTED, Work, as_table, stored_versions
from amos.admission.history import REASONS, Folded
from amos.identity import keyed_id
from amos.kernels import history as kernel
from amos.schemas.vocabulary import Reason

_RELATION = {
    Reason.EXPLICIT_CORRECTION: "corrects",
    Reason.REFINES_CURRENT_VALUE: "refines",
}
FULL = 1_000_000


Succession = tuple[str, int, int, int]
"""Relation, predecessor claim, successor claim, candidate row that caused it."""


def _successions(work: Work, folded: Folded) -> set[Succession]:
    """Return the successions at places whose decision changed: the others are the same in both folds."""
    action = np.full(work.encoded.rows.size, -1, np.int64)
    reason = np.full(work.encoded.rows.size, -1, np.int64)
    action[folded.place], reason[folded.place] = folded.action, folded.reason
    gives_way = np.isin(action[folded.pair_place], (kernel.SUPERSEDE, kernel.LINK_SETTLES))
    gives_way &= np.isin(folded.pair_place, work.touched)
    found = set()
    pairs = zip(folded.pair_place[gives_way].tolist(), folded.pair_claim[gives_way].tolist(), strict=True)
    for place, claim in pairs:
        relation = _RELATION.get(REASONS[reason[place]], "supersedes")
        found.add((relation, claim, int(work.encoded.claim[place]), work.row(place)))
    return found


def lineage_rows(work: Work) -> list[tuple[Any, ...]]:
    """Return rows for successions that appear, and retractions of those that no longer hold."""
    before, after = _successions(work, work.before), _successions(work, work.after)
    gone, added = sorted(before - after), sorted(after - before)
    if not gone and not added:
        return []
    ids = {claim: work.claim_id(claim) for pair in (*gone, *added) for claim in pair[1:3]}
    successors = sorted({ids[pair[2]] for pair in (*gone, *added)})
    known = work.current.rows("lineage", "successor_id", successors)
    latest: dict[tuple[str, bytes, bytes, bytes], bytes] = {}
    times: dict[tuple[str, bytes, bytes, bytes], int] = defaultdict(int)
    for held in known:
        name = (held["relation"], held["predecessor_id"], held["successor_id"], held["decision_id"])
        times[name] += 1
        if held["retracts"] is None:
            latest[name] = held["lineage_id"]
    predecessors = sorted({ids[pair[1]] for pair in (*gone, *added)})
    versions = stored_versions(work, "atoms", "atom_id", predecessors)
    rows = []
    for pair, is_retraction in [*((pair, True) for pair in gone), *((pair, False) for pair in added)]:
        relation, predecessor, successor, row = pair
        decision = work.decision_id(row)
        name = (relation, ids[predecessor], ids[successor], decision)
        retracts = latest.get(name) if is_retraction else None
        if is_retraction and retracts is None:
            continue
        lineage_id = keyed_id(
            work.key, "lineage", b"".join((*(_raw(part) for part in name), b"%d" % times[name]))
        )
        times[name] += 1
        digest = hashlib.sha256(_payload_of(work, predecessor).encode()).digest()
        rows.append(
            (
                lineage_id,
                relation,
                ids[predecessor],
                ids[successor],
                digest,
                versions.get(ids[predecessor], 1),
                decision,
                retracts,
            )
        )
    return rows


def _raw(part: str | bytes) -> bytes:
    return part.encode() + b"\x00" if isinstance(part, str) else part


def _payload_of(work: Work, claim: int) -> str:
    opener = int(work.after.opener[claim])
    if opener < 0:
        opener = int(work.before.opener[claim])
    return str(work.cells.get("payload", work.row(opener))) if opener >= 0 else ""


def _disputed_histories(work: Work, folded: Folded) -> dict[int, tuple[tuple[int, ...], int]]:
    """Return per history in dispute its disputed claims, oldest first, and the place that opened it."""
    disputed = np.flatnonzero(folded.disputed >= 0)
    sides: dict[int, list[int]] = defaultdict(list)
    opened: dict[int, int] = {}
    for claim in disputed[np.argsort(folded.opener[disputed], kind="stable")].tolist():
        group = int(work.encoded.group[folded.opener[claim]])
        place = int(folded.disputed[claim])
        sides[group].append(claim)
        opened[group] = min(place, opened.get(group, place))
    return {group: (tuple(claims), opened[group]) for group, claims in sides.items()}


def dispute_rows(work: Work) -> tuple[pa.Table, list[tuple[bytes, bytes, bool]]]:
    """Return rows of disputes that open, change or close, and pairs of sides that (no longer) disagree."""
    before, after = _disputed_histories(work, work.before), _disputed_histories(work, work.after)
    changed = sorted(group for group in before.keys() | after.keys() if before.get(group) != after.get(group))
    opened_row = {group: work.row((after.get(group) or before[group])[1]) for group in changed}
    dispute_ids = {
        group: keyed_id(work.key, "disputes", work.cells.get("history_id", opened_row[group]))
        for group in changed
    }
    versions = stored_versions(work, "disputes", "dispute_id", [dispute_ids[group] for group in changed])
    rows = []
    edges: list[tuple[bytes, bytes, bool]] = []
    for group in changed:
        sides = [work.claim_id(claim) for claim in (after.get(group) or before[group])[0]]
        row = opened_row[group]
        rows.append(
            (
                dispute_ids[group],
                versions.get(dispute_ids[group], 0) + 1,
                work.cells.get("slot_id", row),
                sides,
                work.cells.get("order_time", row) or work.cells.get("event_time", row),
                str(Reason.DISPUTED_NO_CLEAR_AUTHORITY),
                "open" if group in after else "closed",
            )
        )
        was = _neighbours(work, before.get(group))
        stands = _neighbours(work, after.get(group))
        edges.extend((one, two, False) for one, two in sorted(was - stands))
        edges.extend((one, two, True) for one, two in sorted(stands - was))
    return as_table("disputes", rows), edges


def _neighbours(work: Work, dispute: tuple[tuple[int, ...], int] | None) -> set[tuple[bytes, bytes]]:
    """Return each side paired with the next older one: linear in the sides, and all are connected."""
    if dispute is None:
        return set()
    ids = [work.claim_id(claim) for claim in dispute[0]]
    return set(zip(ids[1:], ids, strict=False))


def edge_rows(
    work: Work, lineage: list[tuple[Any, ...]], contradictions: list[tuple[bytes, bytes, bool]]
) -> pa.Table:
    """Return the edges that appear or retire with `lineage` rows and pairs of disputed sides."""
    wanted: dict[tuple[bytes, str, bytes], tuple[bool, str]] = {}
    for _, relation, predecessor, successor, _, _, _, retracts in lineage:
        wanted[successor, relation, predecessor] = (retracts is None, "admission.lineage")
    for one, two, stands in contradictions:
        wanted[one, "contradicts", two] = (stands, "admission.dispute")
    if not wanted:
        return UNSALTED["edges"].empty_table()
    current = {
        row["edge_id"]: row
        for row in work.current.rows("edges", "from_id", sorted({start for start, _, _ in wanted}))
    }
    rows = []
    for (start, relation, end), (stands, derivation) in sorted(wanted.items()):
        edge_id = keyed_id(work.key, "edges", start + relation.encode() + b"\x00" + end)
        state = "active" if stands else "archived"
        known = current.get(edge_id)
        if known is not None and known["lifecycle_state"] == state:
            continue
        version = known["version"] + 1 if known is not None else 1
        rows.append((edge_id, version, start, relation, end, derivation, state, FULL))
    return as_table("edges", rows)
