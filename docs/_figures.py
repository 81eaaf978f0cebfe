"""Write the measured figures into the page on performance: `python docs/_figures.py [--check]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGE = DOCS / "performance.md"
RESULTS = DOCS.parent / "tests" / "benchmarks" / "results"
START = "<!-- figures: written by docs/_figures.py -->\n"
END = "<!-- figures end -->\n"
HEADS = ["Work", "Measured", "CPU time", "Peer", "Ratio", "Goal"]


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return the recorded figures, by file name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def amount(value: float, unit: str) -> str:
    """Return a figure with its unit, in three significant digits."""
    if value >= 1000:
        return f"{round(value, 2 - (len(str(int(value))) - 1)):,.0f} {unit}"
    return f"{value:.3g} {unit}"


def figure_row(figure: dict[str, Any]) -> list[str]:
    """Return the cells of one figure; a peer has name and value in the same unit."""
    peer = figure.get("peer")
    ratio = f"{figure['ratio']:.2g}" if figure.get("ratio") is not None else ""
    cpu = f"{figure['cpu_seconds']:.3g} s" if figure.get("cpu_seconds") is not None else ""
    return [
        figure["work"],
        amount(figure["value"], figure["unit"]),
        cpu,
        f"{peer}: {amount(figure['peer_value'], figure['unit'])}" if peer else "",
        ratio,
        figure.get("goal", ""),
    ]


def figures_table(figures: list[dict[str, Any]]) -> str:
    """Return the Markdown table, with the machine it was measured on."""
    if not figures:
        return ""
    machines = sorted({figure["machine"] for figure in figures})
    lines = [HEADS, ["---"] * len(HEADS), *map(figure_row, figures)]
    body = "".join("| " + " | ".join(cells) + " |\n" for cells in lines)
    return f"\nMeasured on {'; '.join(machines)}.\n\n{body}\n"


def page_with(figures: list[dict[str, Any]], page: str) -> str:
    """Return the page with its table replaced."""
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2]
    return before + START + figures_table(figures) + END + after


def main() -> None:
    """Write the page, or with `--check` fail when its table is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is stale")
    page = PAGE.read_text(encoding="utf-8")
    fresh = page_with(read_results(RESULTS), page)
    if not parser.parse_args().check:
        PAGE.write_text(fresh, encoding="utf-8")
    elif fresh != page:
        sys.exit("docs/performance.md is stale; run `python docs/_figures.py`")


if __name__ == "__main__":
    main()
