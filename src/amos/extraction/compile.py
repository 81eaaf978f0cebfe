"""Turn the parsed grammar into the integer arrays that the kernels read, and check it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from amos.errors import SchemaError
from amos.extraction.grammar_text import CAPTURES, Element, GrammarText, Pattern
from amos.kernels import match, segments, tokens

_OPERATIONS = {
    "one": match.ONE,
    "maybe": match.MAYBE,
    "many": match.MANY,
    "may_negate": match.MAY_NEGATE,
    "negates": match.NEGATES,
    "not_next": match.NOT_NEXT,
    "slot": match.SLOT,
    "rest": match.REST,
    "name_before": match.NAME_BEFORE,
    "name": match.NAME,
    "head": match.AT_HEAD,
    "open": match.OPEN,
    "close": match.CLOSE,
    "time": match.TIME,
    "steps": match.STEPS,
    "no_time": match.NO_TIME_HERE,
    "end": match.AT_END,
}

CUES = {
    "reported": match.REPORTED,
    "denied": match.DENIED,
    "tag_question": match.TAG_WORD,
    **{
        name: 1 << (5 + place)
        for place, name in enumerate(
            (
                "hypothetical", "conditional", "hedged", "ironic", "irony_mark", "request", "correction",
                "remember", "standing", "obligation", "desired", "morning", "afternoon", "evening", "night",
                "past", "machine", "addressed", "small_talk", "smell",
            )  # fmt: skip
        )
    },
}
"""Bit of each cue that the grammar may name."""

_TIME_KINDS = {
    "until": segments.UNTIL, "from": segments.FROM, "every": segments.EVERY, "past": segments.PAST,
    "next": segments.NEXT, "now": segments.NOW, "date": segments.DATE, "by": segments.BY,
}  # fmt: skip

_COMMON = frozenset(
    "i my our we is are was were 's 're am 'm be been a an the this that it in on at to of for and as not "
    "do have has had 've will 'll you he she they his her their its with by from has no never".split()
)
"""Words too frequent to tell patterns apart."""


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


def split_words(text: str) -> list[str]:
    """Return the tokens of a lexicon entry, folded, as the kernel cuts them."""
    if text.startswith("'") and len(text) > 1:
        return split_words("x" + text)[1:]  # an ending is only cut from a word
    raw = text.encode()
    size = len(raw) + 40
    tok = tuple([0] * size for _ in range(4))
    spare = tuple([0] * size for _ in range(4))
    lex = (tokens.byte_kinds(), [0] * 8, [0, 0], b"")
    count = tokens.tokenise(raw, 0, len(raw), lex, tok, spare, [0] * tokens.STATE_SIZE, [0])
    return [raw[tok[0][t] : tok[1][t]].decode().lower().replace("’", "'") for t in range(count)]


def _power_of_two(least: int) -> int:
    return 1 << max(4, (least - 1).bit_length())


def _hash_slots(words: list[bytes]) -> np.ndarray[Any, Any]:
    size = _power_of_two(8 * len(words))
    slots = np.zeros(size, np.int32)
    for number, word in enumerate(words):
        if number == 0:
            continue
        place = tokens.fold_hash(word, 0, len(word)) & (size - 1)
        while slots[place]:
            place = (place + 1) & (size - 1)
        slots[place] = number
    return slots


def build_lexicon(entries: set[str]) -> Lexicon:
    """Number the words and phrases of `entries`; phrases also bring in their single words."""
    pieces = {entry: split_words(entry) for entry in entries}
    single = sorted({word for parts in pieces.values() for word in parts})
    phrases = sorted(entry for entry, parts in pieces.items() if len(parts) > 1)
    words = ["", *single, *phrases]
    numbers = {word: number for number, word in enumerate(words)}
    numbers.update({entry: numbers[parts[0]] for entry, parts in pieces.items() if len(parts) == 1})
    encoded = [word.encode() for word in ["", *single]]
    starts = np.cumsum([0, *(len(word) for word in encoded)]).astype(np.int32)
    states: dict[tuple[int, int], int] = {}
    accept = [0] * len(words)
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
        words=tuple(words),
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
        key = (state << 24) | word
        place = (key * 40503) & (size - 1)
        while keys[place]:
            place = (place + 1) & (size - 1)
        keys[place], following[place] = key, target
    return keys, following


def word_arrays(table: GrammarText, lexicon: Lexicon) -> tuple[np.ndarray[Any, Any], ...]:
    """Return (features, time kinds, clause cues, sentence cues, onward cues, message cues) per word."""
    size = len(lexicon.words)
    features, kinds = np.zeros(size, np.int64), np.zeros(size, np.int64)
    cues = {scope: np.zeros(size, np.int64) for scope in ("clause", "sentence", "onward", "message")}
    for number in lexicon.phrase_heads:
        features[number] |= segments.PHRASE_HEAD
    for name, words in table.tags.items():
        bit = getattr(segments, name.upper())
        for word in words:
            features[lexicon.numbers[word]] |= bit
    for phrase, parts in lexicon.phrases.items():
        verbs = [features[lexicon.numbers[part]] & segments.FINITE for part in parts]
        opening = features[lexicon.numbers[parts[0]]] & (segments.FIRST | segments.SUBJECT)
        features[lexicon.numbers[phrase]] |= max(verbs) | opening
    for name, words in table.times.items():
        for word in words:
            kinds[lexicon.numbers[word]] = _TIME_KINDS[name]
    for (name, scope), words in table.cues.items():
        for word in words:
            cues[scope][lexicon.numbers[word]] |= CUES[name]
    return (features, kinds, *cues.values())


def _capture_number(element: Element) -> int:
    return CAPTURES.index(element.name) if element.name else 0


def _with_start(pattern: Pattern) -> list[Element]:
    """Return the elements with the operation that says where in a clause the pattern may begin."""
    elements = list(pattern.elements)
    if elements[0].kind == "anywhere":
        return elements[1:]
    if elements[0].kind == "head":
        return elements
    free = Element(kind="free")
    return [elements[0], free, *elements[1:]] if elements[0].kind == "name_before" else [free, *elements]


class SetTable:
    """Word sets by content, numbered in order of first use."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._numbers: dict[frozenset[int], int] = {}

    def number(self, words: tuple[str, ...]) -> int:
        """Return the number of the set of `words`."""
        members = frozenset(self._lexicon.numbers[word] for word in words)
        return self._numbers.setdefault(members, len(self._numbers))

    def matrix(self) -> np.ndarray[Any, Any]:
        """Return the flat membership matrix, set by word, one byte each."""
        width = len(self._lexicon.words)
        matrix = np.zeros((max(1, len(self._numbers)), width), np.uint8)
        for members, number in self._numbers.items():
            matrix[number, sorted(members)] = 1
        return matrix.reshape(-1)


def pattern_operations(pattern: Pattern, sets: SetTable) -> list[tuple[int, int, int, int]]:
    """Return the operations of one pattern, DONE last."""
    rows = []
    opened = 0
    for element in _with_start(pattern):
        if element.kind in ("free", "close"):
            rows.append((match.AT_FREE if element.kind == "free" else match.CLOSE, opened, 0, 0))
            continue
        if element.kind == "open":
            opened = _capture_number(element)
        argument = sets.number(element.words) if element.words else _capture_number(element)
        rows.append((_OPERATIONS[element.kind], argument, element.low, element.high))
    return [*rows, (match.DONE, 0, 0, 0)]


def first_words(pattern: Pattern) -> tuple[str, ...] | None:
    """Return the words that a match may begin with, None when it begins with a capture."""
    words: list[str] = []
    for element in pattern.elements:
        if element.kind in ("one", "negates"):
            return (*words, *element.words)
        if element.kind in ("maybe", "may_negate", "many"):
            words.extend(element.words)
        elif element.kind not in ("head", "anywhere", "open", "not_next", "no_time", "name_before"):
            return None
    return None


def key_words(pattern: Pattern) -> tuple[str, ...] | None:
    """Return the rarest word list that the pattern cannot do without, None when all are frequent."""
    needed = [element.words for element in pattern.elements if element.kind in ("one", "negates")]
    rare = [words for words in needed if not _COMMON & set(words)]
    return min(rare, key=len) if rare else None


def rule_arrays(table: GrammarText, lexicon: Lexicon) -> tuple[np.ndarray[Any, Any], ...]:
    """Return (operations, starts, members, needed patterns per word, base, index, list, anchored,
    late): `late` holds the number of the first late pattern."""
    sets = SetTable(lexicon)
    size, count = len(lexicon.words), len(table.patterns)
    masks = -(-count // match.MASK_BITS)
    need, base = np.zeros((size, masks), np.int64), np.zeros(masks, np.int64)
    operations: list[tuple[int, int, int, int]] = []
    starts: list[int] = []
    begins: list[list[int]] = [[] for _ in range(size)]
    anchored: list[int] = []
    for number, pattern in enumerate(table.patterns):
        starts.append(len(operations))
        operations.extend(pattern_operations(pattern, sets))
        bit, mask = np.int64(1 << (number % match.MASK_BITS)), number // match.MASK_BITS
        keys = key_words(pattern)
        if keys is None:
            base[mask] |= bit
        for word in keys or ():
            need[lexicon.numbers[word], mask] |= bit
        opening = first_words(pattern)
        if opening is None:
            anchored.append(number)
        for start in sorted({lexicon.numbers[word] for word in opening or ()}):
            begins[start].append(number)
    index = np.cumsum([0, *(len(listed) for listed in begins)]).astype(np.int32)
    listed = np.array([number for numbers in begins for number in numbers] or [0], np.int32)
    return (
        np.array(operations, np.int32).reshape(-1),
        np.array(starts, np.int32),
        sets.matrix(),
        need.reshape(-1),
        base,
        index,
        listed,
        np.array(anchored, np.int32),
        np.array([first_late(table)], np.int32),
    )


def first_late(table: GrammarText) -> int:
    """Return the number of the first pattern that is tried only where nothing else matched."""
    late = [number for number, pattern in enumerate(table.patterns) if pattern.settings.get("late") == "yes"]
    if late and late[0] + len(late) != len(table.patterns):
        raise SchemaError("late patterns must stand last", advice="Move them to the end of the last file.")
    return late[0] if late else len(table.patterns)


def entries_of(table: GrammarText) -> set[str]:
    """Return every word and phrase that the grammar names."""
    entries: set[str] = set()
    for lists in (table.tags.values(), table.times.values(), table.cues.values(), table.sets.values()):
        for words in lists:
            entries.update(words)
    for pattern in table.patterns:
        for element in pattern.elements:
            entries.update(element.words)
    return entries


def lint(table: GrammarText) -> list[str]:
    """Return what is wrong with the grammar: unused sets, patterns without a word, shadowed ones."""
    problems = [f"set {name} is never used" for name in sorted(set(table.sets) - table.used)]
    for place, pattern in enumerate(table.patterns):
        kinds = {element.kind for element in pattern.elements}
        if not kinds & {"one", "negates"}:
            problems.append(f"{pattern.name} (line {pattern.line}) needs no word at all")
        if first_words(pattern) is None and pattern.elements[0].kind != "head":
            problems.append(f"{pattern.name} (line {pattern.line}) begins with a capture but not at ^")
        for earlier in table.patterns[:place]:
            if _shadows(earlier.elements, pattern.elements):
                problems.append(f"{pattern.name} (line {pattern.line}) is shadowed by {earlier.name}")
    return problems


def _shadows(earlier: tuple[Element, ...], later: tuple[Element, ...]) -> bool:
    """Tell whether `earlier` takes everything that `later` could match."""
    for place, element in enumerate(earlier):
        if element.kind == "rest":
            return place < len(later) and later[place].kind not in ("time",)
        if place >= len(later):
            return False
        other = later[place]
        is_equal = element.kind == other.kind and (element.low, element.high) == (other.low, other.high)
        if not is_equal or not set(element.words) >= set(other.words):
            return False
    return False


def check_grammar(table: GrammarText) -> None:
    """Raise SchemaError naming every problem that `lint` finds."""
    problems = lint(table)
    if problems:
        raise SchemaError("grammar: " + "; ".join(problems), advice="Correct these lines of the grammar.")
