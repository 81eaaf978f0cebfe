"""Read from a tool's own answer what became of the call: its flags, its fields, the lines that say so.

Only signs that are made for it count: an error flag, an exit code, a status field, an exception.  What an
answer goes on to tell is content, and what an agent says about it is its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from amos.patterns import pattern_of
from amos.schemas.vocabulary import ActionStatus

_SUCCEEDED, _FAILED, _PARTIAL, _BLOCKED = (
    str(status)
    for status in (
        ActionStatus.SUCCEEDED, ActionStatus.FAILED, ActionStatus.PARTIAL, ActionStatus.BLOCKED,
    )
)  # fmt: skip
_MOST_TELLING = (_BLOCKED, _PARTIAL, _FAILED, _SUCCEEDED)

_SWITCHES = {
    "is_error": (_FAILED, "error_flag"), "isError": (_FAILED, "error_flag"),
    "success": (_SUCCEEDED, "status_field"), "ok": (_SUCCEEDED, "status_field"),
}  # fmt: skip
"""Fields that say yes or no: what a yes means, and which sign it is."""
_OTHER = {_FAILED: _SUCCEEDED, _SUCCEEDED: _FAILED}
_EXITS = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")
_CODES = ("status_code", "statusCode", "http_status")
_ERRORS = ("error", "in_kernel_exception")
_ENVELOPE_WORDS = {
    "success": _SUCCEEDED, "succeeded": _SUCCEEDED, "ok": _SUCCEEDED, "completed": _SUCCEEDED,
    "error": _FAILED, "fail": _FAILED, "failed": _FAILED, "failure": _FAILED, "timeout": _FAILED,
    "timed_out": _FAILED, "partial": _PARTIAL, "incomplete": _PARTIAL, "blocked": _BLOCKED,
    "denied": _BLOCKED, "rejected": _BLOCKED, "cancelled": _BLOCKED, "canceled": _BLOCKED,
    "aborted": _BLOCKED,
}  # fmt: skip
"""Words of the status that a format gives an answer."""
_CONTENT_WORDS = {word: _ENVELOPE_WORDS[word] for word in ("success", "ok", "error", "fail")}
"""Words that a tool's own JSON uses of itself: a job, a ticket or an order has the others, too."""
_INNER = ("toolUseResult", "metadata", "aggregate_result", "additional_kwargs")
"""Objects of an envelope that speak of the answer."""
_NOT_LET_IN = frozenset({401, 403, 407, 451})

_EXIT_LINE = pattern_of(
    rb"[\[(<]?(?:process |command |script )?(?:(?:failed|finished|completed) with )?"
    rb"(?:(?:exit|return)[ _-]?(?:code|status)|exited with (?:code|status))[:= ]+(-?\d{1,6})[\])>]?\.?",
    re.IGNORECASE,
)
_HTTP_LINE = pattern_of(rb"HTTP/\d(?:\.\d)? (\d{3})(?: [\w '-]{0,40})?")
_EXCEPTION = pattern_of(rb"(?:Uncaught )?(?:\w{1,40}\.){0,6}((?:[A-Z]\w{0,60})?(?:Error|Exception))(?:: .*)?")
_TRACEBACK = b"Traceback (most recent call last):"
_REFUSED = pattern_of(
    rb"permission|\bdenied\b|forbidden|unauthori[sz]ed|\bnot (?:allowed|permitted|granted)\b"
    rb"|doesn['\xe2\x80\x99]{1,3}t want to|\bby (?:the )?(?:user|policy)\b|\btool use was rejected\b"
    rb"|\bhook\b",
    re.IGNORECASE,
)
"""What the first line of a refusal says: somebody or something did not let the call go on."""
_CUT = b"\x1a"
_LONGEST_JSON = 1 << 20
_LONGEST_CITED = 120
_LARGEST_CODE = 1 << 32


class Told(NamedTuple):
    """What became of a call.  sign: what says so.  detail: its code or name, if it has one.

    start, end: bytes of the answer that say it, or that the sign stands beside.
    """

    status: str
    sign: str
    detail: int | str | None
    start: int
    end: int


class _Sign(NamedTuple):
    """One sign.  key: the field that it is, empty for a line.  span: where it stands in the answer."""

    status: str
    sign: str
    detail: int | str | None = None
    key: str = ""
    span: tuple[int, int] | None = None


def told_by(answer: bytes, envelope: Mapping[str, Any], *, is_web: bool) -> Told | None:
    """Return what became of the call that `answer` answers, None where nothing says it or signs disagree.

    envelope: what the format says beside the text.  is_web: the text is a page that anybody may have written;
    it says nothing of the call, and of its envelope only that the page could not be had counts.
    """
    lines = _edge_lines(answer)
    if lines is None:
        return None
    signs = list(_in_envelope(envelope))
    if not is_web:
        signs += _in_json(answer)
        signs += _in_lines(answer, *lines)
    statuses = {sign.status for sign in signs}
    if not statuses or (_SUCCEEDED in statuses and len(statuses) > 1):
        return None
    status = next(one for one in _MOST_TELLING if one in statuses)
    if is_web and status == _SUCCEEDED:
        return None
    own = [sign for sign in signs if sign.status == status]
    best = next((sign for sign in own if sign.detail is not None), own[0])
    start, end = best.span or lines[0]
    if status == _FAILED and best.sign == "error_flag" and _REFUSED.search(answer, *lines[0]):
        status = _BLOCKED
    return Told(status, best.sign, best.detail, start, end)


def _edge_lines(answer: bytes) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the spans of the first and the last line that say something and were not cut."""
    first = _line_from(answer, 0)
    if first is None:
        return None
    last, end = first, len(answer)
    while end > first[1]:
        start = answer.rfind(b"\n", first[1], end) + 1 or first[1]
        found = _trimmed(answer, start, end)
        if found is not None:
            last = found
            break
        end = start - 1
    return first, last


def _line_from(answer: bytes, start: int) -> tuple[int, int] | None:
    while start < len(answer):
        end = answer.find(b"\n", start)
        end = len(answer) if end < 0 else end
        found = _trimmed(answer, start, end)
        if found is not None:
            return found
        start = end + 1
    return None


def _trimmed(answer: bytes, start: int, end: int) -> tuple[int, int] | None:
    """Return the line without the spaces around it, None where it is blank or cut.

    The end falls on a character: a longer line is cited up to a few words.
    """
    line = answer[start:end]
    if not line.strip() or _CUT in line:
        return None
    start += len(line) - len(line.lstrip())
    end -= len(line) - len(line.rstrip())
    limit = min(end, start + _LONGEST_CITED)
    while limit < end and answer[limit] & 0xC0 == 0x80:
        limit -= 1
    return start, limit


def _in_envelope(envelope: Mapping[str, Any]) -> Iterator[_Sign]:
    """Yield the signs beside the text: of the message, and of the objects in it that speak of the answer."""
    waiting: list[Mapping[str, Any]] = [envelope]
    while waiting:
        fields = waiting.pop()
        yield from _in_fields(fields, _ENVELOPE_WORDS)
        if fields.get("interrupted") is True:
            yield _Sign(_BLOCKED, "interrupted")
        if "codeText" in fields:
            yield from _of_http(fields.get("code"), "")
        waiting += [inner for name in _INNER if isinstance(inner := fields.get(name), dict)]
        returns = fields.get("tool_returns")
        if isinstance(returns, list) and len(returns) == 1 and isinstance(returns[0], dict):
            waiting.append(returns[0])


def _in_json(answer: bytes) -> Iterator[_Sign]:
    """Yield the signs that an answer gives as fields of its own JSON object, with their places."""
    if len(answer) > _LONGEST_JSON or answer.lstrip()[:1] != b"{":
        return
    try:
        fields = msgspec.json.decode(answer)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return
    inner = fields.get("metadata")
    for told in (fields, inner if isinstance(inner, dict) else {}):
        for sign in _in_fields(told, _CONTENT_WORDS):
            yield sign._replace(span=_place_of(answer, sign.key, told[sign.key]))


def _in_fields(fields: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[_Sign]:
    for key, (of_true, sign) in _SWITCHES.items():
        if isinstance(fields.get(key), bool):
            yield _Sign(of_true if fields[key] else _OTHER[of_true], sign, key=key)
    for key in _EXITS:
        if _is_number(fields.get(key)):
            yield _of_exit(fields[key])._replace(key=key)
    for key in _CODES:
        yield from _of_http(fields.get(key), key)
    said = fields.get("status")
    if isinstance(said, str) and said.casefold().replace("-", "_") in words:
        word = said.casefold().replace("-", "_")
        yield _Sign(words[word], "status_field", detail=word, key="status")
    for key in _ERRORS:
        if isinstance(fields.get(key), str | dict) and fields[key]:
            yield _Sign(_FAILED, "error_field", key=key)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST_CODE


def _of_exit(code: int) -> _Sign:
    return _Sign(_FAILED if code else _SUCCEEDED, "exit_code", code)


def _of_http(code: Any, key: str) -> Iterator[_Sign]:
    if _is_number(code) and 200 <= code < 300:
        yield _Sign(_SUCCEEDED, "http_status", code, key)
    elif _is_number(code) and 400 <= code < 600:
        yield _Sign(_BLOCKED if code in _NOT_LET_IN else _FAILED, "http_status", code, key)


def _place_of(answer: bytes, key: str, value: Any) -> tuple[int, int] | None:
    """Return where a field of a JSON text and its value stand, a long value without its end."""
    plain = not isinstance(value, dict | list | str)
    told = re.escape(msgspec.json.encode(value)) if plain else rb'"(?:[^"\\\x1a]|\\.){0,80}"|'
    found = re.search(rb'"' + re.escape(key.encode()) + rb'"\s{0,9}:\s{0,9}(?:' + told + rb")", answer)
    return None if found is None else found.span()


def _in_lines(answer: bytes, first: tuple[int, int], last: tuple[int, int]) -> Iterator[_Sign]:
    """Yield the signs that the first or the last line of an answer is."""
    for start, end in sorted({first, last}):
        exited = _EXIT_LINE.fullmatch(answer, start, end)
        if exited:
            yield _of_exit(int(exited[1]))._replace(span=(start, end))
    served = _HTTP_LINE.fullmatch(answer, *first)
    if served:
        yield from (sign._replace(span=first) for sign in _of_http(int(served[1]), ""))
    raised = _EXCEPTION.fullmatch(answer, *first)
    place = first
    if answer.startswith(_TRACEBACK, first[0]):
        raised, place = _EXCEPTION.fullmatch(answer, *last), last
    if raised:
        name = raised[1].decode(errors="replace")
        status = _BLOCKED if name == "PermissionError" else _FAILED
        yield _Sign(status, "exception", name, span=place)
