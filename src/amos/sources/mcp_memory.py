"""Read the JSON lines of the MCP memory server: entities with observations, and relations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.sources.block import Batch, Block
from amos.sources.decoding import extra_json
from amos.sources.faults import Fault, UnreadableRecordError, lost, noted
from amos.sources.keys import digest_key, join_key
from amos.sources.parts import text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_records, one_record

_ENTITY_NAMES = ("name", "entityName", "id")
_FROM_NAMES = ("from", "from_id", "source")
_TO_NAMES = ("to", "to_id", "target")
_RELATION_NAMES = ("relationType", "relation_type", "relation")


class McpMemoryReader(Reader):
    """Keys: entity and digest of the observation; the three words of a relation.

    An observation is a block with the entity as its conversation; a relation is the sentence of
    its three words.  All of it was written by an agent.
    """

    name: ClassVar[str] = "mcp-memory"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See lines of type `entity` or `relation`."""
        for line in sample.objects:
            is_entity = line.get("type") == "entity" and _first(line, _ENTITY_NAMES)
            is_relation = line.get("type") == "relation" and _first(line, _RELATION_NAMES)
            if is_entity or is_relation:
                return Recognition(95, f"a JSON line of type {line['type']!r}")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the lines one by one."""
        for record in json_records(stream, context):
            blocks: list[Block] = []
            if record.value is not None:
                try:
                    blocks = self._blocks(record.value, record, context)
                except UnreadableRecordError as cause:
                    problem = lost(context.file, record.number, cause.code, cause.message)
                    record.problems.append(problem)
            yield one_record(blocks, record.problems, form=self.name, size=record.size)

    def _blocks(self, line: dict[str, Any], record: Record, context: ReadContext) -> list[Block]:
        if line.get("type") == "relation":
            return self._relation(line, record, context)
        if line.get("type") == "entity":
            return self._observations(line, record, context)
        shown = str(line.get("type"))[:40]
        raise UnreadableRecordError(Fault.UNKNOWN_CONTENT, f"type {shown!r} is neither entity nor relation")

    def _observations(self, line: dict[str, Any], record: Record, context: ReadContext) -> list[Block]:
        entity = _required(line, _ENTITY_NAMES)
        listed = line.get("observations")
        values = listed if isinstance(listed, list) else [listed]
        texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
        extra = without(line, "observations", "type", *_ENTITY_NAMES)
        odd = [value for value in values if value is not None and not isinstance(value, str)]
        if odd:
            extra["observations"] = odd
            message = f"{len(odd)} observation(s) are no text; they were set aside"
            record.problems.append(noted(context.file, record.number, Fault.WRONG_TYPE, message))
        if not texts:
            return [self._block(join_key("entity", entity), entity, "", record, context, extra)]
        return [
            self._block(
                join_key("entity", entity, digest_key(("amos/observation/1", text))),
                entity,
                text,
                record,
                context,
                extra if number == 0 else {},
                turn=number,
            )
            for number, text in enumerate(texts)
        ]

    def _relation(self, line: dict[str, Any], record: Record, context: ReadContext) -> list[Block]:
        words = [_required(line, names) for names in (_FROM_NAMES, _RELATION_NAMES, _TO_NAMES)]
        taken = ("type", *_FROM_NAMES, *_TO_NAMES, *_RELATION_NAMES)
        extra = {**without(line, *taken), "relation": words}
        key = join_key("relation", *words)
        return [self._block(key, words[0], " ".join(words), record, context, extra)]

    def _block(
        self,
        key: str,
        entity: str,
        text: str,
        record: Record,
        context: ReadContext,
        extra: dict[str, Any],
        *,
        turn: int = 0,
    ) -> Block:
        return Block(
            format=self.name,
            record_key=key,
            conversation_key=entity,
            conversation_title=entity,
            text=text,
            turn=turn,
            locator=f"{context.file}#{record.number}",
            role="assistant",
            trust="agent",
            author="assistant",
            is_owner=False,
            flags=record.flags,
            extra=extra_json(extra),
        )


def _first(line: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = text_or_none(line.get(name))
        if value is not None:
            return value
    return None


def _required(line: dict[str, Any], names: tuple[str, ...]) -> str:
    value = _first(line, names)
    if value is None:
        raise UnreadableRecordError(Fault.MISSING_ID, f"no text under `{names[0]}`")
    return value
