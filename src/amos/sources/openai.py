"""Read OpenAI-style chats: fine-tuning rows, and raw API logs whose lines repeat their history."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar, NamedTuple

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block, Problem
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import chain_key, chain_seed, digest_key
from amos.sources.openai_calls import Call, call_of, is_logged
from amos.sources.openai_content import chain_text, message_parts
from amos.sources.parts import assemble, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_records, one_record
from amos.sources.standing import standing_of

_LOOK_AHEAD_ROWS = 64
_LOOK_AHEAD_BYTES = 4 << 20
_TAKEN = ("role", "content", "tool_calls", "function_call", "reasoning_content", "tool_call_id")


class _Link(NamedTuple):
    """A message in its chain."""

    key: str
    message: dict[str, Any]
    turn: int
    flags: int
    instant: Instant


class OpenAiReader(Reader):
    """Keys: each message's is a digest of the one before it, its role and its text.

    A log line gives the messages that no earlier line of the input had, at least its last one.
    A fine-tuning row is a conversation of its own: the digest of the row, and a number among
    equal rows of the input.  Rows without a request around them count as a log when one of the
    first 64 continues another.
    """

    name: ClassVar[str] = "openai"

    def __init__(self) -> None:
        self._is_log: bool | None = None
        self._seen: set[bytes] = set()
        self._equal_rows: dict[bytes, int] = {}

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See rows with `messages`, or requests and responses."""
        for row in sample.objects:
            if is_logged(row) and call_of(row) is not None:
                return Recognition(88, "API calls with a request or a response")
            if isinstance(row.get("messages"), list):
                return Recognition(85, "JSON lines with a list of `messages`")
        if "messages" in sample.keys and "role" in sample.all_keys:
            return Recognition(70, "an array of objects with `messages`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the rows one by one."""
        records = json_records(stream, context)
        if self._is_log is None:
            first = _first_records(records)
            self._is_log = _continue_each_other(first)
            records = itertools.chain(first, records)
        for record in records:
            yield one_record(self._blocks(record, context), record.problems, form=self.name, size=record.size)

    def _blocks(self, record: Record, context: ReadContext) -> list[Block]:
        if record.value is None:
            return []
        call = call_of(record.value)
        if call is None:
            message = "neither a list of `messages` nor a request with one"
            record.problems.append(lost(context.file, record.number, Fault.WRONG_TYPE, message))
            return []
        _report_odd(call, record, context)
        if not call.messages:
            record.problems.append(
                lost(context.file, record.number, Fault.WRONG_TYPE, "a row without a single message")
            )
            return []
        if self._is_log or is_logged(record.value):
            return self._log_blocks(call, record, context)
        return self._row_blocks(call, record, context)

    def _row_blocks(self, call: Call, record: Record, context: ReadContext) -> list[Block]:
        digest = bytes.fromhex(digest_key(("amos/row/1", canonical_json(record.value))))
        ordinal = self._equal_rows.get(digest, 0)
        self._equal_rows[digest] = ordinal + 1
        conversation = f"{digest.hex()}/{ordinal}"
        links = _links(call, conversation, Instant())
        template = self._template(conversation, call, record, context)
        blocks = [_message_blocks(template, link, call, {}) for link in links]
        if call.rest:
            blocks[0] = _message_blocks(template, links[0], call, {"row": call.rest})
        return list(itertools.chain.from_iterable(blocks))

    def _log_blocks(self, call: Call, record: Record, context: ReadContext) -> list[Block]:
        instant = read_instant(call.created, context.zone)
        if instant.is_invalid:
            message = f"no time can be read from {instant.text!r}"
            record.problems.append(noted(context.file, record.number, Fault.TIME_INVALID, message))
        links = _links(call, chain_seed(*call.declared), instant)
        fresh = [link for link in links if bytes.fromhex(link.key) not in self._seen]
        self._seen.update(bytes.fromhex(link.key) for link in fresh)
        # Every line answers for itself: one that adds nothing delivers its last message again.
        fresh = fresh or links[-1:]
        template = self._template(links[0].key, call, record, context)
        blocks: list[Block] = []
        for link in fresh:
            more = {"call": call.rest} if call.rest and link is fresh[-1] else {}
            blocks.extend(_message_blocks(template, link, call, more))
        return blocks

    def _template(self, conversation: str, call: Call, record: Record, context: ReadContext) -> Block:
        flags = record.flags
        if not any(call.declared):
            flags |= SourceFlag.NO_STABLE_ID
        return Block(
            format=self.name,
            record_key="",
            conversation_key=conversation,
            text="",
            turn=0,
            locator=f"{context.file}#{record.number}",
            session=call.declared[1],
            flags=flags,
        )


def _first_records(records: Iterator[Record]) -> list[Record]:
    first: list[Record] = []
    size = 0
    for record in records:
        first.append(record)
        size += record.size
        if len(first) >= _LOOK_AHEAD_ROWS or size >= _LOOK_AHEAD_BYTES:
            break
    return first


def _continue_each_other(records: list[Record]) -> bool:
    """Tell whether some row begins with all messages of an earlier one, and goes on."""
    ends: set[str] = set()
    for record in records:
        call = call_of(record.value) if record.value is not None else None
        if call is None or not call.messages:
            continue
        keys = [link.key for link in _links(call, chain_seed(*call.declared), Instant())]
        if not ends.isdisjoint(keys[:-1]):
            return True
        ends.add(keys[-1])
    return False


def _links(call: Call, seed: str, instant: Instant) -> list[_Link]:
    """Chain the messages of `call`; each choice follows the last message of the request."""
    links: list[_Link] = []
    key = seed
    timed_from = call.first_new
    for turn, message in enumerate(call.request):
        key = chain_key(key, _role(message), chain_text(message))
        links.append(_Link(key, message, turn, 0, instant if turn >= timed_from else Instant()))
    turn = len(call.request)
    for number, message in enumerate(call.choices):
        own = chain_key(key, _role(message), chain_text(message))
        # A second choice is a branch that the conversation did not take.
        flags = int(SourceFlag.OFF_THREAD) if number else 0
        links.append(_Link(own, message, turn, flags, instant))
    return links


def _role(message: dict[str, Any]) -> str:
    return standing_of(text_or_none(message.get("role"))).role


def _message_blocks(template: Block, link: _Link, call: Call, more: dict[str, Any]) -> list[Block]:
    message = link.message
    standing = standing_of(text_or_none(message.get("role")))
    name = text_or_none(message.get("name"))
    base = Block(
        format=template.format,
        record_key=link.key,
        conversation_key=template.conversation_key,
        text="",
        turn=link.turn,
        locator=template.locator,
        role=standing.role,
        trust=standing.trust,
        author=name or standing.author,
        # One of several people in a talk has a name; alone, or named as the call's user, it is the user.
        is_owner=standing.role == "user" and name in (None, call.declared[0]),
        session=template.session,
        flags=template.flags | link.flags,
    )
    set_time(base, link.instant)
    parts = message_parts(message, standing.role, call.tools)
    return assemble(base, parts, {**without(message, *_TAKEN), **more})


def _report_odd(call: Call, record: Record, context: ReadContext) -> None:
    problems: list[Problem] = record.problems
    if call.odd:
        message = f"{call.odd} item(s) among the messages are no objects; they were passed over"
        problems.append(noted(context.file, record.number, Fault.WRONG_TYPE, message))
    faults = {standing_of(text_or_none(message.get("role"))).fault for message in call.messages}
    problems.extend(
        noted(context.file, record.number, Fault.UNKNOWN_ROLE, fault)
        for fault in sorted(faults - {None}, key=str)
        if fault
    )
