"""The `proposals` extractor: claims that a model proposed, checked, and the rules where it gave none."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from amos.extraction.model_claims import claim_rows_of
from amos.extraction.notes import unread_reasons
from amos.extraction.propose import Proposal
from amos.extraction.registry import PROPOSALS, Extractor, find_extractor
from amos.patterns import pattern_of
from amos.schemas.choosing import with_column
from amos.schemas.claims import CLAIMS, SOURCE_NOTES
from amos.schemas.vocabulary import Modality, Reason

BY_RULES = "rules/"
"""Begins the pattern of a claim that the rules read because no answer of a model was there."""

_SENTENCE_END = pattern_of(r"(?<=[.!?。！？…])\s+|\n+")
_STRICTER = (
    Modality.QUESTION, Modality.HYPOTHETICAL, Modality.IRONIC, Modality.REPORTED, Modality.CONDITIONAL,
    Modality.UNCERTAIN, Modality.REQUEST,
)  # fmt: skip
_STOPPING = {
    str(reason)
    for reason in (
        Reason.QUESTION, Reason.HYPOTHETICAL, Reason.SUSPECTED_IRONY, Reason.QUOTED_OTHER,
        Reason.REQUEST_NOT_MEMORY, Reason.SUBSTRATE_STATEMENT, Reason.AGENT_CLAIM_ABOUT_USER,
    )
}  # fmt: skip


class Answers(Protocol):
    """Where the answers of a model come from."""

    def of(self, texts: Sequence[str]) -> Mapping[str, Any]:
        """Return the answer on each text that there is one for: what JSON gave for its `claims`."""
        ...

    @property
    def written_to(self) -> Path | None:
        """The file that new answers are added to, if any."""
        ...

    @property
    def failures(self) -> Counter[str]:
        """Why texts had no answer, and how many; counted up to now."""
        ...


@dataclass(frozen=True)
class ModelExtractor:
    """Takes claims from `answers`; a text without an answer is read by the rules, and that is counted."""

    answers: Answers
    name: str = PROPOSALS
    fallback: Extractor = field(default_factory=find_extractor)

    @property
    def written_to(self) -> Path | None:
        """The file of its own that a run adds to, if any: it quotes what is stored."""
        return self.answers.written_to

    @property
    def fallback_reasons(self) -> Mapping[str, int]:
        """Why texts were read by the rules, or lines passed over, and how many."""
        return self.answers.failures

    def propose(self, sources: pa.Table, *, is_compiled: bool) -> Proposal:
        """Return the claims of `sources` (SEGMENTABLE) and the notes for the rest.

        A model's row is never taken to be more than the rules find in its sentence: a question stays one,
        whatever the model says of it.
        """
        unread = unread_reasons(sources)
        contents = sources["content"].to_pylist()
        asked = [row for row in range(len(contents)) if unread[row] == 0]
        answers = self.answers.of(list(dict.fromkeys(contents[row] for row in asked)))
        answered = {row: answers[contents[row]] for row in asked if contents[row] in answers}
        by_rules = self._rest(sources, answered, is_compiled=is_compiled)
        rows = [
            claim for row, answer in answered.items() for claim in claim_rows_of(answer, contents[row], row)
        ]
        made = pa.Table.from_pylist(rows, schema=CLAIMS) if rows else CLAIMS.empty_table()
        made = self._sobered(made, sources, is_compiled=is_compiled)
        claims = pa.concat_tables([made, by_rules.claims]).sort_by(
            [(name, "ascending") for name in ("source_row", "start", "end", "pattern")]
        )
        silent = sorted(set(answered) - {row["source_row"] for row in rows})
        notes = pa.concat_tables([by_rules.notes, _silent_notes(silent)])
        return Proposal(claims.combine_chunks(), notes.sort_by("source_row").combine_chunks())

    def _rest(self, sources: pa.Table, answered: Mapping[int, Any], *, is_compiled: bool) -> Proposal:
        """Return what the rules read of the sources that no model answered."""
        rows = pa.array([row for row in range(sources.num_rows) if row not in answered], pa.int32())
        found = self.fallback.propose(sources.take(rows), is_compiled=is_compiled)
        claims, notes = (
            with_column(table, "source_row", rows.take(table["source_row"].combine_chunks()))
            for table in found
        )
        patterns = pa.array([BY_RULES + one for one in claims["pattern"].to_pylist()], pa.string())
        return Proposal(with_column(claims, "pattern", patterns), notes)

    def _sobered(self, claims: pa.Table, sources: pa.Table, *, is_compiled: bool) -> pa.Table:
        """Return the claims with the modality, cues and vetoes that the rules find in their sentences."""
        if claims.num_rows == 0:
            return claims
        contents = sources["content"].to_pylist()
        rows = claims.to_pylist()
        sentences = [_sentence(contents[row["source_row"]], row["start"], row["end"]) for row in rows]
        alone = sources.take(claims["source_row"].combine_chunks())
        alone = with_column(alone, "content", pa.array(sentences, pa.string()))
        heard = self.fallback.propose(alone, is_compiled=is_compiled)
        said = {row["source_row"]: row for row in heard.notes.to_pylist()}
        read: dict[int, list[dict[str, Any]]] = {}
        for row in heard.claims.to_pylist():
            read.setdefault(row["source_row"], []).append(row)
        for number, row in enumerate(rows):
            if row["veto"] is None:
                _sober(row, said.get(number), read.get(number, []))
        return pa.Table.from_pylist(rows, schema=CLAIMS)


def _sober(row: dict[str, Any], note: dict[str, Any] | None, heard: list[dict[str, Any]]) -> None:
    """Take over what makes a claim weaker; nothing makes it stronger."""
    if note is not None and note["reason"] in _STOPPING:
        row["veto"] = note["reason"]
    for other in heard:
        row["cues"] |= other["cues"]
        if other["veto"] is not None and other["veto"] in _STOPPING:
            row["veto"] = other["veto"]
        if other["modality"] in _STRICTER and row["modality"] not in _STRICTER:
            row["modality"] = other["modality"]
        if (other["type"], other["value"]) == (row["type"], row["value"]):
            row["confidence"] = min(row["confidence"], other["confidence"])


def _sentence(content: str, start: int, end: int) -> str:
    """Return the sentence, or sentences, that hold the byte range of `content`."""
    first, last = (len(content.encode()[:edge].decode(errors="ignore")) for edge in (start, end))
    ends = [match.end() for match in _SENTENCE_END.finditer(content)]
    place = bisect_right(ends, first)
    begin = ends[place - 1] if place else 0
    after = [edge for edge in ends[place:] if edge >= last]
    return content[begin : after[0] if after else len(content)].strip()


def _silent_notes(rows: list[int]) -> pa.Table:
    reason, none = str(Reason.MODEL_RETURNED_NO_CLAIM), str(Modality.NONE)
    return pa.Table.from_pylist(
        [{"source_row": row, "reason": reason, "modality": none} for row in rows], schema=SOURCE_NOTES
    )
