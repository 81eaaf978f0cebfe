"""Stems of words: Snowball by language, irregular English forms joined first."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import Stemmer

from amos.retrieval import scripts
from amos.retrieval.language import FORM_OF


@lru_cache(maxsize=16)
def snowball(language: str) -> Any:
    """Return the stemmer of one language."""
    return Stemmer.Stemmer(language, 0)  # our own memo is the cache


def stem_of(plain: str) -> str:
    """Return the Snowball stem of a folded word, irregular English forms joined and articles cut first."""
    language = scripts.stemmer_of(plain)
    word = without_article(plain) if language == "arabic" else plain
    return snowball(language).stemWord(FORM_OF.get(word, word))


def without_article(plain: str) -> str:
    """Return a folded Arabic word without the article in front of it, alone or behind "in", "like", "to".

    The stem is then that of the bare word: what Snowball cuts behind depends on what it cut in front.
    Two letters must be left, behind a preposition three: shorter words begin so by nature.
    """
    if plain.startswith(_ARTICLE) and len(plain) >= len(_ARTICLE) + 2 and plain != _FUSED:
        return plain[len(_ARTICLE) :]
    prefix = next((prefix for prefix in _BEHIND_PREPOSITION if plain.startswith(prefix)), "")
    return plain[len(prefix) :] if len(plain) >= len(prefix) + 3 else plain


def behind_conjunction(plain: str) -> str | None:
    """Return the folded Arabic word and its article behind an "and" in front; None where none can stand.

    The word may as well begin so by nature, as that for "parent" does.
    """
    is_joined = plain[:1] in _CONJUNCTIONS and plain.startswith(_ARTICLE, 1)
    return plain[1:] if is_joined and len(plain) >= 1 + len(_ARTICLE) + 3 else None


_ARTICLE = "\u0627\u0644"  # al-
_FUSED = "\u0627\u0644\u0644\u0647"  # God: never without
_BEHIND_PREPOSITION = ("\u0628" + _ARTICLE, "\u0643" + _ARTICLE, "\u0644\u0644")  # bi-l-, ka-l-, li-l-
_CONJUNCTIONS = ("\u0648", "\u0641")  # wa-, fa-
