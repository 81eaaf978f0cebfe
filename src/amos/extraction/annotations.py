"""What the reader sees of a text: its languages as a distribution, its sentences, doubtful boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from amos.extraction.grammar import Grammar
from amos.extraction.normalise import OffsetMap, view_texts
from amos.kernels import rows as layout
from amos.kernels.book import BREAK, NEEDED, PATTERN_MASKS, START, T
from amos.kernels.features import SENTENCE
from amos.kernels.fused import split_fused
from amos.kernels.moments import mark_times
from amos.kernels.segments import mark_breaks, mark_pasted, merge_phrases
from amos.kernels.tokens import tokenise
from amos.patterns import pattern_of

_LANGUAGES = {
    "en": layout.NOTE_ENGLISH, "de": layout.NOTE_GERMAN, "fr": layout.NOTE_FRENCH, "es": layout.NOTE_SPANISH,
    "other": layout.NOTE_OTHER,
}  # fmt: skip
_FULL = 1_000_000
_STOP = pattern_of(rb"(\.{3}|\xe2\x80\xa6|[.!?])[\"')\]]{0,2}[ \t]+(?=[A-Z])")
_LINE = pattern_of(rb"[^\s.!?:;,\-*\"')\]][ \t]*\n[ \t]*(?=[a-z0-9])")
LONGEST = 100_000
"""Bytes from which a text is not looked at: somebody reads what is returned."""


class Boundary(NamedTuple):
    """A place where a sentence may begin.

    taken: the reader takes it for a beginning.  sign: what raises the doubt: abbreviation, ellipsis or
    line_break.
    """

    at: int
    taken: bool
    sign: str


class Annotations(NamedTuple):
    """languages: parts per million by code, `und` for what no grammar knows; they make up a whole.

    sentences: half-open byte ranges of the text.  doubts: boundaries that may be otherwise.
    """

    languages: dict[str, int]
    sentences: list[tuple[int, int]]
    doubts: list[Boundary]


def annotate(text: str, grammar: Grammar) -> Annotations | None:
    """Return what the reader sees of one text, None for one without a sign or longer than LONGEST bytes."""
    raw = text.encode()
    if not text.strip() or len(raw) > LONGEST:
        return None
    view = view_texts(pa.array([text]))
    seen = view.buffer[view.offsets[0] : view.offsets[1]].tobytes()
    starts, note = _read(seen, grammar)
    if not starts:
        return None
    where = view.maps.get(0)
    return Annotations(
        languages=_languages(note),
        sentences=list(_sentences(starts, seen, where)),
        doubts=[one._replace(at=_source(one.at, where)) for one in _doubts(seen, starts)],
    )


def _read(seen: bytes, grammar: Grammar) -> tuple[list[int], list[int]]:
    """Return where sentences begin in `seen`, and the note on it, by the plain kernels."""
    book = grammar.plain_book
    tok = [0] * (T * (len(seen) + 2))
    frame = [0] * (NEEDED + book[PATTERN_MASKS])
    notes = [0] * layout.NOTE_SIZE
    count = split_fused(tok, tokenise(seen, 0, len(seen), book, tok, frame), book)
    count = merge_phrases(tok, count, book)
    mark_pasted(tok, count, book)
    layout.note_message(0, count, book, tok, notes)
    mark_times(seen, tok, count, book)
    mark_breaks(seen, tok, count, book)
    starts = [tok[t * T + START] for t in range(count) if t == 0 or tok[t * T + BREAK] == SENTENCE]
    return starts, notes


def _languages(note: list[int]) -> dict[str, int]:
    """Return the share of each language, by its votes among the words whose script a grammar knows."""
    letters, foreign = note[layout.NOTE_LETTERS], note[layout.NOTE_FOREIGN]
    votes = {code: note[place] for code, place in _LANGUAGES.items() if note[place]}
    known = _FULL * letters // (letters + foreign) if votes else 0
    shares = {code: known * count // sum(votes.values()) for code, count in votes.items()}
    rest = _FULL - sum(shares.values())
    if rest < len(votes):  # what rounding left
        code = max(shares, key=lambda one: shares[one])
        return {**shares, code: shares[code] + rest}
    return {**shares, "und": rest}


def _sentences(starts: list[int], seen: bytes, where: OffsetMap | None) -> Iterator[tuple[int, int]]:
    for start, after in zip(starts, [*starts[1:], len(seen)], strict=True):
        end = start + len(seen[start:after].rstrip())
        if end > start:
            yield (start, end) if where is None else where.source_span(start, end)


def _source(at: int, where: OffsetMap | None) -> int:
    return at if where is None else where.starts[at]


def _doubts(seen: bytes, starts: list[int]) -> Iterator[Boundary]:
    """Yield places that look like the beginning of a sentence and may be none, or the other way round."""
    begins = set(starts)
    found = []
    for match in _STOP.finditer(seen):
        taken = match.end() in begins
        if not taken:
            found.append(Boundary(match.end(), taken=False, sign="abbreviation"))
        elif match[1] not in (b".", b"!", b"?"):
            found.append(Boundary(match.end(), taken=True, sign="ellipsis"))
    found += [
        Boundary(match.end(), taken=match.end() in begins, sign="line_break")
        for match in _LINE.finditer(seen)
    ]
    yield from sorted(found)
