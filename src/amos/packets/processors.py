"""Who reads packets: how much each is given by default, and what it needs (`processors.toml`)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

OTHER_PROCESSOR = "other"
"""Any processor that has no entry of its own."""


class Allowance(NamedTuple):
    """Budget of a request.  has_conflicts: disputed claims are shown with their other sides."""

    items: int
    tokens: int
    has_conflicts: bool


class Slot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Atom types that serve one need.

    fields: of the payload, shown to those who need the slot.  plain: values not worth showing, by field.
    """

    title: str
    types: tuple[str, ...]
    fields: tuple[str, ...]
    plain: dict[str, str] = {}


class Processor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reader of packets.  needs: percent of the tokens kept for the best claim of a slot.

    has_private: it may be given what is privacy sensitive.  is_high_impact: it acts, so that nothing which
    waits for a review is given to it.  repairs: it may see what is incoherent.  marks: what printed packets
    say of each item beside the claim.
    """

    items: int
    tokens: int
    conflicts: bool
    needs: dict[str, int]
    sections: bool = False
    has_private: bool = True
    is_high_impact: bool = False
    repairs: bool = False
    marks: tuple[str, ...] = ()

    @property
    def allowance(self) -> Allowance:
        """Return the budget where a request names none."""
        return Allowance(self.items, self.tokens, self.conflicts)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    slots: dict[str, Slot]
    processors: dict[str, Processor]


@cache
def _read() -> _File:
    text = (Path(__file__).parent / "processors.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _File)


def processor_names() -> tuple[str, ...]:
    """Return the processors that have an entry, in the order of the file; the last is `other`."""
    return tuple(_read().processors)


def processor_named(name: str) -> Processor:
    """Return a processor; one without an entry is as `other`."""
    known = _read().processors
    return known.get(name, known[OTHER_PROCESSOR])


def slots_of(processor: Processor) -> dict[str, Slot]:
    """Return the slots that a processor needs, by name, in its order."""
    return {name: _read().slots[name] for name in processor.needs}
