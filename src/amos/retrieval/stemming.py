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
    """Return the Snowball stem of a folded word, irregular English forms joined first."""
    return snowball(scripts.stemmer_of(plain)).stemWord(FORM_OF.get(plain, plain))
