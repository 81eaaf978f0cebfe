"""Number the patterns of the grammar: operations, word sets, which words make which pattern possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from amos.errors import SchemaError
from amos.extraction.grammar_text import CAPTURES, Element, GrammarText, Pattern
from amos.extraction.lexicon import Lexicon
from amos.kernels import book, match

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

_FREQUENT = frozenset(
    "i my our we is are was were 's 're am 'm be been a an the this that it in on at to of for and as not "
    "do have has had 've will 'll you he she they his her their its with by from has no never".split()
)
"""Words too frequent to tell patterns apart."""


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
    rare = [listed for listed in needed if not _FREQUENT & set(listed)]
    return min(rare, key=len) if rare else None


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The patterns as numbers.

    operations, and in starts where each pattern's begin; set_masks per word; need: which patterns a
    word makes possible, base: which are always; begins: patterns by first word; anchored: those that
    begin with a capture.
    """

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


def first_late(table: GrammarText) -> int:
    """Return the number of the first pattern that is tried only where nothing else matched."""
    late = [number for number, pattern in enumerate(table.patterns) if pattern.settings.get("late") == "yes"]
    if late and late[0] + len(late) != len(table.patterns):
        raise SchemaError("late patterns must stand last", advice="Move them to the end of the last file.")
    return late[0] if late else len(table.patterns)
