"""Read the turns of a dialogue set with labelled questions: one turn per line, many conversations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar, TypeGuard

from amos.sources.block import Batch, Block, Problem
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import read_instant
from amos.sources.keys import join_key
from amos.sources.line import HIGHEST_TURN, LOWEST_TURN
from amos.sources.parts import Part, assemble, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_records, one_record

_NEEDED = ("doc_id", "conv_id", "turn", "speaker", "text")
_TAKEN = (*_NEEDED, "session", "timestamp", "caption")


class DialogueSetReader(Reader):
    """Keys: conversation and document id.  Every conversation is a project of its own.

    All speakers are named people: none of them is the user.  A picture's caption is a block of its own,
    written by a model.
    """

    name: ClassVar[str] = "dialogue-set"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See lines with `doc_id` and `conv_id`."""
        if set(_NEEDED) <= set(sample.keys):
            return Recognition(95, "turns with `doc_id` and `conv_id`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield one turn per line."""
        for record in json_records(stream, context):
            if record.value is None:
                yield one_record([], record.problems, form=self.name, size=record.size)
            else:
                yield _turn(record.value, record, context)


def _is_count(number: Any) -> TypeGuard[int]:
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    return is_whole and LOWEST_TURN <= number <= HIGHEST_TURN


def _turn(line: dict[str, Any], record: Record, context: ReadContext) -> Batch:
    missing = [name for name in ("doc_id", "conv_id") if text_or_none(line.get(name)) is None]
    number = line.get("turn")
    if missing or not _is_count(number):
        said = f"no `{missing[0]}`" if missing else "`turn` is no count"
        problem = lost(context.file, record.number, Fault.WRONG_TYPE, said)
        return one_record([], [*record.problems, problem], form=DialogueSetReader.name, size=record.size)
    conversation = line["conv_id"]
    problems: list[Problem] = list(record.problems)
    session = line.get("session")
    base = Block(
        format=DialogueSetReader.name,
        record_key=join_key(conversation, line["doc_id"]),
        conversation_key=conversation,
        text="",
        turn=number,
        locator=f"{context.file}#{record.number}",
        author=text_or_none(line.get("speaker")),
        is_owner=False,
        session=None if session is None else str(session),
        scope_project=conversation,
        flags=record.flags,
    )
    instant = read_instant(line.get("timestamp"), context.zone)
    set_time(base, instant)
    if instant.is_invalid:
        said = f"no time can be read from {instant.text!r}"
        problems.append(noted(context.file, record.number, Fault.TIME_INVALID, said))
    extra = without(line, *_TAKEN)
    blocks = assemble(base, _parts(line, extra), extra)
    return one_record(blocks, problems, form=DialogueSetReader.name, size=record.size)


def _parts(line: dict[str, Any], extra: dict[str, Any]) -> list[Part]:
    """Return the words, and the caption of a picture as a model's words."""
    text, caption = line.get("text"), text_or_none(line.get("caption"))
    parts = [Part(text=text if isinstance(text, str) else "")]
    if text is not None and not isinstance(text, str):
        extra["text"] = text
    if caption is not None:
        parts.append(
            Part(text=caption, kind="caption", role="tool", trust="tool", author="caption", is_owner=False)
        )
    return parts
