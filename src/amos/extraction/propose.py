"""The `rules` extractor: what the texts of a batch claim, by a grammar, with byte spans."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from amos.extraction.claim_rows import claim_rows, place_drafts
from amos.extraction.drafting import Drafter
from amos.extraction.drafts import Draft
from amos.extraction.grammar import CURRENT, Grammar
from amos.extraction.matches import Origin
from amos.extraction.normalise import View, text_buffer, view_texts
from amos.extraction.notes import (
    NO_MODALITY,
    Coded,
    coded,
    notes_table,
    one_array,
    read_reasons,
    unread_reasons,
)
from amos.extraction.read import Matches, read_matches
from amos.kernels.rows import NOTE_CUES, ROW_MESSAGE

EXTRACTOR = CURRENT
"""The extractor that reads unless another one is asked for."""


class Proposal(NamedTuple):
    """claims: CLAIMS, ordered by source, start, end, pattern.  notes: SOURCE_NOTES for the rest."""

    claims: pa.Table
    notes: pa.Table


class Voices(NamedTuple):
    """Texts with a match, each once per trust that it is said with, in order.

    keys: (voices,) pairs of text and trust, as text * trusts + trust.  trusts: what the second stands
    for.  places: (n,) texts of the batch that have a voice, in order.  of_place: (n,) which.
    """

    keys: NDArray[np.int64]
    trusts: list[str]
    places: NDArray[np.int64]
    of_place: NDArray[np.int64]


class Read(NamedTuple):
    """drafts: of all voices, one after another.  counts: (voices,) how many each has.

    is_left_out: (voices,) whether a match claims nothing.
    """

    drafts: list[Draft]
    counts: NDArray[np.int64]
    is_left_out: NDArray[np.bool_]


def propose(sources: pa.Table, grammar: Grammar, *, is_compiled: bool) -> Proposal:
    """Return the claims of `sources` (SEGMENTABLE) and, for each source without one, the reason.

    Pure: the same sources and grammar give the same rows, whichever way the kernels run and
    however the sources are cut into batches.  A text that several sources have is read once.
    """
    unread = unread_reasons(sources)
    rows = np.flatnonzero(unread == 0)
    column = sources["content"] if len(rows) == len(unread) else sources["content"].take(pa.array(rows))
    encoded = one_array(column).dictionary_encode()
    texts, which = encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
    view = view_texts(texts)
    matches = read_matches(view.buffer, view.offsets, grammar, is_compiled=is_compiled)
    trust = coded(sources["trust"]).at(rows)
    voices = _voices(matches, which, trust)
    read = _read_voices(voices, matches, texts, view, grammar)
    placed = place_drafts(read.counts, voices.of_place, rows[voices.places])
    return Proposal(
        claims=claim_rows(read.drafts, placed, sources),
        notes=_notes(unread, rows, matches.notes[which], trust, voices, read),
    )


def _voices(matches: Matches, which: NDArray[np.int64], trust: Coded) -> Voices:
    """Return the voices of sources; which, trust: per source, which text of those matched it has."""
    has_match = np.zeros(len(matches.notes), bool)
    has_match[matches.rows[:, ROW_MESSAGE]] = True
    places = np.flatnonzero(has_match[which])
    pairs = which[places] * len(trust.texts) + trust.codes[places]
    keys, of_place = np.unique(pairs, return_inverse=True)
    return Voices(keys=keys, trusts=trust.texts, places=places, of_place=of_place)


def _read_voices(voices: Voices, matches: Matches, texts: pa.Array, view: View, grammar: Grammar) -> Read:
    """Return the drafts of each voice, ordered by start, end and pattern."""
    buffer, where = text_buffer(texts)
    raw, offsets = buffer.tobytes(), where.tolist()
    numbers = matches.rows.tolist()
    cues = matches.notes[:, NOTE_CUES].tolist()
    first = np.searchsorted(matches.rows[:, ROW_MESSAGE], np.arange(len(texts) + 1)).tolist()
    drafter = Drafter(grammar)
    drafts: list[Draft] = []
    counts, is_left_out = np.zeros(len(voices.keys), np.int64), np.zeros(len(voices.keys), bool)
    for voice, key in enumerate(voices.keys.tolist()):
        text, trust = divmod(key, len(voices.trusts))
        origin = Origin(
            content=raw[offsets[text] : offsets[text + 1]],
            offsets=view.maps.get(text),
            trust=voices.trusts[trust],
            cues=cues[text],
        )
        claimed, is_left_out[voice] = drafter.read(numbers[first[text] : first[text + 1]], origin)
        if len(claimed) > 1:
            claimed.sort(key=lambda draft: (draft.start, draft.end, draft.meaning.name))
        counts[voice] = len(claimed)
        drafts += claimed
    return Read(drafts=drafts, counts=counts, is_left_out=is_left_out)


def _notes(
    unread: NDArray[np.int8], rows: NDArray[np.int64], summary: NDArray[np.int64],
    trust: Coded, voices: Voices, read: Read,
) -> pa.Table:  # fmt: skip
    """Return the notes of the sources that are not read, and of those among `rows` that claim nothing.

    summary: of the messages of `rows`.
    """
    has_claim, is_left_out = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    has_claim[voices.places] = read.counts[voices.of_place] > 0
    is_left_out[voices.places] = read.is_left_out[voices.of_place]
    quiet = np.flatnonzero(~has_claim)
    silent = np.flatnonzero(unread != 0)
    reasons, modalities = read_reasons(summary[quiet], trust.at(quiet), is_left_out[quiet])
    none = np.full(len(silent), NO_MODALITY, np.int8)
    return notes_table(
        np.concatenate([silent, rows[quiet]]),
        np.concatenate([unread[silent], reasons]),
        np.concatenate([none, modalities]),
    )
