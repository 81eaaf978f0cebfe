"""The fields of a `messages` line, strictly typed, and how odd lines are brought into them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from amos.schemas.vocabulary import Trust
from amos.sources.block import Problem
from amos.sources.decoding import extra_json, plain_keys
from amos.sources.faults import Fault, UnreadableRecordError, noted


class Scope(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Scope tuple of a line; tenant and workspace must be the shard's own."""

    project: str | None = None
    user: str | None = None
    agent: str | None = None
    session: str | None = None
    task: str | None = None
    tool_environment: str | None = None
    tenant: str | None = None
    workspace: str | None = None


class Line(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """One message; null and absent mean the same."""

    text: str
    id: str | None = None
    role: str | None = None
    author: str | None = None
    ts: str | int | float | None = None
    conversation: str | None = None
    scope: Scope | None = None
    session: str | None = None
    turn: int | None = None
    reply_to: str | None = None
    source: str | None = None
    retain: bool | None = None
    # Rare from here on: a line with one of these takes the careful way.
    trust: str | None = None
    channel: str | None = None
    title: str | None = None
    purposes: list[str] | None = None
    context: list[str] | None = None

    def is_plain(self, raw: bytes) -> bool:
        """Tell whether `raw` holds exactly the keys that are set, each once, and no rarer ones."""
        if self.turn is not None and not LOWEST_TURN <= self.turn <= HIGHEST_TURN:
            return False
        if self.source is not None and self.source not in SOURCES:
            return False
        values = msgspec.structs.astuple(self)
        if values[_RARE:] != _NO_RARE_FIELD:
            return False
        count = len(values) - values.count(None)
        if self.scope is not None:
            count += _SCOPE_SIZE - msgspec.structs.astuple(self.scope).count(None)
        return plain_keys(raw) == count


_RARE = 12
_NO_RARE_FIELD = (None,) * 5
_SCOPE_SIZE = len(msgspec.structs.fields(Scope))
LOWEST_TURN = 0
HIGHEST_TURN = 2**53
_NAMES = frozenset(field.name for field in msgspec.structs.fields(Line))
_SCOPE_NAMES = frozenset(field.name for field in msgspec.structs.fields(Scope))
_TEXTS = ("id", "author", "conversation", "session", "reply_to", "channel", "title")
SOURCES = frozenset({"user", "tool", "web"})


@dataclass(kw_only=True)
class Repairs:
    """What had to be changed or set aside to read a line; unknown: names of fields without a meaning."""

    notes: list[tuple[Fault, str]] = field(default_factory=list)
    extra: str | None = None
    flags: int = 0
    unknown: list[str] = field(default_factory=list)

    def problems(self, file: str, record: int) -> list[Problem]:
        """Return the rows that tell of `notes`."""
        return [noted(file, record, *note) for note in self.notes]


def line_of(row: dict[str, Any], repairs: Repairs, *, is_context_allowed: bool) -> Line:
    """Return the line that `row` means; unknown and odd values go to `repairs.extra`.

    Raises UnreadableRecordError when a value that decides trust, scope or content is no such value.
    """
    extra = {name: value for name, value in row.items() if name not in _NAMES}
    unknown = set(extra)
    fields = _texts(row, extra, repairs)
    fields["text"] = _content(row, extra)
    fields["role"] = _word(row, "role")
    fields["trust"] = _one_of(row, "trust", frozenset(Trust))
    fields["source"] = _one_of(row, "source", SOURCES)
    fields["ts"] = _time(row, extra, repairs)
    fields["turn"] = _turn(row, extra, repairs)
    fields["scope"] = _scope(row, extra)
    fields["retain"] = _permission(row)
    fields["purposes"] = _text_list(row, "purposes")
    fields["context"] = _text_list(row, "context")
    if fields["context"] is not None and not is_context_allowed:
        raise _refuse("`context` belongs to `amos propose`; an ingested line stands for itself")
    inside = extra.get("scope")
    repairs.unknown = [*sorted(unknown & extra.keys()), *(f"scope.{name}" for name in inside or ())]
    repairs.extra = extra_json(extra)
    return Line(**fields)


def _refuse(message: str) -> UnreadableRecordError:
    return UnreadableRecordError(Fault.SCHEMA_INVALID, message)


def _texts(row: dict[str, Any], extra: dict[str, Any], repairs: Repairs) -> dict[str, Any]:
    """Return the plain text fields; a number is as good as its text."""
    fields: dict[str, Any] = {}
    for name in _TEXTS:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if value is not None and not isinstance(value, str):
            repairs.notes.append((Fault.WRONG_TYPE, f"`{name}` is no text; it was set aside"))
            extra[name] = value
            value = None
        fields[name] = value or None
    return fields


def _content(row: dict[str, Any], extra: dict[str, Any]) -> str:
    text = row.get("text")
    if text is None and isinstance(row.get("content"), str):
        return str(extra.pop("content"))
    if text is None:
        return ""
    if not isinstance(text, str):
        raise UnreadableRecordError(Fault.WRONG_TYPE, "`text` is no text")
    return text


def _word(row: dict[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise _refuse(f"`{name}` is no text")
    return value or None


def _one_of(row: dict[str, Any], name: str, allowed: frozenset[str]) -> str | None:
    value = _word(row, name)
    if value is not None and value not in allowed:
        raise _refuse(f"`{name}` is {value[:40]!r}, not one of {', '.join(sorted(allowed))}")
    return value


def _time(row: dict[str, Any], extra: dict[str, Any], repairs: Repairs) -> str | int | float | None:
    value = row.get("ts")
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    repairs.notes.append((Fault.TIME_INVALID, "`ts` is neither text nor a number; it was set aside"))
    extra["ts"] = value
    return None


def _turn(row: dict[str, Any], extra: dict[str, Any], repairs: Repairs) -> int | None:
    value = row.get("turn")
    if value is None:
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and LOWEST_TURN <= value <= HIGHEST_TURN:
        return value
    repairs.notes.append((Fault.WRONG_TYPE, "`turn` is no count; the line order stands in"))
    extra["turn"] = value
    return None


def _scope(row: dict[str, Any], extra: dict[str, Any]) -> Scope | None:
    value = row.get("scope")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _refuse("`scope` is no object")
    unknown = {name: part for name, part in value.items() if name not in _SCOPE_NAMES}
    if unknown:
        extra["scope"] = unknown
    parts = {name: part for name, part in value.items() if name in _SCOPE_NAMES and part is not None}
    wrong = sorted(name for name, part in parts.items() if not isinstance(part, str))
    if wrong:
        raise _refuse(f"`scope.{wrong[0]}` is no text")
    return Scope(**{name: part for name, part in parts.items() if part})


def _permission(row: dict[str, Any]) -> bool | None:
    value = row.get("retain")
    if value is not None and not isinstance(value, bool):
        raise _refuse("`retain` is neither true nor false")
    return value


def _text_list(row: dict[str, Any], name: str) -> list[str] | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _refuse(f"`{name}` is no list of texts")
    return value
