"""Number the words and phrases of the grammar and lay out what the kernels ask of each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from amos.extraction.grammar_text import GrammarText
from amos.kernels import book, features, segments, tokens, words

_NAMED_CUES = (
    "hypothetical", "conditional", "hedged", "ironic", "irony_mark", "request", "correction", "remember",
    "standing", "obligation", "desired", "morning", "afternoon", "evening", "night", "past", "machine",
    "addressed", "small_talk", "promised",
)  # fmt: skip
CUES = {
    "reported": features.REPORTED,
    "denied": features.DENIED,
    "tag_question": features.TAG_WORD,
    **{name: features.FIRST_CUE << place for place, name in enumerate(_NAMED_CUES)},
}
"""Bit of each cue that the grammar may name."""

_TIME_KINDS = {
    "until": features.UNTIL, "from": features.FROM, "every": features.EVERY, "past": features.PAST,
    "next": features.NEXT, "now": features.NOW, "date": features.DATE, "by": features.BY,
}  # fmt: skip


_INHERITED = features.FIRST | features.SUBJECT | features.AUXILIARY | features.BARRIER | features.NOMINATIVE
"""Features that a phrase takes from its first word; it is finite when any word is."""


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """Every word and phrase of the grammar by number; 0 stands for any other word."""

    words: tuple[str, ...]
    numbers: dict[str, int]
    slots: np.ndarray[Any, Any]
    starts: np.ndarray[Any, Any]
    pool: bytes
    phrase_keys: np.ndarray[Any, Any]
    phrase_next: np.ndarray[Any, Any]
    phrase_accept: np.ndarray[Any, Any]
    phrases: dict[str, list[str]]

    @property
    def phrase_heads(self) -> frozenset[int]:
        """Numbers of the words that open a phrase."""
        return frozenset(self.numbers[parts[0]] for parts in self.phrases.values())


@functools.cache
def _bare_book() -> list[int]:
    """Return a grammar without a word or a pattern, by which text is only cut."""
    bare = [*words.byte_kinds(), *[0] * 64]
    bare[book.SLOTS] = bare[book.WORDS] = len(bare) - 1
    return bare


def split_words(text: str) -> list[str]:
    """Return the tokens of a lexicon entry, folded, as the kernel cuts them."""
    if text.startswith("'") and len(text) > 1:
        return split_words("x" + text)[1:]  # an ending is only cut from a word
    raw = text.encode()
    tok = [0] * (book.T * (len(raw) + 2))
    frame = [0] * (book.NEEDED + 1)
    count = tokens.tokenise(raw, 0, len(raw), _bare_book(), tok, frame)
    spans = [(tok[t * book.T + book.START], tok[t * book.T + book.END]) for t in range(count)]
    return [raw[start:end].decode().lower().replace("’", "'") for start, end in spans]


def _power_of_two(least: int) -> int:
    return 1 << max(4, (least - 1).bit_length())


def _hash_slots(listed: list[bytes]) -> np.ndarray[Any, Any]:
    size = _power_of_two(8 * len(listed))
    slots = np.zeros(size, np.int32)
    for number, word in enumerate(listed):
        if number == 0:
            continue
        place = words.fold_hash(word, 0, len(word)) & (size - 1)
        while slots[place]:
            place = (place + 1) & (size - 1)
        slots[place] = number
    return slots


def build_lexicon(entries: set[str]) -> Lexicon:
    """Number the words and phrases of `entries`; phrases also bring in their single words."""
    pieces = {entry: split_words(entry) for entry in entries}
    single = sorted({word for parts in pieces.values() for word in parts})
    phrases = sorted(entry for entry, parts in pieces.items() if len(parts) > 1)
    listed = ["", *single, *phrases]
    numbers = {word: number for number, word in enumerate(listed)}
    numbers.update({entry: numbers[parts[0]] for entry, parts in pieces.items() if len(parts) == 1})
    encoded = [word.encode() for word in ["", *single]]
    starts = np.cumsum([0, *(len(word) for word in encoded)]).astype(np.int32)
    states: dict[tuple[int, int], int] = {}
    accept = [0] * len(listed)
    for phrase in phrases:
        state = numbers[pieces[phrase][0]]
        for part in pieces[phrase][1:]:
            edge = (state, numbers[part])
            if edge not in states:
                states[edge] = len(accept)
                accept.append(0)
            state = states[edge]
        accept[state] = numbers[phrase]
    keys, following = _phrase_table(states)
    return Lexicon(
        words=tuple(listed),
        numbers=numbers,
        slots=_hash_slots(encoded),
        starts=starts,
        pool=b"".join(encoded) or b"\0",
        phrase_keys=keys,
        phrase_next=following,
        phrase_accept=np.array(accept, np.int32),
        phrases={phrase: pieces[phrase] for phrase in phrases},
    )


def _phrase_table(states: dict[tuple[int, int], int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    size = _power_of_two(4 * (len(states) + 1))
    keys, following = np.zeros(size, np.int64), np.zeros(size, np.int32)
    for (state, word), target in states.items():
        place = segments.phrase_place(state, word, size - 1)
        probes = 1
        while keys[place]:
            place = (place + 1) & (size - 1)
            probes += 1
        assert probes <= segments.LONGEST_PROBE, "a phrase would never be found"
        keys[place], following[place] = (state << 24) | word, target
    return keys, following


def word_table(table: GrammarText, lexicon: Lexicon) -> np.ndarray[Any, Any]:
    """Return (words, W): features, time kind, and cues by reach (clause, sentence, onward, message)."""
    rows = np.zeros((len(lexicon.words), book.W), np.int64)
    reaches = {"clause": book.CLAUSE_CUE, "sentence": book.SENTENCE_CUE}
    reaches |= {"onward": book.ONWARD_CUE, "message": book.MESSAGE_CUE}
    for name, listed in table.tags.items():
        for word in listed:
            rows[lexicon.numbers[word], book.FEATURES] |= getattr(features, name.upper())
    for phrase, parts in lexicon.phrases.items():
        own = rows[[lexicon.numbers[part] for part in parts], book.FEATURES]
        opening = own[0] & (_INHERITED)
        rows[lexicon.numbers[phrase], book.FEATURES] |= np.bitwise_or.reduce(own & features.FINITE) | opening
    for head in lexicon.phrase_heads:
        rows[head, book.FEATURES] |= features.PHRASE_HEAD
    for whole, (first, second) in table.fused.items():
        fused = (lexicon.numbers[first], lexicon.numbers[second], len(first))
        rows[lexicon.numbers[whole], [book.FUSED_HEAD, book.FUSED_TAIL, book.FUSED_AT]] = fused
    for name, listed in table.times.items():
        for word in listed:
            rows[lexicon.numbers[word], book.TIME_KIND_OF] = _TIME_KINDS[name]
    for (name, reach), listed in table.cues.items():
        for word in listed:
            rows[lexicon.numbers[word], reaches[reach]] |= CUES[name]
    return rows


def entries_of(table: GrammarText) -> set[str]:
    """Return every word and phrase that the grammar names."""
    entries: set[str] = set()
    for lists in (table.tags.values(), table.times.values(), table.cues.values(), table.sets.values()):
        for listed in lists:
            entries.update(listed)
    for whole, parts in table.fused.items():
        entries.update((whole, *parts))
    for pattern in table.patterns:
        for element in pattern.elements:
            entries.update(element.words)
    return entries
