"""The content of OpenAI-style messages: text, tool calls, tool answers, reasoning."""

from __future__ import annotations

from typing import Any

from amos.sources.content import document_part, is_web_tool
from amos.sources.decoding import canonical_json
from amos.sources.parts import Part, without

LATER_THOUGHTS = "amos/thoughts"
"""Field of a message for thoughts that come last: parts before them keep their numbers without them."""


def message_parts(message: dict[str, Any], role: str, tools: dict[str, str]) -> list[Part]:
    """Return the parts of `message`: its texts, then reasoning, then calls of tools.

    tools: name by tool call id, for answers that only name the call.
    """
    parts = _text_parts(message.get("content"))
    if role == "tool":
        _settle_answer(parts, message, tools)
        return parts
    reasoning = message.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        parts.append(Part(text=reasoning, kind="thinking"))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        parts.append(_call_part(call))
    if isinstance(message.get("function_call"), dict):
        parts.append(_call_part({"function": message["function_call"]}))
    if isinstance(message.get(LATER_THOUGHTS), str):
        parts.append(Part(text=message[LATER_THOUGHTS], kind="thinking"))
    if len(parts) > 1 and parts[0].kind == "text" and not parts[0].text and not parts[0].extra:
        del parts[0]
    return parts


def chain_text(message: dict[str, Any]) -> str:
    """Return the text of `message` that its key is made of: words and calls, no ids."""
    content = message.get("content")
    if isinstance(content, str) and not message.get("tool_calls") and not message.get("function_call"):
        return content
    texts = [part.text for part in message_parts(message, "assistant", {}) if part.kind != "thinking"]
    return "\n".join(texts)


def _text_parts(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [Part(text=content)]
    if content is None:
        return [Part(text="")]
    parts, rest = [], []
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, str):
            parts.append(Part(text=item))
        elif isinstance(item, dict) and isinstance(item.get("text"), str):
            parts.append(Part(text=item["text"], extra=without(item, "type", "text")))
        elif isinstance(item, dict) and (document := document_part(item)):
            parts.append(document)
        elif item is not None:
            rest.append(item)
    if not parts:
        parts.append(Part(text=""))
    if rest:
        parts[0].extra = {**(parts[0].extra or {}), "content": rest}
    return parts


def _call_part(call: Any) -> Part:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return Part(text="", kind="tool_use", extra={"content": call})
    given = function.get("arguments")
    text = given if isinstance(given, str) else "" if given is None else canonical_json(given)
    extra = {**without(call, "function", "type"), **without(function, "arguments")}
    return Part(text=text, kind="tool_use", extra=extra)


def _settle_answer(parts: list[Part], message: dict[str, Any], tools: dict[str, str]) -> None:
    """Name the tool that answered; pages it brought are nobody's word."""
    name = message.get("name") or tools.get(str(message.get("tool_call_id")))
    call = message.get("tool_call_id")
    for part in parts:
        part.kind = "tool_result"
        if isinstance(name, str):
            part.author = name
            part.trust = "untrusted_web" if is_web_tool(name) else "tool"
        if call is not None:
            part.extra = {**(part.extra or {}), "tool_call_id": call}
