"""Fit ranked memory into a budget: best first, envelope counted, nothing dropped in silence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from amos.clock import as_text, to_us
from amos.identity import id_text
from amos.packets.fill import BUDGET_EXHAUSTED, REDUNDANT_FOLDED, Filling, fill_packet, name_left_out
from amos.packets.items import packet_items, time_text
from amos.packets.packet import (
    SCHEMA_VERSION,
    BudgetUse,
    CachePolicy,
    Conflict,
    ConflictSide,
    Degradation,
    Omissions,
    Packet,
    PacketItem,
)
from amos.packets.pressure import PRESSURE_DEGRADED, PRESSURES, pressed, reduced
from amos.packets.recalled import Recalled
from amos.packets.redundancy import fold_redundant
from amos.packets.request import PURPOSES, PacketRequest


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
    items, redundant = fold_redundant(packet_items(request, recalled, claims))
    conflicts = _conflicts(recalled, claims) if request.allowance.has_conflicts else []
    packet = _envelope(request, recalled, packet_id, now)
    name_left_out(packet, redundant, len(redundant), REDUNDANT_FOLDED)
    is_reduced = packet.degradation.reduced_recall_depth is True
    filling = Filling(
        processor=request.processor,
        total=recalled.total - len(redundant),
        reason=PRESSURE_DEGRADED if is_reduced else BUDGET_EXHAUSTED,
        has_sections=request.rendering_target == "json",
        guarding=frozenset(id_text("atoms", one) for one in recalled.guarding),
    )
    fill_packet(packet, pressed(items, recalled.pressure), conflicts, filling)
    return Built(packet, redundant)


def _envelope(request: PacketRequest, recalled: Recalled, packet_id: bytes, now: datetime) -> Packet:
    allowed = reduced(request.allowance, recalled.pressure)
    shown = shown_request(request)
    return Packet(
        packet_id=id_text("packets", packet_id),
        schema_version=SCHEMA_VERSION,
        graph_version=recalled.graph_version,
        generated_at=str(as_text(to_us(now))),
        target_processor=request.target_processor,
        retrieval_mode=request.retrieval_mode,
        purpose=msgspec.UNSET if request.purpose == PURPOSES[0] else request.purpose,
        pressure_mode=recalled.pressure,
        profile=recalled.profile,
        request=shown,
        scope=request.scope_asked or msgspec.UNSET,
        shared_view_ref=request.shared_view_ref or msgspec.UNSET,
        request_id=request.request_id or msgspec.UNSET,
        items=[],
        conflicts=[],
        omissions=Omissions(
            counts=dict(sorted(recalled.omitted.items())),
            sample=_named(recalled.sample),
            withheld=recalled.is_withheld,
        ),
        degradation=_degradation(recalled),
        attention_trace=None if recalled.trace is None else dict(recalled.trace),
        empty_reason=recalled.empty_reason,
        budget=BudgetUse(items=0, tokens=0, bytes=0, max_items=allowed.items, max_tokens=allowed.tokens),
        cache_policy=_cache_policy(shown, recalled, is_dated=request.as_of_us is not None),
        provenance=_provenance(request, recalled),
    )


def _degradation(recalled: Recalled) -> Degradation:
    level = PRESSURES.index(recalled.pressure)
    codes = list(recalled.degradation)
    freshness = "rebuilt" if codes else "current"
    said = ["derived_index_stale", *codes] if codes else []
    said += ["erased_since"] if recalled.is_erased_since else []
    said += ["consistency_lag"] if recalled.is_behind else []
    said += [PRESSURE_DEGRADED] if level > 0 else []
    return Degradation(
        pressure_mode=recalled.pressure,
        index_freshness="behind" if recalled.is_behind else freshness,
        reason_codes=said,
        reduced_recall_depth=True if level > 1 else msgspec.UNSET,
        omitted_evidence_detail=True if level > 0 else msgspec.UNSET,
    )


def _cache_policy(shown: Mapping[str, Any], recalled: Recalled, *, is_dated: bool) -> CachePolicy:
    """Return the key of a request; its own name for itself takes no part in it."""
    asked = {name: value for name, value in shown.items() if name != "request_id"}
    pinned = (recalled.graph_version, recalled.profile_digest, recalled.pressure)
    raw = msgspec.json.encode((asked, pinned), order="deterministic")
    return CachePolicy(key=hashlib.sha256(raw).hexdigest()[:16], is_cacheable=is_dated)


def _provenance(request: PacketRequest, recalled: Recalled) -> dict[str, Any] | msgspec.UnsetType:
    if request.provenance_level == "none":
        return msgspec.UNSET
    sources = {row["source_id"] for row in recalled.evidence.select(["source_id"]).to_pylist()}
    return {
        "level": request.provenance_level,
        "profile": f"{recalled.profile}@{recalled.profile_digest}",
        "sources_considered": len(sources),
        "claims_considered": recalled.claims.num_rows,
    }


def shown_request(request: PacketRequest) -> dict[str, Any]:
    """Return the request as asked: defaults left out, times as text."""
    asked = msgspec.to_builtins(request)
    plain = msgspec.to_builtins(PacketRequest())
    shown = {name: value for name, value in asked.items() if name == "cues" or value != plain[name]}
    if "as_of_us" in shown:
        shown["as_of"] = as_text(shown.pop("as_of_us"))
    return shown


def _named(sample: pa.Table) -> list[dict[str, Any]]:
    tables = {"atom": "atoms", "turn": "sources"}
    return [
        {"ref": id_text(tables[row["item_kind"]], row["id"]), "reason": row["reason"]}
        for row in sample.to_pylist()
    ]


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
        since=time_text(rows[0]["since"]),
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
