"""Read captured interactions: what an agent was asked, what it answered, and what it had been given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, UnreadableRecordError, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import digest_key
from amos.sources.parts import Part, assemble, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_records, one_record

FORMAT = "capture"
PROMPT, RESPONSE = 0, 1
"""Numbers of the blocks of an interaction."""
INTERACTION = "interaction"
"""Field of the first block's `extra` that holds what is neither prompt nor response."""
LISTS = ("memories_used", "chunks_used")
_TIMES = ("created_at", "ts", "timestamp")
_SESSIONS = ("session", "session_id")
_TAKEN = ("id", "prompt", "response", "client", "project", "user", "agent", *_TIMES, *_SESSIONS)


class CaptureReader(Reader):
    """Keys: an interaction's own id, else a digest of all that it says.

    The prompt is the user's, the response an agent's; both are one record.
    """

    name: ClassVar[str] = FORMAT

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See lines with a `prompt` and a `response`, and who or what they belong to."""
        keys = set(sample.keys)
        marks = {"client", "session", "session_id", "project", "response_summary", *LISTS}
        if {"prompt", "response"} <= keys and not keys.isdisjoint(marks):
            return Recognition(87, "interactions with `prompt` and `response`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the interactions one by one."""
        for record in json_records(stream, context):
            yield interaction_batch(record, context)


def interaction_batch(record: Record, context: ReadContext) -> Batch:
    """Return the blocks of one interaction, or why it is lost."""
    blocks: list[Block] = []
    if record.value is not None:
        try:
            blocks = _blocks(record.value, record, context)
        except UnreadableRecordError as cause:
            record.problems.append(lost(context.file, record.number, cause.code, cause.message))
    return one_record(blocks, record.problems, form=FORMAT, size=record.size)


def interaction_key(value: dict[str, Any]) -> str:
    """Return the id of an interaction: its own, else the digest of what it says."""
    own = value.get("id")
    if isinstance(own, int) and not isinstance(own, bool):
        return str(own)[:_LONGEST_ID]
    return text_or_none(own) or digest_key(("amos/interaction/1", canonical_json(without(value, "id"))))


_LONGEST_ID = 200


def _blocks(value: dict[str, Any], record: Record, context: ReadContext) -> list[Block]:
    prompt = value.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        raise UnreadableRecordError(Fault.WRONG_TYPE, "an interaction without a prompt")
    response = value.get("response")
    instant = _instant(value, context)
    if instant.is_invalid:
        said = f"no time can be read from {instant.text!r}"
        record.problems.append(noted(context.file, record.number, Fault.TIME_INVALID, said))
    key = interaction_key(value)
    session = next((one for name in _SESSIONS if (one := text_or_none(value.get(name)))), None)
    base = Block(
        format=FORMAT,
        record_key=key,
        conversation_key=session or key,
        text="",
        turn=instant.us or 0,
        locator=f"{context.file}#{record.number}",
        author="user",
        channel=text_or_none(value.get("client")),
        session=session,
        scope_project=text_or_none(value.get("project")),
        scope_user=text_or_none(value.get("user")),
        scope_agent=text_or_none(value.get("agent")),
        scope_session=session,
        flags=record.flags if value.get("id") is not None else record.flags | SourceFlag.NO_STABLE_ID,
    )
    set_time(base, instant)
    rest = without(value, *_TAKEN) if isinstance(response, str | None) else without(value, *_TAKEN[:2])
    parts = [Part(text=prompt, extra={INTERACTION: rest} if rest else None)]
    if isinstance(response, str) and response.strip():
        parts.append(Part(text=response, role="assistant", trust="agent", author="assistant", is_owner=False))
    return assemble(base, parts, {})


def _instant(value: dict[str, Any], context: ReadContext) -> Instant:
    written = next((value[name] for name in _TIMES if value.get(name) is not None), None)
    return read_instant(written, context.zone)
