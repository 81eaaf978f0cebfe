"""Make the items of a packet from ranked rows: claims with the turns that they cite, and turns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from amos.clock import as_text, to_us
from amos.identity import id_text
from amos.packets.packet import EvidenceRef, PacketItem
from amos.packets.processors import Slot, slots_of
from amos.packets.recalled import MILLION, Recalled
from amos.packets.request import PacketRequest
from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.ranked import COMPONENTS, SIGNALS


def packet_items(
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
        "score_components": _components(row),
        "evidence": shown,
        "is_superseded": row["is_superseded"],
        "freshness": _freshness(row, claim),
        "access_decision": _access(row, shown, claim),
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
        salience=claim["salience_ppm"] / MILLION,
        utility=claim["utility_ppm"] / MILLION,
        lifecycle_state=claim["lifecycle_state"],
        health_status=claim["health_status"],
        is_disputed=row["atom_id"] in disputed,
        valid_from=time_text(claim["valid_from"]),
        valid_until=time_text(claim["valid_until"]),
        details=_details(claim, wanted.get(claim["type"])),
        provenance=_provenance(claim, request.provenance_level),
        scope=_scope(claim) or msgspec.UNSET,
        updated_at=time_text(claim["updated_at"]) or msgspec.UNSET,
        version=claim["version"],
        **shared,
    )


def _components(row: dict[str, Any]) -> dict[str, float]:
    """Return the components that are not 0, by name."""
    found = {name: row[f"{name}_ppm"] / MILLION for name in COMPONENTS if row[f"{name}_ppm"]}
    if row["signals"] is not None:
        pairs = zip(SIGNALS, row["signals"], strict=True)
        found |= {name: value / MILLION for name, value in pairs if value}
    return found


def _freshness(row: dict[str, Any], claim: dict[str, Any] | None) -> str:
    if claim is not None and claim["health_status"] == "stale":
        return "stale"
    return "ended" if row["is_superseded"] else "current"


_OPENED = {
    "contradicted": "include_conflicts",
    "stale": "include_low_health",
    "confounding": "include_low_health",
    "low_utility": "include_low_health",
    "redundant": "include_low_health",
    "incoherent": "include_low_health",
    "orphaned": "include_low_health",
    "privacy_sensitive": "target_processor",
}
"""The part of a request that lets a claim of some health in."""


def _access(row: dict[str, Any], evidence: list[EvidenceRef], claim: dict[str, Any] | None) -> str:
    """Return by what the item was let in, where an ordinary request would not show it."""
    opened = None
    if claim is None:
        is_own = all(one.trust in ("trusted_user", "agent") for one in evidence)
        opened = None if is_own else "include_untrusted"
    elif claim["lifecycle_state"] == "archived":
        opened = "include_archived"
    else:
        opened = _OPENED.get(claim["health_status"])
    if opened is None and row["is_superseded"]:
        opened = "include_superseded"
    return f"allowed_by:{opened}" if opened else "allowed"


def _scope(claim: dict[str, Any]) -> dict[str, str]:
    named = {name: claim[f"scope_{name}"] for name in SCOPE_NAMES}
    return {name: value for name, value in named.items() if value is not None}


def _details(claim: dict[str, Any], slot: Slot | None) -> dict[str, Any] | None:
    """Return what the payload has of the fields of a slot, None where that is nothing."""
    if slot is None or not slot.fields:
        return None
    payload = msgspec.json.decode(claim["payload"])
    found = {name: payload.get(name) for name in slot.fields}
    return {name: value for name, value in found.items() if value not in (None, slot.plain.get(name))} or None


def _provenance(claim: dict[str, Any], level: str) -> dict[str, Any] | None:
    """Return what is told of where a claim comes from; the payload only in full."""
    if level == "none":
        return None
    told = {
        "version": claim["version"],
        "evidence_count": claim["evidence_count"],
        "root_count": claim["root_count"],
    }
    return told if level == "refs" else {"payload": msgspec.json.decode(claim["payload"]), **told}


def _reference(row: dict[str, Any]) -> EvidenceRef:
    return EvidenceRef(
        source_id=id_text("sources", row["source_id"]),
        start=row["start"],
        end=row["end"],
        excerpt=row["excerpt"],
        event_time=time_text(row["event_time"]),
        author=row["author"],
        kind=row["kind"],
        trust=row["trust"],
        locator=row["locator"],
        spans=_pairs(row["spans"]),
        matches=_pairs(row["matches"]),
    )


def _pairs(flat: list[int]) -> list[list[int]]:
    return [list(pair) for pair in zip(flat[::2], flat[1::2], strict=True)]


def time_text(value: datetime | None) -> str | None:
    """Return an instant as it is printed, None where it is unknown."""
    return None if value is None else as_text(to_us(value))


def _source_text(identifier: bytes | None) -> str | None:
    return None if identifier is None else id_text("sources", identifier)
