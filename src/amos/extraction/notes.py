"""Say of each source without a claim why it has none."""

from __future__ import annotations

from typing import Any

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
_GRAMMARS = (layout.NOTE_ENGLISH, layout.NOTE_GERMAN, layout.NOTE_FRENCH, layout.NOTE_SPANISH)
_UNREAD: tuple[tuple[str, Reason], ...] = (
    ("is_no_message", Reason.NOT_A_MESSAGE),
    ("is_off_thread", Reason.OFF_THREAD),
    ("is_thinking", Reason.INTERNAL_REASONING),
    ("is_system", Reason.SYSTEM_PROMPT),
    ("is_recall", Reason.RECALL_SOURCED),
    ("is_instruction", Reason.INSTRUCTION_SHAPED_CONTENT),
)


def unread_reasons(sources: pa.Table) -> NDArray[Any]:
    """Return per source the reason why it is not read for claims at all, "" when it is read."""
    flags = sources["flags"].to_numpy()
    kind, role, trust = (sources[name].to_numpy(zero_copy_only=False) for name in ("kind", "role", "trust"))
    has_text = pc.greater(pc.binary_length(sources["content"]), 0).to_numpy()
    is_silent = flags & int(SourceFlag.NOT_A_MESSAGE | SourceFlag.MARKUP_ONLY) != 0
    tests = {
        "is_no_message": is_silent | (kind == "record") | (role == Role.RECORD) | ~has_text,
        "is_off_thread": flags & int(SourceFlag.OFF_THREAD | SourceFlag.HIDDEN) != 0,
        "is_thinking": kind == "thinking",
        "is_system": role == Role.SYSTEM,
        "is_recall": trust == Trust.RECALL,
        "is_instruction": flags & int(SourceFlag.INSTRUCTION_SHAPED) != 0,
    }
    reasons = np.full(len(flags), "", object)
    for name, reason in reversed(_UNREAD):
        reasons[tests[name]] = reason.value
    return reasons


def read_reasons(
    notes: NDArray[np.int64], trust: NDArray[Any], is_report: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return (reason, modality) per message that was read and yields no claim.

    notes: (n, NOTE_SIZE).  is_report: an agent's message in which a claim about the user was left out.
    The first test that holds decides.
    """
    cues, flags, words = notes[:, layout.NOTE_CUES], notes[:, layout.NOTE_FLAGS], notes[:, layout.NOTE_WORDS]
    asked, sentences = notes[:, layout.NOTE_ASKED], notes[:, layout.NOTE_SENTENCES]
    is_agent = trust == Trust.AGENT
    is_tool = (trust == Trust.TOOL) | (trust == Trust.UNTRUSTED_WEB)
    known = notes[:, list(_GRAMMARS)].max(axis=1)
    is_foreign = notes[:, layout.NOTE_FOREIGN] > notes[:, layout.NOTE_LETTERS]
    is_other_language = (notes[:, layout.NOTE_OTHER] > known) & (words > 2)
    all_asked = (asked > 0) & (asked >= sentences)
    is_short = words <= SHORT_TALK_WORDS
    tests: tuple[tuple[NDArray[np.bool_], Reason, Modality], ...] = (
        (is_agent & (cues & CUES["machine"] != 0), Reason.SUBSTRATE_STATEMENT, Modality.NONE),
        (is_agent & is_report, Reason.AGENT_CLAIM_ABOUT_USER, Modality.NONE),
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
    reasons = np.full(len(notes), Reason.NO_EXTRACTABLE_CLAIM.value, object)
    modalities = np.full(len(notes), Modality.NONE.value, object)
    for test, reason, modality in reversed(tests):
        reasons[test] = reason.value
        modalities[test] = modality.value
    return reasons, modalities


def notes_table(rows: NDArray[np.int64], reasons: NDArray[Any], modalities: NDArray[Any]) -> pa.Table:
    """Return SOURCE_NOTES in order of rows."""
    order = np.argsort(rows, kind="stable")
    return pa.table(
        [
            pa.array(rows[order].astype(np.int32)),
            pa.array(reasons[order].tolist(), pa.string()),
            pa.array(modalities[order].tolist(), pa.string()),
        ],
        schema=SOURCE_NOTES,
    )
