"""Second stems for texts in other languages: the first stem is English for every Latin word.

A text counts as German, French … when at least two and a fifth of its kept words are function
words of that language.  Its words then also give `de:` and the like, so that inflected forms
meet; a question in the language, or in none that can be told, looks for both.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from amos.retrieval import scripts
from amos.retrieval.language import FUNCTION_WORDS, STOP_WORDS
from amos.retrieval.stemming import snowball, stem_of
from amos.retrieval.words import Encoded, Vocabulary

I64 = npt.NDArray[np.int64]

LANGUAGES = tuple(name for name in FUNCTION_WORDS if name != "english")
_LEAST_VOTES = 2
_LEAST_SHARE = 5
"""One word in so many must be a function word."""


@cache
def _function_stems(language: str) -> frozenset[str]:
    plain = (scripts.folded(word) for word in FUNCTION_WORDS[language] - STOP_WORDS)
    return frozenset(stem_of(word) for word in plain if word)


def second_stem(language: str, term: str) -> str | None:
    """Return the term by which a text of `language` also knows a Latin word; None for other terms."""
    if len(term) < 3 or not term.isalpha() or term[0] >= "\u0370":
        return None
    return f"{language}:{snowball(language).stemWord(term)}"


def second_terms(encoded: Encoded, vocabulary: Vocabulary) -> tuple[I64, I64]:
    """Return (passages, codes) of the second stems of passages in another language than English."""
    spoken = _languages(encoded, vocabulary)
    doc_of = np.repeat(np.arange(len(spoken)), np.diff(encoded.starts))
    docs, codes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number, language in enumerate(LANGUAGES):
        inside = np.flatnonzero(spoken[doc_of] == number)
        if not len(inside):
            continue
        distinct, where = np.unique(encoded.codes[inside], return_inverse=True)
        terms = [
            second_stem(language, vocabulary.terms[code]) if vocabulary.counts[code] else None
            for code in distinct.tolist()
        ]
        second = np.array([-1 if term is None else vocabulary.bonus_code(term) for term in terms], np.int64)
        found = second[where]
        docs.append(doc_of[inside][found >= 0])
        codes.append(found[found >= 0])
    return np.concatenate(docs), np.concatenate(codes)


def _languages(encoded: Encoded, vocabulary: Vocabulary) -> I64:
    """Return per passage the number of its language in LANGUAGES, -1 for English or unknown."""
    passages = len(encoded.starts) - 1
    doc_of = np.repeat(np.arange(passages), np.diff(encoded.starts))
    sizes = np.diff(encoded.starts)
    best, spoken = np.zeros(passages, np.int64), np.full(passages, -1, np.int64)
    for number, language in enumerate(LANGUAGES):
        known = _function_stems(language)
        is_function = np.array([term in known for term in vocabulary.terms], bool)
        if not is_function.any():
            continue
        votes = np.bincount(doc_of[is_function[encoded.codes]], minlength=passages)
        enough = (votes >= _LEAST_VOTES) & (votes * _LEAST_SHARE >= sizes) & (votes > best)
        best[enough], spoken[enough] = votes[enough], number
    return spoken
