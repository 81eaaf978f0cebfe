"""The packet: cited memory at one graph version, bounded, with what was left out and why."""

from __future__ import annotations

from typing import Any

import msgspec

SCHEMA_VERSION = "amos.packet.v1"


class EvidenceRef(msgspec.Struct, frozen=True, kw_only=True):
    """Where an item comes from: `excerpt` is bytes start … end - 1 of the stored source.

    A range that was cut is one mark in it, whatever its length.
    """

    source_id: str
    start: int
    end: int
    excerpt: str
    event_time: str | None
    author: str | None
    kind: str
    trust: str
    locator: str
    spans: list[list[int]]
    matches: list[list[int]]


class PacketItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """One claim with the turn that it cites, or one turn.

    score_components: shares 0..1 whose weighted sum under the packet's profile is the score; what is not
    named is 0.
    folded: items that say the same and are not shown.  details: fields of the claim that the packet's
    processor acts on, such as the steps of a procedure.  freshness: `current`, `stale` (its health says so)
    or `ended` (none of its intervals holds).  access_decision: `allowed`, or `allowed_by:` and the part of
    the request that let it in.  salience, utility: as outcomes left them.
    What is unset does not apply and is not printed: messages have no version, salience or utility.
    """

    rank: int
    item_kind: str
    atom_id: str | None
    source_id: str | None
    type: str
    statement: str
    score: float
    score_components: dict[str, float]
    evidence: list[EvidenceRef]
    subject: str | None = None
    confidence: float | None = None
    lifecycle_state: str | None = None
    health_status: str | None = None
    is_superseded: bool = False
    is_disputed: bool = False
    folded: int = 0
    valid_from: str | None = None
    valid_until: str | None = None
    details: dict[str, Any] | None = None
    provenance: dict[str, Any] | None = None
    freshness: str = "current"
    access_decision: str = "allowed"
    salience: float | msgspec.UnsetType = msgspec.UNSET
    utility: float | msgspec.UnsetType = msgspec.UNSET
    scope: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    updated_at: str | msgspec.UnsetType = msgspec.UNSET
    version: int | msgspec.UnsetType = msgspec.UNSET

    @property
    def ref(self) -> str:
        """Return the reference by which the item is known: of its claim, else of its message."""
        return self.atom_id or self.source_id or ""


class ConflictSide(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a disputed property."""

    atom_id: str
    statement: str
    value: str | None


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """A property with more than one value and no clear winner."""

    dispute_id: str
    subject: str
    property: str | None
    since: str | None
    reason: str
    sides: list[ConflictSide]


class Omissions(msgspec.Struct, kw_only=True):
    """What matched and is not shown.  withheld: rows that the caller may not see hold a word asked for."""

    counts: dict[str, int]
    sample: list[dict[str, Any]]
    withheld: bool = False


class BudgetUse(msgspec.Struct, kw_only=True):
    """Size of the packet as JSON, envelope included, beside what was allowed.

    needed_tokens: set when not even the first item fits, or nothing matches and the envelope alone is
    too large: the budget that would hold it.
    """

    items: int
    tokens: int
    bytes: int
    max_items: int
    max_tokens: int
    needed_tokens: int | None = None


class Degradation(msgspec.Struct, frozen=True, kw_only=True):
    """Whether recall was reduced: by pressure, by a damaged index, or by a version that is not there yet."""

    pressure_mode: str
    index_freshness: str
    reason_codes: list[str]
    reduced_recall_depth: bool | msgspec.UnsetType = msgspec.UNSET
    omitted_evidence_detail: bool | msgspec.UnsetType = msgspec.UNSET


class CachePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How long the answer may be kept: while the shard stands at its graph version.

    key: equal for equal requests of one graph version.  is_cacheable: time alone does not change the
    answer, as where validity is judged at an instant that the request names.
    """

    key: str
    is_cacheable: bool


class Packet(msgspec.Struct, kw_only=True):
    """What a processor receives; field names are part of the public contract.

    What is unset does not apply and is not printed.  sections: title and ranks of what belongs together,
    for processors that want it set out so.
    """

    packet_id: str
    schema_version: str
    graph_version: int | None
    generated_at: str
    target_processor: str
    profile: str
    request: dict[str, Any]
    items: list[PacketItem]
    conflicts: list[Conflict]
    omissions: Omissions
    degradation: Degradation
    attention_trace: dict[str, Any] | None
    empty_reason: str | None
    budget: BudgetUse
    retrieval_mode: str = "general"
    pressure_mode: str = "green"
    cache_policy: CachePolicy | None = None
    purpose: str | msgspec.UnsetType = msgspec.UNSET
    scope: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    shared_view_ref: str | msgspec.UnsetType = msgspec.UNSET
    request_id: str | msgspec.UnsetType = msgspec.UNSET
    provenance: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    sections: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


def packet_json(packet: Packet) -> bytes:
    """Return the packet as compact JSON, the form whose size the budget counts."""
    return msgspec.json.encode(packet)
