"""What a packet gives up when storage is short: depth and detail go, what is critical stays."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from amos.packets.packet import PacketItem
from amos.packets.processors import Allowance

PRESSURES = ("green", "yellow", "orange", "red", "black")
PRESSURE_DEGRADED = "pressure_degraded"
_FEWEST = 3
"""Items of a packet under red and black pressure."""
_HIGH = 0.75
"""Confidence or utility from which a claim is kept under red pressure."""
_CRITICAL = ("policy", "covenant", "primal_guidance", "commitment")
"""Types that are kept under black pressure, with what is in dispute."""


def reduced(allowed: Allowance, pressure: str) -> Allowance:
    """Return the budget under pressure: half the items from orange on, three from red on."""
    level = PRESSURES.index(pressure)
    items = allowed.items if level < 2 else max(allowed.items // 2, 1)
    return allowed._replace(items=min(items, _FEWEST) if level > 2 else items)


def pressed(items: Sequence[PacketItem], pressure: str) -> list[PacketItem]:
    """Return the items that pressure leaves, best first: with less detail from yellow on.

    Red: what is held for sure, was of use or is in dispute comes first.  Black: nothing but rules,
    commitments and what is in dispute.
    """
    level = PRESSURES.index(pressure)
    if level == 0:
        return list(items)
    found = [_plainer(item) for item in items]
    if level > 3:
        return [item for item in found if item.is_disputed or item.type in _CRITICAL]
    if level > 2:
        found.sort(key=lambda item: not _is_kept(item))
        return sorted(found[:_FEWEST], key=lambda item: item.rank)
    return found


def _is_kept(item: PacketItem) -> bool:
    utility = item.utility if isinstance(item.utility, float) else 0.0
    return item.is_disputed or max(item.confidence or 0.0, utility) >= _HIGH


def _plainer(item: PacketItem) -> PacketItem:
    """Return the item with its first piece of evidence alone, without the places of words."""
    evidence = [msgspec.structs.replace(one, spans=[], matches=[]) for one in item.evidence[:1]]
    return msgspec.structs.replace(item, evidence=evidence)
