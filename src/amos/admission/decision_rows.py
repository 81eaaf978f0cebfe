"""Decision rows of the candidates that are new or re-decided, built by columns."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import cells
from amos.admission.comparison import (
    UNSALTED,
    Work,
    are_among,
    codes_of,
    keyed_column,
    table_of,
)
from amos.admission.gates import utility_of
from amos.admission.history import LOSING, REASONS
from amos.admission.policy import Policy
from amos.kernels import history as kernel
from amos.schemas.columns import TEXTS
from amos.schemas.vocabulary import Action, Cue, MemoryClass, Outcome, Reason

_MEANING = {
    kernel.ADD: (Outcome.COMMIT, Action.ADD),
    kernel.REOPEN: (Outcome.COMMIT, Action.ADD),
    kernel.LINK: (Outcome.LINK, Action.NOOP),
    kernel.SUPERSEDE: (Outcome.COMMIT, Action.SUPERSEDE),
    kernel.DISPUTE: (Outcome.COMMIT, Action.ADD),
    kernel.OUTRANKED: (Outcome.IGNORE, Action.NOOP),
    kernel.LINK_SETTLES: (Outcome.LINK, Action.NOOP),
    kernel.OUTBACKED: (Outcome.IGNORE, Action.NOOP),
}
_HELD_ACTION = {Outcome.REJECT: Action.REJECT, Outcome.IGNORE: Action.NOOP}
_SHOWN = ["candidate_id", "source_id", "modality", "extractor", "memory_class", "cues", "claim_id", "gate"]

Verdict = tuple[Outcome, Action, Reason]
I64 = NDArray[np.int64]


def decision_rows(work: Work) -> pa.Table:
    """Return a decision for every changed place and for every fresh candidate stopped by a gate."""
    places = np.array(work.changed, np.int64)
    gated = np.flatnonzero(work.is_fresh & work.is_gated)
    rows = np.concatenate((work.encoded.rows[places], gated))
    taken = work.candidates.select(_SHOWN).take(rows)
    verdicts, chosen = _verdicts(work, places, taken["gate"], len(places))
    outcome, action, reason = (
        pa.array([str(verdict[part]) for verdict in verdicts], pa.string()).take(chosen) for part in range(3)
    )
    count = len(rows)
    ids = decision_ids(taken["candidate_id"], work.key)
    has_atom = np.zeros(count, np.bool_)
    has_atom[: len(places)] = ~np.isin(_actions(work, places), LOSING)
    columns = {
        "decision_id": ids,
        "version": _versions(work, rows, ids),
        "candidate_id": taken["candidate_id"],
        "source_id": taken["source_id"],
        "outcome": outcome,
        "action": action,
        "reasons": _reasons(reason, taken["cues"].to_numpy()),
        "modality": taken["modality"],
        "policy": pa.repeat(work.policy.label, count),
        "extractor": taken["extractor"],
        "utility": utilities(taken["memory_class"], work.policy),
        "risk": risks(taken["cues"], work.policy),
        "atom_id": pc.if_else(pa.array(has_atom), taken["claim_id"], None),
        "targets": _targets(work, places, count),
        "deadline": _deadlines(work, outcome),
    }
    return table_of("decisions", columns)


def _reasons(first: pa.Array, cues: I64) -> pa.Array:
    """Return the reasons of each row: why it fell as it did, then that it had been forgotten for a time."""
    returned = cues & int(Cue.RETURNED) != 0
    if not returned.any():
        return singletons(first)
    more = [[str(Reason.TOMBSTONE_EXPIRED)] if back else [] for back in returned.tolist()]
    cells = [[one, *rest] for one, rest in zip(first.to_pylist(), more, strict=True)]
    return pa.array(cells, UNSALTED["decisions"].field("reasons").type)


def _deadlines(work: Work, outcome: pa.Array) -> pa.Array:
    """Return the end of quarantine of each held row, null of the others."""
    end = work.now + timedelta(days=work.policy.quarantine.days)
    held = pa.scalar(end, UNSALTED["decisions"].field("deadline").type)
    return pc.if_else(pc.equal(outcome, str(Outcome.QUARANTINE)), held, None)


def decision_ids(decided: pa.ChunkedArray | pa.Array, key: bytes) -> pa.Array:
    """Return the id of the decision on each candidate or source, given by its id."""
    return keyed_column(key, "decisions", decided)


def utilities(memory_class: pa.ChunkedArray, policy: Policy) -> pa.Array:
    """Return the expected use per row, 0 to 100."""
    known = {name: utility_of(name, policy) for name in MemoryClass}
    return pa.array([known.get(name, 0) for name in cells(memory_class)], pa.int32())


def risks(cues: pa.ChunkedArray, policy: Policy) -> pa.Array:
    """Return the risk points per row, 0 to 100."""
    bits = cues.to_numpy()
    third = np.where(bits & int(Cue.THIRD_PARTY), policy.risk.third_party, policy.risk.plain)
    return pa.array(np.where(bits & int(Cue.SENSITIVE), policy.risk.sensitive, third).astype(np.int32))


def singletons(values: pa.Array) -> pa.ListArray:
    """Return each value as a list of one."""
    starts = pa.array(np.arange(len(values) + 1, dtype=np.int32))
    return pa.ListArray.from_arrays(starts, values, type=TEXTS)


def nothing_in(count: int, kind: pa.ListType) -> pa.ListArray:
    """Return `count` empty lists."""
    empty = pa.array(np.zeros(count + 1, np.int32))
    return pa.ListArray.from_arrays(empty, pa.array([], kind.value_type), type=kind)


def _actions(work: Work, places: I64) -> I64:
    return codes_of(work.after, work.encoded.rows.size)[places] // len(REASONS)


def _verdicts(
    work: Work, places: I64, gates: pa.ChunkedArray, folded_count: int
) -> tuple[list[Verdict], pa.Array]:
    """Return the distinct verdicts, and per row which one it is: folded rows first, then gated ones."""
    verdicts = [*_FOLDED]
    chosen = codes_of(work.after, work.encoded.rows.size)[places].tolist()
    number: dict[str, int] = {}
    for gate in cells(gates)[folded_count:]:
        if gate not in number:
            number[gate] = len(verdicts)
            outcome, reason = gate.split(":")
            action = _HELD_ACTION.get(Outcome(outcome), Action.ADD)
            verdicts.append((Outcome(outcome), action, Reason(reason)))
        chosen.append(number[gate])
    return verdicts, pa.array(chosen, pa.int64())


def _folded_verdict(code: int) -> Verdict:
    action, reason = divmod(code, len(REASONS))
    outcome, what = _MEANING[action]
    if action == kernel.SUPERSEDE and REASONS[reason] == Reason.REFINES_CURRENT_VALUE:
        what = Action.UPDATE
    return outcome, what, REASONS[reason]


_FOLDED = [_folded_verdict(code) for code in range(len(_MEANING) * len(REASONS))]


def _versions(work: Work, rows: I64, ids: pa.Array) -> pa.Array:
    versions = np.ones(len(rows), np.int32)
    old = np.flatnonzero(~work.is_fresh[rows])
    if old.size:
        names = ids.take(pa.array(old)).to_pylist()
        known = work.current.versions("decisions", "decision_id", names)
        versions[old] = [known.get(name, 0) + 1 for name in names]
    return pa.array(versions)


def _targets(work: Work, places: I64, count: int) -> pa.ListArray:
    """Return the claims each place met, by code; a link that met none names its own."""
    folded = work.after
    near = are_among(folded.pair_place, places, work.encoded.rows.size)
    owners = np.searchsorted(places, folded.pair_place[near])
    action = _actions(work, places)
    links = (action == kernel.LINK) | (action == kernel.LINK_SETTLES)
    links[owners] = False
    lone = np.flatnonzero(links)
    owner = np.concatenate((owners, lone))
    claim = np.concatenate((folded.pair_claim[near], work.encoded.claim[places[lone]]))
    order = np.lexsort((claim, owner))
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, work.encoded.claim_ids.take(pa.array(claim[order])))
