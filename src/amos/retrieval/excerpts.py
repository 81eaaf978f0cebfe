"""Cut the part of a text that answers: centred on the words asked for, exact to the byte."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from amos.retrieval import scripts
from amos.retrieval.languages import LANGUAGES, second_stem
from amos.retrieval.words import segment_matches, words_of
from amos.schemas.cuts import CUT

EXCERPT_CHARS = 320
"""A longer text is cut to about this many characters."""
_SLACK = 60
"""Characters an excerpt may move to begin or end at a boundary."""
_MOST_MATCHES = 64

Span = tuple[int, int]
Matches = list[tuple[Span, frozenset[str]]]


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Half-open byte range of an excerpt, its text, and the byte ranges that match inside it."""

    start: int
    end: int
    text: str
    matches: tuple[Span, ...]


@lru_cache(maxsize=65_536)
def _terms(token: str, languages: tuple[str, ...]) -> frozenset[str]:
    words = words_of(token)
    main = [term for word in words for term in word.main]
    second = (second_stem(language, term) for language in languages for term in main)
    extra = (term for word in words for term in word.extra)
    return frozenset((*main, *extra, *(term for term in second if term is not None)))


class Wanted:
    """The terms that excerpts mark, and which words of texts hold some of them, as far as they were met."""

    def __init__(self, terms: frozenset[str]) -> None:
        self.terms = terms
        self._languages = tuple(name for name in LANGUAGES if any(t.startswith(f"{name}:") for t in terms))
        self._shared: dict[str, frozenset[str]] = {}

    def shared(self, token: str) -> frozenset[str]:
        """Return which terms a word holds."""
        found = self._shared.get(token)
        if found is None:
            found = self._shared[token] = _terms(token, self._languages) & self.terms
        return found


def matches_in(text: str, wanted: Wanted) -> Matches:
    """Return the character ranges of words of `text` among the wanted terms, with those terms."""
    found: Matches = []
    has_grams = not text.isascii()
    for word in segment_matches(text):
        token = word.group()
        if has_grams and (size := scripts.gram_size(token)):
            found += _gram_matches(token, word.start(), size, wanted.terms)
        elif shared := wanted.shared(token):
            found.append((word.span(), shared))
    return found


def _gram_matches(run: str, low: int, size: int, wanted: frozenset[str]) -> Matches:
    """Return overlapping wanted grams of a run joined to stretches."""
    found: Matches = []
    for at in range(max(len(run) - size + 1, 1)):
        gram = scripts.lowered(run[at : at + size])
        if gram not in wanted:
            continue
        start, end = low + at, low + min(at + size, len(run))
        if found and found[-1][0][1] >= start:
            found[-1] = ((found[-1][0][0], end), found[-1][1] | {gram})
        else:
            found.append(((start, end), frozenset((gram,))))
    return found


def cut_excerpt(text: str, matches: Matches, focus: Span | None = None) -> Excerpt:
    """Return the stretch of `text` with the most different matched terms, the first of equals.

    matches: of `matches_in`.  focus: characters that must be inside, such as the span of a claim.
    """
    low, high = _window(text, matches, focus)
    inside = [span for span, _ in matches if low <= span[0] and span[1] <= high][:_MOST_MATCHES]
    offsets = byte_offsets(text, [low, high, *(edge for span in inside for edge in span)])
    edges = offsets[2:]
    return Excerpt(
        start=offsets[0],
        end=offsets[1],
        text=text[low:high],
        matches=tuple(zip(edges[::2], edges[1::2], strict=True)),
    )


def _window(text: str, matches: Matches, focus: Span | None) -> Span:
    if len(text) <= EXCERPT_CHARS + 2 * _SLACK:
        return 0, len(text)
    low, high = focus or (_richest(matches) if matches else _first_word(text))
    spare = max(EXCERPT_CHARS - (high - low), 0)
    start = max(low - spare // 2, 0)
    end = min(start + max(EXCERPT_CHARS, high - low), len(text))
    start = max(min(start, end - EXCERPT_CHARS), 0)
    return _boundary_before(text, start), _boundary_after(text, end)


def _first_word(text: str) -> Span:
    """Return where the first word begins: before it stands at most what was cut."""
    first = next(segment_matches(text), None) if CUT in text else None
    at = 0 if first is None else first.start()
    return at, at


def _richest(matches: Matches) -> Span:
    """Return the range of at most EXCERPT_CHARS characters with the most distinct terms."""
    best, best_count = (0, 0), 0
    counts: dict[str, int] = {}
    first = 0
    for last, ((_, high), terms) in enumerate(matches):
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        while high - matches[first][0][0] > EXCERPT_CHARS and first < last:
            for term in matches[first][1]:
                counts[term] -= 1
                if not counts[term]:
                    del counts[term]
            first += 1
        if len(counts) > best_count:
            best, best_count = (matches[first][0][0], high), len(counts)
    return best


def _boundary_before(text: str, at: int) -> int:
    """Return the nearest start of a sentence, else of a word, at most _SLACK characters earlier."""
    if at == 0:
        return 0
    lowest = max(at - _SLACK, 0)
    for is_boundary in (_starts_sentence, _starts_word):
        for place in range(at, lowest - 1, -1):
            if is_boundary(text, place):
                return place
    return at


def _boundary_after(text: str, at: int) -> int:
    """Return the nearest end of a sentence, else of a word, at most _SLACK characters later."""
    highest = min(at + _SLACK, len(text))
    for is_boundary in (_starts_sentence, _starts_word):
        for place in range(at, highest + 1):
            if place == len(text) or is_boundary(text, place):
                return len(text[:place].rstrip()) if text[:place].rstrip() else place
    return at


def _starts_word(text: str, at: int) -> bool:
    return at == 0 or text[at - 1].isspace()


def _starts_sentence(text: str, at: int) -> bool:
    before = text[max(at - 2, 0) : at].rstrip()
    return (
        at == 0
        or text[at - 1] == "\n"
        or before[-1:] in ("。", "！", "？")
        or (text[at - 1].isspace() and before[-1:] in (".", "!", "?"))
    )


def byte_offsets(text: str, places: list[int]) -> list[int]:
    """Return the UTF-8 byte offset of each character position, in the order given."""
    if text.isascii():
        return list(places)
    result: dict[int, int] = {}
    at, offset = 0, 0
    for place in sorted(set(places)):
        offset += len(text[at:place].encode())
        at = place
        result[place] = offset
    return [result[place] for place in places]


def char_span(text: str, start: int, end: int) -> Span:
    """Return the character range of a byte range of `text`."""
    if text.isascii():
        return start, end
    raw = text.encode()
    low = len(raw[:start].decode(errors="ignore"))
    return low, low + len(raw[start:end].decode(errors="ignore"))
