"""Mend a word of a question that nothing visible holds, if a known word is close enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from amos.retrieval.cues import Cue, CueTerm, is_spellable
from amos.retrieval.postings import Postings
from amos.retrieval.view import View
from amos.retrieval.words import term_hash

_MOST_TRIED = 64
_MOST_WORDS = 16
"""Unknown words mended per question; one with more is not a question with slips of the pen."""
_MOST_KEPT = 3
_MOST_REMEMBERED = 65_536
"""Unknown words of which a view remembers the known ones nearest to them."""
_LONG_WORD = 8
"""From here on two slips are mended, below it one."""


def mended(view: View, cue: Cue) -> Cue:
    """Return the cue with unknown plain words replaced by the visible words nearest to them.

    Only the first sixteen unknown words are looked at.
    """
    unknown = [number for number, term in enumerate(cue.terms) if _is_unknown(view, term)][:_MOST_WORDS]
    if not unknown:
        return cue
    terms = list(cue.terms)
    for number in unknown:
        terms[number] = _mended_term(view, terms[number])
    return replace(cue, terms=tuple(terms))


def _is_unknown(view: View, term: CueTerm) -> bool:
    is_known = any(view.frequency(value) for value in term.hashes)
    return term.is_required and not is_known and is_spellable(term.texts[0])


def _mended_term(view: View, term: CueTerm) -> CueTerm:
    near = view.spelt.get(term.texts[0])
    if near is None:
        if len(view.spelt) >= _MOST_REMEMBERED:
            view.spelt.clear()
        near = view.spelt[term.texts[0]] = _nearest(view, term.texts[0])
    if not near:
        return term
    hashes = tuple(term_hash(name) for name in near)
    return replace(term, hashes=hashes, texts=near, is_misspelt=True)


def _nearest(view: View, word: str) -> tuple[str, ...]:
    """Return the visible words at the least distance from `word`, at most three, in a fixed order."""
    allowed = 1 if len(word) < _LONG_WORD else 2
    found: set[tuple[int, str]] = set()
    for documents in (view.corpus.turns, view.corpus.atoms):
        for postings, _ in documents.parts:
            alike = _sharing_pairs(postings, word, allowed)
            # what is hidden must not use up the tries of what is seen
            seen = (name for name in alike if view.frequency(term_hash(name)))
            for name in islice(seen, _MOST_TRIED):
                distance = slips_between(word, name, allowed)
                if distance <= allowed:
                    found.add((distance, name))
    least = min((distance for distance, _ in found), default=0)
    return tuple(sorted(name for distance, name in found if distance == least)[:_MOST_KEPT])


def _sharing_pairs(postings: Postings, word: str, allowed: int) -> Iterator[str]:
    """Yield the terms of about the same length that share enough letter pairs with `word`, most first."""
    raw = np.frombuffer(word.encode(), np.uint8).astype(np.uint16)
    is_wanted = np.zeros(1 << 16, np.uint8)
    is_wanted[raw[:-1] << 8 | raw[1:]] = 1
    sizes = np.diff(postings.name_starts)
    fits = np.flatnonzero(np.abs(sizes - len(raw)) <= 4 * allowed)
    if len(postings.letter_pairs) < 1 or not len(fits):
        return
    running = np.zeros(len(postings.letter_pairs) + 1, np.int32)
    np.cumsum(is_wanted[postings.letter_pairs], dtype=np.int32, out=running[1:])
    starts, ends = postings.name_starts[:-1][fits], postings.name_starts[1:][fits] - 1
    shared = running[np.maximum(ends, starts)] - running[starts]
    least = max(1, len(raw) - 1 - 3 * allowed)
    kept = np.flatnonzero(shared >= least)
    best = kept[np.argsort(-shared[kept], kind="stable")]
    for at in fits[best].tolist():
        if (name := postings.name(at)).isalpha():
            yield name


def slips_between(left: str, right: str, most: int) -> int:
    """Return the number of letters added, dropped, changed or swapped; `most` + 1 stands for more.

    Source: the optimal string alignment distance, cut off at `most`.
    """
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        two_back, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, two_back[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
