"""The content kinds of ChatGPT messages, each brought to text blocks; unknown kinds are kept whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amos.sources.content import is_web_tool
from amos.sources.parts import Part, without

_PLAIN_KINDS = {
    "code": ("text", "code"),
    "execution_output": ("text", "tool_result"),
    "system_error": ("text", "tool_result"),
    "reasoning_recap": ("content", "thinking"),
}
_WEB_KINDS = frozenset({"tether_browsing_display", "tether_quote", "sonic_webpage", "search_result"})
_FILE_TOOLS = frozenset({"myfiles_browser", "file_search"})
_TO_ALL = (None, "all")


def chatgpt_parts(message: dict[str, Any], role: str) -> list[Part]:
    """Return the parts of `message`; its role decides how far plain text is believed."""
    content = message.get("content")
    if isinstance(content, str):
        return [Part(text=content)]
    if not isinstance(content, dict):
        return [] if content is None else [Part(text="", extra={"content": content})]
    kind = content.get("content_type")
    parts = _parts(str(kind), content)
    for part in parts:
        _settle(part, message, role)
    return parts


def _parts(kind: str, content: dict[str, Any]) -> list[Part]:
    if kind in _PLAIN_KINDS:
        return [_plain(content, *_PLAIN_KINDS[kind])]
    if kind in _WEB_KINDS:
        return [_page_part(content)]
    return _MAKERS.get(kind, _unknown_parts)(content)


def _page_part(content: dict[str, Any]) -> Part:
    name = "text" if isinstance(content.get("text"), str) else "result"
    part = _plain(content, name, "tool_result")
    part.role, part.trust, part.is_owner = "tool", "untrusted_web", False
    return part


def _plain(content: dict[str, Any], name: str, kind: str) -> Part:
    text = content.get(name)
    if not isinstance(text, str):
        return Part(text="", kind=kind, extra=without(content, "content_type"))
    return Part(text=text, kind=kind, extra=without(content, "content_type", name))


def _text_parts(content: dict[str, Any]) -> list[Part]:
    listed = content.get("parts")
    parts = []
    for item in listed if isinstance(listed, list) else [listed]:
        if isinstance(item, str):
            parts.append(Part(text=item))
        elif isinstance(item, dict) and isinstance(item.get("text"), str):
            parts.append(Part(text=item["text"], extra=without(item, "text")))
        elif item is not None:
            parts.append(Part(text="", extra={"content": item}))
    more = without(content, "content_type", "parts")
    if more and parts:
        parts[0].extra = {**more, **(parts[0].extra or {})}
    return parts or [Part(text="", extra=more)]


def _thought_parts(content: dict[str, Any]) -> list[Part]:
    thoughts = content.get("thoughts")
    parts = []
    for item in thoughts if isinstance(thoughts, list) else []:
        if isinstance(item, dict):
            parts.append(_plain(item, "content", "thinking"))
        elif isinstance(item, str):
            parts.append(Part(text=item, kind="thinking"))
    return parts or [Part(text="", kind="thinking", extra=without(content, "content_type"))]


def _memory_parts(content: dict[str, Any]) -> list[Part]:
    """Custom instructions and saved memory: recalled, so evidence for nothing."""
    names = sorted(name for name, text in content.items() if isinstance(text, str) and name != "content_type")
    parts = [
        Part(text=content[name], trust="recall", is_owner=False, extra={"field": name}) for name in names
    ]
    rest = without(content, "content_type", *names)
    if rest or not parts:
        parts.append(Part(text="", trust="recall", is_owner=False, extra=rest))
    return parts


def _unknown_parts(content: dict[str, Any]) -> list[Part]:
    for name in ("text", "result", "content"):
        if isinstance(content.get(name), str):
            return [Part(text=content[name], extra=without(content, name))]
    listed = content.get("parts")
    if isinstance(listed, list) and any(isinstance(item, str) for item in listed):
        return _text_parts(content)
    return [Part(text="", extra={"content": content})]


def _settle(part: Part, message: dict[str, Any], role: str) -> None:
    """Mark tool calls and tool results, and pages and files as nobody's word."""
    if role == "assistant":
        if message.get("recipient") not in _TO_ALL and part.kind in {"text", "code"}:
            part.kind = "tool_use"
        if part.kind == "tool_result" and part.role is None:
            part.role, part.trust = "tool", "tool"
    elif role == "tool":
        if part.kind in {"text", "code"}:
            part.kind = "tool_result"
        author = message.get("author")
        name = author.get("name") if isinstance(author, dict) else None
        if isinstance(name, str) and (is_web_tool(name) or name in _FILE_TOOLS):
            part.trust = "untrusted_web"


_MAKERS: dict[str, Callable[[dict[str, Any]], list[Part]]] = {
    "text": _text_parts,
    "multimodal_text": _text_parts,
    "thoughts": _thought_parts,
    "user_editable_context": _memory_parts,
    "model_editable_context": _memory_parts,
}
