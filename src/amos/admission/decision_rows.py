"""Decision rows of the candidates that are new or re-decided, built by columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.comparison import UNSALTED, Work, codes_of, keyed_column, stored_versions
from amos.admission.gates import utility_of
from amos.admission.history import REASONS
from amos.admission.policy import Policy
from amos.kernels import history as kernel
from amos.schemas.vocabulary import Action, Cue, Outcome, Reason

_MEANING = {
    kernel.ADD: (Outcome.COMMIT, Action.ADD),
    kernel.REOPEN: (Outcome.COMMIT, Action.ADD),
    kernel.LINK: (Outcome.LINK, Action.NOOP),
    kernel.SUPERSEDE: (Outcome.COMMIT, Action.SUPERSEDE),
    kernel.DISPUTE: (Outcome.COMMIT, Action.ADD),
    kernel.OUTRANKED: (Outcome.IGNORE, Action.NOOP),
    kernel.LINK_SETTLES: (Outcome.LINK, Action.NOOP),
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
    outcome = _chosen([str(verdict[0]) for verdict in verdicts], chosen)
    count = len(rows)
    ids = decision_ids(taken["candidate_id"], work.key)
    has_atom = np.zeros(count, np.bool_)
    has_atom[: len(places)] = _actions(work, places) != kernel.OUTRANKED
    is_held = pc.equal(outcome, str(Outcome.QUARANTINE)).to_numpy(zero_copy_only=False)
    schema = UNSALTED["decisions"]
    deadline = work.now + timedelta(days=work.policy.quarantine.days)
    columns = {
        "decision_id": ids,
        "version": _versions(work, rows, ids),
        "candidate_id": taken["candidate_id"],
        "source_id": taken["source_id"],
        "outcome": outcome,
        "action": _chosen([str(verdict[1]) for verdict in verdicts], chosen),
        "reasons": singletons(_chosen([str(verdict[2]) for verdict in verdicts], chosen)),
        "modality": taken["modality"],
        "policy": pa.repeat(work.policy.label, count),
        "extractor": taken["extractor"],
        "utility": utilities(taken["memory_class"], work.policy),
        "risk": risks(taken["cues"], work.policy),
        "atom_id": taken["claim_id"].take(pa.array(np.arange(count), mask=~has_atom)),
        "targets": _targets(work, places, count),
        "deadline": pa.array([deadline], schema.field("deadline").type).take(
            pa.array(np.zeros(count, np.int64), mask=~is_held)
        ),
    }
    arrays = [_flat(columns[field.name]).cast(field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def decision_ids(decided: pa.ChunkedArray | pa.Array, key: bytes) -> pa.Array:
    """Return the id of the decision on each candidate or source, given by its id."""
    return keyed_column(key, "decisions", decided)


def utilities(memory_class: pa.ChunkedArray, policy: Policy) -> pa.Array:
    """Return the expected use per row, 0 to 100."""
    encoded = _flat(memory_class).dictionary_encode()
    values = np.array([utility_of(name, policy) for name in encoded.dictionary.to_pylist()] or [0], np.int32)
    return pa.array(values[encoded.indices.to_numpy()])


def risks(cues: pa.ChunkedArray, policy: Policy) -> pa.Array:
    """Return the risk points per row, 0 to 100."""
    bits = cues.to_numpy()
    third = np.where(bits & int(Cue.THIRD_PARTY), policy.risk.third_party, policy.risk.plain)
    return pa.array(np.where(bits & int(Cue.SENSITIVE), policy.risk.sensitive, third).astype(np.int32))


def singletons(values: pa.Array) -> pa.ListArray:
    """Return each value as a list of one."""
    return pa.ListArray.from_arrays(np.arange(len(values) + 1, dtype=np.int32), values)


def _actions(work: Work, places: I64) -> I64:
    return codes_of(work.after, work.encoded.rows.size)[places] // len(REASONS)


def _verdicts(
    work: Work, places: I64, gates: pa.ChunkedArray, folded_count: int
) -> tuple[list[Verdict], I64]:
    """Return the distinct verdicts, and per row which one it is: folded rows first, then gated ones."""
    codes = codes_of(work.after, work.encoded.rows.size)[places]
    verdicts = [_folded_verdict(code) for code in range(len(_MEANING) * len(REASONS))]
    held = _flat(gates)[folded_count:].dictionary_encode()
    for gate in held.dictionary.to_pylist():
        outcome, reason = gate.split(":")
        action = _HELD_ACTION.get(Outcome(outcome), Action.ADD)
        verdicts.append((Outcome(outcome), action, Reason(reason)))
    first_held = len(_MEANING) * len(REASONS)
    return verdicts, np.concatenate((codes, held.indices.to_numpy().astype(np.int64) + first_held))


def _folded_verdict(code: int) -> Verdict:
    action, reason = divmod(code, len(REASONS))
    outcome, what = _MEANING[action]
    if action == kernel.SUPERSEDE and REASONS[reason] == Reason.REFINES_CURRENT_VALUE:
        what = Action.UPDATE
    return outcome, what, REASONS[reason]


def _chosen(words: Sequence[str], chosen: I64) -> pa.Array:
    return pa.array(words, pa.string()).take(pa.array(chosen))


def _versions(work: Work, rows: I64, ids: pa.Array) -> pa.Array:
    versions = np.ones(len(rows), np.int32)
    old = np.flatnonzero(~work.is_fresh[rows])
    if old.size:
        names = ids.take(pa.array(old)).to_pylist()
        known = stored_versions(work, "decisions", "decision_id", names)
        versions[old] = [known.get(name, 0) + 1 for name in names]
    return pa.array(versions)


def _targets(work: Work, places: I64, count: int) -> pa.ListArray:
    """Return the claims each place met, by code; a link that met none names its own."""
    folded = work.after
    near = np.isin(folded.pair_place, places)
    owners = np.searchsorted(places, folded.pair_place[near])
    links = np.isin(_actions(work, places), (kernel.LINK, kernel.LINK_SETTLES))
    links[owners] = False
    lone = np.flatnonzero(links)
    owner = np.concatenate((owners, lone))
    claim = np.concatenate((folded.pair_claim[near], work.encoded.claim[places[lone]]))
    order = np.lexsort((claim, owner))
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(offsets, work.encoded.claim_ids.take(pa.array(claim[order])))


def _flat(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
