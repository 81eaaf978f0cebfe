"""Decide on requests to forget: show what one would reach, and on approval forget that in the same commit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from amos.flow.forget import Beside, Erasure, Forgetting
from amos.flow.forget_reach import Reach, Reached, reach_of
from amos.flow.forget_selection import ForgetRequest, Selected
from amos.flow.printed import state_of
from amos.flow.review_cases import Case
from amos.flow.review_checks import Refused, shown_ref
from amos.flow.review_plan import ReviewPlan
from amos.flow.sight import Sight
from amos.flow.versions import latest
from amos.identity import id_text
from amos.schemas.columns import ID
from amos.schemas.vocabulary import MemoryClass, Reason

CODE = "author_request"
"""Why it is forgotten, in the ledger and on the tombstones."""
_ATOM = ["atom_id", "version", "lifecycle_state", "intervals", "memory_class", "graph_version"]
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request to forget and what it reaches, on one version."""

    sight: Sight
    case: Case
    reach: Reach
    recreation: str = "forbid"

    @classmethod
    def of(cls, sight: Sight, case: Case, *, recreation: str = "forbid") -> Asked:
        """Return the request of a case with its reach; recreation: whether what goes may come back."""
        return cls(sight=sight, case=case, reach=reach_of(sight.snapshot, case.row), recreation=recreation)

    @cached_property
    def _atoms(self) -> dict[bytes, Row]:
        ids = pa.array(sorted({one.claim_id for one in (*self.reach.claims, *self.reach.kept)}), ID)
        rows = latest(self.sight.snapshot.lookup("atoms", "atom_id", ids, _ATOM), "atoms").to_pylist()
        return {row["atom_id"]: row for row in rows}

    def shown(self) -> Row:
        """Return what it reaches as it is printed: `asks`, `reaches` and `stays`."""
        return {
            "asks": self.reach.asked,
            "reaches": [self._shown(one) for one in self.reach.claims],
            "stays": [self._shown(one) for one in self.reach.kept],
        }

    def _shown(self, one: Reached) -> Row:
        atom = self._atoms.get(one.claim_id)
        if atom is None:
            ref, state = id_text("candidates", one.candidate_id), "no memory"
        else:
            is_event = atom["memory_class"] == MemoryClass.EPISODE
            held = (atom["lifecycle_state"], atom["intervals"], self.sight.now_us)
            ref, state = id_text("atoms", one.claim_id), state_of(*held, is_event=is_event)
        return {"ref": ref, "statement": one.statement, "state": state, "why": one.how}

    def why_stale(self, seen: int | None) -> Refused | None:
        """Return why the reviewer must look again: what it reaches changed after it was looked at."""
        looked = self.case.decision["graph_version"] if seen is None else seen
        moved = [row for row in self._atoms.values() if row["graph_version"] > looked]
        if not moved:
            return None
        ref, head = shown_ref(self.case), self.sight.snapshot.version
        changed = id_text("atoms", moved[0]["atom_id"])
        return Refused(
            self.case,
            str(Reason.STALE_PROPOSAL_GENERATION),
            f"{ref} was looked at at graph version {looked}; it reaches {changed}, which changed since",
            f"Look again with `amos review show {ref}`, then decide with `--seen {head}`.",
        )

    @property
    def request(self) -> ForgetRequest:
        """The request as `amos forget` knows it."""
        return ForgetRequest(recreation=self.recreation, reason=CODE)

    def preview(self, work: Forgetting) -> Row:
        """Return what forgetting it would take away."""
        return work.preview_selected(self.sight.snapshot, self._selected, self.request, self.sight.now)

    def plan(self, work: Forgetting) -> Erasure:
        """Return the erasure.  Raises InputError when a legal hold stands against it."""
        return work.plan(self.sight.snapshot, self._selected, self.request, self.sight.now)

    @property
    def _selected(self) -> Selected:
        atoms = [("atoms", id_text("atoms", one.claim_id)) for one in self.reach.claims]
        named = (("request", shown_ref(self.case)), *atoms)
        return Selected(
            claims=self.reach.ids, sources=pa.array([], ID), named=named, passages=self.reach.ranges
        )


def beside_of(plan: ReviewPlan, case: Case, **terms: Any) -> Beside:
    """Return the rows of a decision as they go into the commit of an erasure."""
    decided = frozenset([case.decision["decision_id"]])
    return Beside(rows=tuple(plan.rows), decided=decided, reads=plan.reads, terms=terms)
