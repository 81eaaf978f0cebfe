"""Word lists: what carries no content, what negates, which forms one stem cannot join."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

LISTS_FILE = Path(__file__).with_name("language.toml")

_LISTS: dict[str, Any] = tomllib.loads(LISTS_FILE.read_text(encoding="utf-8"))

NEGATIONS = frozenset(_LISTS["negations"].split())
"""Kept as words, because they turn a claim round; alone they match nothing."""

OWNER_WORDS = frozenset(_LISTS["owner"].split())
"""Words of a question that mean the owner of the memory."""

FUNCTION_WORDS = {name: frozenset(words.split()) for name, words in _LISTS["function_words"].items()}
"""Function words per language: they tell it, and a question in it drops them."""

STOP_WORDS = FUNCTION_WORDS["english"]
"""Function and question words of English: they neither match nor count."""

FORM_OF = {form: base for base, forms in _LISTS["forms"].items() for form in forms.split()}
"""Irregular form or everyday synonym -> the word whose stem stands for both."""
