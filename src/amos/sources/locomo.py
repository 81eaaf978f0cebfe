"""Read LoCoMo conversations: two people, many sessions, one date per session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block, Problem
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import digest_key, join_key
from amos.sources.parts import Part, assemble, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_kind, json_records, one_record

_SESSION = re.compile(r"session_(\d{1,9})")
_ANSWERS = ("qa", "event_summary", "observation", "session_summary")
_TAKEN = ("speaker", "dia_id", "text", "blip_caption")


class LocomoReader(Reader):
    """Keys: sample and dialogue id.  Both speakers are named people: neither is the user.

    A picture's caption is a block of its own, written by a model.  Questions, answers and
    summaries are what a memory is tested with; they are left out, and that is said.
    """

    name: ClassVar[str] = "locomo"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See speakers and dialogue ids, or questions with evidence before a conversation."""
        own = sample.keys
        is_talk = "conversation" in own and {"speaker_a", "dia_id"} <= sample.all_keys
        if is_talk or ("qa" in own and {"question", "evidence", "category"} <= sample.all_keys):
            return Recognition(95, "samples with `qa` or `speaker_a` and `dia_id`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the turns of each sample, session by session."""
        for record in json_records(stream, context):
            source = record.value
            if source is None:
                yield one_record([], record.problems, form=self.name, size=record.size)
                continue
            conversation = source.get("conversation")
            if not isinstance(conversation, dict):
                message = "a sample without a `conversation`"
                problem = lost(context.file, record.number, Fault.WRONG_TYPE, message)
                yield one_record([], [*record.problems, problem], form=self.name, size=record.size)
                continue
            yield from _Sample(source, conversation, record, context).batches()


class _Sample:
    """One sample while its turns are read."""

    def __init__(
        self, source: dict[str, Any], conversation: dict[str, Any], record: Record, context: ReadContext
    ) -> None:
        self._conversation = conversation
        self._record = record
        self._context = context
        self._problems = list(record.problems)
        self._turn = 0
        self._above: dict[str, Any] | None = without(source, "sample_id", "conversation", *_ANSWERS)
        left_out = sorted(name for name in _ANSWERS if source.get(name))
        if left_out:
            said = f"{', '.join(left_out)}: test material, no conversation; left out"
            self._problems.append(self._noted(Fault.LEFT_OUT, said))
        key = source.get("sample_id")
        self._flags = record.flags
        self._key = str(key) if isinstance(key, str | int) and key != "" else self._digest()

    def batches(self) -> Iterator[Batch]:
        """Yield what is wrong with the sample, then its turns."""
        yield Batch(
            blocks=[],
            problems=self._problems,
            record_count=0,
            format=LocomoReader.name,
            bytes_read=self._record.size,
        )
        for number in sorted(
            int(found[1]) for name in self._conversation if (found := _SESSION.fullmatch(name))
        ):
            yield from self._session(str(number))

    def _digest(self) -> str:
        self._flags |= SourceFlag.NO_STABLE_ID
        self._problems.append(
            self._noted(Fault.MISSING_ID, "a sample without `sample_id`; speakers and first turns stand in")
        )
        talk = self._conversation
        speaker_a = text_or_none(talk.get("speaker_a"))
        return digest_key(
            ("amos/sample/1", str(speaker_a), str(talk.get("speaker_b")), str(talk.get("session_1")))
        )

    def _session(self, number: str) -> Iterator[Batch]:
        written = self._conversation.get(f"session_{number}_date_time")
        instant = read_instant(written, self._context.zone)
        turns = self._conversation[f"session_{number}"]
        problems: list[Problem] = []
        if instant.is_invalid:
            said = f"session {number}: no time can be read from {instant.text!r}"
            problems.append(self._noted(Fault.TIME_INVALID, said))
        if not isinstance(turns, list):
            said = f"session {number} is {json_kind(turns)}, no list of turns"
            problems.append(self._lost(Fault.WRONG_TYPE, said))
            turns = []
        lost_count = sum(problem.is_lost for problem in problems)
        yield Batch(blocks=[], problems=problems, record_count=lost_count, format=LocomoReader.name)
        for position, turn in enumerate(turns, start=1):
            yield self._read(turn, number, position, instant)

    def _read(self, turn: Any, session: str, position: int, instant: Instant) -> Batch:
        if not isinstance(turn, dict):
            said = f"session {session}, turn {position}: {json_kind(turn)} where a turn belongs"
            return one_record([], [self._lost(Fault.WRONG_TYPE, said)], form=LocomoReader.name)
        problems = []
        own = text_or_none(turn.get("dia_id"))
        flags = self._flags
        if own is None:
            own = f"{session}:{position}"
            flags |= SourceFlag.NO_STABLE_ID
            said = f"session {session}, turn {position}: no `dia_id`; its place stands in"
            problems.append(self._noted(Fault.MISSING_ID, said))
        speaker = text_or_none(turn.get("speaker"))
        base = Block(
            format=LocomoReader.name,
            record_key=join_key(self._key, own),
            conversation_key=self._key,
            text="",
            turn=self._turn,
            locator=f"{self._context.file}#{self._record.number}/{own}",
            author=speaker,
            is_owner=False,
            session=session,
            flags=flags,
        )
        self._turn += 1
        set_time(base, instant)
        extra = without(turn, *_TAKEN)
        if self._above:
            extra["sample"] = self._above
            self._above = None
        return one_record(assemble(base, _parts(turn, extra), extra), problems, form=LocomoReader.name)

    def _noted(self, code: Fault, message: str) -> Problem:
        return noted(self._context.file, self._record.number, code, message)

    def _lost(self, code: Fault, message: str) -> Problem:
        return lost(self._context.file, self._record.number, code, message)


def _parts(turn: dict[str, Any], extra: dict[str, Any]) -> list[Part]:
    """Return the words, and the caption of a picture as a model's words."""
    text, caption = turn.get("text"), turn.get("blip_caption")
    parts = [Part(text=text if isinstance(text, str) else "")]
    if text is not None and not isinstance(text, str):
        extra["text"] = text
    if isinstance(caption, str) and caption:
        parts.append(
            Part(text=caption, kind="caption", role="tool", trust="tool", author="caption", is_owner=False)
        )
    return parts
