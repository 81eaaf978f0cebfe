"""What a model API calls items and blocks, as the messages of one talk."""

from __future__ import annotations

from typing import Any

from amos.sources.call_messages import (
    is_answer_of_tool,
    is_block_of_turn,
    plain_answer,
    plain_call,
    plain_messages,
)
from amos.sources.openai_content import LATER_THOUGHTS
from amos.sources.parts import text_or_none, without

_CALL = "_call"
_GIVEN = ("arguments", "input", "action", "code", "queries")
_GOT = ("output", "outputs", "results", "error")


class Told:
    """Messages that one side of a call told, and the items that nobody knows."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.odd: list[Any] = []
        self._thoughts: list[dict[str, Any]] = []

    def add(self, item: Any, role: str | None = None) -> None:
        """Add `item`: a message (of `role` where it names none), a thought, a call of a tool or an answer."""
        kind = str(item.get("type")) if isinstance(item, dict) else ""
        if not isinstance(item, dict):
            self.odd.append(item)
        elif "role" in item or kind in ("None", "message"):
            message = item if "role" in item or role is None else {**item, "role": role}
            self.add_message(message)
        elif kind == "reasoning":
            self._thoughts.append(item)
        elif is_answer_of_tool(kind):
            self._answer(item)
        elif kind.endswith(_CALL):
            self._call(item, kind)
        else:
            self.odd.append(item)

    def add_message(self, message: Any) -> None:
        """Add `message` as it stands, or its parts when calls, answers or thoughts are among its content."""
        if not isinstance(message, dict):
            self.odd.append(message)
        elif not is_split(message):
            self._say(message)
        else:
            for plain in plain_messages(message):
                self._say(_later_thoughts(plain))

    def add_messages(self, messages: list[Any]) -> None:
        """Add all of `messages`."""
        if all(isinstance(one, dict) and isinstance(one.get("content"), str) for one in messages):
            self.messages += messages  # most are plain, and a log repeats them line by line
            return
        for message in messages:
            self.add_message(message)

    def end(self) -> Told:
        """Give the thoughts that nothing followed a message of their own."""
        if self._thoughts:
            self._say({"role": "assistant", "content": None})
        return self

    def _say(self, message: dict[str, Any]) -> None:
        """Add `message`, and to one of the assistant what was thought before it.

        A client may leave thoughts out when it repeats the talk: they make no message, and no key.
        """
        if self._thoughts and message.get("role") == "assistant":
            thought = _later_thoughts(plain_messages({"role": "assistant", "content": self._thoughts})[-1])
            kept = {LATER_THOUGHTS: thought.get(LATER_THOUGHTS), "reasoning": thought.get("reasoning")}
            message = {**without(kept), **message}
            self._thoughts = []
        self.messages.append(message)

    def _answer(self, item: dict[str, Any]) -> None:
        given = item.get("output")
        told = plain_answer(
            {**item, "output": [given] if isinstance(given, dict) and "type" in given else given}
        )
        beside = without(item, "output", "call_id")
        self.messages.append({"role": "tool", **_called(told), "content": told["content"], "item": beside})

    def _call(self, item: dict[str, Any], kind: str) -> None:
        """Add the call that `item` is; one that ran at the maker's place holds its answer, too."""
        given = next((name for name in _GIVEN if item.get(name) is not None), "")
        got = next((name for name in _GOT if item.get(name) is not None), "")
        own = item.get("call_id") or item.get("id")
        call = {
            "id": own,
            "name": text_or_none(item.get("name")) or kind.removesuffix(_CALL),
            "arguments": item.get(given),
            "item": without(item, "call_id", "name", given, got),
        }
        self._say({"role": "assistant", "content": None, "tool_calls": [plain_call(call)]})
        if got:
            more = {"error": item[got]} if got == "error" else {}
            answer = plain_answer({"call_id": own, "name": call["name"], "output": item[got]})
            self.messages.append({**more, **answer})


def _called(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in ("name", "tool_call_id") if name in answer}


def is_split(message: Any) -> bool:
    """Tell whether calls of tools, their answers or thoughts are among the content of `message`."""
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(map(is_block_of_turn, content))


def _later_thoughts(message: dict[str, Any]) -> dict[str, Any]:
    """Return `message` with its thoughts behind its calls: other parts keep their numbers without them."""
    thoughts = message.get("reasoning_content")
    return {**without(message, "reasoning_content"), LATER_THOUGHTS: thoughts} if thoughts else message
