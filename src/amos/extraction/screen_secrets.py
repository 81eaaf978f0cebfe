"""Find key material by its own shape: key blocks, provider tokens, URL logins, assignments, headers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from amos.extraction.screen_phrases import is_coined, is_placeholder, is_plausible_password
from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_BLOCK_BEGIN = pattern_of(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK_END = pattern_of(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_RUN = pattern_of(r"(?<![A-Za-z0-9_\-])[A-Za-z0-9_\-]{12,}(?:\.[A-Za-z0-9_\-]{4,}){0,4}")
_TOKEN = pattern_of(
    r"(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|gl(?:pat|ptt|dt|rt|soat)-[\w\-]{16,}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])|xox[abeoprs]-[\w\-]{11,}|xapp-[\w\-]{11,}"
    r"|AIza[\w\-]{30,}|hf_[A-Za-z0-9]{20,}|AGE-SECRET-KEY-1[0-9A-Z]{16,}|pypi-AgE[\w\-]{16,}"
    r"|eyJ[\w\-]{13,}\.(?:eyJ"
    r"|[\w\-]{8})[\w\-]*(?:\.[\w\-]+)*)"
)
_ACCESS_ID = pattern_of(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])")
_ACCESS_SECRET = pattern_of(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_BESIDE = 200  # characters between an access key id and its secret
_PREFIX = pattern_of(
    r"(?:sk|rk|pk|tok|pat|key|secret|token|api|apikey|whsec|npm|hf|shp(?:at|ca|pa|ss)|dop_v1|dckr_pat"
    r"|lin_api|figd|sq0(?:csp|atp)|glsa|nvapi|xai|gsk|r8|pplx|sbp|rnd|access|session|bearer|auth"
    r"|refresh|service)[_\-]([A-Za-z0-9_\-]{13,})"
)
_PARTS = pattern_of(r"[_\-]")
_OTHER_TOKEN = pattern_of(
    r"(?<![A-Za-z0-9])[0-9]{8,10}:[A-Za-z0-9_\-]{35}(?![A-Za-z0-9_\-])|(?<![A-Za-z0-9_.\-])(?:SG|hvs"
    r"|ya29)\.[A-Za-z0-9_\-]{16,}(?:\.[A-Za-z0-9_\-]{16,})?"
)
_URL_LOGIN = pattern_of(r"://([^\s:@/?#\"'<>]{0,128}):([^\s/\"'<>]{1,256})@[^\s@/]")
_HEADER = pattern_of(r"(?<![A-Za-z])(?:bearer|basic)[ \t]{1,4}([A-Za-z0-9\-._~+/]{8,}=*)", re.IGNORECASE)
_PASSWORD_NAMES = r"passw(?:or)?d|(?<=_)pass(?=\s?[=:])|passwort|kennwort|passphrase|pwd"
_KEY_NAMES = r"secret|token|(?:api|access|private|signing|encryption|account)[_\-]?key|credentials?|auth"


def _assignment(names: str, shortest: int) -> re.Pattern[str]:
    """Return the pattern of `name = value`.

    Groups: name, its rest, a quotation mark, the value in double, single or no quotation
    marks, the bracket of a call.
    """
    return pattern_of(
        rf"({names})([A-Za-z0-9_\-]{{0,32}})(\\?[\"'])?\s{{0,3}}(?::=|=>|="
        rf"|:)\s{{0,3}}(?:\\?\"([^\"\\\n]{{{shortest},512}})|\\?'([^'\\\n]{{{shortest},512}})"
        rf"|([^\s\"'`,;&<>(){{}}\[\]|\\]{{{shortest},512}})(\(?))",
        re.IGNORECASE,
    )


_VALUE_GROUPS = (4, 5, 6)
_SHORTEST_PASSWORD = 4
_KEY_LENGTH = 8
_NAMED = (_assignment(_PASSWORD_NAMES, _SHORTEST_PASSWORD), _assignment(_KEY_NAMES, _KEY_LENGTH))
_OPTION = pattern_of(
    r"(?<![\w\-])(?:--(?:password|passwd|token|secret|api-key)[ =]|(?:-u"
    r"|--user)[ =][\"']?[^\s:\"']{1,64}:)[\"']?([^\s\"'@]{3,128})"
)
_ATTACHED = pattern_of(
    r"(?<![\w\-])(?:(?:mysql\w{0,8}|mariadb\w{0,8}|7z|7za|rar|unrar)(?=[ \t])[^\n|;&]{0,160}?[ \t]-p"
    r"|sshpass[ \t]{1,2}-p[ \t]?|redis-cli(?=[ \t])[^\n|;&]{0,160}?[ \t]-a[ \t]{1,2})[\"']?([^\s\"'"
    r"|;&]{3,128})"
)
"""Options that take the password without a name of it: `mysql -u root -p…`."""
_LOGIN_PAIR = pattern_of(
    r"(?:log[ \-]?in|user(?:name)?|account|e-?mail)\s?[:=]?\s?[^\s,;/]{1,64}[\s,;/]{1,3}(?:pass|pw"
    r"|key)\s?[:=]\s?([^\s,;]{4,64})",
    re.IGNORECASE,
)
_SLASHED_PAIR = pattern_of(
    r"(?<![\w/])(?:log[ \-]?ins?|log in|signs? in|sign[ \-]in|user(?:[ \-]?name)?|account|cred(?:s|entials?)?"
    r"|zugang|anmeldung|identifiants?|wi-?fi|wlan|hotspot|ssid)(?![\w/])(?:\s{1,2}(?:for|to|of|on|with|as|is|are|user|using|the|my)"
    r"|\s{1,2}[^\W_]{2,16}(?=\s{0,2}(?::|is\s|are\s|=))){0,5}\s{0,2}[:=]?\s{0,2}[^\s/|:]{1,64}\s{0,2}"
    r"(?:/|\||:)\s{0,2}([^\s/|,;]{4,64})",
    re.IGNORECASE,
)
"""A name and what opens it, parted by a stroke: "log in with anna / Kite!77"."""
_NOT_A_SECRET_NAME = pattern_of(
    r"s?[_\-]?(?:ids?|counts?|names?|types?|urls?|uris?|path|file|i[sz]er?s?|i[sz]ation|limit|budget"
    r"|length|field|label|hint|policy|used|usage|max|min|size|expir\w*|ttl|arn|ref|version|endpoint"
    r"|required|enabled|or|ors|ored|oris\w*)$|^s$",
    re.IGNORECASE,
)
_ASSIGNED = pattern_of(r"([A-Za-z_][\w.\-]{0,40})\\?[\"']?\s{0,3}[=:]\s{0,3}\\?[\"']?$")
_PUBLIC_NAME = pattern_of(
    r"commit|sha|digest|hash|checksum|uuid|guid|etag|integrity|version|revision|signature|fingerprint"
    r"|id$|url|uri|href|src|path|file|class|slug|name|cursor|page|public|https?$",
    re.IGNORECASE,
)
_HEXADECIMAL = pattern_of(r"[0-9a-fA-F\-]+")
_LINK = pattern_of(r"https?://\S+")
_CODE_NAME = pattern_of(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[a-z]+(?:_[a-z]+)+")
_PLAIN_PART = pattern_of(
    r"[a-z]+[_\-]?v?\d*(?:\.\w{1,5})?|v?\d+(?:\.\d+)*|[A-Z][a-z]+|\d[\d.,]*[a-zA-Z]{1,4}"
)
"""Parts of paths, and measures."""
_LONG_VALUE = 24
_MIXED_BITS = 4.0  # bits per character: above what words and paths reach
_BEFORE = 64
KEY_PATTERNS = (
    _BLOCK_BEGIN,
    _URL_LOGIN,
    _OTHER_TOKEN,
    _TOKEN,
    _PREFIX,
    # a run of 24 characters or more that is not hexadecimal throughout
    pattern_of(
        r"[=:]\s*\\?[\"']?(?:[0-9a-fA-F\-]*[g-zG-Z_][A-Za-z0-9_\-]{12}"
        r"|[0-9a-fA-F\-]{11}[0-9a-fA-F\-]*[g-zG-Z_])"
    ),
)
"""What every find of `find_keys` matches."""
ASSIGNMENT_PATTERNS = (_HEADER, *_NAMED, _OPTION, _ATTACHED, _LOGIN_PAIR, _SLASHED_PAIR)
"""What every find of `find_assignments` matches."""


def find_assignments(text: str) -> Iterator[Hit]:
    """Yield secrets that a name, a header or an option announces: `token=…`, `Bearer …`, `--password …`."""
    for start, end in _logins(text):
        yield _hit(start, end, "login_in_text")
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            span = _assigned_value(match)
            if span is not None:
                yield _hit(*span, "named_secret")


def find_keys(text: str) -> Iterator[Hit]:
    """Yield key material that needs no context: fit for names and ids as well as for prose.

    Linear in `text`, like every search here: runs are read once, the rest looks a bounded way ahead.
    """
    for start, end in _blocks(text):
        yield _hit(start, end, "private_key_block")
    for match in _URL_LOGIN.finditer(text):
        if not is_placeholder(match.group(2)):
            yield _hit(*match.span(2), "login_in_url")
    for match in _OTHER_TOKEN.finditer(text):
        yield _hit(*match.span(), "provider_token")
    for start, end in _access_secrets(text):
        yield _hit(start, end, "provider_token")
    for match in _RUN.finditer(text):
        rule = _key_rule(match.group(), text[max(0, match.start() - _BEFORE) : match.start()])
        if rule is not None:
            key = match.group() if rule == "web_token" else match.group().partition(".")[0]
            yield _hit(match.start(), match.start() + len(key), rule)


def _hit(start: int, end: int, rule: str) -> Hit:
    return Hit(start, end, rule, Reason.SECRET_MATERIAL_DETECTED)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield private-key blocks; one without an end reaches to the end of the text."""
    begin = _BLOCK_BEGIN.search(text)
    while begin is not None:
        end = _BLOCK_END.search(text, begin.end())
        yield begin.start(), end.end() if end else len(text)
        begin = _BLOCK_BEGIN.search(text, end.end()) if end else None


def _access_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the secret keys that stand beside an access key id: forty characters, no hexadecimal sum."""
    at = 0
    for known in _ACCESS_ID.finditer(text):
        first, last = max(at, known.start() - _BESIDE), known.end() + _BESIDE
        for match in _ACCESS_SECRET.finditer(text, first, last):
            if is_random_text(match.group()):
                yield match.span()
            at = match.end()


def _key_rule(run: str, before: str) -> str | None:
    """Name the rule by which an unbroken `run` is a key; `before` is the text in front of it."""
    if _TOKEN.match(run):
        return "web_token" if run.startswith("eyJ") else "provider_token"
    prefixed = _PREFIX.match(run)
    if prefixed is not None:
        return "provider_token" if any(map(_is_key, _PARTS.split(prefixed.group(1)))) else None
    if len(run) < _LONG_VALUE or _HEXADECIMAL.fullmatch(run) or not is_random_text(run):
        return None
    assigned = _ASSIGNED.search(before)
    return "random_assignment" if assigned and not _PUBLIC_NAME.search(assigned.group(1)) else None


def is_random_text(run: str) -> bool:
    """Tell whether `run` mixes capitals, small letters and digits as evenly as a random key."""
    if run.isalpha() or run == run.lower() or run == run.upper():
        return False
    if not any(map(str.isdigit, run)):
        return False
    counts = Counter(run[:512])
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values()) >= _MIXED_BITS


def _is_key(value: str) -> bool:
    has_digit = any(map(str.isdigit, value))
    has_letter = any(map(str.isalpha, value))
    return len(value) >= _KEY_LENGTH and has_digit and has_letter


def _logins(text: str) -> Iterator[tuple[int, int]]:
    """Yield the secret part of authorisation headers and command-line options."""
    for match in _HEADER.finditer(text):
        value = match.group(1)
        if _is_key(value) or value.endswith("="):
            yield match.span(1)
    for pattern in (_OPTION, _ATTACHED, _LOGIN_PAIR):
        for match in pattern.finditer(text):
            if not is_placeholder(match.group(1)):
                yield match.span(1)
    for match in _SLASHED_PAIR.finditer(text):
        value = match.group(1).rstrip(".)\"'")
        if is_coined(value) and not value.isdigit() and not _PLAIN_PART.fullmatch(value):
            yield match.start(1), match.start(1) + len(value)


def _assigned_value(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the range of the value of an assignment if it is a secret."""
    name, tail, _, doubly, singly, bare, bracket = match.groups()
    value = doubly or singly or bare
    is_call = bool(bracket)
    if (
        is_call
        or _NOT_A_SECRET_NAME.search(tail)
        or not is_credential(name + tail, value, is_quoted=bare is None)
    ):
        return None
    start = match.start(_VALUE_GROUPS[(doubly, singly, bare).index(value)])
    return start, start + len(value.rstrip(".,;:"))


def is_credential(name: str, value: str, *, is_quoted: bool) -> bool:
    """Tell whether `value`, assigned to a name that sounds secret, is a secret itself."""
    if is_placeholder(value) or _LINK.fullmatch(value) or value.lower() == name.lower():
        return False
    if not is_quoted and _CODE_NAME.fullmatch(value):
        return False
    if name.lower().startswith(("pass", "pwd", "kenn")):
        return is_plausible_password(value)
    return _is_key(value) or (is_quoted and is_random_text(value))


def names_a_secret(name: str) -> bool:
    """Tell whether a JSON key announces a secret value, such as `api_key` or `dbPassword`."""
    match = _SECRET_NAME.search(name)
    return match is not None and not _NOT_A_SECRET_NAME.search(name[match.end() :])


_SECRET_NAME = pattern_of(
    r"passw(?:or)?d|passphrase|passwort|secret|api[_\-]?key|access[_\-]?key|private[_\-]?key"
    r"|access[_\-]?token|auth[_\-]?token|refresh[_\-]?token|bearer|credentials?|^token$",
    re.IGNORECASE,
)
