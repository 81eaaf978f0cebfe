"""Read a case file: texts with the outcome that a careful person expects, one JSON object per line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from amos.errors import InputError
from amos.schemas.vocabulary import Action, MemoryClass, Modality, Outcome, Trust

Polarity = Literal["positive", "negative"]
Value = str | int | float | bool
Span = tuple[int, int]

UNSTATED = "unstated"
EXAMPLE = '{"id": "c1", "text": "My locker is B12.", "expected": {"admission": "commit", "value": "B12"}}'

_CHANNELS = {Trust.TRUSTED_USER: "user", Trust.UNTRUSTED_WEB: "web"}
_MESSAGE_FIELDS = (
    "text", "role", "author", "ts", "conversation", "scope", "session", "turn", "reply_to", "source",
    "retain", "channel", "title", "purposes", "context",
)  # fmt: skip
_LABELS = ("kind", "channel", "language", "tenant", "privacy_class")
_KNOWN = frozenset(
    {"id", "trust", "source_trust", "expected", "note", "workspace", *_MESSAGE_FIELDS, *_LABELS}
)


class MoreClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A further claim of the text, beside the first one."""

    value: Value | None = None
    subject: str | None = None
    property: str | None = None
    polarity: Polarity | None = None
    memory_class: MemoryClass | None = None
    modality: Modality | None = None
    span: str | None = None
    span_bytes: Span | None = None
    admission: Outcome | None = None
    valid_from: str | None = None
    valid_until: str | None = None


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What a careful person expects of a text; what is null is not compared."""

    admission: Outcome
    admission_also: tuple[Outcome, ...] = ()
    admission_never: tuple[Outcome, ...] = ()
    action: Action | None = None
    memory_class: MemoryClass | None = None
    subject: str | None = None
    property: str | None = None
    value: Value | None = None
    polarity: Polarity | None = None
    modality: Modality | None = None
    reason: str | None = None
    span: str | None = None
    span_bytes: Span | None = None
    relation: str | None = None
    time: dict[str, Any] | None = None
    more: tuple[MoreClaim, ...] = ()
    must_not: tuple[str, ...] = ()
    note: str | None = None


def allowed_outcomes(expected: Expected) -> frozenset[Outcome]:
    """Return the outcomes that are right."""
    return frozenset((expected.admission, *expected.admission_also))


@dataclass(frozen=True, kw_only=True)
class Case:
    """One text, as a `messages` line, with what is expected of it and the labels it is counted under."""

    id: str
    file: str
    line: int
    message: dict[str, Any]
    expected: Expected
    labels: dict[str, str]

    @property
    def content(self) -> bytes:
        """The bytes that spans count."""
        return str(self.message["text"]).encode("utf-8", "replace")


class BadCase(NamedTuple):
    """A line that is no case, and why."""

    file: str
    line: int
    id: str | None
    reason: str
    message: str


@dataclass
class CaseFile:
    """Everything that was read: cases, lines that are none, and fields that nobody knows."""

    cases: list[Case] = field(default_factory=list)
    bad: list[BadCase] = field(default_factory=list)
    unknown_fields: Counter[str] = field(default_factory=Counter)

    @property
    def line_count(self) -> int:
        """Lines that were read."""
        return len(self.cases) + len(self.bad)


class _UnusableError(Exception):
    """A line that is no case."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def read_cases(paths: Sequence[Path]) -> CaseFile:
    """Return the cases of files of JSON lines; a line that is none becomes a row with a reason.

    Raises InputError for a file that cannot be read, and where no line at all is a case.
    """
    found = CaseFile()
    seen: set[str] = set()
    for path in paths:
        for number, raw in _lines(path):
            _read_line(path, number, raw, found, seen)
    if not found.line_count:
        raise InputError(
            f"{paths[0]}: there is no case in it", code="empty_file", path=str(paths[0]),
            advice=f"Write one case per line, such as {EXAMPLE}",
        )  # fmt: skip
    if not found.cases:
        first = found.bad[0]
        raise InputError(
            f"{first.file}:{first.line}: {first.message}; none of {found.line_count:,} lines is a case",
            code="unknown_format", path=first.file, advice=f"A case looks like {EXAMPLE}",
        )  # fmt: skip
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, 1):
                if raw.strip():
                    yield number, raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
    except OSError as cause:
        raise InputError(
            f"{path}: {cause.strerror}", path=str(path), advice="Name a file of cases that you may read."
        ) from cause


def _read_line(path: Path, number: int, raw: bytes, found: CaseFile, seen: set[str]) -> None:
    name: str | None = None
    try:
        row = _row(raw)
        name = str(row["id"]) if isinstance(row.get("id"), str | int) else str(number)
        case = _case(row, name, (str(path), number), seen)
    except _UnusableError as cause:
        found.bad.append(BadCase(str(path), number, name, cause.reason, str(cause)))
        return
    seen.add(name)
    found.cases.append(case)
    found.unknown_fields.update(_unknown(row))


def _row(raw: bytes) -> dict[str, Any]:
    try:
        row = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as cause:
        raise _UnusableError("not_json", f"the line is no JSON: {cause}") from cause
    if not isinstance(row, dict):
        raise _UnusableError("not_an_object", "the line is no JSON object")
    return row


def _case(row: dict[str, Any], name: str, place: tuple[str, int], seen: set[str]) -> Case:
    if name in seen:
        raise _UnusableError("duplicate_id", f"another case is called {name!r}")
    text = row.get("text")
    if not isinstance(text, str):
        raise _UnusableError("schema_invalid", "`text` is missing or no text")
    if not isinstance(row.get("expected"), dict):
        raise _UnusableError("schema_invalid", "`expected` is missing or no object")
    try:
        expected = msgspec.convert(row["expected"], Expected)
    except msgspec.ValidationError as cause:
        raise _UnusableError("schema_invalid", f"`expected`: {cause}") from cause
    trust = row.get("source_trust", row.get("trust"))
    if trust is not None and trust not in set(Trust):
        raise _UnusableError("schema_invalid", f"`source_trust` is {trust!r}, not one of {', '.join(Trust)}")
    message = {key: row[key] for key in _MESSAGE_FIELDS if row.get(key) is not None}
    if trust is not None:
        message["trust"] = trust
    case = Case(
        id=name,
        file=place[0],
        line=place[1],
        message=message,
        expected=expected,
        labels=_labels(row, expected),
    )
    _check_spans(case)
    return case


def _labels(row: dict[str, Any], expected: Expected) -> dict[str, str]:
    trust = row.get("source_trust") or row.get("trust") or Trust.TRUSTED_USER
    stated = {name: str(row[name]) for name in _LABELS if row.get(name) is not None}
    channel = row.get("source") or _CHANNELS.get(trust, trust)
    return {
        "kind": UNSTATED,
        "channel": str(channel),
        "language": UNSTATED,
        "tenant": "default",
        "memory_class": str(expected.memory_class or UNSTATED),
        **stated,
    }


def _check_spans(case: Case) -> None:
    """Refuse spans that are not in the text: nothing could be compared with them."""
    content = case.content
    claims: list[Expected | MoreClaim] = [case.expected, *case.expected.more]
    for claim in claims:
        if claim.span_bytes is not None:
            start, end = claim.span_bytes
            if not 0 <= start < end <= len(content):
                raise _UnusableError("span_out_of_range", f"`span_bytes` {[start, end]} is not in the text")
            if claim.span is not None and content[start:end] != claim.span.encode():
                raise _UnusableError(
                    "span_mismatch", f"`span_bytes` {[start, end]} is not where `span` stands"
                )
        elif claim.span is not None and claim.span.encode() not in content:
            raise _UnusableError("span_mismatch", f"`span` {claim.span!r} is not in the text")


def _unknown(row: dict[str, Any]) -> Iterator[str]:
    yield from (name for name in row if name not in _KNOWN)
    yield from (f"expected.{name}" for name in _outside(row["expected"], Expected))
    for more in row["expected"].get("more") or ():
        yield from (f"expected.more.{name}" for name in _outside(more, MoreClaim))


def _outside(row: Iterable[str], struct: type[msgspec.Struct]) -> Iterator[str]:
    known = set(struct.__struct_fields__)
    return (name for name in row if name not in known)
