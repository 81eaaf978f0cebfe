"""Episode windows: the stretches of a conversation that belong together, and where that is in doubt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

SURE_GAP_US = 60 * 60 * 1_000_000
"""After so long a silence something else begins."""
DOUBTFUL_GAP_US = 20 * 60 * 1_000_000
"""After so long a silence something else may begin: noted, and not decided."""


class Turn(NamedTuple):
    """One turn of a conversation; time in microseconds, None where it is unknown."""

    turn: int
    session: str | None
    time_us: int | None


class Doubt(NamedTuple):
    """A turn before which a window may begin.  gap_us: silence before it."""

    turn: int
    gap_us: int


class Window(NamedTuple):
    """Turns first..last.  opened_by: start, session or silence.  doubts: boundaries inside it that may be."""

    first: int
    last: int
    started_us: int | None
    ended_us: int | None
    opened_by: str
    doubts: tuple[Doubt, ...]


def episode_windows(turns: Iterable[Turn]) -> list[Window]:
    """Return the windows of one conversation in order; turns of one number belong to one another.

    Another session, or a long silence, begins a window.  Turns without a time and a session begin none.
    """
    windows: list[Window] = []
    last_us: int | None = None
    session: str | None = None
    for turn in sorted(turns, key=_place):
        gap = None if last_us is None or turn.time_us is None else turn.time_us - last_us
        opened = _opening(turn, windows, session, gap)
        if opened is not None:
            windows.append(Window(turn.turn, turn.turn, turn.time_us, turn.time_us, opened, ()))
        else:
            windows[-1] = _with(windows[-1], turn, gap)
        last_us = turn.time_us if turn.time_us is not None else last_us
        session = turn.session
    return windows


def _place(turn: Turn) -> tuple[int, bool, int, str]:
    return turn.turn, turn.time_us is None, turn.time_us or 0, turn.session or ""


def _opening(turn: Turn, windows: list[Window], session: str | None, gap: int | None) -> str | None:
    """Return what makes a window begin with `turn`, None where it goes on."""
    if not windows:
        return "start"
    if windows[-1].last == turn.turn:
        return None
    if turn.session != session:
        return "session"
    return "silence" if gap is not None and gap >= SURE_GAP_US else None


def _with(window: Window, turn: Turn, gap: int | None) -> Window:
    """Return `window` with one more turn, and the doubt that its silence raises."""
    is_new = window.last != turn.turn
    doubts = window.doubts
    if is_new and gap is not None and gap >= DOUBTFUL_GAP_US:
        doubts = (*doubts, Doubt(turn.turn, gap))
    return window._replace(
        last=turn.turn,
        started_us=turn.time_us if window.started_us is None else window.started_us,
        ended_us=window.ended_us if turn.time_us is None else turn.time_us,
        doubts=doubts,
    )
