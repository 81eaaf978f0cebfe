"""Chat messages in what tracing tools record of a model call, whoever's shape they have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amos.sources.decoding import canonical_json, decode_record
from amos.sources.faults import UnreadableRecordError
from amos.sources.parts import text_or_none, without

_LISTS = ("messages", "input_messages", "contents", "output_messages", "input", "output", "message")
_SYSTEM = ("system", "system_instruction", "system_instructions", "systemInstruction", "instructions")
_WORDS = (
    "input",
    "question",
    "query",
    "prompt",
    "user_input",
    "text",
    "content",
    "output",
    "answer",
    "response",
    "result",
    "completion",
)
_CLASSES = {
    "human": "user",
    "humanmessage": "user",
    "ai": "assistant",
    "aimessage": "assistant",
    "system": "system",
    "systemmessage": "system",
    "tool": "tool",
    "toolmessage": "tool",
    "function": "tool",
    "functionmessage": "tool",
    "remove": "system",
}
_CALLS = frozenset({"tool_call", "tool_use", "tool-call", "function_call", "server_tool_use"})
_ANSWERS = frozenset(
    {"tool_call_response", "tool_result", "tool-result", "function_call_output", "server_tool_call_response"}
)
_ANSWER_ENDS = ("_tool_result", "_call_output")
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking"})
_WORDS_OF_THOUGHT = ("thinking", "content", "text", "summary")
_OF_ANSWER = (
    "type", "name", "toolName", "id", "tool_use_id", "toolCallId", "call_id", "role", "response", "result",
    "content", "output",
)  # fmt: skip
_NESTING = 6
_DEPTH = 64


def opened(value: Any) -> Any:
    """Return the JSON value that the text `value` is, else `value` itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return decode_record(value.encode(errors="replace"), depth=_DEPTH).value
        except UnreadableRecordError:
            return value
    return value


def messages_in(value: Any, room: int = _NESTING) -> list[dict[str, Any]]:
    """Return the chat messages that `value` holds, each in the OpenAI shape; none when it holds none."""
    value = opened(value)
    if room <= 0:
        return []
    if isinstance(value, list):
        return _listed(value, room)
    if not isinstance(value, dict):
        return []
    if _is_message(value):
        return plain_messages(value)
    found = _offered(value)
    for name in _LISTS if not found else ():
        found = found or messages_in(value.get(name), room - 1)
    return [*_prompts(value), *found] if found else []


def _listed(value: list[Any], room: int) -> list[dict[str, Any]]:
    if value and all(isinstance(item, list) for item in value):
        return messages_in(value[0], room - 1)  # a batch of talks: tracing tools send one
    listed = [item for item in value if isinstance(item, dict)]
    if not any(_is_message(item) for item in listed):
        return []
    return [plain for item in listed for plain in plain_messages(item)]


def alternatives_in(value: Any) -> list[dict[str, Any]]:
    """Return the answers among which a model let one choose, best first; none where it gave but one."""
    value = opened(value)
    return _offered(value) if isinstance(value, dict) else []


def words_in(value: Any) -> str | None:
    """Return the words of a plain question or answer: a text, or an object with one under a usual name."""
    value = opened(value)
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, dict):
        return next((word for name in _WORDS if (word := text_or_none(value.get(name)))), None)
    return None


def _is_message(item: dict[str, Any]) -> bool:
    role = role_of(item)
    return role is not None and not {"content", "parts", "tool_calls", "kwargs", "data"}.isdisjoint(item)


def role_of(message: dict[str, Any]) -> str | None:
    """Return the role word of `message`, by its own field or by the class it was written from."""
    role = text_or_none(message.get("role")) or text_or_none(message.get("role_type"))
    if role is not None:
        return role
    path = message.get("id")
    named = path[-1] if message.get("lc") and isinstance(path, list) and path else message.get("type")
    if not isinstance(named, str):
        return None
    if named.lower().removesuffix("chunk") == "chatmessage":
        return text_or_none(_fields(message).get("role"))
    return _CLASSES.get(named.lower().removesuffix("chunk"))


def _fields(message: dict[str, Any]) -> dict[str, Any]:
    for name in ("kwargs", "data"):
        inner = message.get(name)
        if isinstance(inner, dict) and "role" not in message:
            return inner
    return message


def _prompts(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the system prompts that stand beside the messages."""
    found = []
    for name in _SYSTEM:
        text = _texts(opened(value.get(name)))
        if text:
            found.append({"role": "system", "content": text})
    return found


def _texts(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _texts(value.get("parts") or value.get("text") or value.get("content"))
    if isinstance(value, list):
        return "\n".join(text for item in value if isinstance(item, dict | str) and (text := _texts(item)))
    return ""


def _offered(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the answers that a model offered: choices, generations or candidates."""
    found: list[dict[str, Any]] = []
    for item in _flat(value.get("choices")):
        found.extend(_answer(item.get("message") or item.get("delta"), item.get("text")))
    for item in _flat(value.get("generations")):
        found.extend(_answer(item.get("message"), item.get("text")))
    for item in _flat(value.get("candidates")):
        found.extend(_answer(item.get("content"), None))
    return found


def _flat(value: Any) -> Iterator[dict[str, Any]]:
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict):
            yield item
        elif isinstance(item, list):
            yield from (one for one in item if isinstance(one, dict))


def _answer(message: Any, text: Any) -> list[dict[str, Any]]:
    if isinstance(message, dict):
        return plain_messages(message if role_of(message) else {**message, "role": "assistant"})
    return [{"role": "assistant", "content": text}] if text_or_none(text) else []


def plain_messages(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return `message` in the OpenAI shape: each answer of a tool inside it is a message of its own.

    What was said before an answer comes before it, what was said after it behind it.
    """
    role = role_of(message) or ""
    fields = _fields(message)
    found: list[dict[str, Any]] = []
    pieces = _Pieces()
    for item in _items(fields):
        answer = _answer_in(item)
        if answer is None:
            pieces.add(item)
            continue
        found += [pieces.said_by(role)] if pieces.is_any else []
        found.append(answer)
        pieces = _Pieces()
    pieces.calls += [plain_call(call) for call in _flat(fields.get("tool_calls"))]
    pieces.thoughts += [one] if (one := text_or_none(fields.get("reasoning_content"))) else []
    if pieces.is_any or not found:
        found.append(pieces.said_by(role))
    own = without(fields, "role", "role_type", "content", "parts", "tool_calls", "type", "reasoning_content")
    if fields is message and role not in ("user", "assistant"):
        own.update(without({"type": message.get("type")}))
    if found[-1]["role"] == "tool" and role != "tool":
        own = {"message": own} if own else {}  # its fields are not those of the answer that it carried
    found[-1] = {**own, **found[-1]}
    return found


def _items(fields: dict[str, Any]) -> list[Any]:
    content = fields.get("content")
    content = fields.get("parts") if content is None else content
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        content = content["parts"]
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


class _Pieces:
    """What somebody said at one go: words, thoughts and calls of tools."""

    def __init__(self) -> None:
        self.content: list[Any] = []
        self.thoughts: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.reasoning: list[dict[str, Any]] = []

    @property
    def is_any(self) -> bool:
        return bool(self.content or self.thoughts or self.calls or self.reasoning)

    def add(self, item: Any) -> None:
        """Sort `item`, a block of content, to its kind; what nobody knows stays in the content."""
        if not isinstance(item, dict):
            self.content.extend([] if item is None else [item])
            return
        kind = str(item.get("type"))
        function = item.get("functionCall") or item.get("function_call")
        if kind in _CALLS or isinstance(function, dict):
            self.calls.append(plain_call(function if isinstance(function, dict) else item))
        elif kind in _THOUGHTS:
            self.think(item)
        else:
            self.content.append(_plain_text(item))

    def think(self, item: dict[str, Any]) -> None:
        """Add a thought; what stands beside its words (a signature) is kept apart."""
        name = next((name for name in _WORDS_OF_THOUGHT if item.get(name)), "")
        if words := _texts(item.get(name)):
            self.thoughts.append(words)
        more = without(item, "type", name if words else "")
        self.reasoning += [more] if more else []

    def said_by(self, role: str) -> dict[str, Any]:
        """Return all of it as one message."""
        said: dict[str, Any] = {"role": "user" if role == "human" else role}
        if self.thoughts:
            said["reasoning_content"] = "\n".join(self.thoughts)
        if self.reasoning:
            said["reasoning"] = self.reasoning
        if self.calls:
            said["tool_calls"] = self.calls
        is_one_text = len(self.content) == 1 and isinstance(self.content[0], str)
        said["content"] = self.content[0] if is_one_text else self.content or None
        return said


def _answer_in(item: Any) -> dict[str, Any] | None:
    """Return the answer of a tool that `item`, a block of content, is."""
    if not isinstance(item, dict):
        return None
    answered = item.get("functionResponse") or item.get("function_response")
    if isinstance(answered, dict):
        return plain_answer(answered)
    return plain_answer(item) if is_answer_of_tool(str(item.get("type"))) else None


def is_block_of_turn(item: Any) -> bool:
    """Tell whether `item`, a block of content, is a call of a tool, an answer to one, or a thought."""
    kind = str(item.get("type")) if isinstance(item, dict) else ""
    return kind in _CALLS or kind in _THOUGHTS or is_answer_of_tool(kind)


def is_answer_of_tool(kind: str) -> bool:
    """Tell whether blocks of this type are answers of tools, whichever tool."""
    return kind in _ANSWERS or kind.endswith(_ANSWER_ENDS)


def _plain_text(item: dict[str, Any]) -> Any:
    text = item.get("text")
    if not isinstance(text, str) and item.get("type") == "text":
        text = item.get("content")
    if not isinstance(text, str):
        return item
    more = without(item, "type", "text", "content") if "text" not in item else without(item, "type", "text")
    return {"type": "text", "text": text, **more} if more else text


def plain_call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call of a tool as OpenAI writes it."""
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    name = inner.get("name") or inner.get("toolName")
    given = next((key for key in ("arguments", "input", "args") if inner.get(key) is not None), "")
    found = {"name": name} if isinstance(name, str) else {}
    own = next((key for key in ("call_id", "id", "toolCallId") if call.get(key)), "")
    more = {**without(inner, "name", "toolName", given), **(call if inner is not call else {})}
    return {
        **without(more, "type", "function", own),
        **({"id": call[own]} if own else {}),
        "function": {**found, "arguments": inner.get(given)},
    }


def plain_answer(item: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a tool as a message of the tool."""
    given = next(
        (item[key] for key in ("response", "result", "content", "output") if item.get(key) is not None), ""
    )
    name = item.get("name") or item.get("toolName")
    call = next((item[key] for key in ("call_id", "tool_use_id", "toolCallId", "id") if item.get(key)), None)
    named = {"name": name} if isinstance(name, str) else {}
    called = {"tool_call_id": call} if call else {}
    more = {**without(item, *_OF_ANSWER), **_ending_of(given)}
    return {**more, "role": "tool", **named, **called, "content": _told(given)}


def _ending_of(given: Any) -> dict[str, Any]:
    """Return how a call ended where the kind of its answer says so."""
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == "execution-denied":
        return {"status": "denied"}
    return {"is_error": True} if kind in ("error-text", "error-json") else {}


def _told(given: Any) -> Any:
    """Return what a tool told: text, or a list of its text and of what is none (pictures)."""
    if isinstance(given, str):
        return given
    text = _texts(given) if isinstance(given, list) else ""
    rest = [one for one in given if _is_block(one) and not _texts(one)] if isinstance(given, list) else []
    if rest and (text or len(rest) == len(given)):
        return [*([{"type": "text", "text": text}] if text else []), *rest]
    return text or canonical_json(given)


def _is_block(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("type"), str)
