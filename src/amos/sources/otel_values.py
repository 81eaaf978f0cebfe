"""The values of OTLP JSON as plain ones, and messages in the shapes that older emitters used."""

from __future__ import annotations

import re
from typing import Any

from amos.sources.call_messages import messages_in, opened, plain_messages
from amos.sources.parts import text_or_none, without

_SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")
_EVENT = re.compile(r"gen_ai\.(user|system|assistant|tool|tools|choice)(?:\.message)?")
_ENTRY = re.compile(r"\.(\d{1,6})\.(.+)")
_NESTING = 32


def attributes_of(holder: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span, event or log record as plain values by name."""
    found: dict[str, Any] = {}
    listed = holder.get("attributes")
    if isinstance(listed, dict):
        return dict(listed)
    for item in listed if isinstance(listed, list) else []:
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            found[item["key"]] = plain_value(item.get("value"))
    return found


def plain_value(value: Any, room: int = _NESTING) -> Any:
    """Return an OTLP `AnyValue` as the JSON value that it stands for."""
    if not isinstance(value, dict) or room <= 0:
        return value
    for name in _SCALARS:
        if name in value:
            return value[name]
    if "intValue" in value:
        given = value["intValue"]
        is_written = isinstance(given, str) and re.fullmatch(r"-?\d{1,19}", given, re.ASCII)
        return int(given) if is_written else given
    if isinstance(value.get("arrayValue"), dict):
        listed = value["arrayValue"].get("values")
        return [plain_value(one, room - 1) for one in listed] if isinstance(listed, list) else []
    if isinstance(value.get("kvlistValue"), dict):
        listed = value["kvlistValue"].get("values")
        return {
            str(one.get("key")): plain_value(one.get("value"), room - 1)
            for one in (listed if isinstance(listed, list) else [])
            if isinstance(one, dict)
        }
    return value


class Events:
    """Messages that stand in the events of a span, or in a log record: one each."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answered: list[dict[str, Any]] = []
        self.rest: list[dict[str, Any]] = []
        self.is_body_used = False

    def take(self, name: str, told: dict[str, Any], body: Any) -> bool:
        """Take the message that an event called `name` carries; False when it carries none."""
        if name == "gen_ai.client.inference.operation.details":
            both = body if isinstance(body, dict) else told
            self.asked += messages_in(
                {
                    "system": both.get("gen_ai.system_instructions"),
                    "messages": both.get("gen_ai.input.messages"),
                }
            )
            self.answered += messages_in(both.get("gen_ai.output.messages"))
            return bool(self.asked or self.answered)
        kind = _EVENT.fullmatch(name)
        if kind is None:
            return False
        message = _event_message(kind[1], told, body)
        if message is None:
            return False
        (self.answered if kind[1] == "choice" else self.asked).extend(plain_messages(message))
        return True


def attribute_events(holder: dict[str, Any]) -> Events:
    """Return what the events of a span, or the span as a log record, say."""
    found = Events()
    told = attributes_of(holder)
    name = text_or_none(holder.get("eventName")) or text_or_none(told.get("event.name"))
    if name is not None:
        found.is_body_used = found.take(name, told, plain_value(holder.get("body")))
    events = holder.get("events")
    for event in events if isinstance(events, list) else []:
        if not isinstance(event, dict):
            continue
        inside = attributes_of(event)
        if not found.take(str(event.get("name")), inside, None):
            found.rest.append({**without(event, "attributes"), **({"attributes": inside} if inside else {})})
    return found


def _event_message(kind: str, told: dict[str, Any], body: Any) -> dict[str, Any] | None:
    """Return the message of an event, whose JSON stands in a body or in an attribute."""
    given = opened(told.get("gen_ai.event.content")) if body is None else opened(body)
    if given is None:
        given = {name.removeprefix("gen_ai."): value for name, value in told.items()}
    if not isinstance(given, dict):
        given = {"content": given}
    inner = opened(given.get("message"))
    given = inner if isinstance(inner, dict) else {**given, "content": inner} if inner is not None else given
    if given.get("content") is None and not given.get("tool_calls"):
        return None
    role = {"choice": "assistant", "tools": "tool"}.get(kind, kind)
    fields = without(given, "system", "message", "event.content")
    call = {"tool_call_id": fields.pop("id")} if role == "tool" and "id" in fields else {}
    return {
        **fields,
        **call,
        "role": text_or_none(given.get("role")) or role,
        "content": given.get("content"),
    }


def indexed_messages(told: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the messages whose fields are numbered: `prefix.0.role`, `prefix.0.content`."""
    entries: dict[int, dict[str, Any]] = {}
    for name, value in told.items():
        entry = _ENTRY.fullmatch(name[len(prefix) :]) if name.startswith(prefix) else None
        if entry:
            entries.setdefault(int(entry[1]), {})[entry[2]] = value
    found: list[dict[str, Any]] = []
    for _, fields in sorted(entries.items()):
        role = text_or_none(fields.get("role")) or ("user" if prefix.endswith("prompt") else "assistant")
        message = {**_with_calls(fields), "role": role, "content": opened_list(fields.get("content"))}
        found.extend(plain_messages(message))
    return found


def opened_list(content: Any) -> Any:
    """Return the list of blocks that the text `content` is, else `content` itself."""
    value = opened(content)
    is_blocks = isinstance(value, list) and all(isinstance(one, dict) and "type" in one for one in value)
    return value if is_blocks and value else content


def _with_calls(fields: dict[str, Any]) -> dict[str, Any]:
    calls: dict[str, dict[str, Any]] = {}
    kept = {}
    for name, value in fields.items():
        call = re.fullmatch(r"tool_calls\.(\d{1,6})\.(id|name|arguments)", name)
        if call:
            calls.setdefault(call[1], {})[call[2]] = value
        elif name not in ("role", "content"):
            kept[name] = value
    if calls:
        kept["tool_calls"] = [calls[number] for number in sorted(calls, key=int)]
    return kept
