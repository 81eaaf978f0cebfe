"""Read a question: which terms must match, which help, who is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from amos.retrieval import scripts
from amos.retrieval.dates import AskedDate, asked_dates, is_date_word
from amos.retrieval.language import FUNCTION_WORDS, OWNER_WORDS, STOP_WORDS
from amos.retrieval.languages import second_stem
from amos.retrieval.marks import asked_cues, asked_kinds
from amos.retrieval.words import segment, term_hash, words_of

SHORTEST_MENDED = 4
_SPEAKS = {
    word: tuple(name for name, known in FUNCTION_WORDS.items() if word in known)
    for word in frozenset().union(*FUNCTION_WORDS.values())
}
"""Languages of each function word, in the order of `FUNCTION_WORDS`."""


@dataclass(frozen=True, kw_only=True)
class CueTerm:
    """One term of a question.

    hashes: alternatives, any of which counts as the term.  texts: the same as text.
    is_required: counts for coverage; a negation or an exact accent does not.
    is_exact: bonus for equal accents.  is_misspelt: found by spelling.  word: number of the word of
    the question it comes from; the grams of an unspaced run share one.
    """

    hashes: tuple[int, ...]
    texts: tuple[str, ...]
    is_required: bool = True
    is_exact: bool = False
    is_misspelt: bool = False
    word: int = 0


@dataclass(frozen=True, kw_only=True)
class Cue:
    """One question as terms.  means_owner: it says I, my or user.

    asked_cues, asked_kinds: numbers of the answer types and of the kinds of things that it asks for.
    """

    text: str
    terms: tuple[CueTerm, ...]
    means_owner: bool
    asked_cues: tuple[int, ...] = ()
    asked_kinds: tuple[int, ...] = ()
    dates: tuple[AskedDate, ...] = ()

    @property
    def word_count(self) -> int:
        """Return how many words it asks about."""
        return len({term.word for term in self.terms if term.is_required})


def _term(text: str, word: int, *, is_required: bool = True, is_exact: bool = False) -> CueTerm:
    return CueTerm(
        hashes=(term_hash(text),), texts=(text,), word=word, is_required=is_required, is_exact=is_exact
    )


def _with_second_stems(term: CueTerm, languages: tuple[str, ...]) -> CueTerm:
    """Return the term with the stems by which texts in these languages know it."""
    stems = (second_stem(language, term.texts[0]) for language in languages if language != "english")
    second = tuple(stem for stem in stems if stem is not None)
    if not second:
        return term
    hashes = (*term.hashes, *(term_hash(stem) for stem in second))
    return replace(term, hashes=hashes, texts=(*term.texts, *second))


def languages_of(tokens: list[str]) -> tuple[str, ...]:
    """Return the language of a question, or all when no function word tells it."""
    votes = dict.fromkeys(FUNCTION_WORDS, 0)
    for token in tokens:
        for piece in token.replace("’", "'").split("'"):
            for name in _SPEAKS.get(scripts.lowered(piece), ()):
                votes[name] += 1
    best = max(votes, key=lambda name: votes[name])
    if not votes[best]:
        return tuple(FUNCTION_WORDS)
    return (best if votes[best] > votes["english"] else "english",)


def read_cue(text: str, is_known: Callable[[int], bool]) -> Cue:
    """Return the terms of a question, each once, in the order of the question.

    is_known: whether a term hash occurs in what the caller may see; a token with digits that
    does not falls apart into its parts.
    """
    tokens = segment(text)
    languages = languages_of(tokens)
    foreign = FUNCTION_WORDS[languages[0]] if len(languages) == 1 else frozenset()
    kept = [token for token in tokens if scripts.lowered(token) not in foreign]
    dates = asked_dates(text)
    # a date is met by when it was said: its words need not be there, unless there are no others
    whens = {token for token in kept if dates and is_date_word(token)}
    whens = whens if any(words_of(token) for token in kept if token not in whens) else set()
    terms: dict[str, CueTerm] = {}
    named = ((token in whens, word) for token in kept for word in words_of(token))
    for number, (is_when, word) in enumerate(named):
        is_whole = not word.parts or is_known(term_hash(word.main[0]))
        for term in word.main if is_whole else word.parts:
            made = _term(term, number, is_required=not (word.is_negation or is_when))
            terms.setdefault(term, _with_second_stems(made, languages))
        for term in word.extra:
            if term.startswith("="):
                terms.setdefault(term, _term(term, number, is_required=False, is_exact=True))
    lows = {piece for token in tokens for piece in token.lower().replace("’", "'").split("'")}
    return Cue(
        text=text,
        terms=tuple(terms.values()),
        means_owner=bool(lows & OWNER_WORDS),
        asked_cues=asked_cues(text),
        asked_kinds=asked_kinds(terms),
        dates=dates,
    )


def name_terms(name: str) -> tuple[int, ...]:
    """Return the term hashes of a person's name, function words left out."""
    return tuple(term_hash(term) for token in segment(name) for word in words_of(token) for term in word.main)


def is_spellable(term: str) -> bool:
    """Return whether a term is a plain word long enough that a slip of the pen can be mended."""
    is_plain = len(term) >= SHORTEST_MENDED and term.isalpha() and term not in STOP_WORDS
    return is_plain and not scripts.gram_size(term)


def surface_terms(texts: Iterable[str]) -> frozenset[str]:
    """Return every term of several texts, bonus terms included: what an excerpt marks."""
    return frozenset(
        term
        for text in texts
        for token in segment(text)
        for word in words_of(token)
        for term in (*word.main, *word.extra, *word.parts)
    )
