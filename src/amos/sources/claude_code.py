"""Read Claude Code session files: JSON lines of one session, its tools and its sub-agents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block, Problem
from amos.sources.content import Tools, attachment_part, content_parts, is_web_tool
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import read_instant
from amos.sources.keys import digest_key, join_key
from amos.sources.parts import Part, assemble, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_lines, one_record

NO_SESSION = "no-session"
"""Conversation of lines that name no session: summaries and snapshots."""
_MESSAGES = frozenset({"user", "assistant"})
_KINDS = _MESSAGES | {"summary", "system", "attachment", "file-history-snapshot", "queue-operation"}
_TAG = r"\s*<([a-z][a-z0-9_-]*)(?:\s[^<>]*)?>"
_MARKUP = re.compile(_TAG)
_STDOUT = re.compile(r"^\s*<(?:local-command-std|bash-std|task-notification)", re.ASCII)
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user[^\]]*\]\s*")
_AGENT_MARKS = ("isSidechain", "isMeta", "isCompactSummary")
_TAKEN = ("uuid", "parentUuid", "sessionId", "timestamp", "cwd", "message", "content")
_TAKEN_INSIDE = ("role", "content")


class ClaudeCodeReader(Reader):
    """Keys: session and line uuid.  A sub-agent's lines are a conversation of their own."""

    name: ClassVar[str] = "claude-code"

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}
        self._tools = Tools()

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See lines with a known `type` and a session or line id."""
        for line in sample.objects:
            if isinstance(line.get("message"), dict) and {"sessionId", "uuid"} <= line.keys():
                return Recognition(98, "JSON lines with `type`, `uuid`, `sessionId` and `message`")
        for line in sample.objects:
            kind = text_or_none(line.get("type"))
            if kind in _KINDS and {"sessionId", "leafUuid", "messageId"} & line.keys():
                return Recognition(85, f"a JSON line of type {kind!r} with a session's ids")
        if not sample.objects and {"type", "sessionId", "message"} <= set(sample.keys):
            return Recognition(80, "a long JSON line with `type`, `sessionId` and `message`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the lines one by one."""
        for record in json_lines(stream, context):
            blocks: list[Block] = []
            if record.value is not None:
                blocks = self._blocks(record.value, record, context)
            yield one_record(blocks, record.problems, form=self.name, size=record.size)

    def _blocks(self, line: dict[str, Any], record: Record, context: ReadContext) -> list[Block]:
        kind = text_or_none(line.get("type"))
        is_message = kind in _MESSAGES
        session = line.get("sessionId")
        if is_message and not (isinstance(session, str) and session):
            problem = lost(
                context.file, record.number, Fault.MISSING_ID, f"a {kind} line without a session id"
            )
            record.problems.append(problem)
            return []
        base = self._base(line, record, context)
        if is_message:
            return self._message_blocks(line, base, record.problems, record.number, context)
        notice = _notice_part(line)
        if notice is None:
            return _record_block(line, base)
        self._count_turn(base)
        return assemble(base, [notice], without(line, *_TAKEN, "attachment"))

    def _base(self, line: dict[str, Any], record: Record, context: ReadContext) -> Block:
        session = text_or_none(line.get("sessionId"))
        own = text_or_none(line.get("uuid"))
        flags = record.flags
        if own is None:
            own = digest_key(("amos/line/1", canonical_json(line)))
            if text_or_none(line.get("type")) in _MESSAGES:
                flags |= SourceFlag.NO_STABLE_ID
                record.problems.append(
                    noted(context.file, record.number, Fault.MISSING_ID, "no uuid; a digest stands in")
                )
        parent = text_or_none(line.get("parentUuid"))
        base = Block(
            format=self.name,
            record_key=_key(session, own),
            conversation_key=_conversation(session, line),
            text="",
            turn=0,
            locator=f"{context.file}#{record.number}",
            session=session,
            reply_to=_key(session, parent) if parent else None,
            scope_project=text_or_none(line.get("cwd")),
            scope_session=session,
            flags=flags,
        )
        instant = read_instant(line.get("timestamp"), context.zone)
        set_time(base, instant)
        if instant.is_invalid:
            message = f"no time can be read from {instant.text!r}"
            record.problems.append(noted(context.file, record.number, Fault.TIME_INVALID, message))
        return base

    def _count_turn(self, base: Block) -> None:
        base.turn = self._turns.get(base.conversation_key, 0)
        self._turns[base.conversation_key] = base.turn + 1

    def _message_blocks(
        self,
        line: dict[str, Any],
        base: Block,
        problems: list[Problem],
        number: int,
        context: ReadContext,
    ) -> list[Block]:
        message = line.get("message")
        if not isinstance(message, dict):
            problems.append(noted(context.file, number, Fault.WRONG_TYPE, "`message` is no object"))
            message = {"content": message if isinstance(message, str) else None}
        self._count_turn(base)
        if line.get("isSidechain"):
            base.flags |= SourceFlag.SIDECHAIN
        if line["type"] == "assistant":
            _as_agent(base, text_or_none(message.get("model")))
        elif any(line.get(mark) for mark in _AGENT_MARKS) or line.get("toolUseResult") is not None:
            _as_agent(base, None)
        else:
            base.author = "user"
        parts = content_parts(message.get("content"), self._tools, base.record_key, base.author)
        for part in parts:
            _settle(part, line)
        extra = without(line, *_TAKEN)
        inside = without(message, *_TAKEN_INSIDE)
        if inside:
            extra["message"] = inside
        return assemble(base, parts, extra)


def _settle(part: Part, line: dict[str, Any]) -> None:
    """Take away the user's standing from what no user said."""
    if part.kind == "tool_result":
        if part.trust == "tool" and _came_from_web(line.get("toolUseResult")):
            part.trust = "untrusted_web"
    elif part.kind == "text" and line["type"] == "user" and is_markup_only(part.text):
        is_output = bool(_STDOUT.match(part.text))
        part.role = "tool" if is_output else "assistant"
        part.trust = "tool" if is_output else "agent"
        part.author = "tool" if is_output else "assistant"
        part.is_owner = False
        part.flags = int(SourceFlag.MARKUP_ONLY)


def is_markup_only(text: str) -> bool:
    """Tell whether `text` is nothing but closed tags and their content, or a client's notice."""
    if _INTERRUPTED.fullmatch(text):
        return True
    at = 0
    while tag := _MARKUP.match(text, at):
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            return False
        at = end + len(tag[1]) + 3
    return at > 0 and not text[at:].strip()


def _as_agent(base: Block, model: str | None) -> None:
    base.role, base.trust = "assistant", "agent"
    base.author, base.is_owner = model or "assistant", False


def _record_block(line: dict[str, Any], base: Block) -> list[Block]:
    """Return a line that is no message: no bytes, everything in `extra`."""
    base.role, base.trust, base.kind = "record", "recall", "record"
    base.author, base.is_owner = None, False
    base.flags |= SourceFlag.NOT_A_MESSAGE
    title = line.get("customTitle") or line.get("aiTitle")
    base.conversation_title = title if isinstance(title, str) else None
    return assemble(base, [Part(text="", kind="record")], line)


def _notice_part(line: dict[str, Any]) -> Part | None:
    """Return the part of a client's notice or of an attachment; None when it has no text."""
    content = line.get("content")
    if line.get("type") == "system" and isinstance(content, str):
        return Part(text=content, role="system", trust="recall", author="system", is_owner=False)
    attached = line.get("attachment")
    if line.get("type") == "attachment" and isinstance(attached, dict):
        text = attached.get("content")
        if isinstance(text, str):
            return attachment_part(text, {"attachment": without(attached, "content")})
    return None


def _came_from_web(result: Any) -> bool:
    return isinstance(result, dict) and ("url" in result or is_web_tool(text_or_none(result.get("type"))))


def _conversation(session: str | None, line: dict[str, Any]) -> str:
    if session is None:
        return NO_SESSION
    if line.get("isSidechain"):
        return join_key(session, text_or_none(line.get("agentId")) or "sidechain")
    return session


def _key(session: str | None, own: str) -> str:
    return join_key(session, own) if session else join_key(NO_SESSION, own)
