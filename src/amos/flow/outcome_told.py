"""What a caller says of a packet, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from amos.errors import UsageError
from amos.flow.instants import instant_us
from amos.schemas.vocabulary import OutcomeLabel, UseStatus

LONGEST_NOTE = 4_000
MOST_MISSING = 16
LONGEST_MISSING = 200
"""Characters of a note; missing capabilities of one outcome, and characters of each."""
_Word = TypeVar("_Word", bound=StrEnum)

ALIASES: Mapping[str, str] = {
    "label": "labels",
    "outcome_labels": "labels",
    "used_item_refs": "used",
    "used_refs": "used",
    "helpful_atom_refs": "used",
    "correction_refs": "corrected",
    "unhelpful_atom_refs": "unhelpful",
    "missing_capability_cues": "missing_capabilities",
    "missing_capability": "missing_capabilities",
    "packet_id": "packet",
    "request": "packet",
    "recorded_at": "at",
}
"""Other names of the fields, as other systems call them."""
_LISTS = ("labels", "used", "corrected", "unhelpful", "missing_capabilities")
_FIELDS = ("packet", *_LISTS, "use_status", "note", "at")


@dataclass(frozen=True, kw_only=True)
class Told:
    """What came of one packet.

    packet: its id, the packet, or its JSON.  used: references that changed the answer.  corrected: those
    that were put right.  unhelpful: those that led astray.  at_us: when, in microseconds; None is now.
    """

    packet: object
    labels: tuple[str, ...]
    used: tuple[str, ...]
    corrected: tuple[str, ...]
    unhelpful: tuple[str, ...]
    use_status: str
    missing_capabilities: tuple[str, ...]
    note: str
    at_us: int | None


def read_told(fields: Mapping[str, Any]) -> Told:
    """Return what the fields say.  Raises UsageError naming the field that does not fit."""
    known = _renamed(fields)
    lists = {name: _texts(known.get(name), name) for name in _LISTS}
    labels = tuple(_word(OutcomeLabel, one, "label") for one in lists["labels"]) or (OutcomeLabel.OBSERVED,)
    order = list(OutcomeLabel)
    is_used = bool(lists["used"] or lists["corrected"] or lists["unhelpful"])
    told = Told(
        packet=known.get("packet"),
        labels=tuple(str(one) for one in sorted(set(labels), key=order.index)),
        used=lists["used"],
        corrected=lists["corrected"],
        unhelpful=lists["unhelpful"],
        use_status=str(_status(known.get("use_status"), is_used=is_used)),
        missing_capabilities=_missing(lists["missing_capabilities"]),
        note=_note(known.get("note")),
        at_us=_at(known.get("at")),
    )
    if told.packet is None:
        raise UsageError("there is no packet", advice="Give `packet_id`, or the packet as `packet`.")
    return told


def _renamed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields under their own names; several names of one list are joined."""
    known: dict[str, Any] = {}
    packets: list[Any] = []
    for given, value in fields.items():
        name = ALIASES.get(given, given)
        if name not in _FIELDS:
            raise UsageError(f"no field is called {given!r}", advice=f"Fields: {', '.join(_FIELDS)}.")
        if value is None or value == "":
            continue
        if name == "packet":
            packets.append(value)
        elif name in _LISTS and name in known:
            known[name] = (*_texts(known[name], given), *_texts(value, given))
        else:
            known[name] = value
    return {**known, "packet": _one_packet(packets)}


def _one_packet(packets: list[Any]) -> Any:
    """Return the packet, which may be named by its id and stand beside it; None where there is none."""
    if len(packets) < 2:
        return packets[0] if packets else None
    ids = {str(one.get("packet_id") if isinstance(one, Mapping) else one) for one in packets}
    if len(ids) > 1:
        raise UsageError(f"two packets are named: {' and '.join(sorted(ids))}")
    return next((one for one in packets if isinstance(one, Mapping)), packets[0])


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence):
        raise UsageError(f"{name} is a list of texts, not {type(value).__name__}")
    other = next((one for one in value if not isinstance(one, str)), "")
    if not isinstance(other, str):
        raise UsageError(f"{name} is a list of texts; {other!r} in it is none")
    return tuple(dict.fromkeys(_mended(one.strip()) for one in value if one.strip()))


def _mended(text: str) -> str:
    """Return the text with U+FFFD for lone surrogates, as readers do."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _word(words: type[_Word], given: str, name: str) -> _Word:
    try:
        return words(given.strip().lower().replace("-", "_").replace(" ", "_"))
    except ValueError:
        raise UsageError(
            f"no {name} is called {given!r}", path=given, advice=f"Known: {', '.join(words)}."
        ) from None


def _status(given: Any, *, is_used: bool) -> UseStatus:
    """Return the use of the packet; without a word it follows from what is named."""
    if given is None:
        return UseStatus.USED if is_used else UseStatus.CONTEXT_ONLY
    status = _word(UseStatus, str(given), "use status")
    if is_used and status is not UseStatus.USED:
        raise UsageError(
            f"{status} says that nothing was used, and items are named as used or corrected",
            advice="Leave the use status out, or the items.",
        )
    return status


def _missing(cues: tuple[str, ...]) -> tuple[str, ...]:
    if len(cues) > MOST_MISSING:
        raise UsageError(f"{len(cues)} missing capabilities are named; at most {MOST_MISSING} are kept")
    long = next((one for one in cues if len(one) > LONGEST_MISSING), None)
    if long is not None:
        raise UsageError(
            f"a missing capability has {len(long)} characters; at most {LONGEST_MISSING} are kept",
            advice="Name it in a few words.",
        )
    return cues


def _note(given: Any) -> str:
    note = "" if given is None else _mended(str(given))
    if len(note) > LONGEST_NOTE:
        raise UsageError(f"the note has {len(note):,} characters; {LONGEST_NOTE:,} are kept")
    return note


def _at(given: Any) -> int | None:
    if given is None:
        return None
    if hasattr(given, "tzinfo"):
        return instant_us(given.isoformat(), "at")
    return instant_us(str(given), "at")
