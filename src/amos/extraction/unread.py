"""Mark claims beside words that the grammar does not account for: they wait for a person.

A pattern reads its own words and no others.  What stands beside them may ask for silence, give the words to
somebody else, or show that the value opens something.  Where that is possible, a claim is not believed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.extraction import openings, unlocking
from amos.extraction.remarks import JOINED, LETTER_OF, WITH_OBJECT, asks, find_remarks, may_be_remark
from amos.extraction.screen_letters import OTHER, TOKEN
from amos.patterns import pattern_of
from amos.schemas.choosing import with_column
from amos.schemas.claims import CLAIMS, SEGMENTABLE
from amos.schemas.vocabulary import Cue, Modality, Reason, Trust
from amos.stage import stage

_STATED = pa.array(
    [Modality.ASSERTED.value, Modality.PREFERENCE.value, Modality.OBLIGATION.value, Modality.DESIRED.value]
)
_HELD = int(Cue.QUOTED | Cue.PASTED | Cue.CODE | Cue.SELF_CORRECTED | Cue.HEDGED | Cue.TAG_QUESTION)
_READ = ("source_row", "start", "end", "property", "value", "polarity")
_NEGATIVE = "negative"
_REACH = 240
"""Bytes on either side of claims that are looked at."""
_SENTENCE_END = pattern_of(
    r"[.!?…]+[\"'”)]*(?=\s|\Z)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMrs\.)(?<!\bProf\.)|\n+"
)
_REASONS = {
    Reason.POSSIBLE_SECRET.value: int(Cue.MAY_UNLOCK),
    Reason.POSSIBLE_SILENCE.value: int(Cue.REMARKED),
    Reason.UNREAD_LEAD.value: int(Cue.UNREAD_LEAD),
}
_CLAIM, _NEXT = "\x1c", "\x1d"
"""Stand for a claim and between texts, where many are looked at together."""
_TOKENS = pattern_of(rf"{TOKEN.pattern}|[{_CLAIM}{_NEXT}]")
_LETTERS = LETTER_OF | {_CLAIM: "#", _NEXT: "|"}
_KINDS = (
    dict.fromkeys(openings.WORDS, "O")
    | dict.fromkeys(openings.ANNOUNCING, "A")
    | dict.fromkeys(unlocking.MEANS - openings.ANNOUNCING, "w")
    | dict.fromkeys(unlocking.ENTRIES, "u")
    | dict.fromkeys(unlocking.OPENERS, "U")
    | {_CLAIM: "#", _NEXT: "|"}
    | dict.fromkeys(".!?\n", ".")
)
_MAY_OPEN = pattern_of("O[^#.]*#|A[^#]*#")
_PIECES = pattern_of(r"[^,:'.#]+")
_MAY_UNLOCK = pattern_of("U|u.*[wA]")
_ROW, _LONG_ROW = OTHER * 4, OTHER * 8
_GOES_ON = pattern_of(r",?\s?(?:and|or|und|oder|et|ou|y|o)?", re.IGNORECASE)
_BEHIND = "!#$%^&*~|?=_."


class Stated(NamedTuple):
    """A claim that would stand; start, end: half-open bytes of its text."""

    start: int
    end: int
    property: str | None
    value: str | None
    polarity: str


class Doubt(NamedTuple):
    """claim: its place among those given.  cue: the bit that it gets.  words: those that give it."""

    claim: int
    cue: int
    words: str


class _Window(NamedTuple):
    """Claims that stand close together, with the text around them.

    spans: theirs in it, in code points.  first: the place of the first among those of the batch or text.
    """

    text: str
    claims: Sequence[Stated]
    spans: list[tuple[int, int]]
    first: int


class _Suspect(NamedTuple):
    """A window, and which doubts it may hold."""

    window: _Window
    enters: bool
    is_row: bool
    is_coded: bool
    is_open: bool
    is_remarked: bool


@stage(reads={"claims": CLAIMS, "sources": SEGMENTABLE}, writes=CLAIMS, version=1)
def mark_unread(claims: pa.Table, sources: pa.Table) -> pa.Table:
    """Mark the claims of people that stand beside words no rule accounts for.

    claims: rows point into sources by `source_row`; order, spans and every other column stay.  Looks at no
    more than _REACH bytes around claims that nothing else keeps out.
    """
    places = _standing(claims, sources)
    if not places.size:
        return claims
    columns = [claims[name].take(pa.array(places)).to_pylist() for name in _READ]
    rows = sorted(set(columns[0]))
    contents = sources["content"].take(pa.array(rows)).cast(pa.binary()).to_pylist()
    texts = dict(zip(rows, contents, strict=True))
    stated = list(map(Stated._make, zip(*columns[1:], strict=True)))
    windows: list[_Window] = []
    for row, group in groupby(range(len(stated)), key=columns[0].__getitem__):
        numbers = list(group)
        own = stated[numbers[0] : numbers[-1] + 1]
        windows += _windows(texts[row], own, numbers[0])
    cues = claims["cues"].to_numpy().copy()
    for suspect in _suspects(windows):
        for doubt in _doubts(suspect):
            cues[places[suspect.window.first + doubt.claim]] |= doubt.cue
    return with_column(claims, "cues", pa.array(cues))


def _standing(claims: pa.Table, sources: pa.Table) -> NDArray[np.int64]:
    """Return the places of claims that people state and nothing keeps out so far."""
    if not claims.num_rows:
        return np.zeros(0, np.int64)
    is_stated = pc.and_(pc.is_null(claims["veto"]), pc.is_in(claims["modality"], value_set=_STATED))
    is_own = pc.equal(sources["trust"], Trust.TRUSTED_USER.value).take(claims["source_row"])
    is_free = claims["cues"].to_numpy() & _HELD == 0
    return np.flatnonzero(pc.and_(is_stated, is_own).to_numpy().astype(np.bool_) & is_free)


def find_doubts(content: bytes, claims: Sequence[Stated]) -> Iterator[Doubt]:
    """Yield what makes `claims` of one text doubtful, which are ordered by start."""
    for suspect in _suspects(list(_windows(content, claims, 0))):
        first = suspect.window.first
        yield from (doubt._replace(claim=doubt.claim + first) for doubt in _doubts(suspect))


def words_beside(content: str, claim: Stated, reason: str) -> str | None:
    """Return the words of `content` for which a claim waits with `reason`, None where it does for none."""
    cue = _REASONS.get(reason)
    if cue is None:
        return None
    return next((one.words for one in find_doubts(content.encode(), [claim]) if one.cue == cue), None)


def _windows(content: bytes, claims: Sequence[Stated], number: int) -> Iterator[_Window]:
    """Yield the claims of one text in groups, at most _REACH bytes apart; number: of the first."""
    first = 0
    for place in range(1, len(claims) + 1):
        if place < len(claims) and claims[place].start - claims[place - 1].end <= _REACH:
            continue
        yield _window(content, claims[first:place], number + first)
        first = place


def _window(content: bytes, claims: Sequence[Stated], first: int) -> _Window:
    begin = max(claims[0].start - _REACH, 0)
    part = content[begin : max(claim.end for claim in claims) + _REACH]
    text = part.decode(errors="ignore")
    if len(text) == len(part):
        return _Window(text, claims, [(one.start - begin, one.end - begin) for one in claims], first)
    spans = [(_points(part, one.start - begin), _points(part, one.end - begin)) for one in claims]
    return _Window(text, claims, spans, first)


def _points(part: bytes, place: int) -> int:
    return len(part[:place].decode(errors="ignore"))


def _suspects(windows: Sequence[_Window]) -> Iterator[_Suspect]:
    """Yield those of `windows` that may hold a doubt, and which: never too few of them.

    All are cut into words at once, and clauses of the same build are looked at once.
    """
    around = JOINED.sub(" ", _NEXT.join(map(_without_claims, windows)).replace("’", "'").lower())
    said = _NEXT.join(window.text[start:end] for window in windows for start, end in window.spans)
    words, own = _TOKENS.findall(around), _TOKENS.findall(said.replace("’", "'").lower())
    letters = "".join([_LETTERS.get(word, OTHER) for word in words]).split("|")
    kinds = "".join([_KINDS.get(word, "") for word in words]).split("|")
    own_letters = "".join([_LETTERS.get(word, OTHER) for word in own]).split("|")
    own_kinds = "".join([_KINDS.get(word, "") for word in own]).split("|")
    for window, build, kind in zip(windows, letters, kinds, strict=True):
        first, last = window.first, window.first + len(window.spans)
        mine = own_letters[first:last]
        suspect = _Suspect(
            window,
            enters=_MAY_UNLOCK.search(kind + "".join(own_kinds[first:last])) is not None,
            is_row=_LONG_ROW in build or any(_ROW in one for one in mine),
            is_coded=any(_is_coded(window.text, span) for span in window.spans),
            is_open="#" not in kind[:1] and _MAY_OPEN.search(kind) is not None,
            is_remarked=any(map(may_be_remark, _PIECES.findall(build)))
            or any(map(asks, mine))
            or (not window.text.isascii() and WITH_OBJECT.search(window.text.lower()) is not None),
        )
        if any(suspect[1:]):
            yield suspect


def _without_claims(window: _Window) -> str:
    at, parts = 0, []
    for start, end in window.spans:
        parts.append(window.text[at:start])
        at = max(at, end)
    return f" {_CLAIM} ".join([*parts, window.text[at:]])


def _is_coded(text: str, span: tuple[int, int]) -> bool:
    """Tell whether a claim, or what stands right behind it, has signs as codes have."""
    start, end = span
    if text[end : end + 1] in _BEHIND and text[end + 1 : end + 2].isalnum():
        return True
    return unlocking.SIGNS.search(text, start, end) is not None


def _doubts(suspect: _Suspect) -> Iterator[Doubt]:
    """Yield what makes the claims of a window doubtful."""
    text, spans = suspect.window.text, suspect.window.spans
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    if suspect.enters or suspect.is_row or suspect.is_coded:
        for number, words in _codes(suspect, ends):
            yield Doubt(number, int(Cue.MAY_UNLOCK), words)
    if suspect.is_open:
        for number, words in _open_leads(suspect.window, ends):
            yield Doubt(number, int(Cue.UNREAD_LEAD), words)
    if suspect.is_remarked:
        first = ends[max(bisect_right(ends, spans[0][0]) - 2, 0)]
        last = ends[min(bisect_left(ends, max(end for _, end in spans)) + 1, len(ends) - 1)]
        for remark in find_remarks(text[first:last], [(start - first, end - first) for start, end in spans]):
            yield Doubt(remark.claim, int(Cue.REMARKED), text[first + remark.start : first + remark.end])


def _codes(suspect: _Suspect, ends: list[int]) -> Iterator[tuple[int, str]]:
    """Yield the claims that may hold what opens something, with their words."""
    text = suspect.window.text
    for number, (claim, span) in enumerate(zip(suspect.window.claims, suspect.window.spans, strict=True)):
        start, end = span
        said = text[start:end]
        if suspect.is_coded and (
            unlocking.may_be_code(said, claim.property, claim.value)
            or unlocking.is_cut_off(text[end : end + 3])
        ):
            yield number, said
            continue
        if not (suspect.enters or suspect.is_row):
            continue
        sentence = text[
            ends[bisect_right(ends, start) - 1] : ends[min(bisect_left(ends, end), len(ends) - 1)]
        ]
        if (suspect.enters and unlocking.enters(sentence)) or (
            suspect.is_row
            and (unlocking.is_row(said, claim.property, claim.value) or unlocking.holds_phrase(sentence))
        ):
            yield number, said


def _open_leads(window: _Window, ends: list[int]) -> Iterator[tuple[int, str]]:
    """Yield the claims whose lead leaves them open, with it; ends: of the sentences."""
    is_announced = is_open = False
    for number, (claim, (start, _)) in enumerate(zip(window.claims, window.spans, strict=True)):
        at = bisect_right(ends, start) - 1
        told = max((past for _, past in window.spans[:number] if past <= start), default=0)
        lead = window.text[max(ends[at], told) : start].strip()
        before = window.text[ends[at - 1] : ends[at]] if at else ""
        is_announced = openings.announces(before) or (is_announced and ends[at - 1] <= told)
        goes_on = is_open and told > ends[at] and _GOES_ON.fullmatch(lead) is not None
        is_open = goes_on or (lead != "" and openings.is_open(lead, is_negative=claim.polarity == _NEGATIVE))
        if is_announced or is_open:
            yield number, before.strip() if is_announced else lead
