"""Read LongMemEval: questions, each with a haystack of dated sessions that questions share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block, Problem
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import digest_key, join_key
from amos.sources.parts import Part, assemble, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_kind, json_records, one_record
from amos.sources.standing import standing_of


class LongMemEvalReader(Reader):
    """Keys: session id and place in the session; a session is a conversation.

    A session that stands in several haystacks is the same messages, stored once: the question is
    no part of the key.  Questions and answers are left out, and that is said.
    """

    name: ClassVar[str] = "longmemeval"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See questions with a haystack."""
        keys = set(sample.keys)
        if "haystack_sessions" in keys or {"question_id", "haystack_dates"} <= keys:
            return Recognition(96, "questions with `haystack_sessions`")
        if {"question_id", "question_type", "question_date"} <= keys:
            return Recognition(80, "questions with `question_id` and `question_date`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the turns of every session of every haystack."""
        question_count = 0
        for record in json_records(stream, context):
            if record.value is None:
                yield one_record([], record.problems, form=self.name, size=record.size)
                continue
            question_count += 1
            yield from _haystack(record.value, record, context)
        if question_count:
            said = f"{question_count} question(s) with their answers: test material; left out"
            problem = noted(context.file, 0, Fault.LEFT_OUT, said)
            yield Batch(blocks=[], problems=[problem], record_count=0, format=self.name)


def _haystack(source: dict[str, Any], record: Record, context: ReadContext) -> Iterator[Batch]:
    sessions = source.get("haystack_sessions")
    if not isinstance(sessions, list):
        problem = lost(context.file, record.number, Fault.WRONG_TYPE, "no list of `haystack_sessions`")
        yield one_record([], [*record.problems, problem], form=LongMemEvalReader.name, size=record.size)
        return
    yield Batch(
        blocks=[],
        problems=record.problems,
        record_count=0,
        format=LongMemEvalReader.name,
        bytes_read=record.size,
    )
    for place, session in enumerate(sessions):
        own = text_or_none(_at(source.get("haystack_session_ids"), place))
        written = _at(source.get("haystack_dates"), place)
        yield from _Session(own, written, place, record, context).batches(session)


def _at(values: Any, place: int) -> Any:
    return values[place] if isinstance(values, list) and place < len(values) else None


class _Session:
    """One session of a haystack while its turns are read."""

    def __init__(
        self, own: str | None, written: Any, place: int, record: Record, context: ReadContext
    ) -> None:
        self._own = own
        self._place = place
        self._record = record
        self._context = context
        self._instant: Instant = read_instant(written, context.zone)

    def batches(self, turns: Any) -> Iterator[Batch]:
        """Yield what is wrong with the session, then its turns."""
        problems: list[Problem] = []
        flags = self._record.flags
        key = self._own
        if self._instant.is_invalid:
            said = f"session {self._place + 1}: no time can be read from {self._instant.text!r}"
            problems.append(self._noted(Fault.TIME_INVALID, said))
        if key is None:
            key = digest_key(("amos/session/1", canonical_json(turns)))
            flags |= SourceFlag.NO_STABLE_ID
            said = f"session {self._place + 1} has no id; a digest stands in"
            problems.append(self._noted(Fault.MISSING_ID, said))
        if not isinstance(turns, list):
            problems.append(self._lost(f"session {self._place + 1} is {json_kind(turns)}, no list of turns"))
            turns = []
        lost_count = sum(problem.is_lost for problem in problems)
        yield Batch(blocks=[], problems=problems, record_count=lost_count, format=LongMemEvalReader.name)
        for number, turn in enumerate(turns):
            yield self._read(turn, number, key, flags)

    def _read(self, turn: Any, number: int, key: str, flags: int) -> Batch:
        if not isinstance(turn, dict):
            said = f"session {self._place + 1}, turn {number + 1}: {json_kind(turn)} where a turn belongs"
            return one_record([], [self._lost(said)], form=LongMemEvalReader.name)
        problems = []
        role = turn.get("role")
        standing = standing_of(role if isinstance(role, str) else "unnamed")
        if standing.fault:
            problems.append(self._noted(Fault.UNKNOWN_ROLE, standing.fault))
        content = turn.get("content")
        base = Block(
            format=LongMemEvalReader.name,
            record_key=join_key(key, str(number)),
            conversation_key=key,
            text="",
            turn=number,
            locator=f"{self._context.file}#{self._record.number}/{self._place + 1}/{number + 1}",
            role=standing.role,
            trust=standing.trust,
            author=standing.author,
            is_owner=standing.role == "user",
            session=key,
            scope_session=key,
            flags=flags,
        )
        set_time(base, self._instant)
        is_text = isinstance(content, str)
        extra = without(turn, "role", "content" if is_text else "")
        parts = [Part(text=content if isinstance(content, str) else "")]
        return one_record(assemble(base, parts, extra), problems, form=LongMemEvalReader.name)

    def _noted(self, code: Fault, message: str) -> Problem:
        return noted(self._context.file, self._record.number, code, message)

    def _lost(self, message: str) -> Problem:
        return lost(self._context.file, self._record.number, Fault.WRONG_TYPE, message)
