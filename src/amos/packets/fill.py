"""Fill a packet up to its budget and state its size, digits of the size included."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from amos.packets.packet import Conflict, Packet, PacketItem, packet_json
from amos.packets.request import BYTES_PER_TOKEN

BUDGET_EXHAUSTED = "budget_exhausted"
SAMPLE = 5
"""Items named that did not fit."""
_RESERVED_DIGITS = 12


def fill_packet(
    packet: Packet, items: Sequence[PacketItem], conflicts: Sequence[Conflict], *, total: int
) -> None:
    """Put the best items into `packet` while its JSON stays within its budget.

    items: best first.  conflicts: disputes among them; one enters with its first claim.
    total: items that passed at all; those not shown are counted as budget_exhausted.
    """
    budget = packet.budget
    room = budget.max_tokens * BYTES_PER_TOKEN - _envelope_bytes(packet, items, total)
    left_out: list[PacketItem] = []
    for item in items:
        added = _joining(item, conflicts, packet.conflicts)
        cost = sum(len(msgspec.json.encode(part)) + 1 for part in (item, *added))
        if len(packet.items) < budget.max_items and cost <= room:
            room -= cost
            packet.items.append(item)
            packet.conflicts += added
        else:
            left_out.append(item)
    if items and not packet.items:
        budget.needed_tokens = _needed_tokens(packet, items[0], conflicts, items, total)
    _name_left_out(packet, left_out, total - len(packet.items))
    _renumber(packet)
    budget.items = len(packet.items)
    _settle_size(packet)
    if budget.needed_tokens is None and budget.tokens > budget.max_tokens:
        # the answer to a larger budget repeats that budget twice, in more digits
        budget.needed_tokens = budget.tokens + -(-2 * _RESERVED_DIGITS // BYTES_PER_TOKEN)
        _settle_size(packet)


def _renumber(packet: Packet) -> None:
    packet.items = [msgspec.structs.replace(item, rank=rank) for rank, item in enumerate(packet.items, 1)]


def _joining(item: PacketItem, known: Sequence[Conflict], present: list[Conflict]) -> list[Conflict]:
    """Return the disputes of an item that the packet does not state yet."""
    if not item.is_disputed:
        return []
    return [
        conflict
        for conflict in known
        if conflict not in present and any(side.atom_id == item.atom_id for side in conflict.sides)
    ]


def _envelope_bytes(packet: Packet, items: Sequence[PacketItem], total: int) -> int:
    """Return the size without items, with room for what will be said about those left out."""
    counts, sample = dict(packet.omissions.counts), list(packet.omissions.sample)
    _name_left_out(packet, items, total)
    size = len(packet_json(packet)) + 3 * _RESERVED_DIGITS
    packet.omissions.counts, packet.omissions.sample = counts, sample
    return size


def _needed_tokens(
    packet: Packet, first: PacketItem, conflicts: Sequence[Conflict], items: Sequence[PacketItem], total: int
) -> int:
    parts = (first, *_joining(first, conflicts, []))
    cost = sum(len(msgspec.json.encode(part)) + 1 for part in parts)
    # the answer to a larger budget repeats that budget twice, in more digits
    return -(-(_envelope_bytes(packet, items, total) + cost + 2 * _RESERVED_DIGITS) // BYTES_PER_TOKEN)


def _name_left_out(packet: Packet, left_out: Sequence[PacketItem], count: int) -> None:
    if count <= 0:
        return
    packet.omissions.counts[BUDGET_EXHAUSTED] = count
    packet.omissions.sample += [
        {"item_kind": item.item_kind, "ref": item.atom_id or item.source_id, "reason": BUDGET_EXHAUSTED}
        for item in left_out[:SAMPLE]
    ]


def _settle_size(packet: Packet) -> None:
    """Fill in the size of the packet, which counts its own digits."""
    budget = packet.budget
    for _ in range(4):
        size = len(packet_json(packet))
        if size == budget.bytes:
            return
        budget.bytes, budget.tokens = size, -(-size // BYTES_PER_TOKEN)
