"""How text is shown of which something was cut: one mark for a range, whatever its length."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

CUT = "\x1a"
"""Stands in stored text for a byte that was overwritten."""
MARK = "[cut]"
"""Is shown for a range of them."""

_RANGE = re.compile(f"{CUT}+")
_SAYING = r"[\p{L}\p{N}\p{So}]"


def marked(text: str) -> str:
    """Return `text` with one mark for each range that was cut; stored bytes are never shown as they are."""
    return _RANGE.sub(MARK, text) if CUT in text else text


def erased(texts: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return which texts hold nothing but cut ranges and punctuation; null says nothing of that."""
    is_cut = pc.match_substring(texts, CUT)
    return pc.fill_null(pc.and_(is_cut, pc.invert(pc.match_substring_regex(texts, _SAYING))), False)
