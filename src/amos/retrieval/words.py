"""Turn text into terms: the same for stored text and for questions, in every script.

A term is a short string.  Words give their folded stem; a word with accents also gives
`=` and its exact form, so that "café" prefers "café" to "cafe" and never meets "cafeteria";
tokens with digits, and Arabic words behind "and", stay whole and give their parts; runs of
unspaced scripts give character pairs or triples; a pictograph is a word.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import chain
from operator import or_

import numpy as np
import numpy.typing as npt

from amos.retrieval import scripts
from amos.retrieval.language import NEGATIONS, STOP_WORDS
from amos.retrieval.marks import text_marks, token_marks
from amos.retrieval.stemming import behind_conjunction, stem_of

ENCODER = "words"
ENCODER_VERSION = 4
LONGEST_TERM = 40
"""Characters; longer words are indexed by their beginning."""
PASSAGE_WORDS = 220
"""A longer text is cut into passages of this many words, each a document of its own."""

_CONTRACTIONS = frozenset(["s", "t", "m", "re", "ve", "ll", "d"])
U64 = npt.NDArray[np.uint64]
I32 = npt.NDArray[np.int32]


def segment(text: str) -> list[str]:
    """Return the words, unspaced runs and pictographs of `text` in order."""
    return (scripts.ASCII_WORD if text.isascii() else scripts.word_pattern()).findall(text)


def segment_matches(text: str) -> Iterator[re.Match[str]]:
    """Return the matches whose texts `segment` returns."""
    return (scripts.ASCII_WORD if text.isascii() else scripts.word_pattern()).finditer(text)


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word of a text as terms.

    main: terms that count towards length and coverage.  extra: bonus terms (exact accents).
    parts: pieces of a token with digits or of two words in one, used by a question only when the whole is
    unknown.
    """

    main: tuple[str, ...]
    extra: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    is_negation: bool = False


def words_of(token: str) -> Sequence[Word]:
    """Return the words inside one segmented token; empty when it carries no content."""
    return _known_words(token) if len(token) <= LONGEST_TERM else _words_of(token)


@lru_cache(maxsize=65_536)
def _known_words(token: str) -> tuple[Word, ...]:
    return tuple(_words_of(token))


def _words_of(token: str) -> Sequence[Word]:
    if token.isascii():
        return _spaced_words(token.lower())
    if scripts.is_pictograph(token):
        return [Word(main=(token,))]
    low = scripts.lowered(token)
    if size := scripts.gram_size(low):
        return [_grams(low, size)]
    return _spaced_words(low.replace("’", "'"))


def _grams(run: str, size: int) -> Word:
    if len(run) <= size:
        single = tuple(run) if size == 2 and len(run) == 2 else ()
        return Word(main=(run,), extra=single)
    grams = tuple(run[i : i + size] for i in range(len(run) - size + 1))
    return Word(main=grams, extra=tuple(run) if size == 2 else ())


def _spaced_words(low: str) -> list[Word]:
    pieces = _pieces(low)
    if any(char.isdigit() for char in low):
        return _number_words(low, pieces)
    return [word for piece in pieces if (word := _plain_word(piece)) is not None]


def _pieces(low: str) -> list[str]:
    for joint in "-.,_/:@":
        low = low.replace(joint, " ")
    pieces: list[str] = []
    for part in low.split():
        if part.endswith("n't"):
            pieces += [stem for stem in (part[:-3], "not") if stem]
        else:
            pieces += [half for half in part.split("'") if half and half not in _CONTRACTIONS]
    return pieces


def _number_words(low: str, pieces: list[str]) -> list[Word]:
    whole = low.replace(",", "") if low.replace(",", "").isdigit() else low
    runs = [run for piece in pieces for run in _runs(piece)]
    parts = [term for run in runs if (term := _part(run)) and term != whole]
    if len(whole) > LONGEST_TERM:
        return [Word(main=tuple(parts))] if parts else []
    return [Word(main=(whole,), parts=tuple(dict.fromkeys(parts)))]


def _part(run: str) -> str | None:
    if run.isdigit():
        return run[:LONGEST_TERM]
    word = _plain_word(run) if len(run) > 1 else None
    return word.main[0] if word else None


def _runs(piece: str) -> list[str]:
    runs = scripts.DIGITS_OR_NOT.findall(piece)
    return [*runs, piece] if len(runs) > 1 else runs


def _plain_word(piece: str) -> Word | None:
    if piece in STOP_WORDS:
        return None
    plain = scripts.folded(piece)[:LONGEST_TERM]
    extra = (f"={piece[:LONGEST_TERM]}",) if plain != piece[:LONGEST_TERM] else ()
    joined = behind_conjunction(plain)
    parts = (stem_of(joined),) if joined else ()
    return Word(main=(stem_of(plain),), extra=extra, parts=parts, is_negation=piece in NEGATIONS)


@lru_cache(maxsize=65_536)
def term_hash(term: str) -> int:
    """Return the 64-bit number by which the index knows a term."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")


@dataclass
class Vocabulary(dict[str, tuple[int, ...]]):
    """Codes of terms met so far; indexing by a token learns it.

    Maps a segmented token to the codes of its terms.  `terms` is in code order; `counts`
    tells which codes add to the length of a text; `marks` holds what else a token says.
    """

    terms: list[str] = field(default_factory=list)
    counts: list[bool] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)

    def __missing__(self, token: str) -> tuple[int, ...]:
        """Learn `token` and return its codes."""
        learned: list[int] = []
        words = words_of(token)
        for word in words:
            learned += [self._code(term, True) for term in word.main]
            learned += [self._code(term, False) for term in (*word.extra, *word.parts)]
        self.marks[token] = token_marks(token.lower(), (term for word in words for term in word.main))
        self[token] = entry = tuple(learned)
        return entry

    def bonus_code(self, term: str) -> int:
        """Return the code of a term that does not add to the length of a text."""
        return self._code(term, False)

    def _code(self, term: str, counts: bool) -> int:
        # a part is a bonus of its whole; the same term on its own is another code
        key = term if counts else "\x00" + term
        code = self.codes.get(key)
        if code is None:
            code = self.codes[key] = len(self.terms)
            self.terms.append(term)
            self.counts.append(counts)
        return code


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """Texts as term codes: `codes` of passage i stand at starts[i]:starts[i + 1].

    text_of: (passages,) number of the text a passage belongs to, ascending; a text without
    words still has one passage.  passage: (passages,) its number inside the text.  marks: (passages,)
    bits of `retrieval.marks`.
    """

    codes: I32
    starts: npt.NDArray[np.int64]
    text_of: I32
    passage: I32
    marks: U64


def encode(texts: Iterable[str | None], vocabulary: Vocabulary) -> Encoded:
    """Return the term codes of `texts`, passage by passage; linear in their length."""
    codes = array("i")
    starts, owners, numbers, marks = [0], [], [], []
    learn, marks_of = vocabulary.__getitem__, vocabulary.marks.__getitem__
    for number, text in enumerate(texts):
        tokens = segment(text) if text else []
        whole = text_marks(text, tokens) if text else 0
        for passage, low in enumerate(range(0, max(len(tokens), 1), PASSAGE_WORDS)):
            part = tokens if len(tokens) <= PASSAGE_WORDS else tokens[low : low + PASSAGE_WORDS]
            codes.extend(chain.from_iterable(map(learn, part)))
            starts.append(len(codes))
            owners.append(number)
            numbers.append(passage)
            marks.append(reduce(or_, map(marks_of, part), whole))
    return Encoded(
        codes=np.frombuffer(codes, np.int32),
        starts=np.array(starts, np.int64),
        text_of=np.array(owners, np.int32),
        passage=np.array(numbers, np.int32),
        marks=np.array(marks, np.uint64),
    )
