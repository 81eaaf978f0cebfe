"""The packet: cited memory at one graph version, bounded, with what was left out and why."""

from __future__ import annotations

from typing import Any

import msgspec

SCHEMA_VERSION = "amos.packet.v1"


class EvidenceRef(msgspec.Struct, frozen=True, kw_only=True):
    """Where an item comes from: `excerpt` is bytes start … end - 1 of the stored source."""

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
    processor acts on, such as the steps of a procedure.
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
    """Whether recall was reduced by pressure or by a damaged index."""

    pressure_mode: str
    index_freshness: str
    reason_codes: list[str]


class Packet(msgspec.Struct, kw_only=True):
    """What a processor receives; field names are part of the public contract."""

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


def packet_json(packet: Packet) -> bytes:
    """Return the packet as compact JSON, the form whose size the budget counts."""
    return msgspec.json.encode(packet)
