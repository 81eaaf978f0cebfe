"""Read OpenAI-style chats: fine-tuning rows, and raw API logs whose lines repeat their history."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from amos.sources.block import Batch, Block
from amos.sources.calls import CallLog, call_template, chain_links, message_blocks, report_odd
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, lost
from amos.sources.instants import Instant
from amos.sources.keys import digest_key
from amos.sources.openai_calls import Call, api_of, call_of, is_logged
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_records, one_record

_WRAPPED = frozenset({"messages", "role"})
_LOOK_AHEAD_ROWS = 64
_LOOK_AHEAD_BYTES = 4 << 20


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
        self._log = CallLog(self.name)
        self._equal_rows: dict[bytes, int] = {}

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See rows with `messages`, or requests and responses."""
        for row in sample.objects:
            if is_logged(row) and call_of(row) is not None:
                return Recognition(88, _calls_named(sample))
            if isinstance(row.get("messages"), list):
                return Recognition(85, "JSON lines with a list of `messages`")
        if "messages" in sample.keys and "role" in sample.all_keys:
            return Recognition(70, "an array of objects with `messages`")
        if sample.all_keys >= _WRAPPED and not {"request", "body", "params"}.isdisjoint(sample.keys):
            return Recognition(70, "an API call with `messages` in its request")
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
        if not call.messages:
            record.problems.append(
                lost(context.file, record.number, Fault.WRONG_TYPE, "a row without a single message")
            )
            return []
        if self._is_log or is_logged(record.value):
            return self._log.blocks(call, record, context)
        return self._row_blocks(call, record, context)

    def _row_blocks(self, call: Call, record: Record, context: ReadContext) -> list[Block]:
        report_odd(call, record, context)
        digest = bytes.fromhex(digest_key(("amos/row/1", canonical_json(record.value))))
        ordinal = self._equal_rows.get(digest, 0)
        self._equal_rows[digest] = ordinal + 1
        conversation = f"{digest.hex()}/{ordinal}"
        links = chain_links(call, conversation, Instant())
        template = call_template(self.name, conversation, call, record, context)
        blocks = [message_blocks(template, link, call, {}) for link in links]
        if call.rest:
            blocks[0] = message_blocks(template, links[0], call, {"row": call.rest})
        return list(itertools.chain.from_iterable(blocks))


def _calls_named(sample: Sample) -> str:
    """Return which calls the rows of `sample` are."""
    logged = (row for row in sample.objects if is_logged(row) and call_of(row) is not None)
    return f"logged API calls: {', '.join(dict.fromkeys(map(api_of, logged)))}"


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
        keys = [link.key for link in chain_links(call, call.seed, Instant())]
        if not ends.isdisjoint(keys[:-1]):
            return True
        ends.add(keys[-1])
    return False
