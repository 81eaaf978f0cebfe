"""Read dumps of Zep and Graphiti: episodes as they were told, entities, and facts between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block
from amos.sources.decoding import canonical_json, extra_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import digest_key, join_key
from amos.sources.noted_memory import Note, note_block
from amos.sources.parts import set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_documents, json_kind, one_record, opening_of
from amos.sources.standing import standing_of

_EPISODES = ("episodes", "episodic_nodes", "episodicNodes")
_ENTITIES = ("entities", "nodes", "entity_nodes", "entityNodes")
_FACTS = ("facts", "edges", "entity_edges", "entityEdges")
_MESSAGES = ("messages",)
_ENDS = ({"source_node_uuid", "target_node_uuid"}, {"source_uuid", "target_uuid"})


class ZepReader(Reader):
    """Keys: kind and uuid.  An episode that names its speaker is what that person or agent said.

    Facts and summaries were written by a model: an agent's notes.  A fact's time is when it began
    to hold, the rest of its times stands in `extra`.
    """

    name: ClassVar[str] = "zep"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See episodes, facts between nodes, or messages with a `role_type`."""
        keys, inner = set(sample.keys), sample.all_keys | set(sample.keys)
        if any(ends <= inner for ends in _ENDS) and ("fact" in inner or not keys.isdisjoint(_FACTS)):
            return Recognition(93, "facts between nodes with a uuid")
        if not keys.isdisjoint(_EPISODES) and "uuid" in inner:
            return Recognition(91, "episodes with a uuid")
        if {"uuid", "role_type", "content"} <= inner:
            return Recognition(89, "messages with `uuid` and `role_type`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield episodes and messages, then summaries of entities, then facts."""
        for record in json_documents(stream, context):
            yield opening_of(record, form=self.name)
            if record.value is None:
                continue
            found = False
            for kind, place, item in _items(record.value):
                found = True
                yield self._read(kind, item, place, record, context)
            if not found:
                said = "neither episodes nor messages, entities or facts"
                yield one_record(
                    [], [lost(context.file, record.number, Fault.WRONG_TYPE, said)], form=self.name
                )

    def _read(self, kind: str, item: Any, place: str, record: Record, context: ReadContext) -> Batch:
        inside = Record(number=record.number, size=0, value={}, problems=[], flags=record.flags)
        if not isinstance(item, dict):
            said = f"{json_kind(item)} where one of the {kind}s belongs"
            inside.problems.append(lost(context.file, record.number, Fault.WRONG_TYPE, said))
            return one_record([], inside.problems, form=self.name)
        locator = f"{context.file}#{record.number}{place}"
        return one_record([_MAKERS[kind](item, locator, inside, context)], inside.problems, form=self.name)


def _items(value: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the kind, place and value of everything in a dump, or of the one thing on a line."""
    is_dump = False
    talk = {name: value[name] for name in ("session_id", "thread_id", "user_id") if value.get(name)}
    kinds: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("message", _MESSAGES),
        ("episode", _EPISODES),
        ("entity", _ENTITIES),
        ("fact", _FACTS),
    )
    for kind, names in kinds:
        for name in names:
            listed = value.get(name)
            is_dump = is_dump or isinstance(listed, list)
            for place, item in enumerate(listed if isinstance(listed, list) else [], start=1):
                inside = {**talk, **item} if isinstance(item, dict) and kind == "message" else item
                yield kind, f"/{name}/{place}", inside
    one = None if is_dump else _kind_of(value)
    if one is not None:
        yield one, "", value


def _kind_of(value: dict[str, Any]) -> str | None:
    if any(ends <= value.keys() for ends in _ENDS):
        return "fact"
    if "role_type" in value:
        return "message"
    if "content" in value or "episode_body" in value:
        return "episode"
    return "entity" if "uuid" in value and "name" in value else None


def _own_id(kind: str, item: dict[str, Any], record: Record, context: ReadContext) -> str:
    own = text_or_none(item.get("uuid")) or text_or_none(item.get("uuid_")) or text_or_none(item.get("id"))
    if own is not None:
        return own
    record.flags |= int(SourceFlag.NO_STABLE_ID)
    said = f"one of the {kind}s has no uuid; a digest stands in"
    record.problems.append(noted(context.file, record.number, Fault.MISSING_ID, said))
    return digest_key((f"amos/{kind}/1", canonical_json(item)))


def _time(item: dict[str, Any], record: Record, context: ReadContext) -> Instant:
    """Return when it began to hold or was said, else when it was written down."""
    for name in ("valid_at", "created_at"):
        instant = read_instant(item.get(name), context.zone)
        if instant.is_invalid:
            said = f"no time can be read from {instant.text!r}"
            record.problems.append(noted(context.file, record.number, Fault.TIME_INVALID, said))
        if instant.us is not None or instant.is_invalid:
            return instant
    return Instant()


def _spoken(item: dict[str, Any], locator: str, record: Record, context: ReadContext) -> Block:
    """Return a message or an episode: with the standing of its speaker, without one that of a tool."""
    content = item.get("content")
    content = item.get("episode_body") if content is None else content
    kind = "message" if "role_type" in item else "episode"
    role = text_or_none(item.get("role_type"))
    name = text_or_none(item.get("name")) if kind == "message" else None
    if role is not None and not standing_of(role).fault:
        name = text_or_none(item.get("role")) or name
    standing = standing_of(role if role in _SPEAKERS else "tool")
    talk = next(
        (one for key in ("session_id", "thread_id", "group_id") if (one := text_or_none(item.get(key)))), None
    )
    taken = ("uuid", "content" if isinstance(content, str) else "", "role_type", "valid_at")
    block = Block(
        format=ZepReader.name,
        record_key=join_key(kind, _own_id(kind, item, record, context)),
        conversation_key=talk or "default",
        text=content if isinstance(content, str) else "",
        turn=0,
        locator=locator,
        role=standing.role,
        trust=standing.trust,
        author=name or standing.author,
        is_owner=standing.role == "user" and name in (None, "user"),
        session=talk,
        scope_user=text_or_none(item.get("user_id")),
        flags=record.flags,
        extra=extra_json(without(item, *taken)),
    )
    instant = _time(item, record, context)
    set_time(block, instant)
    block.turn = instant.us or 0
    return block


_SPEAKERS = frozenset({"user", "human", "assistant", "ai", "system", "function", "tool"})


def _entity(item: dict[str, Any], locator: str, record: Record, context: ReadContext) -> Block:
    summary = text_or_none(item.get("summary")) or text_or_none(item.get("description"))
    own = _own_id("entity", item, record, context)
    note = Note(
        format=ZepReader.name,
        key=join_key("entity", own, digest_key(("amos/summary/1", summary))),
        conversation=join_key("entity", text_or_none(item.get("name")) or ""),
        title=text_or_none(item.get("name")),
        text=summary or "",
        locator=locator,
        extra=without(item, "uuid", "summary", "summary_embedding", "name_embedding"),
    )
    return _timed(note_block(note), item, record, context)


def _fact(item: dict[str, Any], locator: str, record: Record, context: ReadContext) -> Block:
    text = text_or_none(item.get("fact"))
    note = Note(
        format=ZepReader.name,
        key=join_key("fact", _own_id("fact", item, record, context)),
        conversation=join_key("facts", text_or_none(item.get("group_id")) or ""),
        text=text or "",
        locator=locator,
        extra=without(item, "uuid", "fact" if text else "", "fact_embedding"),
    )
    return _timed(note_block(note), item, record, context)


def _timed(block: Block, item: dict[str, Any], record: Record, context: ReadContext) -> Block:
    block.flags |= record.flags
    set_time(block, _time(item, record, context))
    return block


_MAKERS = {"message": _spoken, "episode": _spoken, "entity": _entity, "fact": _fact}
