"""Make blocks of `messages` lines: keys, turns, standing, time and scope of each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa

from amos.identity import plain_name
from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Block, Problem
from amos.sources.faults import Fault, UnreadableRecordError, noted
from amos.sources.instants import UNKNOWN, Instant, read_instant
from amos.sources.keys import chain_key, chain_seed, join_key
from amos.sources.line import Line, Repairs, Scope
from amos.sources.line_columns import LineColumns, has_gap, join_keys
from amos.sources.line_fields import decode_line
from amos.sources.raw_rows import constant
from amos.sources.reader import ReadContext
from amos.sources.standing import Standing, standing_of

UNNAMED = "default"
"""Conversation of lines that have an id and name no conversation."""

_NO_ID = int(SourceFlag.NO_STABLE_ID)
_BAD_TIME = int(SourceFlag.TIME_INVALID)


class LineBlocks:
    """Lines of one logical input, which share turns and chains."""

    def __init__(self, format: str) -> None:  # noqa: A002 - the name of the column
        self._format = format
        self._turns: dict[str, int] = {}
        self._chains: dict[tuple[str | None, ...], tuple[str, str]] = {}

    def block(
        self, line: Line, number: int, context: ReadContext, problems: list[Problem], repairs: Repairs | None
    ) -> Block:
        """Return the block of `line`, and add to `problems` what is odd about it.

        Raises UnreadableRecordError when the line belongs to another shard.
        """
        scope = line.scope
        if scope is not None:
            _check_shard(scope, context)
        standing = standing_of(line.role, line.trust, line.source)
        role, trust, author, fault = standing
        instant = UNKNOWN if line.ts is None else read_instant(line.ts, context.zone)
        us, written, zone, is_assumed, is_invalid = instant
        key, conversation, flags = self._key(line, scope, role)
        turn = self._turns.get(conversation, 0) if line.turn is None else line.turn
        self._turns[conversation] = turn + 1
        named = line.author if plain_name(line.author or "") else None
        block = Block(
            format=self._format,
            record_key=key,
            conversation_key=conversation,
            text=line.text,
            turn=turn,
            locator=f"{context.file}#{number}",
            role=role,
            trust=trust,
            author=named or author,
            is_owner=role == "user" and _is_owner(named, scope),
            event_us=us,
            event_text=written,
            zone=zone,
            is_zone_assumed=is_assumed,
            session=line.session,
            flags=flags,
        )
        if line.reply_to:
            block.reply_to = (
                join_key(line.conversation, line.reply_to) if line.conversation else line.reply_to
            )
        if scope is not None:
            _set_scope(block, scope)
        if line.retain is False:
            block.may_retain = False
        if repairs is not None:
            _set_rare(block, line, repairs)
        if fault or is_invalid:
            _report(block, standing, instant, number, context, problems)
        return block

    def table(self, columns: LineColumns, numbers: Sequence[int], raws: Sequence[bytes]) -> pa.Table:
        """Return the RAW rows of the plain and regular lines `raws`: what `block` makes of each."""
        keys, conversations, flags = self._keys(columns, raws)
        return columns.table(
            numbers,
            format=self._format,
            record_key=keys,
            conversation_key=conversations,
            turn=self._next_turns(conversations, columns.fields["turn"]),
            flags=flags,
        )

    def _keys(self, columns: LineColumns, raws: Sequence[bytes]) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Return record keys, conversation keys and flags."""
        ids, conversations = columns.fields["id"], columns.fields["conversation"]
        if not has_gap(ids) and not has_gap(conversations):
            return join_keys(conversations, ids), conversations, constant(0, pa.int32(), len(ids))
        lines = map(decode_line, raws)
        rows = [self._key(line, line.scope, role) for line, role in zip(lines, columns.roles, strict=True)]
        keys, named, flags = zip(*rows, strict=True)
        return pa.array(keys, pa.string()), pa.array(named, pa.string()), pa.array(flags, pa.int32())

    def _next_turns(self, conversations: pa.Array, written: pa.Array) -> pa.Array:
        """Return the turn of each line: as written, else the one after the line before it."""
        if written.null_count == 0:
            encoded = conversations.dictionary_encode()
            last = np.zeros(len(encoded.dictionary), np.int64)
            last[encoded.indices.to_numpy()] = written.to_numpy()  # of equal places the last is kept
            self._turns.update(zip(encoded.dictionary.to_pylist(), (last + 1).tolist(), strict=True))
            return written
        turns = []
        for conversation, turn in zip(conversations.to_pylist(), written.to_pylist(), strict=True):
            place = self._turns.get(conversation, 0) if turn is None else turn
            self._turns[conversation] = place + 1
            turns.append(place)
        return pa.array(turns, pa.int64())

    def _key(self, line: Line, scope: Scope | None, role: str) -> tuple[str, str, int]:
        """Return (record key, conversation key, flags)."""
        if line.id:
            if not line.conversation:
                return line.id, UNNAMED, 0
            return join_key(line.conversation, line.id), line.conversation, 0
        user, session = (scope.user, scope.session) if scope else (None, None)
        declared = (line.conversation or None, line.session or None, user, session)
        last, first = self._chains.get(declared, ("", ""))
        key = chain_key(last or chain_seed(*declared), role, line.text)
        self._chains[declared] = (key, first or key)
        return key, line.conversation or first or key, 0 if any(declared) else _NO_ID


def _is_owner(author: str | None, scope: Scope | None) -> bool:
    """Tell whether the line's author owns the memory: nobody is named, or the scope names them."""
    return author is None or (scope is not None and scope.user == author)


def _check_shard(scope: Scope, context: ReadContext) -> None:
    is_here = (scope.tenant is None or scope.tenant == context.tenant) and (
        scope.workspace is None or scope.workspace == context.workspace
    )
    if not is_here:
        raise UnreadableRecordError(
            Fault.TENANT_BOUNDARY, "the line belongs to another tenant or workspace than this shard"
        )


def _set_scope(block: Block, scope: Scope) -> None:
    block.scope_project = scope.project
    block.scope_user = scope.user
    block.scope_agent = scope.agent
    block.scope_session = scope.session
    block.scope_task = scope.task
    block.scope_tool_environment = scope.tool_environment


def _set_rare(block: Block, line: Line, repairs: Repairs) -> None:
    block.channel = line.channel
    block.conversation_title = line.title
    if line.purposes is not None:
        block.purposes = tuple(line.purposes)
    block.flags |= repairs.flags
    block.extra = repairs.extra


def _report(
    block: Block,
    standing: Standing,
    instant: Instant,
    number: int,
    context: ReadContext,
    problems: list[Problem],
) -> None:
    if standing.fault:
        problems.append(noted(context.file, number, Fault.UNKNOWN_ROLE, standing.fault))
    if instant.is_invalid:
        block.flags |= _BAD_TIME
        message = f"no time can be read from {instant.text!r}"
        problems.append(noted(context.file, number, Fault.TIME_INVALID, message))


def earlier_blocks(texts: list[str] | None, message: Block) -> list[Block]:
    """Return `texts` as the turns before `message`, which moves behind them."""
    message.turn = len(texts or ())
    return [
        msgspec.structs.replace(
            message,
            record_key=join_key("context", message.record_key, str(turn)),
            text=text,
            turn=turn,
            reply_to=None,
            flags=0,
            extra=None,
        )
        for turn, text in enumerate(texts or ())
    ]
