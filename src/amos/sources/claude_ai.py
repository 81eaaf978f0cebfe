"""Read Claude.ai exports: conversations with typed content blocks and attachments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block, Problem
from amos.sources.content import Tools, attachment_part, content_parts
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import read_instant
from amos.sources.keys import digest_key, join_key
from amos.sources.parts import Part, assemble, set_revision, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_kind, json_values, one_record
from amos.sources.standing import standing_of
from amos.sources.threads import Thread, follow_thread

_TAKEN = (
    "uuid",
    "sender",
    "text",
    "content",
    "attachments",
    "created_at",
    "updated_at",
    "parent_message_uuid",
)
_TAKEN_ABOVE = ("uuid", "name", "chat_messages", "current_leaf_message_uuid")


class ClaudeAiReader(Reader):
    """Keys: conversation and message uuid.  An attachment's text is a source of its own."""

    name: ClassVar[str] = "claude-ai"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See conversations with `chat_messages`."""
        if "chat_messages" in sample.keys:
            return Recognition(97, "conversations with `chat_messages`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the messages of each conversation, in the order of the thread."""
        for record in json_values(stream, context):
            if record.value is None:
                yield one_record([], record.problems, form=self.name, size=record.size)
                continue
            listed = record.value.get("chat_messages")
            if not isinstance(listed, list):
                message = "a conversation without a list of `chat_messages`"
                problem = lost(context.file, record.number, Fault.WRONG_TYPE, message)
                yield one_record([], [*record.problems, problem], form=self.name, size=record.size)
                continue
            yield from _Conversation(record.value, listed, record, context).batches()


class _Conversation:
    """One conversation while its messages are read."""

    def __init__(
        self, source: dict[str, Any], listed: list[Any], record: Record, context: ReadContext
    ) -> None:
        self._record = record
        self._context = context
        self._title = text_or_none(source.get("name"))
        self._model = text_or_none(source.get("model"))
        self._above: dict[str, Any] | None = without(source, *_TAKEN_ABOVE)
        self._flags = record.flags
        self._tools = Tools()
        self._problems = list(record.problems)
        self._lost: list[Problem] = []
        nodes = self._nodes(listed)
        self._thread = _thread(nodes, source.get("current_leaf_message_uuid"))
        self._problems.extend(self._noted(Fault.BROKEN_THREAD, said) for said in self._thread.faults)
        self._key = self._conversation_key(source)

    def batches(self) -> Iterator[Batch]:
        """Yield what is wrong with the conversation, then its messages."""
        yield Batch(
            blocks=[],
            problems=self._problems + self._lost,
            record_count=len(self._lost),
            format=ClaudeAiReader.name,
            bytes_read=self._record.size,
        )
        for turn, node in self._thread.order:
            yield self._read(node, turn)

    def _conversation_key(self, source: dict[str, Any]) -> str:
        key = text_or_none(source.get("uuid"))
        if key is not None:
            return key
        self._flags |= SourceFlag.NO_STABLE_ID
        self._problems.append(
            self._noted(Fault.MISSING_ID, "a conversation without a uuid; its first message stands in")
        )
        return self._thread.first_message or digest_key(("amos/conversation/1", canonical_json(source)))

    def _nodes(self, listed: list[Any]) -> dict[str, dict[str, Any]]:
        """Return messages as tree nodes; one without a uuid is named by its digest."""
        nodes: dict[str, dict[str, Any]] = {}
        for message in listed:
            if not isinstance(message, dict):
                said = f"{json_kind(message)} where a message belongs"
                self._lost.append(lost(self._context.file, self._record.number, Fault.WRONG_TYPE, said))
                continue
            name = text_or_none(message.get("uuid"))
            if name is None:
                name = digest_key(("amos/message/1", canonical_json(message)))
                self._problems.append(
                    self._noted(Fault.MISSING_ID, "a message without a uuid; a digest stands in")
                )
            if name in nodes:
                # Delivered twice: the second one stands or falls by its key like any replay.
                name = f"{name}#{len(nodes)}"
            nodes[name] = {"parent": message.get("parent_message_uuid"), "message": message}
        return nodes

    def _read(self, node: str, turn: int) -> Batch:
        message = self._thread.message(node)
        problems: list[Problem] = []
        sender = message.get("sender")
        standing = standing_of(sender if isinstance(sender, str) else "unnamed")
        if standing.fault:
            problems.append(self._noted(Fault.UNKNOWN_ROLE, f"message {node}: {standing.fault}"))
        base = self._base(node, message, turn)
        base.role, base.trust, base.is_owner = standing.role, standing.trust, standing.role == "user"
        base.author = (self._model if standing.role == "assistant" else None) or standing.author
        created = read_instant(message.get("created_at"), self._context.zone)
        set_time(base, created)
        set_revision(base, created, read_instant(message.get("updated_at"), self._context.zone))
        if created.is_invalid:
            said = f"message {node}: no time can be read from {created.text!r}"
            problems.append(self._noted(Fault.TIME_INVALID, said))
        parts, extra = _parts(message, self._tools, base)
        extra = {**without(message, *_TAKEN), **extra}
        if self._above:
            # What the export says of the conversation stands with its first message.
            extra["conversation"] = self._above
            self._above = None
        return one_record(assemble(base, parts, extra), problems, form=ClaudeAiReader.name)

    def _base(self, node: str, message: dict[str, Any], turn: int) -> Block:
        above = self._thread.message_above(node)
        flags = int(self._flags)
        if node not in self._thread.visible:
            flags |= SourceFlag.OFF_THREAD
        if text_or_none(message.get("uuid")) is None:
            flags |= SourceFlag.NO_STABLE_ID
        return Block(
            format=ClaudeAiReader.name,
            record_key=join_key(self._key, self._thread.message_id(node)),
            conversation_key=self._key,
            conversation_title=self._title,
            text="",
            turn=turn,
            locator=f"{self._context.file}#{self._record.number}/{node}",
            reply_to=join_key(self._key, self._thread.message_id(above)) if above else None,
            flags=flags,
        )

    def _noted(self, code: Fault, message: str) -> Problem:
        return noted(self._context.file, self._record.number, code, message)


def _thread(nodes: dict[str, dict[str, Any]], current: Any) -> Thread:
    """Return the thread by parents; where no message names one that exists, by the list's order."""
    if not any(node["parent"] in nodes for node in nodes.values() if isinstance(node["parent"], str)):
        previous = None
        for name, node in nodes.items():
            node["parent"], previous = previous, name
        current = previous
    return follow_thread(nodes, current, id_field="uuid", time_field="created_at")


def _parts(message: dict[str, Any], tools: Tools, base: Block) -> tuple[list[Part], dict[str, Any]]:
    """Return the parts, and which of `content` and `text` the words were taken from."""
    content, text = message.get("content"), message.get("text")
    parts = content_parts(content, tools, base.record_key, base.author)
    spoken = [part.text for part in parts if part.kind == "text" and part.text]
    extra: dict[str, Any] = {}
    if spoken:
        if isinstance(text, str) and text.strip() not in {joint.join(spoken).strip() for joint in _JOINTS}:
            extra["text"] = text
        extra["text_from"] = "content"
    elif isinstance(text, str) and text:
        parts = [Part(text=text), *(part for part in parts if part.text or part.extra)]
        extra["text_from"] = "text"
    elif text is not None and text != "":
        extra["text"] = text
    return parts + _attachment_parts(message.get("attachments"), extra), extra


_JOINTS = ("", "\n", "\n\n")


def _attachment_parts(attachments: Any, extra: dict[str, Any]) -> list[Part]:
    parts, rest = [], []
    for item in attachments if isinstance(attachments, list) else [attachments]:
        text = item.get("extracted_content") if isinstance(item, dict) else None
        if isinstance(text, str):
            parts.append(attachment_part(text, without(item, "extracted_content")))
        elif item is not None:
            rest.append(item)
    if rest:
        extra["attachments"] = rest
    return parts
