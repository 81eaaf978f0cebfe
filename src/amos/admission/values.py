"""Bring values to one canonical form: two values are equal when kind and form are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from amos.admission.values_dates import read_date, read_time
from amos.admission.values_money import read_money
from amos.admission.values_numbers import read_number, read_percent, write_number
from amos.admission.values_text import canonical_text, fold_text, without_article
from amos.admission.values_units import read_quantity

VALUES_VERSION = 1
"""Raise when canonical forms change: claim identities rest on them."""

_BOOLEANS = {"yes": "true", "true": "true", "ja": "true", "oui": "true", "sí": "true"}
_BOOLEANS |= {"no": "false", "false": "false", "nein": "false", "non": "false"}
_MAIL = re.compile(r"[^\s@<>\"]{1,64}@[^\s@<>\"]{1,190}\.[^\s@<>\".]{2,63}")
_URL = re.compile(r"https?://[^\s<>\"]{1,2000}", re.IGNORECASE)
_VERSION = re.compile(
    r"(?:v|version )?(\d+(?:\.\d+){2,}(?:[-+.][0-9a-z]+)*)|(?:v|version )(\d+(?:\.\d+)*(?:[-+.][0-9a-z]+)*)"
)
_PHONE = re.compile(r"(?:tel(?:ephone|efon)?[.:]? ?)?(\+|00)?[\d(][\d ().\-]{4,22}\d")
_PHONE_DIGITS = range(7, 16)
_LONGEST_VERSION = 60
_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:[.,:/'\-][^\W_]+)*|[^\w\s.,;:!?()\"'\-]"
)
_TURNING = frozenset(
    {"not", "no", "never", "or", "nor", "former", "formerly", "instead", "without", "except", "almost"}
)
_TURNING |= {"isn't", "wasn't", "nicht", "kein", "keine", "oder", "pas", "ou", "ni", "sin", "o"}
_PROPERTY_JOINTS = re.compile(r"[_\s\-]+")


class NormalValue(NamedTuple):
    """A canonical value: its kind and the one form of that kind.

    kind: text, number, quantity, percent, money, date, time, boolean, mail, url, version or phone.
    """

    kind: str
    canonical: str


Reader = Callable[[str], str | None]


def normalise_value(text: str, kind: str = "text") -> NormalValue:
    """Return the canonical form of `text`; `kind` is a hint of what to try first.

    The whole value must be of a typed form, else it is text: one case, plain marks, no leading
    article, one spelling, accents kept.  Names are text.  Uses exact arithmetic alone.
    """
    bare = without_article(text)
    folded = fold_text(bare)
    for found, read in _order(kind):
        canonical = read(folded) if found not in _AS_WRITTEN else read(bare.strip())
        if canonical is not None:
            return NormalValue(found, canonical)
    return NormalValue("text", canonical_text(text))


def _order(kind: str) -> tuple[tuple[str, Reader], ...]:
    """Return the readers to try, the hinted kind first; a name is tried as nothing else."""
    if kind == "name":
        return ()
    hinted = tuple(reader for reader in _READERS if reader[0] == kind)
    return hinted + tuple(reader for reader in _READERS if reader[0] != kind)


def _read_boolean(folded: str) -> str | None:
    return _BOOLEANS.get(folded)


def _read_number(folded: str) -> str | None:
    number = read_number(folded)
    return None if number is None else write_number(number)


def _read_percent(folded: str) -> str | None:
    number = read_percent(folded)
    return None if number is None else write_number(number)


def _read_mail(folded: str) -> str | None:
    address = folded.removeprefix("mailto:")
    return address if _MAIL.fullmatch(address) else None


def _read_url(text: str) -> str | None:
    """Return a web address with its host in lower case, without default port and last slash."""
    if not _URL.fullmatch(text):
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    place = host if port in {None, _PORTS[scheme]} else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{scheme}://{place}{parts.path.rstrip('/')}{query}{fragment}" if host else None


def _read_version(folded: str) -> str | None:
    match = _VERSION.fullmatch(folded) if len(folded) <= _LONGEST_VERSION else None
    return (match.group(1) or match.group(2)) if match else None


def _read_phone(folded: str) -> str | None:
    match = _PHONE.fullmatch(folded)
    if match is None:
        return None
    digits = "".join(filter(str.isdecimal, folded))
    is_abroad = match.group(1) is not None
    digits = digits.removeprefix("00") if match.group(1) == "00" else digits
    return ("+" if is_abroad else "") + digits if len(digits) in _PHONE_DIGITS else None


_READERS: tuple[tuple[str, Reader], ...] = (
    ("boolean", _read_boolean),
    ("url", _read_url),
    ("mail", _read_mail),
    ("date", read_date),
    ("time", read_time),
    ("percent", _read_percent),
    ("money", read_money),
    ("number", _read_number),
    ("quantity", read_quantity),
    ("version", _read_version),
    ("phone", _read_phone),
)
_AS_WRITTEN = frozenset({"url", "quantity"})


def is_refinement(old: str, new: str) -> bool:
    """Tell whether `new` holds the words of `old` in order and more, none of which turns them round."""
    return do_words_refine(words_of(old), words_of(new))


def do_words_refine(old: Sequence[str], new: Sequence[str]) -> bool:
    """Tell the same of two values given as words."""
    if not old or len(new) <= len(old):
        return False
    wanted = iter(old)
    awaited = next(wanted, None)
    added: list[str] = []
    for word in new:
        if word == awaited:
            awaited = next(wanted, None)
        else:
            added.append(word)
    return awaited is None and _TURNING.isdisjoint(added)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words and signs of a value, folded."""
    return tuple(_TOKEN.findall(canonical_text(text)))


@lru_cache(maxsize=1 << 14)
def fold_property(text: str) -> str:
    """Return the canonical form of a property name: one case and spelling, words apart by one space."""
    return _PROPERTY_JOINTS.sub(" ", canonical_text(text)).strip()
