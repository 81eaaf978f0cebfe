"""Text from anywhere, made safe and short enough for a line on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amos.schemas.cuts import marked

_BESIDE_CHARS = 80


def visible(text: str) -> str:
    """Return `text` on one line: cut ranges as marks, control characters written out, spaces folded."""
    folded = " ".join(marked(text).split())
    if folded.isprintable():
        return folded
    return "".join(char if char.isprintable() else _written_out(char) for char in folded)


def _written_out(char: str) -> str:
    """Return an escape for what a terminal would act on or hide; marks of scripts stay."""
    # U+200C and U+200D join letters of several scripts; U+FFFD stands for a lost character
    return char if char in "\u200c\u200d\ufffd" else char.encode("unicode_escape").decode()


def shortened(text: str, length: int = 100) -> str:
    """Return `text` on one line of at most `length` characters, an ellipsis for the rest."""
    line = visible(text)
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def counted(counts: Mapping[str, int]) -> str:
    """Return "3 commit, 1 reject", the largest first; what is zero is left out."""
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{number:,} {name}" for name, number in ordered if number) or "none"


def plural(number: int, one: str, many: str | None = None) -> str:
    """Return "1 record" or "2 records"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def day(moment: str | None) -> str:
    """Return the date of a printed instant."""
    return moment[:10] if moment else "undated"


def minute(moment: str | None) -> str:
    """Return date, hour and minute of a printed instant."""
    return moment[:16].replace("T", " ") + " UTC" if moment else "undated"


def amount(size: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1_000:
            break
        value, unit = value / 1_000, larger
    return f"{size:,} B" if unit == "B" else f"{value:.1f} {unit}"


def beside(row: Mapping[str, Any]) -> str:
    """Return the words beside a claim for which it waits, to be put behind its reasons."""
    return f" “{shortened(row['beside'], _BESIDE_CHARS)}”" if row.get("beside") else ""
