"""The methods of an open store that measure how it fares; what one needs is imported when it is called."""

from __future__ import annotations

from typing import Any

from amos.flow.looking import Looking


class Reporting(Looking):
    """Reports over what a store holds."""

    tenant: str

    def waiting(self) -> dict[str, Any]:
        """Return how many candidates wait for a person, since when, and how many beyond their deadline."""
        from amos.evaluation.waiting import waiting_report

        with self._sight() as sight:
            return waiting_report(sight, tenant=self.tenant)

    def report_outcomes(self) -> dict[str, Any]:
        """Return what became of packets: how score and rank tell use, per profile and processor.

        Shares come with 95 % intervals.  Also which claims were shown and never used, and what callers say
        was missing, which nothing else takes notice of.
        """
        from amos.evaluation.outcomes import outcome_report

        with self._sight() as sight:
            return outcome_report(sight)
