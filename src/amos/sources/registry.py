"""The readers there are: built in, and those that other packages register."""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from amos.errors import UsageError
from amos.sources.reader import Reader

_logger = logging.getLogger(__name__)
ENTRY_POINTS = "amos.readers"

_BUILT_IN = {
    "claude-code": "amos.sources.claude_code:ClaudeCodeReader",
    "chatgpt": "amos.sources.chatgpt:ChatGptReader",
    "claude-ai": "amos.sources.claude_ai:ClaudeAiReader",
    "capture": "amos.sources.capture:CaptureReader",
    "openai": "amos.sources.openai:OpenAiReader",
    "messages": "amos.sources.messages:MessagesReader",
    "mapped": "amos.sources.mapped:MappedReader",
    "locomo": "amos.sources.locomo:LocomoReader",
    "dialogue-set": "amos.sources.dialogue_set:DialogueSetReader",
    "longmemeval": "amos.sources.longmemeval:LongMemEvalReader",
    "otel": "amos.sources.otel:OtelReader",
    "langfuse": "amos.sources.langfuse:LangfuseReader",
    "langsmith": "amos.sources.langsmith:LangSmithReader",
    "mem0": "amos.sources.mem0:Mem0Reader",
    "mcp-memory": "amos.sources.mcp_memory:McpMemoryReader",
    "letta": "amos.sources.letta:LettaReader",
    "zep": "amos.sources.zep:ZepReader",
    "slack": "amos.sources.slack:SlackReader",
    "memory-folder": "amos.sources.memory_folder:MemoryFolderReader",
}
"""In order of care: of two equally sure readers the earlier one has the file."""


@cache
def readers() -> dict[str, type[Reader]]:
    """Return reader classes by format name; a built-in name cannot be taken over."""
    found = {name: _load(target) for name, target in _BUILT_IN.items()}
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name in found:
            _logger.warning("reader.name_taken", extra={"format": entry.name})
            continue
        found[entry.name] = entry.load()
    return found


def reader_class(name: str) -> type[Reader]:
    """Return the reader called `name`; raises UsageError that lists the names there are."""
    found = readers().get(name)
    if found is None:
        raise UsageError(
            f"no format is called {name!r}", path=name, advice=f"Use one of: {', '.join(readers())}."
        )
    return found


def _load(target: str) -> type[Reader]:
    module, _, attribute = target.partition(":")
    reader: type[Reader] = getattr(import_module(module), attribute)
    return reader
