"""Find memories that a reply repeats, and tell what that may add to their confidence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.errors import UsageError

RULE = "echo@1"
SHORTEST = 12
"""Characters of the shortest memory that is looked for: less is said by chance."""
WINDOW = 80
"""Characters of a memory, from its beginning, that a reply must repeat."""
STEP_PPM = 20_000
MOST_PPM = 100_000
"""What one conversation adds to confidence, and all of them together."""
WHOLE_PPM = 1_000_000

_QUOTES = str.maketrans("’‘“”", "''\"\"")
_OPENING = re.compile(r"user(?:('s)| (\w+))(?= )")
_TOLD = {
    "likes": "like", "avoids": "avoid", "wants": "want", "does": "do", "has": "have", "is": "are",
    "asks": "ask", "drinks": "drink", "eats": "eat", "uses": "use", "wears": "wear", "plays": "play",
    "speaks": "speak", "studies": "study", "teaches": "teach", "keeps": "keep", "grows": "grow",
    "collects": "collect", "drives": "drive", "rides": "ride", "takes": "take", "rents": "rent",
    "raises": "raise", "breeds": "breed", "brews": "brew", "reads": "read", "cooks": "cook",
    "bakes": "bake", "owns": "own", "promised": "promised",
}  # fmt: skip
_THEIRS = {"their": "your", "them": "you", "theirs": "yours", "themselves": "yourself"}
_YOURS = {
    "i": "you", "my": "your", "me": "you", "mine": "yours", "am": "are", "i'm": "you're", "i've": "you've",
    "i'll": "you'll", "i'd": "you'd", "myself": "yourself",
}  # fmt: skip
_FIRST_PERSON = re.compile(r"\b(?:i'(?:m|ve|ll|d)|i|my|me|mine|am|myself)\b")
_ENDS = ".!?。 "
_WORD = re.compile(r"[a-z0-9]+")
_TEMPLATE_TEXT = """
    user i you my your me mine yours am is are was m re s ve ll d myself yourself they their them theirs
    themselves
"""
_TEMPLATE = frozenset(("", *_TEMPLATE_TEXT.split()))
"""Words that a memory may be told with or without: they tell none apart."""
_THIRD_PERSON = re.compile(r"\b(?:their|them|theirs|themselves)\b")


def echo_text(text: str) -> str:
    """Return `text` as it is compared: case folded, white space collapsed, quotation marks straight."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return " ".join(text.casefold().split())


def windows_of(statement: str, excerpt: str = "") -> tuple[str, ...]:
    """Return what a reply must hold to repeat a memory, each long enough and at most `WINDOW` characters.

    statement: as it is shown; it is looked for as it is and as it is told to the user.  excerpt: the
    words that it rests on, looked for in the same two ways.
    """
    shown, cited = (echo_text(text).rstrip(_ENDS) for text in (statement, excerpt))
    told = _FIRST_PERSON.sub(lambda one: _YOURS[one[0]], cited)
    forms = dict.fromkeys(form[:WINDOW] for form in (shown, _told(shown), cited, told))
    return tuple(form for form in forms if len(form) >= SHORTEST)


def _told(shown: str) -> str:
    """Return a folded statement about the user as one tells it to them; empty for any other."""
    opening = _OPENING.match(shown)
    if opening is None:
        return ""
    rest = _THIRD_PERSON.sub(lambda one: _THEIRS[one[0]], shown[opening.end() :])
    if opening[1]:
        return f"your{rest}"
    return f"you {_TOLD[opening[2]]}{rest}" if opening[2] in _TOLD else ""


def may_echo(forms: Iterable[pa.Array], replies: Iterable[str]) -> NDArray[np.bool_]:
    """Return which memories some of `replies` may repeat, never too few: (n,) booleans, in bulk.

    forms: per way to repeat a memory (n,) words that its window holds whole.  Who repeats a memory says all
    of them, so one of which a telling word is missing in all replies is repeated by none.
    """
    said = {word for reply in replies for word in _WORD.findall(echo_text(reply))} | _TEMPLATE
    known = pa.array(sorted(said), pa.string())
    kept: NDArray[np.bool_] | None = None
    for texts in forms:
        lists = pc.split_pattern_regex(pc.ascii_lower(texts), "[^a-z0-9]+")
        is_missing = ~pc.is_in(lists.flatten(), value_set=known).to_numpy(zero_copy_only=False)
        missing = np.concatenate(([0], np.cumsum(is_missing)))
        edges = lists.offsets.to_numpy()
        holds = missing[edges[1:]] == missing[edges[:-1]]
        holds |= ~pc.string_is_ascii(texts).to_numpy(zero_copy_only=False)
        kept = holds if kept is None else kept | holds
    assert kept is not None
    return kept


def whole_words(texts: pa.Array) -> pa.Array:
    """Return the words at the beginning of `texts` that a window holds whole."""
    head = pc.utf8_slice_codeunits(texts, 0, WINDOW)
    is_cut = pc.greater(pc.utf8_length(texts), WINDOW)
    return pc.if_else(is_cut, pc.replace_substring_regex(head, r"\S*$", ""), head)


class Echoes:
    """The windows of many memories, found in a reply in one pass over it.

    windows: (n,) what to look for, per memory; see `windows_of`.
    """

    def __init__(self, windows: Iterable[Sequence[str]]) -> None:
        self._numbers: dict[str, list[int]] = {}
        lengths: dict[str, set[int]] = {}
        for number, forms in enumerate(windows):
            for form in forms:
                self._numbers.setdefault(form, []).append(number)
                lengths.setdefault(form[:SHORTEST], set()).add(len(form))
        self._lengths = {start: tuple(sorted(found)) for start, found in lengths.items()}
        """By the first characters of windows: how long those are that begin so, at most `WINDOW`."""

    def found_in(self, *texts: str) -> list[int]:
        """Return the numbers of the memories that `texts` repeat, each once, in order.

        The work grows with the texts alone: at one place at most as many windows are compared as there
        are lengths of windows.
        """
        found: set[int] = set()
        for text in texts:
            reply = echo_text(text)
            for start in range(len(reply) - SHORTEST + 1):
                for length in self._lengths.get(reply[start : start + SHORTEST], ()):
                    numbers = self._numbers.get(reply[start : start + length])
                    if numbers is not None and _is_whole(reply, start, length):
                        found.update(numbers)
        return sorted(found)


def _is_whole(reply: str, start: int, length: int) -> bool:
    """Tell whether a window stands in `reply` as whole words; one that was cut may end inside one."""
    end = start + length
    is_begun = start == 0 or not (reply[start - 1].isalnum() and reply[start].isalnum())
    is_cut = length == WINDOW
    return is_begun and (
        is_cut or end >= len(reply) or not (reply[end].isalnum() and reply[end - 1].isalnum())
    )


def check_delta(delta: float) -> int:
    """Return `delta` in parts per million.  Raises UsageError when it is negative, or more than all of it."""
    if not 0 <= delta <= MOST_PPM / WHOLE_PPM:
        raise UsageError(
            f"a reinforcement of {delta:g} is not between 0 and {MOST_PPM / WHOLE_PPM:g}",
            advice="An echo only ever raises confidence; to lower it, say what is right instead.",
        )
    return round(delta * WHOLE_PPM)


def reinforcement_ppm(deltas: Mapping[bytes, int]) -> int:
    """Return what echoes add together: the most that each conversation adds, up to `MOST_PPM`.

    deltas: by conversation.
    """
    return min(MOST_PPM, sum(deltas.values()))


def effective_ppm(confidence_ppm: int, reinforced_ppm: int) -> int:
    """Return confidence as it ranks: from evidence, and from being of use."""
    return min(WHOLE_PPM, confidence_ppm + reinforced_ppm)
