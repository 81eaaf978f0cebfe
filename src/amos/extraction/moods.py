"""How a claim is put forward: modality from the cues of its clause, and the cue bits kept with it."""

from __future__ import annotations

from amos.extraction.lexicon import CUES
from amos.kernels.features import ASKED, REPORTED, TAGGED
from amos.kernels.words import CODE, PASTED, QUOTED
from amos.schemas.vocabulary import Cue, Modality

_IRONIC = CUES["ironic"]
_IRONY_MARK = CUES["irony_mark"]
_HYPOTHETICAL = CUES["hypothetical"]
_HEDGED = CUES["hedged"]
_CONDITIONAL = CUES["conditional"]
_PROMISED = CUES["promised"]

_CHAIN = (
    (ASKED, Modality.QUESTION.value),
    (_HYPOTHETICAL, Modality.HYPOTHETICAL.value),
    (REPORTED, Modality.REPORTED.value),
    (_IRONIC | _IRONY_MARK, Modality.IRONIC.value),
    (_HEDGED | TAGGED, Modality.UNCERTAIN.value),
)
"""In order: the first that holds decides."""
_MOODS = _HYPOTHETICAL | _CONDITIONAL | _IRONIC | _IRONY_MARK | _HEDGED | ASKED | REPORTED | TAGGED

_KEPT = (
    (CUES["correction"], int(Cue.CORRECTION)),
    (CUES["remember"], int(Cue.REMEMBER)),
    (_HEDGED, int(Cue.HEDGED)),
    (TAGGED, int(Cue.TAG_QUESTION)),
)
_PLACES = ((QUOTED, int(Cue.QUOTED)), (PASTED, int(Cue.PASTED)), (CODE, int(Cue.CODE)))


def modality_of(cues: int, flags: int, own: str) -> str:
    """Return the modality of a claim with these cues and token flags; `own` is its pattern's."""
    if cues & _CONDITIONAL and not cues & _PROMISED:
        cues |= _HYPOTHETICAL  # "I promised that I would" supposes nothing
    if cues & _MOODS:
        for bits, modality in _CHAIN:
            if cues & bits:
                return modality
    if flags & (QUOTED | PASTED):
        return Modality.REPORTED.value
    return own


def kept_cues(cues: int, flags: int) -> int:
    """Return the bits of Cue that the clause and the place of a claim give."""
    kept = 0
    for bits, cue in _KEPT:
        if cues & bits:
            kept |= cue
    for bits, cue in _PLACES:
        if flags & bits:
            kept |= cue
    return kept
