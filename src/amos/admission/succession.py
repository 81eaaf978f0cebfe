"""Lineage, disputes and edges: who gave way to whom, and who stands against whom."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.admission.cells import cells
from amos.admission.comparison import (
    UNSALTED,
    Work,
    are_among,
    as_table,
    codes_of,
    keyed_column,
    table_of,
)
from amos.admission.history import REASONS, Folded
from amos.identity import keyed_id
from amos.kernels import history as kernel
from amos.kernels.hashing import sha256_rows
from amos.schemas.buffers import column_arrays
from amos.schemas.choosing import empty
from amos.schemas.columns import DIGEST
from amos.schemas.vocabulary import Reason

I64 = NDArray[np.int64]
Name = tuple[str, bytes, bytes, bytes]
"""A succession by ids: relation, predecessor, successor, decision that caused it."""
Ends = tuple[bytes, str, bytes]
"""An edge by its ends: from, relation, to."""

_RELATIONS = ("corrects", "refines", "supersedes")  # in the order of their names
_RELATION_OF = np.array(
    [{Reason.EXPLICIT_CORRECTION: 0, Reason.REFINES_CURRENT_VALUE: 1}.get(reason, 2) for reason in REASONS]
)
_EDGE_OF = ("successor_id", "relation", "predecessor_id")
_EDGE_STATE = ["edge_id", "version", "lifecycle_state"]
_DISPUTE_OF = ("history_id", "slot_id", "order_time", "event_time")
FULL = 1_000_000


class Successions(NamedTuple):
    """Successions by column, ordered by what they say: retractions first.

    relation: place in `_RELATIONS`.  predecessor, successor: claim codes.  row: candidate that
    caused it.  is_gone: it no longer holds.
    """

    relation: I64
    predecessor: I64
    successor: I64
    row: I64
    is_gone: NDArray[np.bool_]


def _successions(work: Work, folded: Folded) -> I64:
    """Return a code of each succession at places whose decision changed: the others are in both folds."""
    codes = codes_of(folded, work.encoded.rows.size)[folded.pair_place]
    action, reason = codes // len(REASONS), codes % len(REASONS)
    gives_way = (action == kernel.SUPERSEDE) | (action == kernel.LINK_SETTLES)
    gives_way &= are_among(folded.pair_place, work.touched, work.encoded.rows.size)
    relation = _RELATION_OF[reason[gives_way]]
    row = work.encoded.rows[folded.pair_place[gives_way]]
    claim = folded.pair_claim[gives_way]
    return (relation * work.encoded.claim_count + claim) * work.candidates.num_rows + row


def _changes(work: Work) -> Successions:
    """Return the successions that no longer hold and those that now do."""
    before, after = _successions(work, work.before), _successions(work, work.after)
    gone, added = np.setdiff1d(before, after), np.setdiff1d(after, before)
    codes = np.concatenate((gone, added))
    is_gone = np.arange(codes.size) < gone.size
    rest, row = np.divmod(codes, max(work.candidates.num_rows, 1))
    relation, predecessor = np.divmod(rest, max(work.encoded.claim_count, 1))
    claim_of_row = np.zeros(work.candidates.num_rows, np.int64)
    claim_of_row[work.encoded.rows] = work.encoded.claim
    successor = claim_of_row[row]
    order = np.lexsort((row, successor, predecessor, relation, ~is_gone))
    return Successions(relation[order], predecessor[order], successor[order], row[order], is_gone[order])


def lineage_rows(work: Work) -> pa.Table:
    """Return rows for successions that appear, and retractions of those that no longer hold."""
    found = _changes(work)
    schema = UNSALTED["lineage"]
    if found.row.size == 0:
        return empty(schema)
    relation = pa.array(_RELATIONS).take(pa.array(found.relation))
    predecessor, successor = (
        work.encoded.claim_ids.take(pa.array(claims)) for claims in (found.predecessor, found.successor)
    )
    decision = keyed_column(work.key, "decisions", work.candidates["candidate_id"].take(pa.array(found.row)))
    names: list[Name] = list(zip(*map(cells, (relation, predecessor, successor, decision)), strict=True))
    versions = work.atom_versions
    numbers, retracts, is_kept = _numbered(work, found, names)
    raw = [
        b"%b\x00%b%b%b%d" % (name[0].encode(), *name[1:], number)
        for name, number in zip(names, numbers, strict=True)
    ]
    columns = {
        "lineage_id": keyed_column(work.key, "lineage", pa.array(raw, pa.binary())),
        "relation": relation,
        "predecessor_id": predecessor,
        "successor_id": successor,
        "predecessor_digest": _payload_digests(work, found.predecessor),
        "predecessor_version": pa.array([versions.get(name[1], 1) for name in names], pa.int32()),
        "decision_id": decision,
        "retracts": pa.array(retracts, schema.field("retracts").type),
    }
    table = table_of("lineage", columns)
    return table if is_kept.all() else table.filter(pa.array(is_kept))


def _numbered(
    work: Work, found: Successions, names: list[Name]
) -> tuple[list[int], list[bytes | None], NDArray[np.bool_]]:
    """Return per succession how often it was told before, the row it withdraws, and whether it is told.

    Only stored candidates were told of before: a fresh one has no decision yet.
    """
    numbers: list[int] = [0] * len(names)
    retracts: list[bytes | None] = [None] * len(names)
    is_kept = np.ones(len(names), np.bool_)
    old = np.flatnonzero(~work.is_fresh[found.row]).tolist()
    times, latest = _told(work, sorted({names[place][2] for place in old}))
    for place in old:
        name = names[place]
        if found.is_gone[place]:
            retracts[place] = latest.get(name)
            is_kept[place] = name in latest
        if is_kept[place]:
            numbers[place] = times[name]
            times[name] += 1
    return numbers, retracts, is_kept


def _told(work: Work, successors: list[bytes]) -> tuple[Counter[Name], dict[Name, bytes]]:
    """Return how often the store tells each succession to `successors`, and its last telling."""
    times: Counter[Name] = Counter()
    latest: dict[Name, bytes] = {}
    for held in work.current.rows("lineage", "successor_id", successors) if successors else ():
        name = (held["relation"], held["predecessor_id"], held["successor_id"], held["decision_id"])
        times[name] += 1
        if held["retracts"] is None:
            latest[name] = held["lineage_id"]
    return times, latest


def _payload_digests(work: Work, claims: I64) -> pa.Array:
    """Return the SHA-256 of the payload that opened each of `claims`, of nothing where none did."""
    after, before = work.after.opener[claims], work.before.opener[claims]
    opener = np.where(after >= 0, after, before)
    code = np.where(opener >= 0, work.encoded.payload[np.maximum(opener, 0)], 0)
    texts = work.encoded.payload_texts.take(pa.array(code, mask=opener < 0)).fill_null("")
    rows = column_arrays(texts)
    assert rows.offsets is not None
    digests = sha256_rows(rows.values, rows.offsets)
    return pa.Array.from_buffers(DIGEST, len(texts), [None, pa.py_buffer(digests.tobytes())])


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
    if not changed:
        return empty(UNSALTED["disputes"]), []
    opened = [work.row((after.get(group) or before[group])[1]) for group in changed]
    shown = dict(zip(changed, work.candidates.select(_DISPUTE_OF).take(opened).to_pylist(), strict=True))
    dispute_ids = {group: keyed_id(work.key, "disputes", shown[group]["history_id"]) for group in changed}
    versions = work.current.versions("disputes", "dispute_id", [dispute_ids[group] for group in changed])
    rows = []
    edges: list[tuple[bytes, bytes, bool]] = []
    for group in changed:
        sides = [work.claim_id(claim) for claim in (after.get(group) or before[group])[0]]
        row = shown[group]
        rows.append(
            (
                dispute_ids[group],
                versions.get(dispute_ids[group], 0) + 1,
                row["slot_id"],
                sides,
                row["order_time"] or row["event_time"],
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


def _still_told(work: Work, lineage: pa.Table, gone: set[Ends]) -> set[Ends]:
    """Return those of `gone` that another stored row of lineage, which nothing withdraws, tells as well."""
    if not gone:
        return set()
    held = work.current.rows("lineage", "successor_id", sorted({end[0] for end in gone}))
    withdrawn = {row["retracts"] for row in held} | set(cells(lineage["retracts"]))
    standing = (row for row in held if row["retracts"] is None and row["lineage_id"] not in withdrawn)
    return gone & {(row["successor_id"], row["relation"], row["predecessor_id"]) for row in standing}


def edge_rows(work: Work, lineage: pa.Table, contradictions: list[tuple[bytes, bytes, bool]]) -> pa.Table:
    """Return the edges that appear or retire with `lineage` rows and pairs of disputed sides."""
    ends = list(zip(*(cells(lineage[name]) for name in _EDGE_OF), strict=True))
    stands = cells(lineage["retracts"].is_null())
    wanted = dict(zip(ends, ((stand, "admission.lineage") for stand in stands), strict=True))
    for end in _still_told(work, lineage, {end for end in ends if not wanted[end][0]}):
        del wanted[end]
    for one, two, stand in contradictions:
        wanted[one, "contradicts", two] = (stand, "admission.dispute")
    if not wanted:
        return empty(UNSALTED["edges"])
    stored = work.atom_versions  # of every successor: a new atom has no edges
    starts = sorted({one for one, what, _ in wanted if what == "contradicts" or one in stored})
    current = {row["edge_id"]: row for row in work.current.rows("edges", "from_id", starts, _EDGE_STATE)}
    edges = sorted(wanted)
    raw = pa.array([start + relation.encode() + b"\x00" + end for start, relation, end in edges], pa.binary())
    rows = []
    for edge, edge_id in zip(edges, cells(keyed_column(work.key, "edges", raw)), strict=True):
        stand, derivation = wanted[edge]
        state = "active" if stand else "archived"
        known = current.get(edge_id)
        if known is not None and known["lifecycle_state"] == state:
            continue
        version = known["version"] + 1 if known is not None else 1
        rows.append((edge_id, version, *edge, derivation, state, FULL))
    return as_table("edges", rows)
