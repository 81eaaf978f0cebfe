"""How well scores and ranks of packets tell what turns out to be of use: calibration over recorded outcomes.

One item of one packet is one case, however many outcomes were recorded of that packet.  What callers say is
missing is counted beside it and enters nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.atoms.feedback import WEAKENING
from amos.clock import as_text, to_us
from amos.evaluation.measures import interval, ratio
from amos.flow.look import atom_rows
from amos.flow.sight import Sight
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.vocabulary import FeedbackKind

BUCKET_PPM = 100_000
RANKS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 10), (11, None))
"""First and last rank of a row of the table by rank."""
MOST_NAMED = 10
"""Claims and missing capabilities that are named; all are counted."""
_USED = (str(FeedbackKind.USED), str(FeedbackKind.FAILED), str(FeedbackKind.CORRECTED))
_COUNTED = ("use_status", "membership", "profile", "processor")
_OUTCOME = ["outcome_id", "source_id", "packet_id", "labels", *_COUNTED]
_FEEDBACK = ["outcome_id", "packet_id", "atom_id", "turn_id", "kind", "rank", "score_ppm"]
Row = dict[str, Any]
Mask = NDArray[np.bool_]


def outcome_report(sight: Sight) -> Row:
    """Return calibration by score and rank, in all and per profile and processor, and what else was told."""
    outcomes = sight.current("outcomes", _OUTCOME)
    cases = _cases(sight.current("feedback", _FEEDBACK), outcomes)
    return {
        "outcomes": outcomes.num_rows,
        "packets": pc.count_distinct(outcomes["packet_id"]).as_py(),
        "by": {name: _counted(outcomes[name]) for name in _COUNTED}
        | {"label": _counted(pc.list_flatten(outcomes["labels"]))},
        "calibration": {
            "all": _calibrated(cases),
            **{column: _by(cases, column) for column in ("profile", "processor")},
        },
        "claims": _claims(sight, cases),
        "missing_capabilities": _missing(sight, outcomes),
        "scope": dict(sight.scope),
        "made_at": as_text(to_us(sight.now)),
        "graph_version": sight.snapshot.version or None,
    }


def _counted(column: pa.ChunkedArray) -> dict[str, int]:
    counts = Counter(column.to_pylist())
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _cases(feedback: pa.Table, outcomes: pa.Table) -> pa.Table:
    """Return one row per item of a packet: its rank and score, whether it was used and put right."""
    rows = feedback.filter(pc.greater(feedback["rank"], 0))
    place = pc.index_in(rows["outcome_id"], value_set=outcomes["outcome_id"].combine_chunks())
    is_used = pc.is_in(rows["kind"], value_set=pa.array(_USED))
    is_wrong = pc.is_in(rows["kind"], value_set=pa.array(WEAKENING))
    table = pa.table(
        {
            "packet_id": rows["packet_id"],
            "item": pc.coalesce(rows["atom_id"], rows["turn_id"]),
            "atom_id": rows["atom_id"],
            "rank": rows["rank"],
            "score_ppm": rows["score_ppm"],
            "used": is_used.cast(pa.int8()),
            "corrected": is_wrong.cast(pa.int8()),
            "profile": outcomes["profile"].take(place),
            "processor": outcomes["processor"].take(place),
        }
    )
    names = ("atom_id", "rank", "score_ppm", "used", "corrected", "profile", "processor")
    grouped = table.group_by(["packet_id", "item"]).aggregate([(name, "max") for name in names])
    return grouped.rename_columns(["packet_id", "item", *names])


def _by(cases: pa.Table, column: str) -> dict[str, Row]:
    found = sorted(cases[column].unique().to_pylist())
    return {one: _calibrated(cases.filter(pc.equal(cases[column], one))) for one in found}


def _calibrated(cases: pa.Table) -> Row:
    """Return the shares in all, by tenth of the score and by rank; empty rows are left out."""
    score, rank = cases["score_ppm"].to_numpy(), cases["rank"].to_numpy()
    used, wrong = (cases[name].to_numpy() > 0 for name in ("used", "corrected"))
    bucket = np.clip(score // BUCKET_PPM, 0, 9)
    by_score = [
        {"from": one / 10, "to": (one + 1) / 10, **_shares(bucket == one, used, wrong)} for one in range(10)
    ]
    by_rank = [
        {"first": first, "last": last, **_shares(_between(rank, first, last), used, wrong)}
        for first, last in RANKS
    ]
    return {
        **_shares(np.ones(len(score), bool), used, wrong),
        "by_score": [row for row in by_score if row["shown"]],
        "by_rank": [row for row in by_rank if row["shown"]],
    }


def _between(rank: NDArray[Any], first: int, last: int | None) -> Mask:
    found: Mask = (rank >= first) & (rank <= (rank if last is None else last))
    return found


def _shares(rows: Mask, used: Mask, wrong: Mask) -> Row:
    shown = int(rows.sum())
    row: Row = {"shown": shown}
    for name, mask in (("used", used), ("corrected", wrong)):
        count = int((rows & mask).sum())
        row |= {name: count, f"{name}_ratio": ratio(count, shown), f"{name}_interval": interval(count, shown)}
    return row


def _claims(sight: Sight, cases: pa.Table) -> Row:
    """Return how many claims were shown, used and put right, and those most often shown for nothing."""
    claims = cases.filter(pc.is_valid(cases["atom_id"]))
    sums = claims.group_by(["atom_id"]).aggregate(
        [("packet_id", "count"), ("used", "sum"), ("corrected", "sum")]
    )
    idle = sums.filter(pc.equal(sums["used_sum"], 0))
    idle = idle.sort_by([("packet_id_count", "descending"), ("atom_id", "ascending")]).slice(0, MOST_NAMED)
    return {
        "shown": sums.num_rows,
        "used": int(pc.sum(pc.greater(sums["used_sum"], 0)).as_py() or 0),
        "corrected": int(pc.sum(pc.greater(sums["corrected_sum"], 0)).as_py() or 0),
        "never_used": _named(sight, idle),
    }


def _named(sight: Sight, idle: pa.Table) -> Sequence[Row]:
    if idle.num_rows == 0:
        return []
    ids = idle["atom_id"].combine_chunks().cast(ID)
    atoms = latest(sight.snapshot.lookup("atoms", "atom_id", ids), "atoms")
    atoms = atoms.take(pc.index_in(ids, value_set=atoms["atom_id"].combine_chunks()))
    told = zip(atom_rows(sight, atoms), idle["packet_id_count"].to_pylist(), strict=True)
    return [{"atom_id": row["atom_id"], "statement": row["statement"], "shown": shown} for row, shown in told]


def _missing(sight: Sight, outcomes: pa.Table) -> Row:
    """Return what callers say was missing, folded by case and space, the most frequent first."""
    ids = outcomes["source_id"].combine_chunks()
    columns = ["source_id", "revision", "extra"]
    records = latest(sight.snapshot.lookup("sources", "source_id", ids, columns), "sources")
    counts: Counter[str] = Counter()
    spelled: dict[str, Counter[str]] = {}
    for cue in _cues(records["extra"].to_pylist()):
        folded = " ".join(cue.casefold().split())
        counts[folded] += 1
        spelled.setdefault(folded, Counter())[cue] += 1
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return {
        "total": sum(counts.values()),
        "distinct": len(counts),
        "cues": [
            {"text": _most_spelled(spelled[folded]), "count": count} for folded, count in ordered[:MOST_NAMED]
        ],
    }


def _most_spelled(spellings: Mapping[str, int]) -> str:
    return min(spellings, key=lambda text: (-spellings[text], text))


def _cues(extras: Sequence[str | None]) -> list[str]:
    """Return the cues of records; what was forgotten of them is left out."""
    found = [json.loads(extra)["missing_capabilities"] for extra in extras if extra is not None]
    return [cue for cues in found for cue in cues if cue.strip("\x1a ")]
