"""Content blocks of the Messages shape, shared by Claude Code sessions and Claude.ai exports."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from amos.sources.decoding import canonical_json
from amos.sources.parts import Part, joined_texts, text_or_none, without

_WEB_TOOL = re.compile(r"web|browser|fetch|playwright|puppeteer|chrome|url", re.IGNORECASE)


def is_web_tool(name: str | None) -> bool:
    """Tell whether a tool of this name brings in pages that anybody may have written."""
    return bool(name and _WEB_TOOL.search(name))


class Tools:
    """Tools used so far: name, record key and caller by tool use id, so that a result finds its call."""

    def __init__(self) -> None:
        self._uses: dict[str, Use] = {}

    def remember(self, part: Part, record_key: str, caller: str | None) -> None:
        """Note the call in `part`, which `caller` made in the record `record_key`."""
        if part.extra:
            use = Use(str(part.extra.get("name", "tool")), record_key, caller)
            self._uses[str(part.extra.get("id"))] = use

    def find(self, use_id: Any) -> Use:
        """Return what is known of a call, Nones when it was not seen."""
        return self._uses.get(str(use_id), _UNSEEN)


class Use(NamedTuple):
    """A call of a tool: its name, the record it stands in, who made it."""

    name: str | None
    record_key: str | None
    caller: str | None


_UNSEEN = Use(None, None, None)


def content_parts(content: Any, tools: Tools, record_key: str, author: str | None) -> list[Part]:
    """Return the parts of `content`: text, or a list of typed blocks (nulls are nothing).

    Calls found in it are noted in `tools` as made by `author` in `record_key`.
    """
    if isinstance(content, str):
        return [Part(text=content)]
    if not isinstance(content, list):
        return [] if content is None else [Part(text="", extra={"content": content})]
    parts = []
    for item in content:
        if item is not None:
            parts.append(_part(item, tools))
            if parts[-1].kind == "tool_use":
                tools.remember(parts[-1], record_key, author)
    return parts


def _part(item: Any, tools: Tools) -> Part:
    if isinstance(item, str):
        return Part(text=item)
    if not isinstance(item, dict):
        return Part(text="", extra={"content": item})
    kind = str(item.get("type"))
    if kind in _RESULTS:
        return _tool_result_part(item, tools)
    return _MAKERS.get(kind, _unknown_part)(item)


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


def _tool_result_part(item: dict[str, Any], tools: Tools) -> Part:
    text, rest = joined_texts(item.get("content"))
    use = tools.find(item.get("tool_use_id"))
    name = use.name or text_or_none(item.get("name"))
    extra = without(item, "type", "content")
    if rest:
        extra["content"] = rest
    if use.name:
        extra["tool_name"] = use.name
    if use.caller:
        extra["called_by"] = use.caller
    return Part(
        text=text,
        kind="tool_result",
        role="tool",
        trust="untrusted_web" if is_web_tool(name) else "tool",
        author=name or "tool",
        is_owner=False,
        reply_to=use.record_key,
        extra=extra,
    )


def document_part(item: dict[str, Any]) -> Part | None:
    """Return the attached text that `item`, a block of content, holds; None when it holds none."""
    source = item.get("source")
    text = source.get("data") if isinstance(source, dict) and source.get("type") == "text" else None
    return attachment_part(text, without(item, "type", "source")) if isinstance(text, str) else None


def _document_part(item: dict[str, Any]) -> Part:
    return document_part(item) or _unknown_part(item)


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


_RESULTS = frozenset({"tool_result", "web_search_tool_result", "web_fetch_tool_result"})
_MAKERS: dict[str, Callable[[dict[str, Any]], Part]] = {
    "text": _text_part,
    "thinking": _thinking_part,
    "redacted_thinking": _thinking_part,
    "tool_use": _tool_use_part,
    "server_tool_use": _tool_use_part,
    "document": _document_part,
}
