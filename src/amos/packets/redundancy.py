"""Fold items that say the same: the best ranked one stands for all, and counts them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import msgspec

from amos.packets.packet import PacketItem

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_FILLERS = frozenset(
    "a an the just really very quite also so well oh um uh hmm please actually basically honestly".split()
)
"""Words without which a sentence says the same; negation, numbers and words of time are none of them."""
_DATED = ("turn", "episode")
"""Kinds of item that happen: the same words on another day tell of another event."""

_Key = tuple[object, ...]


def fold_redundant(items: Sequence[PacketItem]) -> tuple[list[PacketItem], list[PacketItem]]:
    """Return the items to show, each with how many it stands for besides itself, and those left out.

    items: best first.  Two items are redundant when they are of one kind, from one speaker (turns), in one
    state, and have the same words in the same order but for case, punctuation, Unicode form and fillers; what
    happens (turns, episodes) must have happened on one day.  Disputed claims are never folded.
    """
    kept: list[PacketItem] = []
    place: dict[_Key, int] = {}
    folded: dict[int, int] = {}
    left_out: list[PacketItem] = []
    for item in items:
        key = None if item.is_disputed else _key(item)
        if key is not None and key in place:
            folded[place[key]] = folded.get(place[key], 0) + 1
            left_out.append(item)
            continue
        if key is not None:
            place[key] = len(kept)
        kept.append(item)
    for at, count in folded.items():
        kept[at] = msgspec.structs.replace(kept[at], folded=count)
    return kept, left_out


def _key(item: PacketItem) -> _Key | None:
    """Return what redundant items share; None for an item without a word."""
    words = tuple(word for word in _words(item.statement) if word not in _FILLERS)
    if not words:
        return None
    shown = item.evidence[0] if item.evidence else None
    speaker = shown.author if shown and item.item_kind == "turn" else None
    day = (shown.event_time or "")[:10] if shown and item.type in _DATED else None
    return (item.type, item.subject, speaker, day, item.is_superseded, item.health_status, words)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return _WORD.findall(plain)
