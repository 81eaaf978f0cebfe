"""Find the messages of one API call or fine-tuning row, whichever way they are wrapped."""

from __future__ import annotations

from typing import Any

import msgspec

from amos.sources.parts import text_or_none, without

_LOG_MARKS = frozenset(
    {
        "request",
        "response",
        "body",
        "choices",
        "output",
        "model",
        "created",
        "created_at",
        "temperature",
        "stream",
    }
)
_USER_NAMES = ("user", "user_id", "safety_identifier")
_SESSION_NAMES = ("session_id", "session", "thread_id", "conversation_id", "conversation")
_TIME_NAMES = ("created", "created_at", "timestamp", "ts", "time")


class Call(msgspec.Struct, kw_only=True):
    """What was asked and answered: request messages in order, then the choices offered."""

    request: list[dict[str, Any]]
    choices: list[dict[str, Any]]
    declared: tuple[str | None, str | None]
    created: Any
    tools: dict[str, str]
    rest: dict[str, Any]
    odd: int = 0
    conversation: str | None = None
    is_sequence: bool = False
    """The answers follow each other; else they are choices, of which the first was taken."""
    is_scoped: bool = False
    """The declared user bounds what is claimed: many users share one log."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Request and choices together."""
        return self.request + self.choices

    @property
    def first_new(self) -> int:
        """Position of the first request message after the last reply in it: the call's own question."""
        for position in range(len(self.request) - 1, -1, -1):
            if self.request[position].get("role") == "assistant":
                return position + 1
        return 0 if len(self.request) <= _OPENING_MESSAGES else len(self.request) - 1


_OPENING_MESSAGES = 2  # a system prompt and the first question


def is_logged(row: dict[str, Any]) -> bool:
    """Tell whether `row` is a logged call rather than a fine-tuning row."""
    return not _LOG_MARKS.isdisjoint(row)


def call_of(row: dict[str, Any]) -> Call | None:
    """Return the call in `row`, None when it holds neither messages nor an answer."""
    request = _inner(row, "request") or (_inner(row, "body") or row)
    response = _inner(row, "response") or (row if "choices" in row or "output" in row else {})
    asked = request.get("messages")
    if asked is None:
        asked = request.get("input")
        asked = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    answered = _answers(response)
    if not isinstance(asked, list) and not answered:
        return None
    listed = asked if isinstance(asked, list) else []
    messages = [message for message in listed if isinstance(message, dict)]
    return Call(
        request=messages,
        choices=answered,
        declared=_declared(row, request),
        created=_first(_TIME_NAMES, row, response, request),
        tools=tool_names(messages),
        rest=_rest(row, request, response),
        odd=len(listed) - len(messages),
    )


def _inner(row: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Return the object called `name`, or the `body` inside it."""
    value = row.get(name)
    if not isinstance(value, dict):
        return None
    body = value.get("body")
    return body if isinstance(body, dict) else value


def _answers(response: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, inner in (("choices", "message"), ("output", None)):
        listed = response.get(name)
        for item in listed if isinstance(listed, list) else []:
            message = item.get(inner) if inner and isinstance(item, dict) else item
            if isinstance(message, dict) and ("role" in message or "content" in message):
                found.append(message if "role" in message else {**message, "role": "assistant"})
    return found


def _declared(row: dict[str, Any], request: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the user and session that the call itself names."""
    places = [row, request]
    places += [metadata for place in (row, request) if isinstance(metadata := place.get("metadata"), dict)]
    return (
        text_or_none(_first(_USER_NAMES, *places)),
        text_or_none(_first(_SESSION_NAMES, *places)),
    )


def _first(names: tuple[str, ...], *places: dict[str, Any]) -> Any:
    """Return the first value under one of `names` that is no object."""
    for place in places:
        for name in names:
            value = place.get(name)
            if value is not None and not isinstance(value, dict | list):
                return value
    return None


def tool_names(messages: list[dict[str, Any]]) -> dict[str, str]:
    """Return the names of the tools that `messages` call, by the ids of the calls."""
    names: dict[str, str] = {}
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            name = function.get("name") if isinstance(function, dict) else None
            if isinstance(name, str):
                names[str(call.get("id"))] = name
    return names


def _rest(row: dict[str, Any], request: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """Return what the row says beside its messages."""
    rest = without(row, "request", "response", "body", "messages", "input", "choices", "output")
    if request is not row:
        rest["request"] = without(request, "messages", "input")
    if response is not row:
        rest["response"] = without(response, "choices", "output")
        choices = response.get("choices")
    else:
        choices = row.get("choices")
    if isinstance(choices, list):
        rest["choices"] = [
            without(choice, "message") if isinstance(choice, dict) else choice for choice in choices
        ]
    return without(rest)
