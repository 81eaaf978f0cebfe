"""Screen one text exactly: every rule, on the text itself and on what one layer of decoding shows."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Callable, Iterator
from enum import IntFlag

import numpy as np
import numpy.typing as npt

from amos.extraction.screen_exclusions import find_built_exclusions, find_exclusions
from amos.extraction.screen_instructions import find_instructions
from amos.extraction.screen_json import JsonString, RawPlaces, json_strings
from amos.extraction.screen_near import find_near
from amos.extraction.screen_numbers import find_numbers
from amos.extraction.screen_phrases import find_phrases
from amos.extraction.screen_sayings import find_sayings
from amos.extraction.screen_secrets import find_assignments, find_keys, is_credential, names_a_secret
from amos.extraction.screen_view import Hit, base64_texts, byte_offsets, decoded_view
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_FAR = 1 << 62
_WORD = pattern_of(r"\w+")
_SHORTEST_FIND = 7  # "pin=123"
_SHORTEST_COPY = 6
_MOST_SECRETS = 64  # searched one by one; more are a dump


class Family(IntFlag):
    """Families of rules: which of them a text needs."""

    KEYS = 1
    ASSIGNMENTS = 2
    NUMBERS = 4
    PHRASES = 8
    EXCLUSIONS = 16
    ORDERS = 32
    BASE64 = 64
    DISGUISE = 128
    SILENCE = 256
    ALL = 511


_ALL, _BASE64, _DISGUISE = map(int, (Family.ALL, Family.BASE64, Family.DISGUISE))
_VIEW_SHIFT = 9
EVERYTHING = _ALL | _ALL << _VIEW_SHIFT
"""All families, on the text and on its decoded view."""

Rules = Callable[[str, int], Iterator[Hit]]
"""Yields the finds of the given families in a text."""


def of_view(families: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return `families` moved to where `find_hits` expects those of the decoded view."""
    return families << _VIEW_SHIFT


@functools.cache
def message_rules(*, is_message: bool, may_instruct: bool) -> Rules:
    """Return the rules for prose: secrets, exclusions and, unless orders are allowed, instructions."""
    families_of: list[tuple[Family, Callable[[str], Iterator[Hit]]]] = [
        (Family.KEYS, find_keys),
        (Family.ASSIGNMENTS, find_assignments),
        (Family.NUMBERS, find_numbers),
        (Family.PHRASES, find_phrases),
        (Family.PHRASES, find_sayings),
        (Family.PHRASES, find_near),
        (Family.EXCLUSIONS, functools.partial(find_exclusions, is_message=is_message)),
        (Family.SILENCE, functools.partial(find_built_exclusions, is_message=is_message)),
    ]
    if not may_instruct:
        families_of.append((Family.ORDERS, find_instructions))
    searches = [(int(family), search) for family, search in families_of]  # plain bits: texts are many

    def rules(text: str, families: int) -> Iterator[Hit]:
        if len(text) >= _SHORTEST_FIND:
            for family, search in searches:
                if families & family:
                    yield from search(text)

    return rules


def copy_rules(content: str, hits: list[Hit]) -> Rules:
    """Return rules that find again, in other strings, what `hits` (in bytes) cut from `content`.

    Of an excluded message every prose string goes, and every string that is one of its
    words; beside a dump of many secrets every string of some length goes.
    """
    raw = content.encode()
    secrets = {
        raw[hit.start : hit.end].decode() for hit in hits if hit.reason != Reason.EXPLICIT_EXCLUSION_SIGNAL
    }
    excluded = [
        raw[hit.start : hit.end].decode() for hit in hits if hit.reason == Reason.EXPLICIT_EXCLUSION_SIGNAL
    ]
    words = set(_WORD.findall(" ".join(excluded)))
    values = {secret for secret in secrets if len(secret) >= _SHORTEST_COPY}
    is_dump = len(values) > _MOST_SECRETS

    def rules(text: str, _families: int) -> Iterator[Hit]:
        if excluded and (" " in text or text in words):
            yield Hit(0, len(text), "copy_of_excluded", Reason.EXPLICIT_EXCLUSION_SIGNAL)
        if is_dump and len(text) >= _SHORTEST_COPY:
            yield Hit(0, len(text), "copy_of_secret", Reason.SECRET_MATERIAL_DETECTED)
            return
        for value in values:
            for start in _occurrences(text, value):
                yield Hit(start, start + len(value), "copy_of_secret", Reason.SECRET_MATERIAL_DETECTED)

    return rules


def _occurrences(text: str, value: str) -> Iterator[int]:
    start = text.find(value)
    while start >= 0:
        yield start
        start = text.find(value, start + len(value))


def find_in_name(text: str) -> list[Hit]:
    """Return key material in an id, a name or a path, in bytes: long numbers there are no cards."""
    return _in_bytes(text, sorted(set(find_keys(text))))


def find_in_json(document: str, rules: Rules, families: int = EVERYTHING) -> list[Hit]:
    """Return what `rules` find in the strings of a JSON text, in bytes of that text.

    An excluded string goes whole; a value whose key announces a secret does, too.
    """
    hits: set[Hit] = set()
    for string in json_strings(document):
        found = _in_string(string, rules, families)
        if (
            string.key
            and names_a_secret(string.key)
            and is_credential(string.key, string.text, is_quoted=True)
        ):
            found.append(Hit(0, len(string.text), "named_secret", Reason.SECRET_MATERIAL_DETECTED))
        if found:
            places = RawPlaces(document, string)
            hits |= {Hit(places.raw(hit.start), places.raw(hit.end), hit.rule, hit.reason) for hit in found}
    return _in_bytes(document, sorted(hits))


def _in_string(string: JsonString, rules: Rules, families: int) -> list[Hit]:
    return sorted(set(find_keys(string.text))) if string.is_key else find_hits(string.text, rules, families)


def find_in_text(text: str, rules: Rules, families: int = EVERYTHING) -> list[Hit]:
    """Return what `find_hits` finds, in UTF-8 bytes."""
    return _in_bytes(text, find_hits(text, rules, families))


def find_hits(text: str, rules: Rules, families: int = EVERYTHING) -> list[Hit]:
    """Return what `rules` find in `text` and in its decoded layer, in code points, ascending.

    `families` bounds the search: low bits for the text, high bits for its decoded view.
    A find that only decoding brings up comes twice: as `encoded_content` and under its
    own reason, both with the outer range.
    """
    hits = set(rules(text, families))
    view = decoded_view(text) if families & _DISGUISE else None
    if view is not None:
        known = _Known(hits)
        for hit in set(rules(view.text, families >> _VIEW_SHIFT)):
            start, end = view.source_range(hit.start, hit.end)
            if not known.covers(start, end, hit):
                hits |= _encoded(start, end, hit)
    if families & _BASE64:
        for start, end, inner in base64_texts(text):
            for hit in rules(inner, _ALL):
                hits |= _encoded(start, end, hit)
    return sorted(hits)


class _Known:
    """Finds of the plain text, by rule, to tell what only decoding brings up."""

    def __init__(self, hits: set[Hit]) -> None:
        self._ranges: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for hit in sorted(hits):
            self._ranges.setdefault((hit.rule, hit.reason), []).append((hit.start, hit.end))

    def covers(self, start: int, end: int, hit: Hit) -> bool:
        ranges = self._ranges.get((hit.rule, hit.reason), [])
        place = bisect_right(ranges, (start, _FAR)) - 1
        return place >= 0 and ranges[place][1] >= end


def _encoded(start: int, end: int, inner: Hit) -> set[Hit]:
    return {
        Hit(start, end, inner.rule, inner.reason),
        Hit(start, end, f"encoded:{inner.rule}", Reason.ENCODED_CONTENT),
    }


def _in_bytes(text: str, hits: list[Hit]) -> list[Hit]:
    if not hits or text.isascii():
        return hits
    edges = byte_offsets(text, [edge for hit in hits for edge in (hit.start, hit.end)])
    return [
        Hit(start, end, hit.rule, hit.reason)
        for hit, start, end in zip(hits, edges[::2], edges[1::2], strict=True)
    ]
