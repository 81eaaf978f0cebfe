"""Who reads packets, and how much each is given by default."""

from __future__ import annotations

from typing import NamedTuple

MODES = ("general",)
"""Retrieval modes that exist; the others of the spec come with views."""


class Allowance(NamedTuple):
    """Default budget of a processor.  has_conflicts: it is shown disputed claims."""

    items: int
    tokens: int
    has_conflicts: bool


PROCESSORS = {
    "reasoner": Allowance(24, 6_000, True),
    "planner": Allowance(20, 4_500, False),
    "executor": Allowance(16, 3_500, False),
    "critic": Allowance(32, 8_000, True),
    "steward": Allowance(64, 12_000, True),
    "self_awareness": Allowance(100, 24_000, True),
    "shared_coordination": Allowance(48, 9_000, True),
    "agentic_recall": Allowance(40, 7_000, True),
}
UNKNOWN_PROCESSOR = Allowance(8, 25_000, False)
"""Any other processor: few items, a hundred thousand bytes."""
