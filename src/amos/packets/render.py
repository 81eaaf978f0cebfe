"""Show a packet to people and prompts: JSON, plain text, Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from amos.errors import UsageError
from amos.packets.fill import sections_of
from amos.packets.packet import Conflict, EvidenceRef, Packet, PacketItem, packet_json
from amos.packets.processors import processor_named
from amos.schemas.cuts import marked

_CONTROL = frozenset(map(chr, [*range(32), *range(127, 160), 0x202D, 0x202E]))
"""Control characters and the marks that turn the direction of a line."""

_EMPTY = {
    "nothing_stored": "Nothing is stored yet.",
    "nothing_visible": "Nothing that you may see is stored in this scope.",
    "no_match": "Nothing that still holds shares a word with the question.",
    "below_threshold": "Some memories share a word with the question, none of them closely enough.",
}


def render_packet(packet: Packet, form: str) -> str:
    """Return the packet as `json`, `text` or `markdown`.  Raises UsageError for another form."""
    forms: dict[str, Callable[[Packet], str]] = {
        "json": lambda packet: packet_json(packet).decode(),
        "text": render_text,
        "markdown": render_markdown,
    }
    if form not in forms:
        raise UsageError(f"a packet has no form {form!r}", advice=f"Use {', '.join(forms)}.")
    return forms[form](packet)


def render_text(packet: Packet) -> str:
    """Return one numbered paragraph per item, then disputes, omissions and size."""
    lines: list[str] = []
    marks = processor_named(packet.target_processor).marks
    for title, items in _sections(packet):
        lines += [f"{title}:"] if title else []
        for item in items:
            headline, *below = _lines(item)
            named = f"  {item.atom_id}" if item.atom_id else ""
            lines.append(f"{item.rank}. {headline}{_marks(item)}  [{item.score:.3f}]{named}")
            lines += [f"   {line}" for line in [*_told_beside(item, marks), *below]]
    lines += [_conflict_line(conflict) for conflict in packet.conflicts]
    return "\n".join([*lines, *_closing(packet)])


def render_markdown(packet: Packet) -> str:
    """Return a Markdown list: claims in bold, evidence quoted below them."""
    lines = [f"# Memory for: {_escaped(_asked(packet))}", ""]
    marks = processor_named(packet.target_processor).marks
    for title, items in _sections(packet):
        lines += [f"## {title}", ""] if title else []
        for item in items:
            headline, *cited = (_escaped(line) for line in _lines(item))
            strong = f"**{headline}**" if item.item_kind == "atom" else headline
            lines.append(f"{item.rank}. {strong}{_marks(item)}")
            lines += [f"   - {_escaped(line)}" for line in _told_beside(item, marks)]
            lines += [f"   > {line}" for line in cited]
        lines += [""] if title else []
    if packet.conflicts:
        lines += ["", "## Disputed", *(f"- {_escaped(_conflict_line(each))}" for each in packet.conflicts)]
    return "\n".join([*lines, "", *_closing(packet)])


def _sections(packet: Packet) -> Iterator[tuple[str, list[PacketItem]]]:
    yield from sections_of(packet.items, processor_named(packet.target_processor))


def _asked(packet: Packet) -> str:
    """Return what was asked; of a look through everything its aim."""
    trace = packet.attention_trace or {}
    return "; ".join(packet.request.get("cues") or trace.get("focus_terms") or ["what there is"])


def _told_beside(item: PacketItem, marks: Sequence[str]) -> list[str]:
    """Return what a processor is told beside the claim: its fields, and the marks it wants, on one line."""
    found = {
        "confidence": None if item.confidence is None else f"confidence {item.confidence:.2f}",
        "health": item.health_status,
        "time": f"holds since {item.valid_from[:10]}" if item.valid_from else None,
        "score": ", ".join(f"{name} {share:.2f}" for name, share in _strongest(item)),
    }
    said = [told for name in marks if (told := found[name])]
    return [*_detail_lines(item), *(["; ".join(said)] if said else [])]


def _strongest(item: PacketItem) -> list[tuple[str, float]]:
    """Return the three greatest components of a score."""
    return sorted(item.score_components.items(), key=lambda part: (-part[1], part[0]))[:3]


def _detail_lines(item: PacketItem) -> list[str]:
    """Return a line per field that the processor acts on; the entries of a list are numbered."""
    return [
        _one_line(f"{name.replace('_', ' ')}: {_plain(value)}")
        for name, value in (item.details or {}).items()
    ]


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(f"{number}) {_plain(each)}" for number, each in enumerate(value, 1))
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_plain(each)}" for name, each in value.items())
    return str(value)


def _lines(item: PacketItem) -> list[str]:
    """Return the claim and its citations; a turn is its own citation."""
    cited = [_cited(entry) for entry in item.evidence]
    return cited if item.item_kind == "turn" and cited else [_one_line(item.statement), *cited]


def _cited(entry: EvidenceRef) -> str:
    who = _one_line(entry.author or "unknown")
    when = entry.event_time[:10] if entry.event_time else "undated"
    place = f"{entry.source_id}:{entry.start}-{entry.end}"
    return f"{who}, {when}: \u201c{_one_line(entry.excerpt)}\u201d ({place})"


def _marks(item: PacketItem) -> str:
    marks = [
        word
        for word, holds in (
            ("superseded", item.is_superseded),
            ("disputed", item.is_disputed),
            (f"said {item.folded + 1} times", item.folded > 0),
            ("untrusted", any(e.trust not in ("trusted_user", "agent") for e in item.evidence)),
        )
        if holds
    ]
    return f" ({', '.join(marks)})" if marks else ""


def _conflict_line(conflict: Conflict) -> str:
    sides = " / ".join(_one_line(side.statement) for side in conflict.sides)
    return f"Disputed: {sides}"


def _closing(packet: Packet) -> list[str]:
    budget, lines = packet.budget, []
    if not packet.items and (packet.empty_reason or budget.needed_tokens is None):
        lines.append(_EMPTY.get(packet.empty_reason or "", "No memory matches."))
    if budget.needed_tokens is not None:
        what = "This answer" if packet.items or packet.empty_reason else "The first memory"
        lines.append(f"{what} needs a budget of {budget.needed_tokens} tokens.")
    if packet.omissions.counts:
        left_out = ", ".join(f"{count} {reason}" for reason, count in packet.omissions.counts.items())
        lines.append(f"Left out: {left_out}.")
    if packet.omissions.withheld:
        lines.append("Some matching memory is withheld from you.")
    if packet.degradation.reason_codes:
        lines.append(f"Degraded: {', '.join(packet.degradation.reason_codes)}.")
    count = f"{budget.items} item{'' if budget.items == 1 else 's'}"
    lines.append(f"{count}, {budget.tokens} of {budget.max_tokens} tokens.")
    return lines


def _one_line(text: str) -> str:
    """Return text on one line; what would drive a terminal is written out."""
    folded = " ".join(marked(text).split())
    return "".join(f"\\u{ord(char):04x}" if char in _CONTROL else char for char in folded)


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is: memory may not format, link or embed."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|!~" else char for char in text)
