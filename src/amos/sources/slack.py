"""Read Slack exports: one array of messages per channel and day, beside lists of people and channels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block
from amos.sources.content import attachment_part
from amos.sources.decoding import extra_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import read_instant
from amos.sources.keys import join_key
from amos.sources.parts import Part, assemble, set_revision, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_values, one_record

PEOPLE = frozenset({"users.json", "org_users.json"})
CHANNELS = frozenset({"channels.json", "groups.json", "dms.json", "mpims.json"})
_SPEECH = frozenset(
    {"me_message", "thread_broadcast", "reply_broadcast", "file_share", "file_comment", "bot_message"}
)
_TAKEN = ("text", "ts", "type")


class SlackReader(Reader):
    """Keys: channel and `ts`.  A later `edited.ts` with another text revises the message.

    People speak for themselves, none of them is the owner; apps have the standing of a tool.
    """

    name: ClassVar[str] = "slack"

    def __init__(self) -> None:
        self._people: dict[str, str] = {}
        self._channels: dict[str, tuple[str, str]] = {}

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See messages with a `ts`, or the list of people or channels of an export."""
        keys = set(sample.keys)
        if sample.name in PEOPLE and {"id", "profile"} <= keys:
            return Recognition(93, "the people of a Slack export")
        if sample.name in CHANNELS and {"id", "members"} <= keys:
            return Recognition(93, "the channels of a Slack export")
        if {"ts", "type", "text"} <= keys and not keys.isdisjoint({"user", "bot_id", "subtype", "team"}):
            return Recognition(93, "messages with `ts`, `type` and `text`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the messages of a day, or learn the names in a list."""
        name = PurePosixPath(context.file).name
        if name in PEOPLE | CHANNELS:
            yield self._learn(stream, context, is_people=name in PEOPLE)
            return
        folder = PurePosixPath(context.file).parent.name
        for record in json_values(stream, context):
            blocks: list[Block] = []
            if record.value is not None:
                blocks = self._blocks(record.value, folder, record, context)
            yield one_record(blocks, record.problems, form=self.name, size=record.size)

    def _learn(self, stream: BinaryIO, context: ReadContext, *, is_people: bool) -> Batch:
        batch = Batch(blocks=[], problems=[], record_count=0, format=self.name)
        people: dict[str, tuple[str, str]] = {}
        for record in json_values(stream, context):
            batch.problems.extend(record.problems)
            batch.record_count += sum(problem.is_lost for problem in record.problems)
            batch.bytes_read += record.size
            value = record.value or {}
            own = text_or_none(value.get("id"))
            if own is None:
                continue
            if is_people:
                people[own] = _names(value, own)
            else:
                title = text_or_none(value.get("name")) or own
                self._channels[title] = self._channels[own] = (own, title)
        shared = Counter(name for name, _ in people.values())
        for own, (name, account) in people.items():
            self._people[own] = f"{name} ({account})" if shared[name] > 1 else name
        return batch

    def _blocks(
        self, message: dict[str, Any], folder: str, record: Record, context: ReadContext
    ) -> list[Block]:
        written = text_or_none(message.get("ts"))
        if written is None:
            problem = lost(context.file, record.number, Fault.MISSING_ID, "a message without `ts`")
            record.problems.append(problem)
            return []
        instant = read_instant(written, context.zone)
        if instant.is_invalid:
            said = f"no time can be read from {instant.text!r}"
            record.problems.append(noted(context.file, record.number, Fault.TIME_INVALID, said))
        base = self._base(message, written, folder, record, context)
        base.turn = instant.us or 0
        set_time(base, instant)
        edited = message.get("edited")
        if isinstance(edited, dict):
            set_revision(base, instant, read_instant(edited.get("ts"), context.zone))
        if text_or_none(message.get("subtype")) not in (None, *_SPEECH):
            return [_event_block(message, base)]
        return assemble(base, _parts(message), without(message, *_TAKEN, "attachments"))

    def _base(
        self, message: dict[str, Any], written: str, folder: str, record: Record, context: ReadContext
    ) -> Block:
        channel, title = self._channels.get(folder, (folder, folder))
        flags = record.flags if channel else record.flags | SourceFlag.NO_STABLE_ID
        thread = text_or_none(message.get("thread_ts"))
        user = text_or_none(message.get("user"))
        is_app = user in (None, "USLACKBOT") or "bot_id" in message or message.get("subtype") == "bot_message"
        profile = message.get("user_profile")
        own = text_or_none(profile.get("real_name")) if isinstance(profile, dict) else None
        name = self._people.get(user or "") or own or user or text_or_none(message.get("username"))
        return Block(
            format=SlackReader.name,
            record_key=join_key(channel, written),
            conversation_key=channel or "channel",
            conversation_title=title or None,
            text="",
            turn=0,
            locator=f"{context.file}#{record.number}",
            role="tool" if is_app else "user",
            trust="tool" if is_app else "trusted_user",
            author=name or "app",
            is_owner=False,
            channel=title or None,
            session=thread,
            reply_to=join_key(channel, thread) if thread and thread != written else None,
            flags=int(flags),
        )


def _names(person: dict[str, Any], own: str) -> tuple[str, str]:
    """Return the name that people see, and the name of the account."""
    profile = person.get("profile")
    told = profile if isinstance(profile, dict) else {}
    shown = text_or_none(told.get("real_name")) or text_or_none(person.get("real_name"))
    account = text_or_none(person.get("name")) or own
    return shown or text_or_none(told.get("display_name")) or account, account


def _event_block(message: dict[str, Any], base: Block) -> Block:
    """Return what happened in a channel without anybody speaking: no bytes, everything in `extra`."""
    base.role, base.trust, base.kind = "record", "recall", "record"
    base.author = None
    base.flags |= SourceFlag.NOT_A_MESSAGE
    base.extra = extra_json(without(message, "ts"))
    return base


def _parts(message: dict[str, Any]) -> list[Part]:
    text = text_or_none(message.get("text")) or _block_text(message.get("blocks"))
    parts = [Part(text=_unescaped(text))]
    for item in _objects(message.get("attachments")):
        inner = text_or_none(item.get("text")) or text_or_none(item.get("fallback"))
        part = attachment_part(_unescaped(inner or ""), without(item, "text", "fallback"))
        if item.get("is_share") or item.get("is_msg_unfurl"):
            part.flags = int(SourceFlag.FORWARDED)
            part.author = text_or_none(item.get("author_name")) or part.author
        parts.append(part)
    for item in _objects(message.get("files")):
        inner = text_or_none(item.get("plain_text")) or text_or_none(item.get("preview"))
        if inner:
            parts.append(attachment_part(inner, {"file": without(item, "plain_text", "preview")}))
    return parts


def _unescaped(text: str) -> str:
    """Return `text` as it was typed: on the wire three signs stand for what would be markup."""
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _block_text(blocks: Any) -> str:
    """Return the words of a message that has them in its layout alone."""
    found = []
    for block in _objects(blocks):
        text = block.get("text")
        inner = text.get("text") if isinstance(text, dict) else text
        if isinstance(inner, str) and inner:
            found.append(inner)
    return "\n".join(found)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
