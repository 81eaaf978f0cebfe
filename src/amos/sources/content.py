"""Content blocks of the Messages shape, shared by Claude Code sessions and Claude.ai exports."""

from __future__ import annotations

import re
from typing import Any

from amos.sources.decoding import canonical_json
from amos.sources.parts import Part, joined_texts, without

_WEB_TOOL = re.compile(r"web|browser|fetch|playwright|puppeteer|chrome|url", re.IGNORECASE)


def is_web_tool(name: str | None) -> bool:
    """Tell whether a tool of this name brings in pages that anybody may have written."""
    return bool(name and _WEB_TOOL.search(name))


def content_parts(content: Any, tools: dict[str, tuple[str, str]]) -> list[Part]:
    """Return the parts of `content`: text, or a list of typed blocks (nulls are nothing).

    tools: name of the tool and key of the record by tool use id, as seen so far.
    """
    if isinstance(content, str):
        return [Part(text=content)]
    if not isinstance(content, list):
        return [] if content is None else [Part(text="", extra={"content": content})]
    return [_part(item, tools) for item in content if item is not None]


def _part(item: Any, tools: dict[str, tuple[str, str]]) -> Part:
    if isinstance(item, str):
        return Part(text=item)
    if not isinstance(item, dict):
        return Part(text="", extra={"content": item})
    make = _MAKERS.get(str(item.get("type")))
    if make is _tool_result_part:
        return _tool_result_part(item, tools)
    return make(item) if make else _unknown_part(item)


def _text_part(item: dict[str, Any]) -> Part:
    text = item.get("text")
    if not isinstance(text, str):
        return Part(text="", extra={"content": item})
    return Part(text=text, extra=without(item, "type", "text"))


def _thinking_part(item: dict[str, Any]) -> Part:
    text = item.get("thinking")
    return Part(
        text=text if isinstance(text, str) else "",
        kind="thinking",
        role="assistant",
        trust="agent",
        is_owner=False,
        extra=without(item, "type", "thinking" if isinstance(text, str) else ""),
    )


def _tool_use_part(item: dict[str, Any]) -> Part:
    given = item.get("input")
    return Part(
        text=given if isinstance(given, str) else canonical_json(given) if given else "",
        kind="tool_use",
        role="assistant",
        trust="agent",
        is_owner=False,
        extra=without(item, "type", "input"),
    )


def _tool_result_part(item: dict[str, Any], tools: dict[str, tuple[str, str]]) -> Part:
    text, rest = joined_texts(item.get("content"))
    name, key = tools.get(str(item.get("tool_use_id")), (item.get("name"), None))
    extra = without(item, "type", "content")
    if rest:
        extra["content"] = rest
    if name:
        extra["tool_name"] = name
    return Part(
        text=text,
        kind="tool_result",
        role="tool",
        trust="untrusted_web" if is_web_tool(name if isinstance(name, str) else None) else "tool",
        author=name if isinstance(name, str) else "tool",
        is_owner=False,
        reply_to=key,
        extra=extra,
    )


def _document_part(item: dict[str, Any]) -> Part:
    source = item.get("source")
    text = source.get("data") if isinstance(source, dict) and source.get("type") == "text" else None
    if not isinstance(text, str):
        return _unknown_part(item)
    return attachment_part(text, without(item, "type", "source"))


def attachment_part(text: str, extra: dict[str, Any]) -> Part:
    """Return attached text as its own source that nobody vouches for."""
    return Part(
        text=text, kind="attachment", trust="untrusted_web", author="attachment", is_owner=False, extra=extra
    )


def _unknown_part(item: dict[str, Any]) -> Part:
    text = item.get("text")
    if isinstance(text, str):
        return Part(text=text, extra=without(item, "text"))
    return Part(text="", extra={"content": item})


_MAKERS: dict[str, Any] = {
    "text": _text_part,
    "thinking": _thinking_part,
    "redacted_thinking": _thinking_part,
    "tool_use": _tool_use_part,
    "server_tool_use": _tool_use_part,
    "tool_result": _tool_result_part,
    "web_search_tool_result": _tool_result_part,
    "web_fetch_tool_result": _tool_result_part,
    "document": _document_part,
}
