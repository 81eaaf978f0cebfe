"""Decode one JSON record, repairing what can be repaired and naming every repair."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

import msgspec
import numpy as np

from amos.sources.faults import Fault, UnreadableRecordError

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="sorted").encode
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_GAP_AFTER_KEY = re.compile(rb'"[ \t\r\n]+:')
_BLANKS = bytes.maketrans(b"\t\r\n", b"   ")
_COLON, _QUOTE, _SPACE = b':" '
_ENDS_KEY = np.array([chr(code).isalnum() and code < 128 for code in range(256)])


class Decoded(msgspec.Struct, gc=False):
    """A JSON value with the repairs it took."""

    value: Any
    repairs: list[tuple[Fault, str]]
    is_text_replaced: bool = False


def decode_record(raw: bytes, *, depth: int) -> Decoded:
    """Return the value of `raw`, at most `depth` levels deep; the last of equal keys wins.

    Raises UnreadableRecordError when no value can be read.
    """
    try:
        value = _decode(raw)
    except RecursionError:
        raise _too_deep(depth) from None
    except msgspec.DecodeError:
        return _decode_tolerantly(raw, depth)
    if _key_count(value, depth) == plain_keys(raw):
        return Decoded(value, [])
    return Decoded(value, _duplicate_repairs(_load(raw.decode()).duplicates))


def plain_keys(raw: bytes) -> int:
    """Return how many object keys the value `raw` holds, -1 when that takes a closer look.

    A text that starts with a colon counts as a key: the number is never too small.
    """
    escaped = raw.count(b'\\":')
    # A gap matters between a key and its colon only; an escaped backslash may end a key.
    has_gap = b" :" in raw.translate(_BLANKS) and _GAP_AFTER_KEY.search(raw)
    if has_gap or (escaped and b'\\\\":' in raw):
        return -1
    return raw.count(b'":') - escaped


def known_keys(raw: bytes) -> int:
    """Return how many keys stand in `raw`, JSON objects whose keys all end in an ASCII letter or digit.

    The number is exact; -1 when that takes a closer look.  Made for many lines at once.
    """
    codes = np.frombuffer(raw, np.uint8)
    colons = np.flatnonzero(codes == _COLON)
    before = codes[colons - 1]
    if (before <= _SPACE).any() and _GAP_AFTER_KEY.search(raw):
        return -1
    # Before the quote that opens a text there is a sign or a blank; one inside a text is escaped.
    return int(np.count_nonzero((before == _QUOTE) & _ENDS_KEY[codes[colons - 2]]))


def _decode_tolerantly(raw: bytes, depth: int) -> Decoded:
    repairs: list[tuple[Fault, str]] = []
    try:
        text = raw.decode()
    except UnicodeDecodeError as cause:
        text = raw.decode(errors="replace")
        repairs.append((Fault.INVALID_UTF8, f"byte {cause.start} is no UTF-8; it became U+FFFD"))
    text, replaced = _ESCAPE.subn(_mend_surrogate, text) if "\\u" in text else (text, 0)
    lone = text.count("\\ufffd\x00") if replaced else 0
    text = text.replace("\\ufffd\x00", "\\ufffd") if lone else text
    if lone:
        repairs.append((Fault.SURROGATE_REPLACED, f"{lone} lone surrogate(s) became U+FFFD"))
    is_replaced = bool(repairs)
    loaded = _load(text.lstrip("\ufeff"))
    _key_count(loaded.value, depth)
    if loaded.strange:
        shown = ", ".join(loaded.strange[:_NAMED])
        repairs.append((Fault.NOT_FINITE, f"{shown} is no number of JSON; it was kept as text"))
    return Decoded(loaded.value, repairs + _duplicate_repairs(loaded.duplicates), is_replaced)


def _mend_surrogate(escape: re.Match[str]) -> str:
    # The NUL marks a mended escape: JSON text cannot hold a raw NUL, so none is mistaken.
    return "\\ufffd\x00" if escape.group(1) else escape.group()


class _Loaded(msgspec.Struct):
    """What the standard library read, keys that stood twice, numbers that are none."""

    value: Any = None
    duplicates: list[str] = []
    strange: list[str] = []


def _load(text: str) -> _Loaded:
    loaded = _Loaded()

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            counts = Counter(name for name, _ in items)
            loaded.duplicates.extend(name for name, count in counts.items() if count > 1)
        return found

    def number(written: str) -> float | str:
        value = float(written)
        return value if math.isfinite(value) else strange(written)

    def strange(written: str) -> str:
        loaded.strange.append(written)
        return written

    try:
        loaded.value = json.loads(
            text, strict=False, object_pairs_hook=pairs, parse_constant=strange, parse_float=number
        )
    except RecursionError:
        raise _too_deep(0) from None
    except ValueError as cause:
        raise UnreadableRecordError(Fault.INVALID_JSON, f"no JSON: {cause}") from None
    return loaded


_NAMED = 5


def _duplicate_repairs(names: list[str]) -> list[tuple[Fault, str]]:
    if not names:
        return []
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return [(Fault.DUPLICATE_KEY, f"key {shown} stands more than once; the last value was read")]


def _too_deep(depth: int) -> UnreadableRecordError:
    allowed = f" ({depth} are allowed)" if depth else ""
    return UnreadableRecordError(Fault.TOO_DEEP, f"nested too deep{allowed}")


def _key_count(value: Any, room: int) -> int:
    """Return the number of object keys below `value`; raises when it is deeper than `room`."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return 0
    if room <= 0:
        raise _too_deep(0)
    count = len(value) if kind is dict else 0
    for item in value.values() if kind is dict else value:
        kind = type(item)
        if kind is dict or kind is list:
            count += _key_count(item, room - 1)
    return count


def canonical_json(value: Any) -> str:
    """Return JSON text with sorted keys and no spaces, of a value that `decode_record` gave."""
    try:
        return _encode(value).decode()
    except (OverflowError, UnicodeEncodeError):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def extra_json(value: dict[str, Any]) -> str | None:
    """Return the canonical JSON of `value`, None when it is empty."""
    return canonical_json(value) if value else None
