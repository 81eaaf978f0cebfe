"""Say of each source without a claim why it has none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.extraction.lexicon import CUES
from amos.kernels import rows as layout
from amos.kernels.features import REPORTED
from amos.kernels.words import PASTED, QUOTED
from amos.schemas.claims import SOURCE_NOTES
from amos.schemas.vocabulary import Modality, Reason, Role, SourceFlag, Trust

SHORT_TALK_WORDS = 6
"""A greeting or thanks of at most so many words is small talk."""

_FEW_WORDS = 3
_GRAMMARS = [layout.NOTE_ENGLISH, layout.NOTE_GERMAN, layout.NOTE_FRENCH, layout.NOTE_SPANISH]
_UNREAD = (
    Reason.NOT_A_MESSAGE,
    Reason.OFF_THREAD,
    Reason.INTERNAL_REASONING,
    Reason.SYSTEM_PROMPT,
    Reason.RECALL_SOURCED,
    Reason.INSTRUCTION_SHAPED_CONTENT,
)
_SILENT = int(SourceFlag.NOT_A_MESSAGE | SourceFlag.MARKUP_ONLY)
_ELSEWHERE = int(SourceFlag.OFF_THREAD | SourceFlag.HIDDEN)
_INSTRUCTION = int(SourceFlag.INSTRUCTION_SHAPED)
_READ = (
    Reason.SUBSTRATE_STATEMENT, Reason.AGENT_CLAIM_ABOUT_USER, Reason.TOOL_ECHO,
    Reason.NO_GRAMMAR_FOR_LANGUAGE, Reason.SUSPECTED_IRONY, Reason.REQUEST_NOT_MEMORY, Reason.QUESTION,
    Reason.SMALL_TALK, Reason.LOW_VALUE, Reason.QUOTED_OTHER, Reason.HYPOTHETICAL,
    Reason.NO_EXTRACTABLE_CLAIM,
)  # fmt: skip
_CODES = {reason: code for code, reason in enumerate(("", *_UNREAD, *_READ))}
_MODES = {modality: code for code, modality in enumerate(Modality)}
REASONS = pa.array([str(reason) for reason in _CODES])
"""Texts of the codes of reasons; 0 is none."""
MODALITIES = pa.array([str(modality) for modality in _MODES])
"""Texts of the codes of modalities."""
NO_MODALITY = _MODES[Modality.NONE]


def unread_reasons(sources: pa.Table) -> NDArray[np.int8]:
    """Return per source the code of the reason why it is not read for claims at all, 0 when it is read.

    Codes are places in REASONS.
    """
    flags = sources["flags"].to_numpy()
    kind, role, trust = (one_array(sources[name]).dictionary_encode() for name in ("kind", "role", "trust"))
    has_text = pc.greater(pc.binary_length(sources["content"]), 0).to_numpy()
    is_silent = flags & _SILENT != 0
    tests = (
        is_silent | stands_for(kind, "record") | stands_for(role, Role.RECORD) | ~has_text,
        flags & _ELSEWHERE != 0,
        stands_for(kind, "thinking"),
        stands_for(role, Role.SYSTEM),
        stands_for(trust, Trust.RECALL),
        flags & _INSTRUCTION != 0,
    )
    reasons = np.zeros(len(flags), np.int8)
    for test, reason in zip(reversed(tests), reversed(_UNREAD), strict=True):
        reasons[test] = _CODES[reason]
    return reasons


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without a copy where it is one."""
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def stands_for(column: pa.DictionaryArray, text: str) -> NDArray[np.bool_]:
    """Return where a column of texts without nulls is `text`."""
    texts = column.dictionary.to_pylist()
    wanted = texts.index(text) if text in texts else len(texts)
    found: NDArray[np.bool_] = column.indices.to_numpy() == wanted
    return found


def read_reasons(
    notes: NDArray[np.int64], trust: pa.DictionaryArray, is_left_out: NDArray[np.bool_]
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return codes of (reason, modality) per message that was read and yields no claim.

    notes: (n, NOTE_SIZE).  is_left_out: a match in the message claims nothing.  Codes are places in
    REASONS and MODALITIES.  The first test that holds decides.
    """
    cues, flags, words = notes[:, layout.NOTE_CUES], notes[:, layout.NOTE_FLAGS], notes[:, layout.NOTE_WORDS]
    asked, sentences = notes[:, layout.NOTE_ASKED], notes[:, layout.NOTE_SENTENCES]
    is_agent = stands_for(trust, Trust.AGENT)
    is_tool = stands_for(trust, Trust.TOOL) | stands_for(trust, Trust.UNTRUSTED_WEB)
    known = notes[:, _GRAMMARS].max(axis=1)
    is_foreign = notes[:, layout.NOTE_FOREIGN] > notes[:, layout.NOTE_LETTERS]
    is_other_language = (notes[:, layout.NOTE_OTHER] > known) & (words > 2)
    all_asked = (asked > 0) & (asked >= sentences)
    is_short = words <= SHORT_TALK_WORDS
    tests: tuple[tuple[NDArray[np.bool_], Reason, Modality], ...] = (
        (is_agent & (cues & CUES["machine"] != 0), Reason.SUBSTRATE_STATEMENT, Modality.NONE),
        (is_agent & is_left_out, Reason.AGENT_CLAIM_ABOUT_USER, Modality.NONE),
        (is_tool, Reason.TOOL_ECHO, Modality.NONE),
        (is_foreign | is_other_language, Reason.NO_GRAMMAR_FOR_LANGUAGE, Modality.NONE),
        (cues & (CUES["ironic"] | CUES["irony_mark"]) != 0, Reason.SUSPECTED_IRONY, Modality.IRONIC),
        (cues & CUES["request"] != 0, Reason.REQUEST_NOT_MEMORY, Modality.REQUEST),
        (all_asked, Reason.QUESTION, Modality.QUESTION),
        (is_short & (cues & CUES["small_talk"] != 0), Reason.SMALL_TALK, Modality.NONE),
        (words < _FEW_WORDS, Reason.LOW_VALUE, Modality.NONE),
        (flags & (QUOTED | PASTED) != 0, Reason.QUOTED_OTHER, Modality.REPORTED),
        (
            cues & (CUES["hypothetical"] | CUES["conditional"]) != 0,
            Reason.HYPOTHETICAL,
            Modality.HYPOTHETICAL,
        ),
        (cues & REPORTED != 0, Reason.NO_EXTRACTABLE_CLAIM, Modality.REPORTED),
        (asked > 0, Reason.QUESTION, Modality.QUESTION),
    )
    reasons = np.full(len(notes), _CODES[Reason.NO_EXTRACTABLE_CLAIM], np.int8)
    modalities = np.full(len(notes), _MODES[Modality.NONE], np.int8)
    for test, reason, modality in reversed(tests):
        reasons[test] = _CODES[reason]
        modalities[test] = _MODES[modality]
    return reasons, modalities


def notes_table(rows: NDArray[np.int64], reasons: NDArray[np.int8], modalities: NDArray[np.int8]) -> pa.Table:
    """Return SOURCE_NOTES in order of rows; reasons, modalities: codes."""
    order = np.argsort(rows, kind="stable")
    return pa.Table.from_arrays(
        [
            pa.array(rows[order].astype(np.int32)),
            REASONS.take(pa.array(reasons[order])),
            MODALITIES.take(pa.array(modalities[order])),
        ],
        schema=SOURCE_NOTES,
    )
