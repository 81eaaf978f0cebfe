"""What the outcomes of packets say of claims and edges: counts, and what they add to utility and salience.

An item that only stood in a packet is *exposed*, which changes nothing.  Only material use reinforces; a
correction weakens.  One packet counts once for a claim, however often and in whatever words it is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from amos.schemas.vocabulary import FeedbackKind, OutcomeLabel

RULE = "outcome@1"
WHOLE_PPM = 1_000_000
LOW_UTILITY_PPM = 250_000
"""A healthy claim below it counts as `low_utility`."""
HEALTHY, LOW_UTILITY = "healthy", "low_utility"

POSITIVE = frozenset({OutcomeLabel.GOOD, OutcomeLabel.HELPFUL, OutcomeLabel.SUCCESS})
FLAGGING = frozenset(
    {
        OutcomeLabel.BAD,
        OutcomeLabel.WRONG,
        OutcomeLabel.MISLEADING,
        OutcomeLabel.MIS_SCOPED,
        OutcomeLabel.CONFOUNDING,
        OutcomeLabel.STALE,
        OutcomeLabel.OVERGENERALIZED,
        OutcomeLabel.CONTRADICTED,
    }
)
"""Labels under which what was used or corrected is shown to a reviewer."""
NEGATIVE = frozenset(OutcomeLabel) - POSITIVE - {OutcomeLabel.OBSERVED}
"""Labels under which use does not reinforce."""

WEAKENING = (str(FeedbackKind.CORRECTED), str(FeedbackKind.UNHELPFUL))
EDGE_USED_PPM, EDGE_CORRECTED_PPM = 30_000, 80_000
EDGE_LEAST_PPM, EDGE_MOST_PPM = 350_000, 1_250_000


class Worth(NamedTuple):
    """What one piece of feedback may add, in parts per million."""

    utility_ppm: int
    salience_ppm: int


WORTH: Mapping[str, Worth] = {
    FeedbackKind.USED: Worth(30_000, 20_000),
    FeedbackKind.FAILED: Worth(0, 0),
    FeedbackKind.CORRECTED: Worth(-60_000, 0),
    FeedbackKind.UNHELPFUL: Worth(-60_000, 0),
    FeedbackKind.EXPOSURE: Worth(0, 0),
}


class Standing(NamedTuple):
    """Utility, salience and health of a claim after what was learned of it."""

    utility_ppm: int
    salience_ppm: int
    health: str


def kind_of_use(labels: Collection[str]) -> FeedbackKind:
    """Return what material use was under these labels: it reinforces only where nothing went wrong."""
    return FeedbackKind.FAILED if NEGATIVE.intersection(labels) else FeedbackKind.USED


@dataclass(kw_only=True)
class Fed:
    """The feedback on one claim, or on one edge."""

    _kinds: dict[bytes, set[str]] = field(default_factory=dict)
    _steps: dict[tuple[bytes, bool], tuple[datetime, Worth]] = field(default_factory=dict)
    last: datetime | None = None

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one row of feedback; of several of one packet the first of each direction adds."""
        packet, at = row["packet_id"], row["recorded_at"]
        self._kinds.setdefault(packet, set()).add(row["kind"])
        self.last = at if self.last is None else max(self.last, at)
        worth = Worth(row["utility_ppm"], row["salience_ppm"])
        if worth != (0, 0):
            step = (packet, worth.utility_ppm < 0)
            known = self._steps.get(step)
            self._steps[step] = (at, worth) if known is None else min(known, (at, worth))

    def standing(self, utility_ppm: int, salience_ppm: int, health: str) -> Standing:
        """Return how a claim stands that would stand so without any feedback.

        Steps are taken in the order of their times, then of packets, and each stays between 0 and 1: the
        order in which outcomes are recorded changes nothing, and a correction bites whatever came before.
        """
        ordered = sorted(
            (at, packet, weakens, worth) for (packet, weakens), (at, worth) in self._steps.items()
        )
        for _, _, _, worth in ordered:
            utility_ppm = _clamped(utility_ppm + worth.utility_ppm, 0, WHOLE_PPM)
            salience_ppm = _clamped(salience_ppm + worth.salience_ppm, 0, WHOLE_PPM)
        if health == HEALTHY and utility_ppm < LOW_UTILITY_PPM:
            health = LOW_UTILITY
        return Standing(utility_ppm, salience_ppm, health)

    @property
    def factor_ppm(self) -> int:
        """What the weight of an edge is multiplied with, in parts per million."""
        used = self._packets(FeedbackKind.USED)
        corrected = self._packets(*WEAKENING)
        learned = WHOLE_PPM + used * EDGE_USED_PPM - corrected * EDGE_CORRECTED_PPM
        return _clamped(learned, EDGE_LEAST_PPM, EDGE_MOST_PPM)

    def counts(self) -> dict[str, int]:
        """Return in how many packets it stood, and what it was to them."""
        used = {FeedbackKind.USED, FeedbackKind.FAILED, FeedbackKind.CORRECTED}
        wrong = {FeedbackKind.FAILED, FeedbackKind.CORRECTED}
        return {
            "access_count": len(self._kinds),
            "used": sum(bool(used & kinds) for kinds in self._kinds.values()),
            "success_after_use": sum(
                FeedbackKind.USED in kinds and not wrong & kinds for kinds in self._kinds.values()
            ),
            "failures_after_use": self._packets(FeedbackKind.FAILED),
            "corrections_after_use": self._packets(FeedbackKind.CORRECTED),
            "unhelpful": self._packets(FeedbackKind.UNHELPFUL),
        }

    def _packets(self, *kinds: str) -> int:
        return sum(any(kind in found for kind in kinds) for found in self._kinds.values())


def fed_by(rows: Iterable[Mapping[str, Any]], column: str) -> dict[bytes, Fed]:
    """Return the feedback by the id in `column` of each row."""
    found: dict[bytes, Fed] = {}
    for row in rows:
        found.setdefault(row[column], Fed()).add(row)
    return found


def _clamped(value: int, least: int, most: int) -> int:
    return max(least, min(most, value))
