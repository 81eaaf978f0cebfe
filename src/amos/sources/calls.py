"""Logged calls of a model: each repeats the history of its talk, and every message counts once."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Block, Problem
from amos.sources.faults import Fault, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import chain_key, chain_seed
from amos.sources.openai_calls import Call
from amos.sources.openai_content import LATER_THOUGHTS, chain_text, message_parts
from amos.sources.parts import assemble, set_time, text_or_none, without
from amos.sources.reader import ReadContext
from amos.sources.records import Record
from amos.sources.standing import standing_of

_TAKEN = (
    "role",
    "content",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "tool_call_id",
    LATER_THOUGHTS,
)


class Link(NamedTuple):
    """A message in its chain."""

    key: str
    message: dict[str, Any]
    turn: int
    flags: int
    instant: Instant


class CallLog:
    """The calls of one input: a call gives the messages that no earlier one gave, at least its last.

    is_system_apart: a system prompt stands beside the chain of its talk, so that one that names the
    day does not begin another talk each time.
    """

    def __init__(self, form: str, *, is_system_apart: bool = False) -> None:
        self._form = form
        self._is_system_apart = is_system_apart
        self._seen: set[bytes] = set()
        self._left: dict[str, tuple[str, int]] = {}
        """Conversation and next turn of the talks that later calls may go on with, by what they name."""

    def blocks(self, call: Call, record: Record, context: ReadContext, place: str = "") -> list[Block]:
        """Return what `call` adds.  place: where it stands inside its record, for the locator."""
        report_odd(call, record, context)
        instant = read_instant(call.created, context.zone)
        if instant.is_invalid:
            message = f"no time can be read from {instant.text!r}"
            record.problems.append(noted(context.file, record.number, Fault.TIME_INVALID, message))
        links = chain_links(call, call.seed, instant, is_system_apart=self._is_system_apart)
        conversation, turn = self._place(call, links)
        fresh = [link for link in links if bytes.fromhex(link.key) not in self._seen]
        self._seen.update(bytes.fromhex(link.key) for link in fresh)
        # Every call answers for itself: one that adds nothing delivers its last message again.
        fresh = fresh or links[-1:]
        template = call_template(self._form, conversation, call, record, context)
        template.locator += place
        blocks: list[Block] = []
        for link in fresh:
            more = {"call": call.rest} if call.rest and link is fresh[-1] else {}
            blocks.extend(
                message_blocks(template, link._replace(turn=link.turn + turn) if turn else link, call, more)
            )
        return blocks

    def _place(self, call: Call, links: list[Link]) -> tuple[str, int]:
        """Return the conversation that `call` belongs to, and the turn that it begins with there."""
        first = links[min(call.prompt_count, len(links) - 1)].key
        if call.step is None:
            return call.conversation or first, 0
        conversation, turn = self._left.get(call.step.after or "", (call.conversation or first, 0))
        for name in call.step.begins:
            self._left[name] = conversation, turn + links[-1].turn + 1
        return conversation, turn


def call_template(form: str, conversation: str, call: Call, record: Record, context: ReadContext) -> Block:
    """Return the block that those of `call` are made after."""
    flags = record.flags
    if not any(call.declared):
        flags |= SourceFlag.NO_STABLE_ID
    return Block(
        format=form,
        record_key="",
        conversation_key=conversation,
        text="",
        turn=0,
        locator=f"{context.file}#{record.number}",
        session=call.declared[1],
        scope_user=call.declared[0] if call.is_scoped else None,
        flags=flags,
    )


def chain_links(call: Call, seed: str, instant: Instant, *, is_system_apart: bool = False) -> list[Link]:
    """Chain the messages of `call`; each choice follows the last message of the request.

    Where the answers are a sequence, each follows the one before it.
    """
    links: list[Link] = []
    key = seed
    beside = chain_seed(*call.declared) if call.apart else seed
    timed_from = call.first_new
    for turn, message in enumerate(call.request):
        role = _role(message)
        is_apart = turn < call.prompt_count or (is_system_apart and role == "system")
        own = chain_key(beside if is_apart else key, role, chain_text(message))
        if not is_apart:
            key = own
        links.append(Link(own, message, turn, 0, instant if turn >= timed_from else Instant()))
    turn = len(call.request)
    for number, message in enumerate(call.choices):
        own = chain_key(key, _role(message), chain_text(message))
        # A second choice is a branch that the conversation did not take.
        flags = int(SourceFlag.OFF_THREAD) if number and not call.is_sequence else 0
        links.append(Link(own, message, turn, flags, instant))
        if call.is_sequence:
            key, turn = own, turn + 1
    return links


def _role(message: dict[str, Any]) -> str:
    return standing_of(text_or_none(message.get("role"))).role


def message_blocks(template: Block, link: Link, call: Call, more: dict[str, Any]) -> list[Block]:
    """Return the blocks of one message, `more` in the `extra` of the first."""
    message = link.message
    standing = standing_of(text_or_none(message.get("role")))
    name = text_or_none(message.get("name"))
    base = Block(
        format=template.format,
        record_key=link.key,
        conversation_key=template.conversation_key,
        text="",
        turn=link.turn,
        locator=template.locator,
        role=standing.role,
        trust=standing.trust,
        author=name or standing.author,
        # One of several people in a talk has a name; alone, or named as the call's user, it is the user.
        is_owner=standing.role == "user" and name in (None, call.declared[0]),
        session=template.session,
        scope_user=template.scope_user,
        flags=template.flags | link.flags,
    )
    set_time(base, link.instant)
    parts = message_parts(message, standing.role, call.tools)
    return assemble(base, parts, {**without(message, *_TAKEN), **more})


def report_odd(call: Call, record: Record, context: ReadContext) -> None:
    """Say what of `call` was passed over, and which roles nobody knows."""
    problems: list[Problem] = record.problems
    for kind, count in Counter(map(_kind_of, call.odd)).items() if call.odd else ():
        told, fault = "are no objects", Fault.WRONG_TYPE
        if kind:
            told, fault = f"of type {kind[:40]!r} are none that is known", Fault.UNKNOWN_CONTENT
        message = f"{count} item(s) among the messages {told}; `extra` keeps them"
        problems.append(noted(context.file, record.number, fault, message))
    if call.unread:
        message = f"{call.unread} where an answer belongs, in no shape that is known; `extra` keeps it"
        problems.append(noted(context.file, record.number, Fault.UNKNOWN_CONTENT, message))
    faults = {standing_of(text_or_none(message.get("role"))).fault for message in call.messages}
    problems.extend(
        noted(context.file, record.number, Fault.UNKNOWN_ROLE, fault)
        for fault in sorted(faults - {None}, key=str)
        if fault
    )


def _kind_of(item: Any) -> str:
    return str(item.get("type")) if isinstance(item, dict) else ""
