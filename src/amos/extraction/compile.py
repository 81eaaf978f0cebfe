"""Turn the parsed grammar into the integer arrays that the kernels read, and check it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from amos.errors import SchemaError
from amos.extraction.grammar_text import CAPTURES, Element, GrammarText, Pattern
from amos.kernels import book, features, match, tokens, words

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
    "reported": features.REPORTED,
    "denied": features.DENIED,
    "tag_question": features.TAG_WORD,
    **{
        name: features.FIRST_CUE << place
        for place, name in enumerate(
            (
                "hypothetical",
                "conditional",
                "hedged",
                "ironic",
                "irony_mark",
                "request",
                "correction",
                "remember",
                "standing",
                "obligation",
                "desired",
                "morning",
                "afternoon",
                "evening",
                "night",
                "past",
                "machine",
                "addressed",
                "small_talk",
                "smell",
            )  # fmt: skip
        )
    },
}
"""Bit of each cue that the grammar may name."""

_TIME_KINDS = {
    "until": features.UNTIL, "from": features.FROM, "every": features.EVERY, "past": features.PAST,
    "next": features.NEXT, "now": features.NOW, "date": features.DATE, "by": features.BY,
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
    tok = [0] * (book.T * (len(raw) + 2))
    frame = [0] * (book.NEEDED + 1)
    bare = [*words.byte_kinds(), *[0] * 64]
    bare[book.SLOTS] = bare[book.WORDS] = len(bare) - 1
    count = tokens.tokenise(raw, 0, len(raw), bare, tok, frame)
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
        key = (state << 24) | word
        place = (key * 40503) & (size - 1)
        while keys[place]:
            place = (place + 1) & (size - 1)
        keys[place], following[place] = key, target
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
        opening = own[0] & (features.FIRST | features.SUBJECT)
        rows[lexicon.numbers[phrase], book.FEATURES] |= np.bitwise_or.reduce(own & features.FINITE) | opening
    for head in lexicon.phrase_heads:
        rows[head, book.FEATURES] |= features.PHRASE_HEAD
    for name, listed in table.times.items():
        for word in listed:
            rows[lexicon.numbers[word], book.TIME_KIND_OF] = _TIME_KINDS[name]
    for (name, reach), listed in table.cues.items():
        for word in listed:
            rows[lexicon.numbers[word], reaches[reach]] |= CUES[name]
    return rows


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

    def masks(self) -> np.ndarray[Any, Any]:
        """Return (words, masks): per word the sets that it belongs to, MASK_BITS sets a number."""
        count = -(-max(1, len(self._numbers)) // book.MASK_BITS)
        masks = np.zeros((len(self._lexicon.words), count), np.int64)
        for members, number in self._numbers.items():
            masks[sorted(members), number // book.MASK_BITS] |= 1 << (number % book.MASK_BITS)
        return masks


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
    opening: list[str] = []
    for element in pattern.elements:
        if element.kind in ("one", "negates"):
            return (*opening, *element.words)
        if element.kind in ("maybe", "may_negate", "many"):
            opening.extend(element.words)
        elif element.kind not in ("head", "anywhere", "open", "not_next", "no_time", "name_before"):
            return None
    return None


def key_words(pattern: Pattern) -> tuple[str, ...] | None:
    """Return the rarest word list that the pattern cannot do without, None when all are frequent."""
    needed = [element.words for element in pattern.elements if element.kind in ("one", "negates")]
    rare = [listed for listed in needed if not _COMMON & set(listed)]
    return min(rare, key=len) if rare else None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The patterns as numbers: operations and where each pattern's begin; set masks per word; which
    patterns a word makes possible, and which are always; the patterns by first word; those that
    begin with a capture."""

    operations: list[tuple[int, int, int, int]]
    starts: list[int]
    set_masks: np.ndarray[Any, Any]
    need: np.ndarray[Any, Any]
    base: np.ndarray[Any, Any]
    begins: list[list[int]]
    anchored: list[int]


def build_rules(table: GrammarText, lexicon: Lexicon) -> Rules:
    """Number the patterns in table order."""
    sets = SetTable(lexicon)
    size, masks = len(lexicon.words), -(-len(table.patterns) // book.MASK_BITS)
    need, base = np.zeros((size, masks), np.int64), np.zeros(masks, np.int64)
    operations: list[tuple[int, int, int, int]] = []
    starts: list[int] = []
    begins: list[list[int]] = [[] for _ in range(size)]
    anchored: list[int] = []
    for number, pattern in enumerate(table.patterns):
        starts.append(4 * len(operations))
        operations.extend(pattern_operations(pattern, sets))
        bit, mask = np.int64(1 << (number % book.MASK_BITS)), number // book.MASK_BITS
        keys = key_words(pattern)
        if keys is None:
            base[mask] |= bit
        need[sorted({lexicon.numbers[word] for word in keys or ()}), mask] |= bit
        opening = first_words(pattern)
        if opening is None:
            anchored.append(number)
        for start in {lexicon.numbers[word] for word in opening or ()}:
            begins[start].append(number)
    return Rules(
        operations=operations, starts=starts, set_masks=sets.masks(), need=need, base=base, begins=begins,
        anchored=anchored,
    )  # fmt: skip


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
        for listed in lists:
            entries.update(listed)
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
