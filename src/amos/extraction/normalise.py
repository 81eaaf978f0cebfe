"""A normalised view of texts for matching, with the way back to the bytes of the source.

Text that is already in form NFKC and holds no invisible characters is its own view.  Curly quotes
and the ellipsis stay as they are: the kernels read them.
"""

from __future__ import annotations

import unicodedata
from array import array
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.patterns import pattern_of

_INVISIBLE = "\u200b\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
_JOINERS = "\u200c\u200d"
_HIDDEN = pattern_of(f"[{_INVISIBLE}]|(?<=[A-Za-z])[{_JOINERS}](?=[A-Za-z])")
_MARKUP = "`|~~|__|\\]\\(|<https?:"
"""What a text holds that may have its words marked up."""
_MARKED = pattern_of(
    r"(?<![\w`])(?P<code>`)[^`\s]{1,40}(?P<code_end>`)(?![\w`])"
    r"|(?<![\w~])(?P<struck>~~(?=\S)[^~\n]{1,200}?(?<=\S)~~)(?!~)"
    r"|(?<![\w_])(?P<strong>__)(?=[^\s_])[^\n]{1,200}?(?<=[^\s_])(?P<strong_end>__)(?![\w_])"
    r"|(?<!!)(?P<link>\[)[^\[\]\n]{1,100}(?P<link_end>\]\([^()\s]{1,300}\))"
    r"|(?P<url><)https?:[^<>\s]{1,300}(?P<url_end>>)"
)
"""Words in marks that say how they look: code of one word, struck out, strong, linked."""
_PLAIN = pattern_of(r"[\x00-\x7f]+(?=[\x00-\x7f])")
"""Characters that stand for themselves: nothing combines with them, and they are in form NFKC."""
_MARK_NAMES = tuple(_MARKED.groupindex)
_KEPT = "…"


@dataclass(frozen=True, kw_only=True)
class OffsetMap:
    """For each byte of a view the first byte of its source character and the byte after it."""

    starts: array[int]
    ends: array[int]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the bytes of the source that the view's bytes start..end came from."""
        return self.starts[start], self.ends[end - 1]


@dataclass(frozen=True, kw_only=True)
class View:
    """buffer, offsets: the texts as the kernels read them.  maps: by row, where they differ."""

    buffer: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    maps: dict[int, OffsetMap]


def view_texts(texts: pa.Array) -> View:
    """Return the view of `texts` (string, no nulls)."""
    buffer, offsets = text_buffer(texts)
    odd = np.flatnonzero(pc.match_substring_regex(texts, _MARKUP).to_numpy(zero_copy_only=False)).tolist()
    if (buffer[offsets[0] : offsets[-1]] >= 0x80).any():
        odd = sorted({*odd, *_rows_to_change(texts)})
    if not odd:
        return View(buffer=buffer, offsets=offsets, maps={})
    pieces: list[bytes] = []
    maps: dict[int, OffsetMap] = {}
    lengths = np.diff(offsets)
    last = 0
    raw = buffer.tobytes()
    for row in odd:
        view, maps[row] = normalise(raw[offsets[row] : offsets[row + 1]].decode())
        pieces += [raw[offsets[last] : offsets[row]], view]
        lengths[row] = len(view)
        last = row + 1
    pieces.append(raw[offsets[last] : offsets[-1]])
    changed = np.frombuffer(b"".join(pieces) or b"\0", np.uint8)
    return View(buffer=changed, offsets=np.concatenate([[0], np.cumsum(lengths)]), maps=maps)


def text_buffer(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of a string array and where each text begins, without copying bytes."""
    _, offsets, stored = texts.buffers()
    where = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    raw = np.frombuffer(stored, np.uint8) if stored is not None and stored.size else np.zeros(1, np.uint8)
    return raw, where.astype(np.int64)


def _rows_to_change(texts: pa.Array) -> list[int]:
    candidates = np.flatnonzero(~pc.string_is_ascii(texts).to_numpy(zero_copy_only=False))
    wide = texts.take(pa.array(candidates))
    plain = pc.replace_substring(wide, _KEPT, ".")
    is_odd = pc.not_equal(pc.utf8_normalize(plain, "NFKC"), plain)
    is_odd = pc.or_(is_odd, pc.match_substring_regex(wide, f"[{_INVISIBLE}{_JOINERS}]"))
    return [int(row) for row in candidates[is_odd.to_numpy(zero_copy_only=False)]]


def _hidden_marks(text: str) -> set[int]:
    """Return the places of the marks that only say how words look, and of words that are struck out."""
    places: set[int] = set()
    for match in _MARKED.finditer(text):
        for name in _MARK_NAMES:
            places.update(range(*match.span(name)))
    return places


def normalise(text: str) -> tuple[bytes, OffsetMap]:
    """Return the view of one text and the map back; linear in its length.

    A base character and the marks that combine with it are changed as one.
    """
    hidden = {match.start() for match in _HIDDEN.finditer(text)}
    marks = _hidden_marks(text)
    hidden |= marks
    view: list[bytes] = []
    starts, ends = array("q"), array("q")
    place = 0
    source = 0
    while place < len(text):
        plain = _PLAIN.match(text, place)
        if plain is not None:
            size = plain.end() - place
            steps = [step for step in range(size) if place + step not in marks] if marks else range(size)
            whole = plain[0].encode()
            view.append(whole if len(steps) == size else bytes(whole[step] for step in steps))
            starts.extend(source + step for step in steps)
            ends.extend(source + step + 1 for step in steps)
            place, source = plain.end(), source + size
        after = place + 1
        while after < len(text) and unicodedata.combining(text[after]):
            after += 1
        cluster = text[place:after]
        size = len(cluster.encode())
        shown = "".join(char for offset, char in enumerate(cluster) if place + offset not in hidden)
        changed = shown if shown == _KEPT else unicodedata.normalize("NFKC", shown)
        encoded = changed.encode()
        view.append(encoded)
        starts.extend([source] * len(encoded))
        ends.extend([source + size] * len(encoded))
        place = after
        source += size
    return b"".join(view), OffsetMap(starts=starts, ends=ends)
