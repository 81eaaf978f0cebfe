"""What each retrieval mode changes (`modes.toml`)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import msgspec


class Mode(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One retrieval mode.

    profile: ranking profile where the request names none.  types: atom types shown, all when empty.
    excluded: types never shown.  boosts: types brought to the fore.  guardrails: kinds of memory that may
    not be missing from a choice that flatters.  has_private: what is sensitive may be shown.
    """

    profile: str | None = None
    types: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    boosts: tuple[str, ...] = ()
    guardrails: tuple[str, ...] = ()
    has_private: bool = True


@cache
def _read() -> dict[str, Mode]:
    text = (Path(__file__).parent / "modes.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Mode])


MODES = tuple(_read())
"""Retrieval modes, the ordinary one first."""


def mode_named(name: str) -> Mode:
    """Return a mode of MODES."""
    return _read()[name]
