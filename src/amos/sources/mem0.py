"""Read dumps of mem0: memories that a model wrote down of what it was told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import read_instant
from amos.sources.keys import digest_key
from amos.sources.noted_memory import Note, note_block
from amos.sources.parts import set_revision, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_documents, json_kind, one_record

_LISTS = ("results", "memories", "items", "data")
_TEXTS = ("memory", "data", "text", "content")
_MARKS = frozenset({"user_id", "agent_id", "run_id", "hash", "categories", "app_id", "expiration_date"})
_OURS = "atm_"
_TAKEN = ("id", *_TEXTS, "user_id", "agent_id", "run_id", "created_at", "updated_at")


class Mem0Reader(Reader):
    """Keys: a memory's own id.  A later `updated_at` with another text revises it.

    Memories of one user, agent and run are a conversation.  All of it was written by an agent;
    what Amos itself exported comes back as recall.
    """

    name: ClassVar[str] = "mem0"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See memories with an owner or a hash, in a list or under `results`."""
        if "memory" in sample.keys and not _MARKS.isdisjoint(sample.keys):
            return Recognition(90, "memories with `memory` and their owner")
        is_wrapped = any(name in sample.keys for name in _LISTS)
        if is_wrapped and "memory" in sample.all_keys and not _MARKS.isdisjoint(sample.all_keys):
            return Recognition(88, "a list of memories in an object")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the memories one by one."""
        for record in json_documents(stream, context):
            listed = _wrapped(record.value) if record.value is not None else None
            if record.value is None or listed is None:
                yield self._read(record.value, record, context, "")
                continue
            yield Batch(
                blocks=[], problems=record.problems, record_count=0, format=self.name, bytes_read=record.size
            )
            for place, item in enumerate(listed, start=1):
                inside = Record(number=record.number, size=0, value={}, problems=[], flags=record.flags)
                yield self._read(item, inside, context, f"/{place}")

    def _read(self, item: Any, record: Record, context: ReadContext, place: str) -> Batch:
        blocks: list[Block] = []
        text = None
        if record.value is not None and not isinstance(item, dict):
            said = f"{json_kind(item)} where a memory belongs"
            record.problems.append(lost(context.file, record.number, Fault.WRONG_TYPE, said))
        elif isinstance(item, dict):
            text = next((one for name in _TEXTS if (one := text_or_none(item.get(name))) is not None), None)
            if text is None:
                said = "a memory without a text"
                record.problems.append(lost(context.file, record.number, Fault.WRONG_TYPE, said))
            else:
                blocks = [_block(item, text, record, context, place)]
        return one_record(blocks, record.problems, form=self.name, size=record.size)


def _wrapped(value: dict[str, Any]) -> list[Any] | None:
    return next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)


def _block(item: dict[str, Any], text: str, record: Record, context: ReadContext, place: str) -> Block:
    user, agent, run = (text_or_none(item.get(name)) for name in ("user_id", "agent_id", "run_id"))
    own = text_or_none(item.get("id"))
    flags = record.flags
    if own is None:
        own = digest_key(("amos/memory/1", canonical_json(without(item, "score"))))
        flags |= SourceFlag.NO_STABLE_ID
        said = "a memory without an id; a digest stands in"
        record.problems.append(noted(context.file, record.number, Fault.MISSING_ID, said))
    block = note_block(
        Note(
            format=Mem0Reader.name,
            key=own,
            conversation=digest_key(("amos/memories/1", user, agent, run)),
            text=text,
            locator=f"{context.file}#{record.number}{place}",
            extra=without(item, *_TAKEN),
        )
    )
    if own.startswith(_OURS):
        block.trust = "recall"  # exported from a memory of Amos: told again, it is no new note
    block.flags |= int(flags)
    block.scope_user, block.scope_agent, block.scope_session = user, agent, run
    created = read_instant(item.get("created_at"), context.zone)
    set_time(block, created)
    set_revision(block, created, read_instant(item.get("updated_at"), context.zone))
    if created.is_invalid:
        said = f"no time can be read from {created.text!r}"
        record.problems.append(noted(context.file, record.number, Fault.TIME_INVALID, said))
    return block
