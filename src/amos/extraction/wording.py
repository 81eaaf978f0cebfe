"""The words of a claim: property, value, subject and statement as they are kept."""

from __future__ import annotations

import functools
import re

from amos.patterns import pattern_of

_SPELLING = {
    "color": "colour", "colors": "colours", "favorite": "favourite", "favorites": "favourites",
    "flavor": "flavour", "neighbor": "neighbour",
    "neighbors": "neighbours", "center": "centre", "license": "licence",
    "organization": "organisation", "organizer": "organiser", "program": "programme", "theater": "theatre",
    "gray": "grey", "mom": "mum", "mom's": "mum's", "apartment": "flat", "cellphone": "mobile phone",
}  # fmt: skip
_CANONICAL = {
    "job": "occupation", "profession": "occupation", "job title": "occupation", "company": "employer",
    "home town": "home city", "hometown": "home city", "city": "home city", "date of birth": "birthday",
    "birth date": "birthday", "birthdate": "birthday", "dob": "birthday",
    "telephone number": "phone number", "mobile number": "phone number",
    "mail": "email", "e-mail": "email", "email address": "email", "e-mail address": "email",
    "nickname": "preferred name", "allergies": "allergy", "geburtstag": "birthday",
    "anniversaire": "birthday", "cumpleaños": "birthday", "beruf": "occupation", "métier": "occupation",
    "profesión": "occupation", "arbeitgeber": "employer", "employeur": "employer",
    "spitzname": "preferred name",
    "surnom": "preferred name", "apodo": "preferred name", "nom": "name", "prénom": "name", "nombre": "name",
    "trinke": "drink", "esse": "eat", "spreche": "speak", "spiele": "play", "benutze": "use", "nutze": "use",
    "fahre": "drive", "lese": "read", "sammle": "collect", "trage": "wear", "bebo": "drink", "tomo": "drink",
    "como": "eat", "hablo": "speak", "toco": "play", "juego a": "play", "uso": "use", "leo": "read",
    "colecciono": "collect", "llevo": "wear", "bois": "drink", "mange": "eat", "parle": "speak",
    "utilise": "use", "lis": "read", "collectionne": "collect", "porte": "wear",
}  # fmt: skip
_ARTICLES = ("the ", "a ", "an ", "my ", "our ")
_LEADS = ("current ", "currently ", "present ", "own ", "very own ", "new ")
_PROPERTY_LEADS = _ARTICLES + _LEADS
_VERBS_BEHIND = (" 's", " has", " have")
"""Parts of a verb that a subject may run into: "my biz has | had"."""
_EDGES = " \t\r\n.,;:!?\"“”„«»()[]{}*_~`'‘’…–—-|>"
_OPENING = pattern_of(r"(?:^|\s)(?:\"[^\"]*|'[^']*|“[^”]*|‘[^’]*)$")
_PICTURES = pattern_of(
    "[\\s.!?,;…]*(?:[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d\U000e0020-\U000e007f]\\s*)+\\Z"
)
_CLOSING = pattern_of(r"[\"'”’]")
_TIME_LEAD = pattern_of(r"^(?:on|in|at)\s+", re.IGNORECASE)
_PHONE_DIGITS = 5
_INVISIBLE = pattern_of("[\u200b\u2060\ufeff\u00ad\u200e\u200f\u202a-\u202e]")

_BOOLEANS = frozenset(("yes", "no", "true", "false", "on", "off"))
_NUMBER = pattern_of(r"[-+]?\d[\d.,  ]*")
_QUANTITY = pattern_of(r"[-+~]?\d[\d.,]*\s*(?:[%°€$£¥]|[A-Za-zµ°²³/]{1,12})(?:\s+(?:a|per)\s+\w+)?")
_CLOCK = pattern_of(r"\d{1,2}[:.]\d{2}(?:\s*[ap]\.?m\.?)?|\d{1,2}\s*[ap]\.?m\.?", re.IGNORECASE)
_DATE = pattern_of(
    r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?[A-Z][a-z]{2,8}\.?(?:,?\s+\d{4})?"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?)"
)
_NAME = pattern_of(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\.?\s+)?[A-ZÀ-ÞŁŠŽČ][\w'’.-]*(?:\s+[A-ZÀ-ÞŁŠŽČ][\w'’.-]*){0,3}"
)


def visible(text: str) -> str:
    """Return a text with blanks folded and invisible characters taken out."""
    folded = " ".join(text.split())
    return folded if folded.isascii() else _INVISIBLE.sub("", folded)


def one_spelling(word: str) -> str:
    """Return a word of lower case in one spelling; "neighbor's" as "neighbour's"."""
    found = _SPELLING.get(word)
    if found is None and word.endswith("'s"):
        stem = _SPELLING.get(word[:-2])
        found = f"{stem}'s" if stem else None
    return found or word


@functools.lru_cache(maxsize=8192)
def clean_property(text: str) -> str:
    """Return a property in lower case, one spelling, without article, possessive or "current"."""
    words = visible(text).strip(_EDGES).lower()
    words = " ".join(_SPELLING.get(word, word) for word in words.split())
    for lead in _PROPERTY_LEADS:
        words = words.removeprefix(lead)
    return _CANONICAL.get(words, words)


def phone_property(property_name: str, value: str) -> str:
    """Return "phone number" for a "phone" or "number" whose value reads like one."""
    if property_name in ("phone", "number") and sum(char.isdigit() for char in value) >= _PHONE_DIGITS:
        return "phone number"
    return property_name


def clean_value(text: str) -> str:
    """Return a value in its own case, blanks folded, without quotes, punctuation or pictures at its edges."""
    folded = visible(text)
    if not folded.isascii():
        folded = _PICTURES.sub("", folded) or folded  # a value may be a picture and nothing else
    opened = folded.strip(_EDGES)
    if opened == folded:
        return opened
    if not opened:
        return folded.strip()
    place = folded.index(opened)
    before, after = folded[:place].lstrip(), folded[place + len(opened) :]
    if before.endswith(("-", "~")) and opened[0].isdigit():
        opened = before[-1] + opened
    if after.startswith(")") and "(" in opened:
        return opened + ")"
    closing = _CLOSING.match(after)
    if closing is not None and _OPENING.search(opened) is not None:
        return opened + closing[0]  # the quotation began inside the value
    return opened


def without_time_lead(text: str) -> str:
    """Return a time-valued value without its leading on, in or at."""
    return _TIME_LEAD.sub("", text)


def kind_of_value(value: str) -> str:
    """Return text, name, number, quantity, date, time or boolean."""
    if not (value[:1].isdigit() or value[:1].isupper() or value[:1] in "-+~"):
        return "boolean" if value in _BOOLEANS else "text"
    for kind, pattern in (
        ("date", _DATE), ("time", _CLOCK), ("number", _NUMBER), ("quantity", _QUANTITY), ("name", _NAME),
    ):  # fmt: skip
        if pattern.fullmatch(value):
            return kind
    return "boolean" if value.casefold() in _BOOLEANS else "text"


def clean_subject(text: str) -> str:
    """Return a subject as written, blanks folded, without article or edges."""
    if not text:
        return ""
    words = visible(text).strip(_EDGES)
    for article in ("the ", "The ", "a ", "A ", "an ", "An "):
        words = words.removeprefix(article)
    for ending in _VERBS_BEHIND:
        words = words.removesuffix(ending)
    return words


def statement_of(text: str) -> str:
    """Return a statement with blanks folded and no mark at its edges but what closes one inside."""
    return clean_value(text)
