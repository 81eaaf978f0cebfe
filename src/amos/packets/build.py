"""Fit ranked memory into a budget: best first, envelope counted, nothing dropped in silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from amos.clock import as_text, to_us
from amos.identity import id_text
from amos.packets.fill import REDUNDANT_FOLDED, fill_packet, name_left_out
from amos.packets.packet import (
    SCHEMA_VERSION,
    BudgetUse,
    Conflict,
    ConflictSide,
    Degradation,
    EvidenceRef,
    Omissions,
    Packet,
    PacketItem,
)
from amos.packets.processors import Slot, slots_of
from amos.packets.redundancy import fold_redundant
from amos.packets.request import PacketRequest
from amos.schemas.ranked import COMPONENTS

MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """Everything a packet is made from.

    items: RANKED.  evidence: EVIDENCE.  claims: CLAIM_CARDS of items and conflict sides.
    conflicts: CONFLICTS.  omitted: counts per reason.  sample: OMITTED.  total: items that passed, of
    which `items` holds the best.  empty_reason: set when nothing was ranked.  profile: ranking
    profile.  degradation: what the index disclosed.  is_erased_since: rows of
    this past state were erased later.
    """

    items: pa.Table
    evidence: pa.Table
    claims: pa.Table
    conflicts: pa.Table
    sample: pa.Table
    omitted: Mapping[str, int]
    empty_reason: str | None
    total: int
    is_withheld: bool
    profile: str
    graph_version: int | None
    degradation: tuple[str, ...] = field(default=())
    is_erased_since: bool = False


class Built(NamedTuple):
    """A packet, and the items that were folded into others of it or of those that did not fit."""

    packet: Packet
    redundant: list[PacketItem]


def build_packet(request: PacketRequest, recalled: Recalled, *, packet_id: bytes, now: datetime) -> Built:
    """Return the packet: as many of the best items as items and tokens allow.

    Items that say the same are folded into the best of them.  An item that does not fit is counted as
    budget_exhausted and smaller later ones may still enter.
    """
    claims = {row["atom_id"]: row for row in recalled.claims.to_pylist()}
    items, redundant = fold_redundant(_items(request, recalled, claims))
    conflicts = _conflicts(recalled, claims) if request.allowance.has_conflicts else []
    packet = _envelope(request, recalled, packet_id, now)
    name_left_out(packet, redundant, len(redundant), REDUNDANT_FOLDED)
    total = recalled.total - len(redundant)
    fill_packet(packet, items, conflicts, total=total, processor=request.processor)
    return Built(packet, redundant)


def _envelope(request: PacketRequest, recalled: Recalled, packet_id: bytes, now: datetime) -> Packet:
    allowed = request.allowance
    codes = list(recalled.degradation)
    return Packet(
        packet_id=id_text("packets", packet_id),
        schema_version=SCHEMA_VERSION,
        graph_version=recalled.graph_version,
        generated_at=str(as_text(to_us(now))),
        target_processor=request.target_processor,
        profile=recalled.profile,
        request=_shown_request(request),
        items=[],
        conflicts=[],
        omissions=Omissions(
            counts=dict(sorted(recalled.omitted.items())),
            sample=_named(recalled.sample),
            withheld=recalled.is_withheld,
        ),
        degradation=Degradation(
            pressure_mode="green",
            index_freshness="rebuilt" if codes else "current",
            reason_codes=[
                *(["derived_index_stale", *codes] if codes else []),
                *(["erased_since"] if recalled.is_erased_since else []),
            ],
        ),
        attention_trace=None,
        empty_reason=recalled.empty_reason,
        budget=BudgetUse(items=0, tokens=0, bytes=0, max_items=allowed.items, max_tokens=allowed.tokens),
    )


def _shown_request(request: PacketRequest) -> dict[str, Any]:
    """Return the request as asked: defaults left out, times as text."""
    asked = msgspec.to_builtins(request)
    plain = msgspec.to_builtins(PacketRequest(cues=request.cues))
    shown = {name: value for name, value in asked.items() if name == "cues" or value != plain[name]}
    if "as_of_us" in shown:
        shown["as_of"] = as_text(shown.pop("as_of_us"))
    return shown


def _named(sample: pa.Table) -> list[dict[str, Any]]:
    tables = {"atom": "atoms", "turn": "sources"}
    return [
        {
            "item_kind": row["item_kind"],
            "ref": id_text(tables[row["item_kind"]], row["id"]),
            "reason": row["reason"],
        }
        for row in sample.to_pylist()
    ]


def _items(
    request: PacketRequest, recalled: Recalled, claims: Mapping[bytes, dict[str, Any]]
) -> list[PacketItem]:
    """Return every ranked item as it would be shown."""
    evidence: dict[int, list[dict[str, Any]]] = {}
    for row in recalled.evidence.to_pylist():
        evidence.setdefault(row["rank"], []).append(row)
    disputed = {row["atom_id"] for row in recalled.conflicts.to_pylist()}
    wanted = {kind: slot for slot in slots_of(request.processor).values() for kind in slot.types}
    return [
        _item(row, evidence.get(row["rank"], []), claims.get(row["atom_id"]), request, disputed, wanted)
        for row in recalled.items.to_pylist()
    ]


def _item(
    row: dict[str, Any],
    evidence: list[dict[str, Any]],
    claim: dict[str, Any] | None,
    request: PacketRequest,
    disputed: set[bytes],
    wanted: Mapping[str, Slot],
) -> PacketItem:
    shown = [_reference(entry) for entry in evidence]
    shared = {
        "rank": row["rank"],
        "item_kind": row["item_kind"],
        "source_id": _source_text(row["source_id"]),
        "score": row["score_ppm"] / MILLION,
        "score_components": {name: row[f"{name}_ppm"] / MILLION for name in COMPONENTS if row[f"{name}_ppm"]},
        "evidence": shown,
        "is_superseded": row["is_superseded"],
    }
    if claim is None:
        text = shown[0].excerpt if shown else ""
        return PacketItem(atom_id=None, type="turn", statement=text, **shared)
    return PacketItem(
        atom_id=id_text("atoms", row["atom_id"]),
        type=claim["type"],
        statement=claim["statement"],
        subject=claim["subject"],
        confidence=claim["confidence_ppm"] / MILLION,
        lifecycle_state=claim["lifecycle_state"],
        health_status=claim["health_status"],
        is_disputed=row["atom_id"] in disputed,
        valid_from=_time(claim["valid_from"]),
        valid_until=_time(claim["valid_until"]),
        details=_details(claim, wanted.get(claim["type"])),
        provenance=_provenance(claim) if request.include_provenance else None,
        **shared,
    )


def _details(claim: dict[str, Any], slot: Slot | None) -> dict[str, Any] | None:
    """Return what the payload has of the fields of a slot, None where that is nothing."""
    if slot is None or not slot.fields:
        return None
    payload = msgspec.json.decode(claim["payload"])
    found = {name: payload.get(name) for name in slot.fields}
    return {name: value for name, value in found.items() if value not in (None, slot.plain.get(name))} or None


def _provenance(claim: dict[str, Any]) -> dict[str, Any]:
    return {
        "payload": msgspec.json.decode(claim["payload"]),
        "version": claim["version"],
        "evidence_count": claim["evidence_count"],
    }


def _reference(row: dict[str, Any]) -> EvidenceRef:
    return EvidenceRef(
        source_id=id_text("sources", row["source_id"]),
        start=row["start"],
        end=row["end"],
        excerpt=row["excerpt"],
        event_time=_time(row["event_time"]),
        author=row["author"],
        kind=row["kind"],
        trust=row["trust"],
        locator=row["locator"],
        spans=_pairs(row["spans"]),
        matches=_pairs(row["matches"]),
    )


def _pairs(flat: list[int]) -> list[list[int]]:
    return [list(pair) for pair in zip(flat[::2], flat[1::2], strict=True)]


def _time(value: datetime | None) -> str | None:
    return None if value is None else as_text(to_us(value))


def _source_text(identifier: bytes | None) -> str | None:
    return None if identifier is None else id_text("sources", identifier)


def _conflicts(recalled: Recalled, claims: Mapping[bytes, dict[str, Any]]) -> list[Conflict]:
    """Return the disputes about shown claims, with those sides that the caller may see."""
    sides: dict[bytes, list[dict[str, Any]]] = {}
    for row in recalled.conflicts.to_pylist():
        if row["atom_id"] in claims:
            sides.setdefault(row["dispute_id"], []).append(row)
    return [
        _conflict(rows, [claims[row["atom_id"]] for row in rows]) for rows in sides.values() if len(rows) > 1
    ]


def _conflict(rows: list[dict[str, Any]], claims: list[dict[str, Any]]) -> Conflict:
    payloads = [msgspec.json.decode(claim["payload"]) for claim in claims]
    return Conflict(
        dispute_id=id_text("disputes", rows[0]["dispute_id"]),
        subject=claims[0]["subject"],
        property=payloads[0].get("property"),
        since=_time(rows[0]["since"]),
        reason=rows[0]["reason"],
        sides=[
            ConflictSide(
                atom_id=id_text("atoms", claim["atom_id"]),
                statement=claim["statement"],
                value=None if payload.get("value") is None else str(payload["value"]),
            )
            for claim, payload in zip(claims, payloads, strict=True)
        ],
    )
