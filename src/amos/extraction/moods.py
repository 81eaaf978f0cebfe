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
    (ASKED, Modality.QUESTION),
    (_HYPOTHETICAL, Modality.HYPOTHETICAL),
    (REPORTED, Modality.REPORTED),
    (_IRONIC | _IRONY_MARK, Modality.IRONIC),
    (_HEDGED | TAGGED, Modality.UNCERTAIN),
)
"""In order: the first that holds decides."""

_KEPT = (
    (CUES["correction"], Cue.CORRECTION),
    (CUES["remember"], Cue.REMEMBER),
    (_HEDGED, Cue.HEDGED),
    (TAGGED, Cue.TAG_QUESTION),
)
_PLACES = ((QUOTED, Cue.QUOTED), (PASTED, Cue.PASTED), (CODE, Cue.CODE))


def modality_of(cues: int, flags: int, own: str) -> str:
    """Return the modality of a claim with these cues and token flags; `own` is its pattern's."""
    if cues & _CONDITIONAL and not cues & _PROMISED:
        cues |= _HYPOTHETICAL  # "I promised that I would" supposes nothing
    for bits, modality in _CHAIN:
        if cues & bits:
            return modality.value
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
    return int(kept)
