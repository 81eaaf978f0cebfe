"""The review queue: what waits for a person, by which reason, since when and until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.reviewed import DECIDING
from amos.clock import to_us
from amos.errors import UsageError
from amos.flow.outcome_flags import Flag, flagged_decisions
from amos.flow.references import find_rows
from amos.flow.sight import Sight
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.state import stored
from amos.schemas.vocabulary import Outcome, Reason

KINDS = ("claim", "message", "changed", "forget", "flagged")
"""A claim in quarantine; a message that is withheld; a person's decision whose basis changed; a message that
asks to have something forgotten; a claim that outcomes call into question."""
OF_SOURCES = ("message", "forget")
"""Kinds whose cases are messages, not claims."""
_WITHOUT_END = ("changed", "flagged", "forget")
"""Kinds of cases that no deadline ends: what a person or use says, and what a person wishes."""

DAY_US = 86_400_000_000
_DECIDED = [
    "decision_id", "version", "candidate_id", "source_id", "outcome", "reasons", "deadline", "graph_version",
]  # fmt: skip
_OF_CLAIM = ["candidate_id", "type", "trust", "extractor", "subject_id", "conversation_id", "event_time"]
_OF_SOURCE = ["source_id", "trust", "conversation_id", "event_time"]
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class QueueFilter:
    """Which part of the queue is wanted; empty fields exclude nothing.

    source, conversation, subject: printed references.  older_days: waiting at least so long.
    is_expired: what has passed its deadline, which the queue leaves out otherwise.
    """

    kinds: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    extractors: tuple[str, ...] = ()
    subject: str | None = None
    source: str | None = None
    conversation: str | None = None
    older_days: float | None = None
    is_expired: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it leaves nothing out."""
        return self == QueueFilter(is_expired=self.is_expired)


class Case(NamedTuple):
    """One thing that waits, or waited: the current row, the current decision on it, what outcomes say."""

    table: str
    row: Row
    decision: Row
    flag: Flag | None = None

    @property
    def identifier(self) -> bytes:
        """The id of the candidate or source."""
        return bytes(self.row["candidate_id" if self.table == "candidates" else "source_id"])

    @property
    def kind(self) -> str:
        """One of KINDS."""
        if self.table == "sources":
            is_request = str(Reason.FORGET_REQUESTED) in self.decision["reasons"]
            return "forget" if is_request else "message"
        if str(Reason.BASIS_CHANGED) in self.decision["reasons"]:
            return "changed"
        return "claim" if self.flag is None else "flagged"

    @property
    def seen_at(self) -> int:
        """The graph version that asked the question which a decision answers."""
        asked: int = self.decision["graph_version"]
        return asked if self.flag is None else max(asked, self.flag.last)

    @property
    def is_waiting(self) -> bool:
        """Whether a person is asked."""
        return self.flag is not None or is_waiting(self.decision["outcome"], self.decision["reasons"])

    def is_expired(self, now_us: int) -> bool:
        """Tell whether the deadline has passed."""
        deadline = self.decision["deadline"]
        return deadline is not None and self.kind not in _WITHOUT_END and to_us(deadline) <= now_us


def is_waiting(outcome: str, reasons: list[str]) -> bool:
    """Tell whether a decision waits for a person: in quarantine, or a person's whose basis changed."""
    if outcome == Outcome.QUARANTINE:
        return True
    return bool(reasons) and reasons[0] in DECIDING and str(Reason.BASIS_CHANGED) in reasons


def read_queue(sight: Sight, wanted: QueueFilter) -> pa.Table:
    """Return the decisions that wait, with what they are about, in no particular order.

    Columns: those of `_DECIDED`, then `kind`, `item_id`, `since_us`, `type`, `trust`, `extractor`,
    `subject_id`, `conversation_id`, `event_time`.
    """
    columns = [name for name in _DECIDED if name != "graph_version"]
    rows = sight.snapshot.current("decisions", [*columns, "graph_version"])
    flags = flagged_decisions(sight)
    is_flagged = pc.is_in(rows["decision_id"], value_set=pa.array(list(flags), ID)).to_numpy()
    rows = rows.filter(pa.array(_waiting(rows) | is_flagged))
    rows = rows.filter(pa.array(sight.mask("decisions", rows)))
    rows = _joined(sight, rows, flags)
    return rows.filter(pa.array(_wanted(sight, rows, wanted)))


def _waiting(rows: pa.Table) -> NDArray[np.bool_]:
    held = pc.equal(rows["outcome"], str(Outcome.QUARANTINE)).to_numpy(zero_copy_only=False)
    found: NDArray[np.bool_] = held.copy()
    first = pc.list_element(rows["reasons"], 0)
    is_human = pc.is_in(first, value_set=pa.array(DECIDING)).to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(is_human & ~found).tolist():
        found[place] = str(Reason.BASIS_CHANGED) in rows["reasons"][place].as_py()
    return found


def _joined(sight: Sight, rows: pa.Table, flags: Mapping[bytes, Flag]) -> pa.Table:
    """Return the rows with the columns of their candidates and sources."""
    ids = rows["candidate_id"].drop_null().combine_chunks()
    claims = latest(
        sight.snapshot.lookup("candidates", "candidate_id", ids, [*_OF_CLAIM, "version"]), "candidates"
    )
    wanted = rows["source_id"].combine_chunks().unique()
    sources = latest(
        sight.snapshot.lookup("sources", "source_id", wanted, [*_OF_SOURCE, "revision"]), "sources"
    )
    claim = pc.index_in(rows["candidate_id"], value_set=claims["candidate_id"].combine_chunks())
    source = pc.index_in(rows["source_id"], value_set=sources["source_id"].combine_chunks())
    is_claim = rows["candidate_id"].is_valid()
    added: dict[str, Any] = {
        "kind": pa.array(_kinds(rows, flags), pa.string()),
        "item_id": pc.coalesce(rows["candidate_id"], rows["source_id"]),
        "since_us": pa.array(_since(sight, rows, flags), pa.int64()),
    }
    for name in ("type", "extractor", "subject_id"):
        added[name] = claims[name].take(claim)
    for name in ("trust", "conversation_id", "event_time"):
        added[name] = pc.if_else(is_claim, claims[name].take(claim), sources[name].take(source))
    for name, column in added.items():
        rows = rows.append_column(name, column)
    return rows


def _kinds(rows: pa.Table, flags: Mapping[bytes, Flag]) -> list[str]:
    """Return the kind of each case, as `Case.kind` tells it."""
    columns = (rows[name].to_pylist() for name in ("decision_id", "candidate_id", "outcome", "reasons"))
    kinds = []
    for decision, candidate, outcome, reasons in zip(*columns, strict=True):
        if candidate is None:
            kinds.append("forget" if str(Reason.FORGET_REQUESTED) in reasons else "message")
        elif outcome == Outcome.QUARANTINE:
            kinds.append("claim")
        else:
            is_changed = decision not in flags or str(Reason.BASIS_CHANGED) in reasons
            kinds.append("changed" if is_changed else "flagged")
    return kinds


def _since(sight: Sight, rows: pa.Table, flags: Mapping[bytes, Flag]) -> NDArray[np.int64]:
    """Return when each began to wait: the commit of its first decision, or of the flag."""
    events = sight.snapshot.table("events", ["version", "accepted_at"])
    accepted = dict(
        zip(events["version"].to_pylist(), events["accepted_at"].cast(pa.int64()).to_pylist(), strict=True)
    )
    first: dict[bytes, int] = {}
    ids = rows["decision_id"].combine_chunks()
    every = sight.snapshot.lookup(
        "decisions", "decision_id", ids, ["decision_id", "outcome", "graph_version"]
    )
    held = every.filter(pc.equal(every["outcome"], str(Outcome.QUARANTINE)))
    for decision, version in zip(
        held["decision_id"].to_pylist(), held["graph_version"].to_pylist(), strict=True
    ):
        first[decision] = min(version, first.get(decision, version))
    cells = zip(ids.to_pylist(), rows["outcome"].to_pylist(), rows["graph_version"].to_pylist(), strict=True)
    flagged = {one: flag.first for one, flag in flags.items()}
    versions = [
        first[one] if outcome == Outcome.QUARANTINE else flagged.get(one, version)
        for one, outcome, version in cells
    ]
    return np.array([accepted.get(version, 0) for version in versions], np.int64)


def _wanted(sight: Sight, rows: pa.Table, wanted: QueueFilter) -> NDArray[np.bool_]:
    now_us = to_us(sight.now)
    deadline = rows["deadline"].cast(pa.int64()).fill_null(2**62).to_numpy()
    is_endless = pc.is_in(rows["kind"], value_set=pa.array(_WITHOUT_END)).to_numpy(zero_copy_only=False)
    keep: NDArray[np.bool_] = ((deadline <= now_us) & ~is_endless) == wanted.is_expired
    chosen_by = {
        "kind": wanted.kinds,
        "type": wanted.types,
        "trust": wanted.trusts,
        "extractor": wanted.extractors,
    }
    for column, values in chosen_by.items():
        if values:
            keep &= pc.is_in(rows[column], value_set=pa.array(values)).to_numpy(zero_copy_only=False)
    if wanted.reasons:
        chosen = set(wanted.reasons)
        keep &= np.array([not chosen.isdisjoint(one) for one in rows["reasons"].to_pylist()], np.bool_)
    for column, table, ref in (
        ("subject_id", "entities", wanted.subject), ("source_id", "sources", wanted.source),
        ("conversation_id", "conversations", wanted.conversation),
    ):  # fmt: skip
        if ref:
            same = pc.equal(rows[column], pa.scalar(_one(sight, ref, table), ID))
            keep &= pc.fill_null(same, False).to_numpy(zero_copy_only=False)
    if wanted.older_days is not None:
        keep &= now_us - rows["since_us"].to_numpy() >= wanted.older_days * DAY_US
    return keep


def _one(sight: Sight, ref: str, table: str) -> bytes:
    found, rows, _ = find_rows(sight, ref)
    if found != table or rows.num_rows == 0:
        raise UsageError(f"{ref!r} names none of {table}", path=ref, advice="`amos list` prints references.")
    return bytes(rows[0][0].as_py())


def find_case(sight: Sight, ref: str) -> Case:
    """Return the case of a candidate, decision or source.  Raises UsageError when nothing fits."""
    table, rows, _ = find_rows(sight, ref)
    if rows.num_rows and table == "decisions":
        row = rows.to_pylist()[0]
        table = "sources" if row["candidate_id"] is None else "candidates"
        return _cases(sight, table, [row["candidate_id"] or row["source_id"]])[0]
    if rows.num_rows == 0 or table not in ("candidates", "sources"):
        raise UsageError(
            f"nothing that waits for a review is called {ref!r}",
            code="not_found",
            path=ref,
            advice="`amos review list` prints what waits: claims as can_…, withheld messages as src_….",
        )
    found = _cases(sight, table, [rows[0][0].as_py()])
    if not found:
        raise UsageError(
            f"{ref} itself was never decided on: its claims were",
            path=ref,
            advice=f"See `amos review list --source {ref}`.",
        )
    return found[0]


def cases_of(sight: Sight, queue: pa.Table) -> list[Case]:
    """Return the cases of rows of a queue, in their order."""
    wanted = list(zip(queue["kind"].to_pylist(), queue["item_id"].to_pylist(), strict=True))
    found: dict[tuple[str, bytes], Case] = {}
    for table in ("candidates", "sources"):
        ids = [one for kind, one in wanted if (kind in OF_SOURCES) == (table == "sources")]
        found |= {(table, case.identifier): case for case in _cases(sight, table, ids)}
    return [found["sources" if kind in OF_SOURCES else "candidates", one] for kind, one in wanted]


def _cases(sight: Sight, table: str, ids: list[bytes]) -> list[Case]:
    """Return the cases of rows by id; those without a decision of their own are left out."""
    key = "candidate_id" if table == "candidates" else "source_id"
    wanted = pa.array(ids, ID)
    rows = latest(sight.snapshot.lookup(table, key, wanted), table).to_pylist()
    decided = latest(sight.snapshot.lookup("decisions", key, wanted, stored("decisions").names), "decisions")
    if table == "sources":
        decided = decided.filter(decided["candidate_id"].is_null())
    decisions: dict[bytes, Row] = {}
    for decision in decided.to_pylist():  # of several on one source the refusals of deliveries come last
        if decision[key] not in decisions or is_waiting(decision["outcome"], decision["reasons"]):
            decisions[decision[key]] = decision
    flags = flagged_decisions(sight) if table == "candidates" else {}
    made = [(row, decisions[row[key]]) for row in rows if row[key] in decisions]
    return [Case(table, row, decision, flags.get(decision["decision_id"])) for row, decision in made]
