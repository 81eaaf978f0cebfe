"""Lay the grammar out as the one flat array that the kernels read."""

from __future__ import annotations

from typing import Any

import numpy as np

from amos.extraction.grammar_text import GrammarText
from amos.extraction.lexicon import build_lexicon, entries_of, word_table
from amos.extraction.rules import build_rules, first_late
from amos.kernels import book, words


def build_book(table: GrammarText) -> np.ndarray[Any, Any]:
    """Return the grammar as one flat array, laid out as `kernels.book` says."""
    lexicon = build_lexicon(entries_of(table))
    rules = build_rules(table, lexicon)
    header = np.zeros(book.HEADER, np.int64)
    header[:256] = words.byte_kinds()
    counts = {
        book.SLOT_MASK: len(lexicon.slots) - 1,
        book.WORD_COUNT: len(lexicon.words),
        book.PHRASE_MASK: len(lexicon.phrase_keys) - 1,
        book.SET_MASKS: rules.set_masks.shape[1],
        book.PATTERN_MASKS: len(rules.base),
        book.ANCHORED_COUNT: len(rules.anchored),
        book.FIRST_LATE: first_late(table),
    }
    tables: dict[int, Any] = {
        book.SLOTS: lexicon.slots,
        book.WORD_STARTS: lexicon.starts,
        book.WORD_BYTES: np.frombuffer(lexicon.pool, np.uint8),
        book.WORDS: word_table(table, lexicon),
        book.PHRASE_KEYS: lexicon.phrase_keys,
        book.PHRASE_NEXT: lexicon.phrase_next,
        book.PHRASE_ACCEPT: lexicon.phrase_accept,
        book.OPERATIONS: rules.operations,
        book.PATTERN_STARTS: rules.starts,
        book.MEMBERS: rules.set_masks,
        book.NEED: rules.need,
        book.BASE: rules.base,
        book.INDEX: np.cumsum([0, *(len(numbers) for numbers in rules.begins)]),
        book.LISTED: [number for numbers in rules.begins for number in numbers],
        book.ANCHORED: rules.anchored,
    }
    parts = [header]
    size = book.HEADER
    for place, content in tables.items():
        header[place] = size
        part = np.asarray(content, np.int64).reshape(-1)
        parts.append(part)
        size += len(part)
    for place, count in counts.items():
        header[place] = count
    return np.concatenate(parts)
