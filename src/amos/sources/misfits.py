"""Files that hold no text as Amos reads it: what they are, and what makes them readable."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from amos.sources.splitting import BOM


class Misfit(NamedTuple):
    """What a file is by its first bytes, and what to do with it; None where only a format helps."""

    what: str
    advice: str | None


_AS_UTF8 = "Save it as UTF-8: `iconv -f {0} -t UTF-8 {1} > NEW`."
_AS_TEXT = "Give what was said as text or JSON: an export, a transcript."
_MAGICS = (
    (b"\x1f\x8b", Misfit("a gzip-packed file", "Unpack it first: `gunzip -k {1}`.")),
    (b"SQLite format 3\x00", Misfit("an SQLite database", _AS_TEXT)),
    (b"PAR1", Misfit("Parquet, which needs `--map`, or `--from langsmith` or `langfuse`", None)),
    (b"%PDF", Misfit("a PDF", _AS_TEXT)),
    (b"\x89PNG", Misfit("a PNG image", _AS_TEXT)),
)
_WIDE = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_LOOKED_AT = 1 << 12
_FEW = 4


def misfit_of(head: bytes, given: str) -> Misfit | None:
    """Return what a file that begins with `head` is when it is no UTF-8 text, None when it may be.

    given: its path, for the advice.
    """
    wide = wide_encoding(head)
    if wide is not None:
        return Misfit(f"{wide} text", _AS_UTF8.format(wide, given))
    for magic, misfit in _MAGICS:
        if head.startswith(magic):
            return misfit._replace(advice=misfit.advice and misfit.advice.format("", given))
    if b"\x00" in head:
        return Misfit(f"binary data beginning with {head[:8].hex(' ')}", None)
    return None


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of text whose characters take two or four bytes each, None for any other.

    Without a mark at its beginning, text in Latin letters shows by the zeros in every second place.
    """
    for mark, name in _WIDE:
        if head.startswith(mark):
            return name
    seen = head[:_LOOKED_AT]
    for first, name in ((1, "UTF-16LE"), (0, "UTF-16BE")):
        zeros, others = seen[first::2], seen[1 - first :: 2]
        is_alternate = zeros.count(0) * _FEW > len(zeros) * (_FEW - 1) and 0 not in others
        if len(seen) >= _FEW and is_alternate:
            return name
    return None


def is_blank(head: bytes) -> bool:
    """Tell whether nothing but white space stands in `head`."""
    return not head.removeprefix(BOM).strip()
