"""Keep a measured figure as a file, from which `docs/_figures.py` writes the page on performance."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from os import cpu_count
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured figure; `peer_value` is in the same unit, `ratio` is ours to the peer's."""

    work: str
    value: float
    unit: str
    goal: str
    cpu_seconds: float | None = None
    peer: str | None = None
    peer_value: float | None = None
    ratio: float | None = None


def record_figure(name: str, figure: Figure, *, folder: Path = RESULTS) -> Path:
    """Write the figure to `<folder>/<name>.json`, replacing an earlier one, and return the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    record = asdict(figure) | {"machine": machine()}
    path.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path


def machine() -> str:
    """Return what a reader must know of the machine: cores, architecture, system, Python."""
    return (
        f"{cpu_count()} cores, {platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    )
