"""Read ChatGPT exports: an array of conversations, each a tree of message nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block
from amos.sources.chatgpt_content import chatgpt_parts
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import read_instant
from amos.sources.keys import join_key
from amos.sources.parts import assemble, set_revision, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_values, one_record
from amos.sources.standing import standing_of
from amos.sources.threads import Thread, follow_thread

_HIDDEN_MARK = "is_visually_hidden_from_conversation"
_TAKEN = ("id", "author", "create_time", "update_time", "content", "channel")
_TAKEN_ABOVE = ("id", "conversation_id", "title", "mapping", "current_node")


class ChatGptReader(Reader):
    """Keys: conversation and message id.  Branches off the visible thread are kept, flagged."""

    name: ClassVar[str] = "chatgpt"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See conversations with a `mapping` of nodes."""
        if "mapping" not in sample.keys:
            return NOT_MINE
        is_tree = {"parent", "message"} & sample.all_keys
        return Recognition(97 if is_tree else 80, "conversations with a `mapping` of nodes")

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the messages of each conversation, in the order of the thread."""
        for record in json_values(stream, context):
            wrapped = record.value.get("conversations") if record.value else None
            if record.value is None:
                yield one_record([], record.problems, form=self.name, size=record.size)
            elif isinstance(wrapped, list) and "mapping" not in record.value:
                for number, conversation in enumerate(wrapped, start=1):
                    inner = Record(number=number, size=0, value=conversation, problems=[])
                    yield from self._conversation(inner, context)
            else:
                yield from self._conversation(record, context)

    def _conversation(self, record: Record, context: ReadContext) -> Iterator[Batch]:
        source = record.value
        mapping = source.get("mapping") if isinstance(source, dict) else None
        if not isinstance(source, dict) or not isinstance(mapping, dict):
            problem = lost(
                context.file, record.number, Fault.WRONG_TYPE, "a conversation without a `mapping` of nodes"
            )
            yield one_record([], [*record.problems, problem], form=self.name, size=record.size)
            return
        thread = follow_thread(mapping, source.get("current_node"))
        conversation = _Conversation(source, thread, record, context)
        yield Batch(
            blocks=[],
            problems=[*record.problems, *conversation.problems],
            record_count=0,
            format=self.name,
            bytes_read=record.size,
        )
        for turn, node in thread.order:
            yield conversation.read_node(node, turn)


class _Conversation:
    """One conversation while its nodes are read."""

    def __init__(self, source: dict[str, Any], thread: Thread, record: Record, context: ReadContext) -> None:
        self._thread = thread
        self._context = context
        self._record = record
        self._model = text_or_none(source.get("default_model_slug"))
        self._title = text_or_none(source.get("title"))
        self._above: dict[str, Any] | None = without(source, *_TAKEN_ABOVE)
        self.problems = [
            noted(context.file, record.number, Fault.BROKEN_THREAD, said) for said in thread.faults
        ]
        key = text_or_none(source.get("conversation_id")) or text_or_none(source.get("id"))
        self._flags = record.flags
        if key is None:
            key = thread.first_message or f"element-{record.number}"
            self._flags |= SourceFlag.NO_STABLE_ID
            self.problems.append(
                noted(
                    context.file,
                    record.number,
                    Fault.MISSING_ID,
                    "a conversation without an id; its first message stands in",
                )
            )
        self._key = key

    def read_node(self, node: str, turn: int) -> Batch:
        """Return the record of one node with a message."""
        problems = []
        message = self._thread.message(node)
        base = self._base(node, message, turn)
        created = read_instant(message.get("create_time"), self._context.zone)
        set_time(base, created)
        if created.is_invalid:
            problems.append(
                self._noted(Fault.TIME_INVALID, f"node {node}: no time can be read from {created.text!r}")
            )
        set_revision(base, created, read_instant(message.get("update_time"), self._context.zone))
        fault = self._set_author(base, message)
        if fault:
            problems.append(self._noted(Fault.UNKNOWN_ROLE, f"node {node}: {fault}"))
        parts = chatgpt_parts(message, base.role)
        extra = without(message, *_TAKEN)
        if base.role == "tool" and self._model:
            extra["called_by"] = self._model
        if self._above:
            # What the export says of the conversation stands with its first message.
            extra["conversation"] = self._above
            self._above = None
        return one_record(assemble(base, parts, extra), problems, form=ChatGptReader.name)

    def _base(self, node: str, message: dict[str, Any], turn: int) -> Block:
        parent = self._thread.message_above(node)
        flags = self._flags
        if node not in self._thread.visible:
            flags |= SourceFlag.OFF_THREAD
        if _is_hidden(message):
            flags |= SourceFlag.HIDDEN
        return Block(
            format=ChatGptReader.name,
            record_key=join_key(self._key, self._thread.message_id(node)),
            conversation_key=self._key,
            conversation_title=self._title,
            text="",
            turn=turn,
            locator=f"{self._context.file}#{self._record.number}/{node}",
            channel=text_or_none(message.get("channel")),
            reply_to=join_key(self._key, self._thread.message_id(parent)) if parent else None,
            flags=flags,
        )

    def _set_author(self, base: Block, message: dict[str, Any]) -> str | None:
        author = message.get("author")
        author = author if isinstance(author, dict) else {}
        role = author.get("role")
        standing = standing_of(role if isinstance(role, str) else "unnamed")
        metadata = message.get("metadata")
        slug = metadata.get("model_slug") if isinstance(metadata, dict) else None
        base.role, base.trust = standing.role, standing.trust
        name = text_or_none(author.get("name"))
        base.author = name or standing.author
        if standing.role == "assistant":
            base.author = text_or_none(slug) or self._model or base.author
        base.is_owner = standing.role == "user" and name is None
        return standing.fault

    def _noted(self, code: Fault, message: str) -> Any:
        return noted(self._context.file, self._record.number, code, message)


def _is_hidden(message: dict[str, Any]) -> bool:
    metadata = message.get("metadata")
    weight = message.get("weight")
    is_weightless = isinstance(weight, int | float) and weight == 0
    return is_weightless or (isinstance(metadata, dict) and bool(metadata.get(_HIDDEN_MARK)))
