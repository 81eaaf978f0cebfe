"""Read Letta agent files: the messages of agents, their memory blocks and archived passages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.sources.block import Batch, Block
from amos.sources.decoding import canonical_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import read_instant
from amos.sources.keys import digest_key, join_key
from amos.sources.letta_content import is_place, letta_parts, letta_standing
from amos.sources.noted_memory import Note, note_block
from amos.sources.parts import assemble, set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_documents, json_kind, one_record, opening_of

_BLOCKS = ("core_memory", "blocks", "memory_blocks", "memory")
_MESSAGES = ("messages", "in_context_messages", "message_history")
_PASSAGES = ("archival_memory", "passages", "archival_passages")
_GIVEN = ("func_response", "tool_return", "stdout", "stderr", "content")
_TAKEN = ("id", "role", "content", "text", "tool_calls", "tool_returns", "created_at", "name")


class LettaReader(Reader):
    """Keys: agent, and a message's own id or the digest of its time, role and content.

    Numbers such as `message-3` are places in the file and no ids.  A block or passage is an agent's
    note: its key is agent, label and the digest of its text.
    """

    name: ClassVar[str] = "letta"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See agents with their blocks and tools, or one agent with its core memory."""
        keys, inner = set(sample.keys), sample.all_keys | set(sample.keys)
        if "agents" in keys and not {"block_ids", "agent_type", "in_context_message_ids"}.isdisjoint(inner):
            return Recognition(95, "an agent file with `agents`")
        if {"core_memory", "agent_type"} <= keys or {"core_memory", "messages", "system"} <= keys:
            return Recognition(94, "an agent file with `core_memory`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the messages of each agent, then its blocks and passages."""
        for record in json_documents(stream, context):
            yield opening_of(record, form=self.name)
            if record.value is None:
                continue
            listed = record.value.get("agents")
            agents = listed if isinstance(listed, list) else [record.value]
            shared = {str(one.get("id")): one for one in _objects(record.value.get("blocks"))}
            for place, agent in enumerate(agents, start=1):
                if isinstance(agent, dict):
                    yield from _Agent(agent, shared, f"/{place}", record, context).batches()
                else:
                    said = f"{json_kind(agent)} where an agent belongs"
                    problem = lost(context.file, record.number, Fault.WRONG_TYPE, said)
                    yield one_record([], [problem], form=self.name)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class _Agent:
    """One agent of a file while it is read."""

    def __init__(
        self,
        agent: dict[str, Any],
        shared: dict[str, dict[str, Any]],
        place: str,
        record: Record,
        context: ReadContext,
    ) -> None:
        own = text_or_none(agent.get("id"))
        self._agent = agent
        self._key = own if own and not is_place(own) else text_or_none(agent.get("name")) or "agent"
        self._title = text_or_none(agent.get("name"))
        self._shared = shared
        self._place = place
        self._record = record
        self._context = context
        self._tools: dict[str, str] = {}

    def batches(self) -> Iterator[Batch]:
        """Yield all that the agent keeps; an agent that keeps nothing is one record."""
        is_empty = True
        for turn, (place, message) in enumerate(_listed(self._agent, _MESSAGES)):
            is_empty = False
            yield self._message(message, turn, place)
        for place, block in self._blocks():
            is_empty = False
            yield self._note("block", block, ("value", "content"), place)
        for place, passage in _listed(self._agent, _PASSAGES):
            is_empty = False
            yield self._note("passage", passage, ("text", "content"), place)
        if is_empty:
            yield self._lost("an agent without messages, blocks or passages")

    def _blocks(self) -> Iterator[tuple[str, Any]]:
        own = list(_listed(self._agent, _BLOCKS))
        if own:
            yield from own
            return
        ids = self._agent.get("block_ids")
        for name in ids if isinstance(ids, list) else []:
            if str(name) in self._shared:
                yield f"/blocks/{name}", self._shared[str(name)]

    def _message(self, message: Any, turn: int, place: str) -> Batch:
        if not isinstance(message, dict):
            return self._lost(f"{json_kind(message)} where a message belongs")
        record = self._inside()
        standing = letta_standing(message)
        if standing.fault:
            problem = noted(self._context.file, self._record.number, Fault.UNKNOWN_ROLE, standing.fault)
            record.problems.append(problem)
        own = text_or_none(message.get("id"))
        flags = record.flags
        if own is None or is_place(own):
            own = digest_key(
                (
                    "amos/letta/1",
                    *(text_or_none(message.get(name)) for name in ("created_at", "role")),
                    canonical_json([message.get(name) for name in ("content", "text", "tool_calls")]),
                )
            )
        name = text_or_none(message.get("name"))
        base = Block(
            format=LettaReader.name,
            record_key=join_key(self._key, own),
            conversation_key=self._key,
            conversation_title=self._title,
            text="",
            turn=turn,
            locator=f"{self._context.file}#{self._record.number}{self._place}{place}",
            role=standing.role,
            trust=standing.trust,
            author=(name if standing.role == "user" else None) or standing.author,
            is_owner=standing.role == "user" and name is None,
            flags=int(flags),
        )
        instant = read_instant(message.get("created_at"), self._context.zone)
        set_time(base, instant)
        if instant.is_invalid:
            said = f"no time can be read from {instant.text!r}"
            record.problems.append(noted(self._context.file, self._record.number, Fault.TIME_INVALID, said))
        parts = letta_parts(message, standing.role, self._tools)
        extra = {**without(message, *_TAKEN), **_endings(message)}
        return one_record(assemble(base, parts, extra), record.problems, form=LettaReader.name)

    def _note(self, kind: str, item: Any, names: tuple[str, ...], place: str) -> Batch:
        if not isinstance(item, dict):
            return self._lost(f"{json_kind(item)} where a {kind} belongs")
        text = next((one for name in names if (one := text_or_none(item.get(name))) is not None), "")
        label = text_or_none(item.get("label")) or ""
        block = note_block(
            Note(
                format=LettaReader.name,
                key=join_key(self._key, kind, label, digest_key((f"amos/{kind}/1", text))),
                conversation=join_key(self._key, kind, label) if label else join_key(self._key, kind),
                title=label or self._title,
                text=text,
                locator=f"{self._context.file}#{self._record.number}{self._place}{place}",
                extra=without(item, *names, "embedding"),
            )
        )
        block.flags |= self._record.flags
        set_time(block, read_instant(item.get("created_at"), self._context.zone))
        return one_record([block], [], form=LettaReader.name)

    def _inside(self) -> Record:
        return Record(number=self._record.number, size=0, value={}, problems=[], flags=self._record.flags)

    def _lost(self, said: str) -> Batch:
        problem = lost(self._context.file, self._record.number, Fault.WRONG_TYPE, said)
        return one_record([], [problem], form=LettaReader.name)


def _endings(message: dict[str, Any]) -> dict[str, Any]:
    """Return how the calls ended that `message` answers; what they gave is its content."""
    returns = message.get("tool_returns")
    told = (
        [without(one, *_GIVEN) for one in returns if isinstance(one, dict)]
        if isinstance(returns, list)
        else []
    )
    return {"tool_returns": told} if any(told) else {}


def _listed(holder: dict[str, Any], names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield place and value of the items of the first list under `names` that holds any."""
    for name in names:
        listed = holder.get(name)
        if isinstance(listed, list) and listed:
            for place, item in enumerate(listed, start=1):
                yield f"/{name}/{place}", item
            return
