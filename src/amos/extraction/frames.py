"""Mark claims inside frames: texts passed on, play, speakers' lines, what a message takes back."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.extraction import (
    frames_doubts,
    frames_given,
    frames_logs,
    frames_play,
    frames_pretence,
    frames_retractions,
    frames_speakers,
    frames_texts,
)
from amos.extraction.frames_found import OPENINGS, Frame, Kind, Rule, flat, holds_any
from amos.extraction.notes import one_array
from amos.extraction.screen_view import byte_offsets
from amos.schemas.claims import CLAIMS, SEGMENTABLE
from amos.schemas.vocabulary import Cue, Modality, Reason
from amos.stage import stage

_RULES: tuple[Rule, ...] = (
    *frames_texts.RULES,
    *frames_play.RULES,
    *frames_pretence.RULES,
    *frames_speakers.RULES,
    *frames_logs.RULES,
    *frames_retractions.RULES,
    *frames_doubts.RULES,
    *frames_given.RULES,
)


def _gate(rules: Iterable[Rule]) -> str:
    """Return the pattern that matches what any of `rules` needs, and perhaps more."""
    rules = list(rules)
    stems = "|".join(sorted({re.escape(stem) for rule in rules for stem in rule.stems}))
    marks = "|".join(sorted({re.escape(mark) for rule in rules for mark in rule.marks}))
    # a flat text has plain spaces and apostrophes where the stored one may have others
    folded = f"(?i:{stems})".replace("\\ ", "[ \t\u00a0]").replace("'", "['’‘ʼ]")
    return f"{folded}|{marks}" if marks else folded


_ALONE = _gate(rule for rule in _RULES if not rule.needs_opening)
_OPENED = _gate(rule for rule in _RULES if rule.needs_opening)
_OPENING = f"[{OPENINGS}]"
_SMALL = 8192
"""Bytes of texts that are searched outright: to compile the patterns that rule most out costs more."""
_VOICE = "quoted speaker"
_AUTHOR = "user"
_OPEN_MODALITIES = frozenset({Modality.ASSERTED, Modality.PREFERENCE, Modality.OBLIGATION, Modality.DESIRED})
_OPEN_KINDS = (Kind.ROLED, Kind.DOUBTED)
_VETOES = {
    Kind.JOKED: Reason.SUSPECTED_IRONY,
    Kind.MOCKED: Reason.SUSPECTED_IRONY,
    Kind.WITHDRAWN: Reason.SELF_CORRECTION,
    Kind.UNWANTED: Reason.REQUEST_NOT_MEMORY,
}
_CHANGED = ("subject_kind", "subject", "modality", "cues", "veto")
_READ = ("source_row", "start", "type", "polarity", *_CHANGED)


class Claim(NamedTuple):
    """The columns of a claim that frames look at or change."""

    source_row: int
    start: int
    type: str
    polarity: str
    subject_kind: str
    subject: str
    modality: str
    cues: int
    veto: str | None


@stage(reads={"claims": CLAIMS, "sources": SEGMENTABLE}, writes=CLAIMS, version=1)
def frame_claims(claims: pa.Table, sources: pa.Table) -> pa.Table:
    """Mark the claims that their message frames as another's words, as play, or as taken back.

    claims: rows point into sources by `source_row`; order and spans stay.  A claim lies inside a
    frame when it begins there.  Linear in the texts that hold claims.
    """
    frames = dict(_framed(claims, sources))
    if not frames:
        return claims
    columns = [claims[name].to_pylist() for name in _READ]
    marked = [
        _marked(claim, frames[claim.source_row]) if claim.source_row in frames else claim
        for claim in map(Claim._make, zip(*columns, strict=True))
    ]
    for name in _CHANGED:
        field = CLAIMS.field(name)
        column = pa.array([getattr(claim, name) for claim in marked], field.type)
        claims = claims.set_column(CLAIMS.get_field_index(name), field, column)
    return claims


def _framed(claims: pa.Table, sources: pa.Table) -> Iterator[tuple[int, Frames]]:
    """Yield the source rows that hold claims and frames, with the frames; equal texts are searched once."""
    if not claims.num_rows:
        return
    rows = np.unique(claims["source_row"].to_numpy())
    said = one_array(sources["content"].take(pa.array(rows))).dictionary_encode()
    texts, rules = said.dictionary, _RULES
    places = np.arange(len(texts))
    if texts.nbytes > _SMALL:
        places = np.flatnonzero(suspects(texts))
        texts = texts.take(pa.array(places))
    else:
        rules = _possible(rules, flat("\n".join(texts.to_pylist())))
    if not rules:
        return
    frames = {
        place: Frames(found)
        for place, text in zip(places.tolist(), texts.to_pylist(), strict=True)
        if (found := find_frames(text, rules))
    }
    if not frames:
        return
    which = said.indices.to_numpy()
    for at in np.flatnonzero(np.isin(which, list(frames))).tolist():
        yield int(rows[at]), frames[int(which[at])]


def suspects(texts: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which of the non-null `texts` may hold a frame: (n,) booleans, never too few of them."""
    alone, opened, opening = (
        pc.match_substring_regex(texts, pattern) for pattern in (_ALONE, _OPENED, _OPENING)
    )
    found = pc.or_(alone, pc.and_(opened, opening))
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


def _possible(rules: tuple[Rule, ...], plain: str) -> tuple[Rule, ...]:
    """Return those of `rules` that can find anything in flat text."""
    lowered = plain.lower()
    if not holds_any(plain, OPENINGS):
        rules = tuple(rule for rule in rules if not rule.needs_opening)
    return tuple(rule for rule in rules if rule.may_find(plain, lowered))


def find_frames(text: str, rules: tuple[Rule, ...] = _RULES) -> list[Frame]:
    """Return the frames of `text` in UTF-8 bytes, ascending; rules: those that may find one."""
    plain = flat(text)
    found = sorted(
        frame for rule in _possible(rules, plain) for frame in rule.find(plain) if frame.end > frame.start
    )
    edges = byte_offsets(text, [edge for frame in found for edge in (frame.start, frame.end)])
    return [
        frame._replace(start=start, end=end)
        for frame, start, end in zip(found, edges[::2], edges[1::2], strict=True)
    ]


class Frames:
    """The frames of one text, by kind, to look up which hold a place."""

    def __init__(self, frames: list[Frame]) -> None:
        self._kinds: dict[Kind, list[Frame]] = {}
        self._reach: dict[Kind, list[int]] = {}
        for frame in sorted(frames):
            self._kinds.setdefault(frame.kind, []).append(frame)
            reach = self._reach.setdefault(frame.kind, [])
            reach.append(max(frame.end, reach[-1] if reach else 0))

    def at(self, place: int) -> dict[Kind, Frame]:
        """Return per kind the frame over `place` that begins last; a voice is its own or nobody's."""
        found: dict[Kind, Frame] = {}
        for kind, frames in self._kinds.items():
            last = bisect_right(frames, place, key=lambda frame: frame.start) - 1
            if last >= 0 and self._reach[kind][last] > place:
                is_over = frames[last].end > place
                found[kind] = frames[last] if is_over else frames[last]._replace(voice="")
        return found


def _marked(claim: Claim, frames: Frames) -> Claim:
    """Return `claim` as the frames around it leave it."""
    around = frames.at(claim.start)
    is_liked = claim.type == "preference" and claim.polarity == "positive"
    for kind, frame in sorted(around.items()):
        if kind == Kind.PASTED:
            claim = _passed_on(claim, frame)
        elif kind == Kind.PLAYED:
            claim = claim._replace(modality=Modality.HYPOTHETICAL.value)
        elif kind in _OPEN_KINDS and claim.modality in _OPEN_MODALITIES:
            claim = claim._replace(modality=Modality.UNCERTAIN.value)
        elif kind in _VETOES and claim.veto is None and (kind != Kind.MOCKED or is_liked):
            claim = claim._replace(veto=_VETOES[kind].value)
    return claim


def _passed_on(claim: Claim, frame: Frame) -> Claim:
    """Return `claim` as the words of the frame's speaker; what it is about changes with the speaker."""
    changes: dict[str, Any] = {"cues": claim.cues | int(Cue.PASTED)}
    if claim.modality in _OPEN_MODALITIES:
        changes["modality"] = Modality.REPORTED.value
    if claim.subject_kind in ("author", "thing") and claim.subject.startswith(_AUTHOR):
        voice = frame.voice or _VOICE
        changes["subject"] = voice + claim.subject.removeprefix(_AUTHOR)
        changes["subject_kind"] = "other"
        changes["cues"] |= int(Cue.THIRD_PARTY)
    return claim._replace(**changes)
