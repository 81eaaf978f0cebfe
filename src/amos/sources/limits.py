"""Bounds that hostile or damaged input runs into; each one is reported, none is silent."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How large, deep and numerous input may be; sizes in bytes."""

    record_bytes: int = 256 * _MIB
    """Longest line or array element that is read whole."""
    depth: int = 128
    """Deepest nesting of one record."""
    members: int = 200_000
    """Most members of one archive."""
    member_ratio: int = 200
    """Highest unpacked to packed size of one member, above `ratio_floor_bytes`."""
    archive_ratio: int = 200
    """Highest unpacked size of all members to the size of the archive itself."""
    ratio_floor_bytes: int = 16 * _MIB
    """Up to this unpacked size the ratios are not looked at."""
    member_bytes: int = 16 * _GIB
    """Largest unpacked member."""
    folder_depth: int = 64
    """Deepest folder that is walked."""
    files: int = 1_000_000
    """Most files of one walk."""
