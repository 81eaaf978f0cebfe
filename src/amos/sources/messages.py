"""Read `messages` JSON lines, Amos's own plain format: one message per line, ids welcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

import msgspec

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import DEFAULT_PURPOSES, Batch, Block, Problem
from amos.sources.decoding import decode_record
from amos.sources.faults import Fault, UnreadableRecordError, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import chain_key, chain_seed, join_key
from amos.sources.line import Line, Repairs, Scope, line_of
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import json_kind
from amos.sources.splitting import Piece, split_lines
from amos.sources.standing import Standing, standing_of

UNNAMED = "default"
"""Conversation of lines that have an id and name no conversation."""
_CHUNK_BYTES = 4 << 20
_NO_SCOPE = Scope()
_NO_ID = int(SourceFlag.NO_STABLE_ID)
_BAD_TIME = int(SourceFlag.TIME_INVALID)
_decode_line = msgspec.json.Decoder(Line).decode


class Message(msgspec.Struct, kw_only=True):
    """One line as `propose` needs it: earlier texts first, the message itself last."""

    line: int
    id: str
    blocks: list[Block]
    problems: list[Problem]


class MessagesReader(Reader):
    """Keys: conversation and id; without an id a chain of digests per conversation."""

    name: ClassVar[str] = "messages"

    def __init__(self) -> None:
        self._format = self.name
        self._turns: dict[str, int] = {}
        self._chains: dict[tuple[str | None, ...], tuple[str, str]] = {}

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See lines with a `text`."""
        texts = [line for line in sample.objects if isinstance(line.get("text"), str)]
        if not texts:
            return NOT_MINE
        sure = 20 if "type" in texts[0] else 60 if "id" in texts[0] else 50
        return Recognition(sure, "JSON lines with `text`")

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield one block per line."""
        batch = self._empty()
        for piece in split_lines(stream, longest=context.limits.record_bytes):
            self._read_piece(piece, context, batch)
            if batch.record_count >= context.chunk_records or batch.bytes_read >= _CHUNK_BYTES:
                yield batch
                batch = self._empty()
        if batch.record_count:
            yield batch

    def read_alone(self, stream: BinaryIO, context: ReadContext) -> Iterator[Message]:
        """Yield each line by itself with its `context` texts, as if nothing came before it."""
        for piece in split_lines(stream, longest=context.limits.record_bytes):
            self._turns.clear()
            self._chains.clear()
            batch = self._empty()
            line = self._read_piece(piece, context, batch)
            own = line.id if line is not None and line.id is not None else str(piece.number)
            earlier = _earlier_blocks(line.context if line else None, batch.blocks)
            yield Message(line=piece.number, id=own, blocks=earlier + batch.blocks, problems=batch.problems)

    def read_row(self, row: dict[str, Any], number: int, context: ReadContext, batch: Batch) -> None:
        """Add a row that already has the field names of a line (mapped files)."""
        self._add_tolerantly(row, [], number, context, batch)

    def _empty(self) -> Batch:
        return Batch(blocks=[], problems=[], record_count=0, format=self._format)

    def _read_piece(self, piece: Piece, context: ReadContext, batch: Batch) -> Line | None:
        batch.bytes_read += piece.size
        try:
            line = _decode_line(piece.raw)
        except (msgspec.DecodeError, RecursionError):
            return self._read_odd_piece(piece, context, batch)
        if piece.fault is not None or not line.is_plain(piece.raw):
            return self._read_odd_piece(piece, context, batch)
        batch.record_count += 1
        self._add(line, Repairs(), piece.number, context, batch)
        return line

    def _read_odd_piece(self, piece: Piece, context: ReadContext, batch: Batch) -> Line | None:
        try:
            if piece.fault is not None:
                raise UnreadableRecordError(piece.fault, "longer than one record may be")
            decoded = decode_record(piece.raw, depth=context.limits.depth)
            if not isinstance(decoded.value, dict):
                raise UnreadableRecordError(
                    Fault.WRONG_TYPE, f"{json_kind(decoded.value)} where an object belongs"
                )
        except UnreadableRecordError as cause:
            is_cut = piece.is_last and cause.code is Fault.INVALID_JSON
            code = Fault.TRUNCATED if is_cut else cause.code
            batch.record_count += 1
            batch.problems.append(lost(context.file, piece.number, code, cause.message))
            return None
        flags = int(SourceFlag.SURROGATE_REPLACED) if decoded.is_text_replaced else 0
        return self._add_tolerantly(decoded.value, decoded.repairs, piece.number, context, batch, flags=flags)

    def _add_tolerantly(
        self,
        row: dict[str, Any],
        repairs: list[tuple[Fault, str]],
        number: int,
        context: ReadContext,
        batch: Batch,
        *,
        flags: int = 0,
    ) -> Line | None:
        batch.record_count += 1
        found = Repairs(notes=list(repairs), flags=flags)
        try:
            line = line_of(row, found, is_context_allowed=context.is_context_allowed)
            self._add(line, found, number, context, batch)
        except UnreadableRecordError as cause:
            batch.problems.append(lost(context.file, number, cause.code, cause.message))
            return None
        return line

    def _add(self, line: Line, repairs: Repairs, number: int, context: ReadContext, batch: Batch) -> None:
        scope = line.scope or _NO_SCOPE
        _check_shard(scope, context)
        standing = standing_of(line.role, line.trust, line.source)
        if standing.fault:
            repairs.notes.append((Fault.UNKNOWN_ROLE, standing.fault))
        instant = read_instant(line.ts, context.zone)
        if instant.is_invalid:
            repairs.notes.append((Fault.TIME_INVALID, f"no time can be read from {instant.text!r}"))
        batch.problems.extend(noted(context.file, number, *note) for note in repairs.notes)
        batch.blocks.append(self._block(line, scope, standing, instant, repairs, f"{context.file}#{number}"))

    def _block(
        self,
        line: Line,
        scope: Scope,
        standing: Standing,
        instant: Instant,
        repairs: Repairs,
        locator: str,
    ) -> Block:
        key, conversation, flags = self._key(line, scope, standing.role)
        turn = self._turns.get(conversation, 0) if line.turn is None else line.turn
        self._turns[conversation] = turn + 1
        author = line.author or standing.author
        is_human = standing.role == "user"
        if instant.is_invalid:
            flags |= _BAD_TIME
        return Block(
            format=self._format,
            record_key=key,
            conversation_key=conversation,
            text=line.text,
            turn=turn,
            locator=locator,
            role=standing.role,
            trust=standing.trust,
            author=author,
            is_owner=is_human and (line.author is None or scope.user is None or scope.user == line.author),
            channel=line.channel,
            event_us=instant.us,
            event_text=instant.text,
            zone=instant.zone,
            is_zone_assumed=instant.is_zone_assumed,
            conversation_title=line.title,
            session=line.session,
            reply_to=_reply_key(line),
            scope_project=scope.project,
            scope_user=scope.user,
            scope_agent=scope.agent,
            scope_session=scope.session,
            scope_task=scope.task,
            scope_tool_environment=scope.tool_environment,
            may_retain=line.retain is not False,
            purposes=DEFAULT_PURPOSES if line.purposes is None else tuple(line.purposes),
            flags=flags | repairs.flags,
            extra=repairs.extra,
        )

    def _key(self, line: Line, scope: Scope, role: str) -> tuple[str, str, int]:
        """Return (record key, conversation key, flags)."""
        if line.id:
            if not line.conversation:
                return line.id, UNNAMED, 0
            return join_key(line.conversation, line.id), line.conversation, 0
        declared = (line.conversation, line.session, scope.user, scope.session)
        last, first = self._chains.get(declared, ("", ""))
        key = chain_key(last or chain_seed(*declared), role, line.text)
        self._chains[declared] = (key, first or key)
        conversation = line.conversation or first or key
        return key, conversation, 0 if any(declared) else _NO_ID


def _reply_key(line: Line) -> str | None:
    if not line.reply_to or not line.conversation:
        return line.reply_to or None
    return join_key(line.conversation, line.reply_to)


def _check_shard(scope: Scope, context: ReadContext) -> None:
    is_here = (scope.tenant is None or scope.tenant == context.tenant) and (
        scope.workspace is None or scope.workspace == context.workspace
    )
    if not is_here:
        raise UnreadableRecordError(
            Fault.TENANT_BOUNDARY, "the line belongs to another tenant or workspace than this shard"
        )


def _earlier_blocks(texts: list[str] | None, own: list[Block]) -> list[Block]:
    """Return `texts` as turns before the message in `own`, which moves behind them."""
    if not texts or not own:
        return []
    message = own[-1]
    earlier = [
        msgspec.structs.replace(
            message,
            record_key=join_key("context", message.record_key, str(turn)),
            text=text,
            turn=turn,
            reply_to=None,
            flags=0,
            extra=None,
        )
        for turn, text in enumerate(texts)
    ]
    message.turn = len(texts)
    return earlier
