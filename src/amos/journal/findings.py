"""What verification reports."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple


class Problem(NamedTuple):
    """One thing that is not as it was committed: its kind, the place, and what was found there."""

    kind: str
    where: str
    detail: str


class Unchecked(NamedTuple):
    """What could not be looked at because of a problem, and how many findings that explains."""

    because: str
    what: str
    findings: int


COUNTED = ("commits", "segments", "bytes", "events", "rows", "spans")


@dataclass(kw_only=True)
class Phase:
    """One kind of work: how much of what, in which time."""

    unit: str
    done: int = 0
    seconds: float = 0.0

    def as_record(self, name: str) -> Mapping[str, object]:
        """Return the phase as printed by `--json`."""
        rate = round(self.done / self.seconds) if self.seconds > 0 else None
        seconds = round(self.seconds, 3)
        return {"name": name, "done": self.done, "unit": self.unit, "seconds": seconds, "per_second": rate}


@dataclass(kw_only=True)
class VerifyReport:
    """Everything that was checked and everything that was wrong."""

    mode: str
    graph_version: int | None
    checked: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    problems: list[Problem] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    phases: dict[str, Phase] = field(default_factory=dict)
    state_digest: str | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems

    def add(self, kind: str, where: str, detail: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(kind, where, detail))

    @contextmanager
    def timed(self, phase: str, unit: str) -> Iterator[Phase]:
        """Add the time of the block to a phase, whose `done` the block counts up."""
        found = self.phases.setdefault(phase, Phase(unit=unit))
        began = time.perf_counter()
        try:
            yield found
        finally:
            found.seconds += time.perf_counter() - began

    def as_record(self) -> Mapping[str, object]:
        """Return the object printed by `--json`."""
        return {
            "ok": self.ok,
            "mode": self.mode,
            "checked": dict(self.checked),
            "problems": [problem._asdict() for problem in self.problems],
            "unchecked": [one._asdict() for one in self.unchecked],
            "state_digest": self.state_digest,
            "graph_version": self.graph_version,
            "seconds": round(self.seconds, 3),
            "phases": [phase.as_record(name) for name, phase in self.phases.items()],
        }
