"""Find the messages of one API call or fine-tuning row, whichever way they are wrapped."""

from __future__ import annotations

from typing import Any

import msgspec

from amos.sources.call_messages import opened
from amos.sources.call_sides import (
    Side,
    answers_in,
    asked_in,
    has_message,
    prompts_in,
    request_of,
    response_of,
    shape_of,
    unread_answer,
)
from amos.sources.keys import chain_seed
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
    odd: list[Any] = []
    """What stands among the messages and is none; `rest` keeps it."""
    unread: str | None = None
    """What stands where an answer belongs, when it is none that is known; `rest` keeps it."""
    conversation: str | None = None
    prompt_count: int = 0
    """The first messages stand beside the chain, so many: prompts that the call gives apart."""
    step: Step | None = None
    """Where the call stands in a talk that the maker of the model remembers."""
    is_sequence: bool = False
    """The answers follow each other; else they are choices, of which the first was taken."""
    is_scoped: bool = False
    """The declared user bounds what is claimed: many users share one log."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Request and choices together."""
        return self.request + self.choices

    @property
    def seed(self) -> str:
        """Where the chain of its messages starts."""
        return chain_seed(*self.declared, *([self.apart] if self.apart else []))

    @property
    def apart(self) -> str | None:
        """What tells its messages from equal ones of a talk that goes another way."""
        return self.step.apart if self.step else None

    @property
    def first_new(self) -> int:
        """Position of the first request message after the last reply in it: the call's own question."""
        for position in range(len(self.request) - 1, -1, -1):
            if self.request[position].get("role") == "assistant":
                return position + 1
        return 0 if len(self.request) <= _OPENING_MESSAGES else len(self.request) - 1


class Step(msgspec.Struct, kw_only=True, frozen=True):
    """A call that does not repeat the talk it belongs to; all are ids of the API."""

    after: str | None
    """The answer or the talk that it goes on from."""
    apart: str | None
    """What tells its messages from equal ones of another step."""
    begins: tuple[str, ...]
    """What a later step goes on from when it goes on from this one."""


_OPENING_MESSAGES = 2  # a system prompt and the first question


def is_logged(row: dict[str, Any]) -> bool:
    """Tell whether `row` is a logged call rather than a fine-tuning row."""
    return not _LOG_MARKS.isdisjoint(row) or bool(request_of(row).path or response_of(row).path)


def api_of(row: dict[str, Any]) -> str:
    """Return the name of the API that `row` is a call of."""
    return shape_of(request_of(row), response_of(row))


def call_of(row: dict[str, Any]) -> Call | None:
    """Return the call in `row`, None when it holds neither messages nor an answer."""
    request, response = request_of(row), response_of(row)
    asked, answers = asked_in(request.value), answers_in(response.value)
    if asked is None and not answers.told.messages:
        return None
    prompts = prompts_in(request.value)
    told = asked.told if asked else prompts.told
    messages = [*prompts.told.messages, *(asked.told.messages if asked else [])]
    taken = (*prompts.taken, *(asked.taken if asked else ()))
    odd = {"request": told.odd, "response": answers.told.odd}
    return Call(
        request=messages,
        choices=answers.told.messages,
        declared=_declared(row, request.value),
        created=_first(_TIME_NAMES, row, response.value, request.value),
        tools=tool_names([*messages, *answers.told.messages]),
        rest=_rest(row, (request, taken), (response, answers.taken), odd),
        odd=[*told.odd, *answers.told.odd],
        unread=unread_answer(row, answers),
        prompt_count=len(prompts.told.messages),
        step=_step(request.value, response.value) if "input" in taken else None,
        is_sequence=answers.is_sequence,
    )


def _declared(row: dict[str, Any], request: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the user and session that the call itself names."""
    places = [row, request]
    places += [metadata for place in (row, request) if isinstance(metadata := place.get("metadata"), dict)]
    session = text_or_none(_first(_SESSION_NAMES, *places))
    return (text_or_none(_first(_USER_NAMES, *places)), session or _id_of(request.get("conversation")))


def _first(names: tuple[str, ...], *places: dict[str, Any]) -> Any:
    """Return the first value under one of `names` that is no object."""
    for place in places:
        for name in names:
            value = place.get(name)
            if value is not None and not isinstance(value, dict | list):
                return value
    return None


def _id_of(value: Any) -> str | None:
    return text_or_none(value.get("id") if isinstance(value, dict) else value)


def _step(request: dict[str, Any], response: dict[str, Any]) -> Step | None:
    """Return where a call stands in a talk that it does not repeat; None where it names no answer."""
    own, talk = _id_of(response), _id_of(request.get("conversation"))
    before = text_or_none(request.get("previous_response_id"))
    if own is None and before is None:
        return None
    return Step(
        after=before or talk,
        apart=before or (own if talk else None),
        begins=tuple(name for name in (own, talk) if name),
    )


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


def _rest(
    row: dict[str, Any],
    request: tuple[Side, tuple[str, ...]],
    response: tuple[Side, tuple[str, ...]],
    odd: dict[str, list[Any]],
) -> dict[str, Any]:
    """Return what the row says beside its messages, each thing where it stands, and items nobody knows."""
    rest = row
    for side, taken in (request, response):
        rest = _beside(rest, side.path, taken)
    offered = response[0].value.get("choices")
    if isinstance(offered, list):
        rest["choices"] = [
            without(choice, "message") if has_message(choice) else choice for choice in offered
        ]
    return without({**rest, "not_understood": without(odd)})


def _beside(value: dict[str, Any], path: tuple[str, ...], taken: tuple[str, ...]) -> dict[str, Any]:
    """Return `value` but for the fields `taken` of the object that `path` leads to."""
    if not path:
        return without(value, *taken)
    return {**value, path[0]: _beside(opened(value[path[0]]), path[1:], taken)}
