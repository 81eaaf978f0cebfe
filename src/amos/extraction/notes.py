"""Say of each source without a claim why it has none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.extraction.lexicon import CUES
from amos.extraction.normalise import text_buffer
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


class Coded(NamedTuple):
    """A column of texts without nulls: codes are places in `texts`, which are distinct."""

    codes: NDArray[np.int32]
    texts: list[str]

    def equals(self, text: str) -> NDArray[np.bool_]:
        """Return where the column is `text`."""
        wanted = self.texts.index(text) if text in self.texts else len(self.texts)
        found: NDArray[np.bool_] = self.codes == wanted
        return found

    def at(self, rows: NDArray[np.int64]) -> Coded:
        """Return the rows of the column."""
        return self._replace(codes=self.codes[rows])


def coded(column: pa.ChunkedArray) -> Coded:
    """Return a column of texts as codes."""
    encoded = one_array(column).dictionary_encode()
    return Coded(codes=encoded.indices.to_numpy(), texts=encoded.dictionary.to_pylist())


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without a copy where it is one."""
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def without_idle(claims: pa.Table, notes: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return `claims` without those that say nothing worth a look, and the notes of sources they leave bare.

    claims: CLAIMS.  notes: SOURCE_NOTES, ordered by source.  Such a claim is no candidate: its words are
    broken off or point elsewhere, so that no reviewer could tell what it says.
    """
    is_idle = pc.fill_null(pc.equal(claims["veto"], str(Reason.LOW_VALUE)), False)
    idle = claims.filter(is_idle)
    if not idle.num_rows:
        return claims, notes
    kept = claims.filter(pc.invert(is_idle))
    bare = np.setdiff1d(idle["source_row"].to_numpy(), kept["source_row"].to_numpy())
    first = pc.index_in(pa.array(bare), value_set=one_array(idle["source_row"]))
    more = pa.table(
        [pa.array(bare), pa.repeat(str(Reason.LOW_VALUE), len(bare)), idle["modality"].take(first)],
        schema=SOURCE_NOTES,
    )
    return kept, pa.concat_tables([notes, more]).sort_by("source_row")


def unread_reasons(sources: pa.Table) -> NDArray[np.int8]:
    """Return per source the code of the reason why it is not read for claims at all, 0 when it is read.

    Codes are places in REASONS.
    """
    flags = sources["flags"].to_numpy()
    kind, role, trust = (coded(sources[name]) for name in ("kind", "role", "trust"))
    has_text = np.diff(text_buffer(one_array(sources["content"]))[1]) > 0
    is_silent = flags & _SILENT != 0
    tests = (
        is_silent | kind.equals("record") | role.equals(Role.RECORD) | ~has_text,
        flags & _ELSEWHERE != 0,
        kind.equals("thinking"),
        role.equals(Role.SYSTEM),
        trust.equals(Trust.RECALL),
        flags & _INSTRUCTION != 0,
    )
    reasons = np.zeros(len(flags), np.int8)
    for test, reason in zip(reversed(tests), reversed(_UNREAD), strict=True):
        reasons[test] = _CODES[reason]
    return reasons


def read_reasons(
    notes: NDArray[np.int64], trust: Coded, is_left_out: NDArray[np.bool_]
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return codes of (reason, modality) per message that was read and yields no claim.

    notes: (n, NOTE_SIZE).  is_left_out: a match in the message claims nothing.  Codes are places in
    REASONS and MODALITIES.  The first test that holds decides.
    """
    cues, flags, words = notes[:, layout.NOTE_CUES], notes[:, layout.NOTE_FLAGS], notes[:, layout.NOTE_WORDS]
    asked, sentences = notes[:, layout.NOTE_ASKED], notes[:, layout.NOTE_SENTENCES]
    is_agent = trust.equals(Trust.AGENT)
    is_tool = trust.equals(Trust.TOOL) | trust.equals(Trust.UNTRUSTED_WEB)
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
