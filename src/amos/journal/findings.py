"""What verification reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Problem(NamedTuple):
    """One thing that is not as it was committed: its kind, the place, and what was found there."""

    kind: str
    where: str
    detail: str


COUNTED = ("commits", "segments", "bytes", "events", "rows", "spans")


@dataclass(kw_only=True)
class VerifyReport:
    """Everything that was checked and everything that was wrong."""

    mode: str
    graph_version: int | None
    checked: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    problems: list[Problem] = field(default_factory=list)
    state_digest: str | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing was wrong."""
        return not self.problems

    def add(self, kind: str, where: str, detail: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(kind, where, detail))

    def as_record(self) -> Mapping[str, object]:
        """Return the object printed by `--json`."""
        return {
            "ok": self.ok,
            "mode": self.mode,
            "checked": dict(self.checked),
            "problems": [problem._asdict() for problem in self.problems],
            "state_digest": self.state_digest,
            "graph_version": self.graph_version,
            "seconds": round(self.seconds, 3),
        }
