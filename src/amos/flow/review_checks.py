"""May a verdict be given: is something left to decide, does the evidence carry it, has nothing moved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

from amos.admission.tombstones import Graves
from amos.clock import to_us
from amos.errors import BusyError, EngineError, InputError
from amos.flow.review_basis import Basis, bases_of
from amos.flow.review_cases import Case
from amos.flow.sight import Sight, is_withheld
from amos.flow.tombstoned import read_graves
from amos.flow.versions import latest
from amos.identity import id_text
from amos.schemas.columns import ID
from amos.schemas.vocabulary import Reason

VERDICTS = ("approve", "edit", "reject", "defer")

_ACCEPTING = ("approve", "edit")
_MOVED = ("already_decided", str(Reason.STALE_PROPOSAL_GENERATION), str(Reason.QUARANTINE_EXPIRED))
Row = dict[str, Any]
Refusal = tuple[str, str, str]
"""A code, what is wrong, and what to do."""


class Refused(NamedTuple):
    """A case that stays as it is, and why."""

    case: Case
    code: str
    message: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class Check:
    """One verdict on cases of one version.

    seen: the graph version that the reviewer looked at; without it, that of each proposal.  is_repeated: it
    was given elsewhere before: deadlines and what has moved since are no matter.
    """

    sight: Sight
    key: bytes
    verdict: str
    seen: int | None = None
    is_repeated: bool = False

    def refused(self, cases: list[Case]) -> list[Refused]:
        """Return the cases that do not allow the verdict."""
        claims = [case for case in cases if case.table == "candidates"]
        sources = self._sources(claims)
        bases = (
            {}
            if self.is_repeated
            else bases_of(self.sight.snapshot, [one.row["history_id"] for one in claims])
        )
        found = []
        for case in cases:
            source = sources.get(case.row["source_id"])
            refusal = self.why_not(case, source) or self._moved(case, bases)
            if refusal is not None:
                found.append(Refused(case, *refusal))
        return found

    def source_of(self, case: Case) -> Row | None:
        """Return the source of a claim, None for a message."""
        return self._sources([case]).get(case.row["source_id"]) if case.table == "candidates" else None

    def _sources(self, claims: list[Case]) -> dict[bytes, Row]:
        wanted = pa.array([case.row["source_id"] for case in claims], ID)
        rows = latest(self.sight.snapshot.lookup("sources", "source_id", wanted), "sources")
        return {row["source_id"]: row for row in rows.to_pylist()}

    @cached_property
    def _graves(self) -> Graves:
        return read_graves(self.sight.snapshot, self.key, self.sight.now)

    def why_not(self, case: Case, source: Row | None) -> Refusal | None:
        """Return why the verdict cannot be given, apart from claims that have moved.

        source: that of a claim.
        """
        refusal = _settled(case, None if self.is_repeated else to_us(self.sight.now))
        return refusal or self.unfit(case, source)

    def unfit(self, case: Case, source: Row | None) -> Refusal | None:
        """Return why the verdict does not fit the case, whether it is decided or not."""
        if self.verdict not in VERDICTS:
            return (
                "schema_invalid",
                f"no verdict is called {self.verdict!r}",
                f"Verdicts: {', '.join(VERDICTS)}.",
            )
        if case.table == "sources":
            is_edit = self.verdict == "edit"
            said = ("schema_invalid", "a message has no wording to edit", "Approve or reject it.")
            return said if is_edit else None
        if self.verdict not in _ACCEPTING or source is None:
            return None
        return _unsound(case, source) or _forgotten(case, self._graves)

    def _moved(self, case: Case, bases: dict[bytes, list[Basis]]) -> Refusal | None:
        if case.table == "sources" or self.verdict not in _ACCEPTING or self.is_repeated:
            return None
        seen = case.seen_at if self.seen is None else self.seen
        return _stale(case, bases[case.row["history_id"]], seen, self.sight.snapshot.version)


def shown_ref(case: Case) -> str:
    """Return the printed reference of a case."""
    return id_text(case.table, case.identifier)


def as_error(refused: Refused) -> EngineError:
    """Return the error that tells of one refused case."""
    kind = BusyError if refused.code in _MOVED else InputError
    error: EngineError = kind(
        refused.message, code=refused.code, path=shown_ref(refused.case), advice=refused.advice
    )
    error.is_retryable = False
    return error


def _settled(case: Case, now_us: int | None) -> Refusal | None:
    """Return why nothing is left to decide; a deadline counts where a time is given."""
    ref = shown_ref(case)
    if not case.is_waiting:
        return "already_decided", f"{ref} is decided: {case.decision['reasons'][0]}", f"See `amos why {ref}`."
    if now_us is not None and case.is_expired(now_us):
        return (
            str(Reason.QUARANTINE_EXPIRED),
            f"{ref} waited until {case.decision['deadline']:%Y-%m-%d}, and may not be decided any more",
            "It can come in again when its source is read again by another extractor.",
        )
    return None


def _unsound(case: Case, source: Row) -> Refusal | None:
    """Return why the evidence of a claim does not carry it now."""
    ref, message = shown_ref(case), id_text("sources", source["source_id"])
    if is_withheld(source["flags"]):
        advice = f"Decide on the message first: `amos review show {message}`."
        return "evidence_denied", f"{ref} was read from a message that is withheld", advice
    if not source["may_retain"] or "personalization" not in source["purposes"]:
        return (
            str(Reason.UNAUTHORIZED_SCOPE),
            f"{ref} comes from a message that may not be kept",
            "Reject it.",
        )
    content = source["content"].encode()
    spans = case.row["spans"]
    pairs = list(zip(spans[::2], spans[1::2], strict=True))
    if any(not 0 <= start < end <= len(content) or b"\x1a" in content[start:end] for start, end in pairs):
        return str(Reason.EVIDENCE_SPAN_OUT_OF_RANGE), f"the words behind {ref} are gone", "Reject it."
    return None


def _forgotten(case: Case, graves: Graves) -> Refusal | None:
    rule = graves.claim(case.row["claim_id"])
    if rule is None or rule.verdict(None) == "hold":
        return None
    return str(Reason.TOMBSTONED), f"{shown_ref(case)} says what was forgotten", "Reject it."


def _stale(case: Case, bases: list[Basis], seen: int, head: int) -> Refusal | None:
    """Return that a claim which the decision would meet changed after it was looked at."""
    moved = [basis for basis in bases if basis.changed_at > seen]
    if not moved:
        return None
    ref, one = shown_ref(case), moved[0]
    stands = f"is now of version {one.version} ({one.status}), written by graph version {one.changed_at}"
    said = f"{id_text('atoms', one.atom_id)} {stands}"
    return (
        str(Reason.STALE_PROPOSAL_GENERATION),
        f"{ref} was proposed at graph version {seen}; {said}",
        f"Look again with `amos review show {ref}`, then decide with `--seen {head}`.",
    )
