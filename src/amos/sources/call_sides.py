"""The two sides of a logged call of a model: where they stand, and the messages in them."""

from __future__ import annotations

from typing import Any, NamedTuple

from amos.sources.call_items import Told, is_split
from amos.sources.call_messages import opened
from amos.sources.records import json_kind

_REQUESTS = (("request", "body"), ("body", "body"), ("params", "body"))
_ANSWERS = (("response", "body"), ("result", "message"))
_PROMPTS = ("system", "instructions")
_ENDS = frozenset({"error", "errored", "canceled", "expired"})
_REFUSED = 400


class Side(NamedTuple):
    """One side of a call, and the names that lead to it from the row; none where it is the row itself."""

    value: dict[str, Any]
    path: tuple[str, ...] = ()


class Said(NamedTuple):
    """The messages of one side, and the names of the fields that they were read from."""

    told: Told
    taken: tuple[str, ...] = ()
    is_sequence: bool = False
    """The messages follow each other; else each is an answer that was offered."""


def request_of(row: dict[str, Any]) -> Side:
    """Return what was asked."""
    sides = (_inner(row, *names) for names in _REQUESTS)
    found = next(
        (side for side in sides if side and (side.path[0] != "params" or _is_asking(side.value))), None
    )
    return found or Side(row)


def response_of(row: dict[str, Any]) -> Side:
    """Return what was answered, nothing where nothing was."""
    sides = (_inner(row, *names) for names in _ANSWERS)
    found = next(
        (side for side in sides if side and (side.path[0] != "result" or _is_result(side.value))), None
    )
    is_answer = "choices" in row or "output" in row or (_is_message(row) and row.get("type") == "message")
    return found or Side(row if is_answer else {})


def _inner(row: dict[str, Any], name: str, inside: str) -> Side | None:
    """Return the object called `name`, or the one called `inside` in it; either may be JSON text."""
    value = opened(row.get(name))
    if not isinstance(value, dict) or not value:
        return None
    inner = opened(value.get(inside))
    return Side(inner, (name, inside)) if isinstance(inner, dict) else Side(value, (name,))


def _is_asking(value: dict[str, Any]) -> bool:
    return isinstance(value.get("messages"), list)


def _is_message(value: dict[str, Any]) -> bool:
    """Tell whether `value` is itself a message of the assistant, as the Messages API answers."""
    return value.get("role") == "assistant" and isinstance(value.get("content"), list | str)


def _is_result(value: dict[str, Any]) -> bool:
    return _is_message(value) or value.get("type") in _ENDS


def shape_of(request: Side, response: Side) -> str:
    """Return the name of the API that was called."""
    if "input" in request.value or "output" in response.value or response.value.get("object") == "response":
        return "OpenAI Responses"
    asked = request.value.get("messages")
    is_anthropic = (
        _is_message(response.value)
        or not {"system", "anthropic_version"}.isdisjoint(request.value)
        or any(map(is_split, asked if isinstance(asked, list) else []))
    )
    return "Anthropic Messages" if is_anthropic else "chat completions"


def prompts_in(request: dict[str, Any]) -> Said:
    """Return the system prompts that stand beside the messages."""
    told, taken = Told(), []
    for name in _PROMPTS:
        value = request.get(name)
        is_blocks = isinstance(value, list) and all(
            isinstance(item, dict) and isinstance(item.get("text"), str) for item in value
        )
        if value and (isinstance(value, str) or is_blocks):
            told.messages.append({"role": "system", "content": value})
            taken.append(name)
    return Said(told, tuple(taken))


def asked_in(request: dict[str, Any]) -> Said | None:
    """Return the messages of `request`, None where it has no list of them and no plain question."""
    told = Told()
    name = "input" if request.get("messages") is None else "messages"
    asked = request.get(name)
    if name == "input" and isinstance(asked, str):
        asked = [{"role": "user", "content": asked}]
    if not isinstance(asked, list):
        return None
    if name == "messages":
        told.add_messages(asked)
    else:
        for item in asked:
            told.add(item)
    return Said(told.end(), (name,))


def answers_in(response: dict[str, Any]) -> Said:
    """Return the answers in `response`: what was offered, else the items that follow each other."""
    told = Told()
    listed = response.get("choices")
    choices = (
        [choice["message"] for choice in listed if has_message(choice)] if isinstance(listed, list) else []
    )
    for message in choices:
        spoken = message if "role" in message else {**message, "role": "assistant"}
        if len(choices) > 1:
            told.messages.append(spoken)  # parts of one choice would look like further ones
        else:
            told.add_message(spoken)
    taken = ("choices",) if isinstance(listed, list) else ()
    output = response.get("output")
    if choices:
        return Said(told, taken, is_sequence=len(choices) == 1)
    if _is_message(response):
        told.add_message({"role": "assistant", "content": response["content"]})
        return Said(told, ("role", "content"), is_sequence=True)
    if isinstance(output, str) and output:
        output = [{"role": "assistant", "content": output}]
    for item in output if isinstance(output, list) else []:
        told.add(item, "assistant")
    return Said(told.end(), (*taken, *(("output",) if isinstance(output, list) else ())), is_sequence=True)


def has_message(choice: Any) -> bool:
    """Tell whether an answer that was offered has a message."""
    return isinstance(choice, dict) and isinstance(choice.get("message"), dict) and bool(choice["message"])


def unread_answer(row: dict[str, Any], answers: Said) -> str | None:
    """Return what stands where an answer belongs when it is none that is known, and no error either."""
    given = next((row[name] for name, _ in _ANSWERS if row.get(name)), None)
    if not given or answers.told.messages or answers.told.odd or "output" in answers.taken:
        return None
    return None if _is_failure(opened(given)) else json_kind(given)


def _is_failure(given: Any) -> bool:
    if not isinstance(given, dict):
        return False
    status = given.get("status_code") or given.get("status")
    is_refused = isinstance(status, int) and status >= _REFUSED
    body = opened(given.get("body"))
    return bool(is_refused or given.get("error") or given.get("type") in _ENDS or _is_failure(body))
