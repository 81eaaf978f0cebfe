"""Fill a packet up to its budget and state its size, digits of the size included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from amos.packets.packet import Conflict, Packet, PacketItem, packet_json
from amos.packets.processors import Processor, slots_of
from amos.packets.request import BYTES_PER_TOKEN

BUDGET_EXHAUSTED = "budget_exhausted"
REDUNDANT_FOLDED = "redundant_folded"
SAMPLE = 5
"""Items named per reason."""
_RESERVED_DIGITS = 12
_SHARE_OF_SAMPLE = 64
"""The sample of omissions takes no more than one part in so many of the budget."""
_LEAST_SAMPLE = 390
_SELECTED = 8
"""Items that the trace of attention names."""
_REF_BYTES = 33
_SECTION_BYTES = 48
_BROUGHT = frozenset({"attention_focus", "attention_type_boost", "attention_counterevidence"})
_RESERVED_SHARE = 4
"""One place in so many, and no more, may be kept for what the processor needs."""


@dataclass(frozen=True, kw_only=True)
class Filling:
    """How a packet is filled.

    processor: the best item of each slot that it needs enters first, within the share kept for it.
    total: items that passed at all.  reason: why those not shown are not.  has_sections: its parts are named.
    guarding: references of claims that enter before others.
    """

    processor: Processor
    total: int
    reason: str = BUDGET_EXHAUSTED
    has_sections: bool = False
    guarding: frozenset[str] = frozenset()


def fill_packet(
    packet: Packet, items: Sequence[PacketItem], conflicts: Sequence[Conflict], filling: Filling
) -> None:
    """Put the best items into `packet` while its JSON stays within its budget.

    items: best first.  conflicts: disputes among them; one enters with its first claim.
    """
    budget = packet.budget
    room = budget.max_tokens * BYTES_PER_TOKEN - _envelope_bytes(packet, items, filling)
    taken: set[int] = set()
    for at, most in _order_of_entry(items, filling, budget.max_items, room):
        if at in taken or len(taken) == budget.max_items:
            continue
        added = _joining(items[at], conflicts, packet.conflicts)
        cost = sum(len(msgspec.json.encode(part)) + 1 for part in (items[at], *added))
        if cost <= min(room, most):
            room -= cost
            taken.add(at)
            packet.conflicts += added
    packet.items = [items[at] for at in sorted(taken)]
    packet.conflicts = [conflict for conflict in conflicts if conflict in packet.conflicts]
    if items and not packet.items:
        budget.needed_tokens = _needed_tokens(packet, conflicts, items, filling)
    left_out = [item for at, item in enumerate(items) if at not in taken]
    name_left_out(packet, left_out, filling.total - len(packet.items), filling.reason)
    _trim_sample(packet)
    _renumber(packet)
    budget.items = len(packet.items)
    _tell_selected(packet)
    if filling.has_sections:
        packet.sections = [
            {"title": title, "ranks": [item.rank for item in inside]}
            for title, inside in sections_of(packet.items, filling.processor)
        ]
    _settle_size(packet)
    if budget.needed_tokens is None and budget.tokens > budget.max_tokens:
        # the answer to a larger budget repeats that budget twice, in more digits
        budget.needed_tokens = budget.tokens + -(-2 * _RESERVED_DIGITS // BYTES_PER_TOKEN)
        _settle_size(packet)


def _order_of_entry(
    items: Sequence[PacketItem], filling: Filling, places: int, room: int
) -> Iterator[tuple[int, int]]:
    """Yield (position, most bytes) in the order in which items are tried; a position may come again.

    The best item comes first, then what a guardrail wants, then the best of each slot that matches the
    question at least half as much, in at most a quarter of the places, then all.
    """
    if items:
        yield 0, room
    for at, item in enumerate(items):
        if item.ref in filling.guarding:
            yield at, room
    for at, share in _reserved(items, filling.processor)[: places // _RESERVED_SHARE]:
        yield at, room * share // 100
    for at in range(len(items)):
        yield at, room


def _reserved(items: Sequence[PacketItem], processor: Processor) -> list[tuple[int, int]]:
    """Return (position, percent of the room) of the best item of each slot that is needed."""
    found = []
    for name, slot in slots_of(processor).items():
        first = (at for at, item in enumerate(items) if item.type in slot.types)
        at = next(first, None)
        if at is not None and 2 * _match(items[at]) >= _match(items[0]):
            found.append((at, processor.needs[name]))
    return found


def _match(item: PacketItem) -> float:
    return item.score_components.get("direct_cue_match", 0.0)


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


def _envelope_bytes(packet: Packet, items: Sequence[PacketItem], filling: Filling) -> int:
    """Return the size without items, with room for what will be said about those left out."""
    counts, sample = dict(packet.omissions.counts), list(packet.omissions.sample)
    name_left_out(packet, items, filling.total, filling.reason)
    _trim_sample(packet)
    size = len(packet_json(packet)) + 3 * _RESERVED_DIGITS
    packet.omissions.counts, packet.omissions.sample = counts, sample
    if packet.attention_trace is not None:
        size += _SELECTED * _REF_BYTES
    if filling.has_sections:
        size += _SECTION_BYTES * len(filling.processor.needs) + 4 * packet.budget.max_items
    return size


def _needed_tokens(
    packet: Packet, conflicts: Sequence[Conflict], items: Sequence[PacketItem], filling: Filling
) -> int:
    parts = (items[0], *_joining(items[0], conflicts, []))
    cost = sum(len(msgspec.json.encode(part)) + 1 for part in parts)
    # the answer to a larger budget repeats that budget twice, in more digits
    size = _envelope_bytes(packet, items, filling) + cost + 2 * _RESERVED_DIGITS
    return -(-size // BYTES_PER_TOKEN)


def _trim_sample(packet: Packet) -> None:
    """Keep about five omissions of the sample, or what a small part of the budget holds, reason by reason."""
    room = max(packet.budget.max_tokens * BYTES_PER_TOKEN // _SHARE_OF_SAMPLE, _LEAST_SAMPLE)
    turns: dict[str, int] = {}
    order = []
    for at, row in enumerate(packet.omissions.sample):
        order.append((turns.get(row["reason"], 0), at))
        turns[row["reason"]] = turns.get(row["reason"], 0) + 1
    kept = []
    for _, at in sorted(order):
        room -= len(msgspec.json.encode(packet.omissions.sample[at])) + 1
        if room < 0:
            break
        kept.append(at)
    packet.omissions.sample = [packet.omissions.sample[at] for at in sorted(kept)]


def _tell_selected(packet: Packet) -> None:
    """Name in the trace of attention what it brought in, as far as it is shown."""
    if packet.attention_trace is not None:
        chosen = [item.ref for item in packet.items if set(item.score_components) & _BROUGHT]
        packet.attention_trace["selected_item_refs"] = chosen[:_SELECTED]


def sections_of(items: Sequence[PacketItem], processor: Processor) -> Iterator[tuple[str, list[PacketItem]]]:
    """Yield (title, items): by what the processor needs where it wants sections, else all without a title."""
    if not processor.sections:
        yield "", list(items)
        return
    rest = list(items)
    for slot in slots_of(processor).values():
        inside = [item for item in rest if item.type in slot.types]
        if inside:
            yield slot.title, inside
        rest = [item for item in rest if item.type not in slot.types]
    if rest:
        yield "Also", rest


def name_left_out(packet: Packet, left_out: Sequence[PacketItem], count: int, reason: str) -> None:
    """Count what is not shown for `reason`, and name the first of it."""
    if count <= 0:
        return
    packet.omissions.counts[reason] = count
    packet.omissions.sample += [{"ref": item.ref, "reason": reason} for item in left_out[:SAMPLE]]


def _settle_size(packet: Packet) -> None:
    """Fill in the size of the packet, which counts its own digits."""
    budget = packet.budget
    for _ in range(4):
        size = len(packet_json(packet))
        if size == budget.bytes:
            return
        budget.bytes, budget.tokens = size, -(-size // BYTES_PER_TOKEN)
