"""The content of Letta messages: what was said, thought, called and answered."""

from __future__ import annotations

import re
from typing import Any

from amos.sources.call_messages import opened, plain_messages
from amos.sources.openai_content import message_parts
from amos.sources.parts import Part, text_or_none
from amos.sources.standing import Standing, standing_of

_PLACE = re.compile(r"(?:agent|message|block|tool|group|file|source)-\d{1,9}", re.ASCII)
_SPEECH = "send_message"
_EVENTS = frozenset({"heartbeat", "login", "system_alert", "summary_alert"})


def is_place(name: str) -> bool:
    """Tell whether `name` is a number within its file instead of an id."""
    return _PLACE.fullmatch(name) is not None


def letta_standing(message: dict[str, Any]) -> Standing:
    """Return who speaks: events that the server sends in the user's name are the system's."""
    role = text_or_none(message.get("role"))
    if role == "approval":
        return standing_of("system")
    if role == "user" and _envelope(message).get("type") in _EVENTS:
        return standing_of("system")
    return standing_of("system" if role == "summary" else role or "unnamed")


def letta_parts(message: dict[str, Any], role: str, tools: dict[str, str]) -> list[Part]:
    """Return the parts of `message`.  An agent speaks through `send_message`; its other words are thoughts.

    tools: name by id of the calls so far; those of this message are added.
    """
    wrapped = _envelope(message)
    told = text_or_none(wrapped.get("message"))
    if role in ("user", "system") and told is not None and "type" in wrapped:
        more = {name: value for name, value in wrapped.items() if name != "message"}
        return [Part(text=told, extra={"envelope": more})]
    content = message.get("content")
    spoken = {**message, "content": message.get("text") if content is None else content}
    found: list[Part] = []
    for plain in plain_messages(spoken):
        own = "tool" if plain.get("role") == "tool" else role
        parts = message_parts(plain, own, tools)
        found.extend(_settled(part, own, role) for part in parts)
    _note_calls(message, tools)
    return _speech(found, message)


def _envelope(message: dict[str, Any]) -> dict[str, Any]:
    """Return the object that older servers wrap a message in, else nothing."""
    content = message.get("content")
    content = message.get("text") if content is None else content
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    value = opened(content)
    return value if isinstance(value, dict) and value is not content else {}


def _settled(part: Part, own: str, role: str) -> Part:
    if own == "tool" and role != "tool":
        part.role, part.is_owner = "tool", False
        part.trust, part.author = part.trust or "tool", part.author or "tool"
    return part


def _note_calls(message: dict[str, Any], tools: dict[str, str]) -> None:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str):
            tools[str(call.get("id"))] = name


def _is_saying(part: Part) -> bool:
    return part.kind == "tool_use" and (part.extra or {}).get("name") == _SPEECH


def _speech(parts: list[Part], message: dict[str, Any]) -> list[Part]:
    """Return `parts` with what the agent said to its user as text.

    Beside a call that speaks, the agent's other words are thoughts.
    """
    if not any(_is_saying(part) for part in parts):
        return parts
    found = []
    for part in parts:
        if part.kind == "text" and message.get("role") == "assistant":
            part.kind = "thinking"
        given = opened(part.text) if _is_saying(part) else None
        told = text_or_none(given.get("message")) if isinstance(given, dict) else None
        if told is not None:
            part = Part(text=told, extra={**(part.extra or {}), "said_with": _SPEECH})
        found.append(part)
    return [part for part in found if part.text or part.extra] or found
