"""Read the grammar's text table: tags, cues, sets, families, patterns and their example lines."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from amos.errors import SchemaError
from amos.patterns import pattern_of

_SECTIONS = ("tag", "time", "cue", "set", "veto", "passing", "fused")
_SLOT = pattern_of(
    r"^<(?P<mark>[\^@])?(?P<name>[a-z]+)(?P<mode>[-+=])?(?: (?P<low>\d+)(?:-(?P<high>\d+))?)?>$"
)
_PIECE = pattern_of(r"<[^>]*>|\[[a-z]+|\]|\S+")

CAPTURES = ("subject", "property", "value", "scope", "tail", "when")


@dataclass(frozen=True, kw_only=True)
class Element:
    """One element of a pattern: an operation on a word list, or a capture with its bounds."""

    kind: str
    words: tuple[str, ...] = ()
    name: str = ""
    low: int = 0
    high: int = 0


@dataclass(frozen=True, kw_only=True)
class Example:
    """A line that a pattern must match (`+`) or must leave alone or mark (`-`)."""

    text: str
    expected: dict[str, str]
    is_match: bool
    line: int


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """One row of the grammar: what to match and what a match means."""

    name: str
    family: str
    settings: dict[str, str]
    elements: tuple[Element, ...]
    line: int
    example_lines: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def examples(self) -> list[Example]:
        """The example lines below the pattern.  Raises ValueError for one that cannot be read."""
        return [_read_example(*line) for line in self.example_lines]


@dataclass(kw_only=True)
class GrammarText:
    """The parsed table: word lists by section and name, and the patterns in order."""

    tags: dict[str, list[str]] = field(default_factory=dict)
    times: dict[str, list[str]] = field(default_factory=dict)
    cues: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    vetoes: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    passing: dict[str, list[str]] = field(default_factory=dict)
    fused: dict[str, tuple[str, str]] = field(default_factory=dict)
    sets: dict[str, list[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    patterns: list[Pattern] = field(default_factory=list)


def parse_grammar(text: str, *, origin: str, into: GrammarText | None = None) -> GrammarText:
    """Read one grammar file; `into` extends an earlier one.  Raises SchemaError with the line."""
    table = into or GrammarText()
    family: tuple[str, dict[str, str]] = ("", {})
    lines = _joined_lines(text)
    for number, line in sorted(lines, key=lambda pair: not pair[1].startswith("set ")):
        keyword, _, rest = line.partition(" ")
        try:
            if keyword == "family":
                name, *pairs = shlex.split(rest)
                family = (name, _settings(pairs))
            else:
                _read_line(table, family, keyword, rest, number)
        except (ValueError, KeyError, IndexError) as cause:
            raise SchemaError(
                f"{origin}:{number}: {cause}: {line}", advice="Correct that line of the grammar."
            ) from cause
    return table


def _read_line(
    table: GrammarText, family: tuple[str, dict[str, str]], keyword: str, rest: str, number: int
) -> None:
    if keyword in _SECTIONS:
        _read_words(table, keyword, rest)
    elif keyword == "pat":
        table.patterns.append(_read_pattern(table, family, rest, number))
    elif keyword in ("+", "-"):
        table.patterns[-1].example_lines.append((keyword, rest, number))
    else:
        raise ValueError(f"unknown keyword {keyword!r}")


def _joined_lines(text: str) -> list[tuple[int, str]]:
    """Return the numbered lines without comments; a line that begins with `|` goes on the last."""
    lines: list[tuple[int, str]] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)# .*$", "", raw).strip()
        if line in ("", "#"):
            continue
        if line.startswith("|") and lines:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {line}")
        else:
            lines.append((number, re.sub(r"\s+", " ", line) if line[0] not in "+-" else line))
    return lines


def _read_words(table: GrammarText, keyword: str, rest: str) -> None:
    name, _, words = rest.partition("=")
    is_extension = name.endswith("|")
    name = name.rstrip("| ").strip()
    found = [word.strip() for word in words.split("|") if word.strip()]
    if not found:
        raise ValueError("an empty word list")
    if keyword == "cue":
        cue, scope = name.split()
        table.cues.setdefault((cue, scope), []).extend(_expanded(table, found))
        return
    if keyword == "fused":
        head, tail = words.split()
        table.fused[name] = (head, tail)
        return
    if keyword == "set":
        if name in table.sets and not is_extension:
            raise ValueError(f"set {name} exists; extend it with |=")
        table.sets.setdefault(name, []).extend(found)
        return
    if keyword == "veto":
        reason, column = name.split()
        table.vetoes.setdefault((reason, column), []).extend(_expanded(table, found))
        return
    section = {"tag": table.tags, "time": table.times, "passing": table.passing}[keyword]
    section.setdefault(name, []).extend(_expanded(table, found))


def _expanded(table: GrammarText, words: list[str]) -> list[str]:
    """Replace `@name` by the words of that set; a set may name other sets."""
    result: list[str] = []
    for word in words:
        if word.startswith("@"):
            table.used.add(word[1:])
            if word[1:] not in table.sets:
                raise ValueError(f"no set {word[1:]!r}")
            result.extend(_expanded(table, table.sets[word[1:]]))
        else:
            result.append(word)
    return result


def _settings(pairs: list[str]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise ValueError(f"{pair!r} is no setting")
        settings[name] = value
    return settings


def _read_pattern(table: GrammarText, family: tuple[str, dict[str, str]], rest: str, line: int) -> Pattern:
    head, separator, body = rest.partition(" : ")
    if not separator:
        raise ValueError("a pattern needs ' : ' before its elements")
    name, *pairs = shlex.split(head)
    if name in table.names:
        raise ValueError(f"pattern {name} exists")
    table.names.add(name)
    return Pattern(
        name=name,
        family=family[0],
        settings={**family[1], **_settings(pairs)},
        elements=tuple(_element(table, piece) for piece in _PIECE.findall(body)),
        line=line,
    )


def _element(table: GrammarText, piece: str) -> Element:
    plain = {"^": "head", "...": "anywhere", "$": "end", "~time": "no_time", "]": "close"}
    if piece in plain:
        return Element(kind=plain[piece])
    if piece.startswith("["):
        return Element(kind="open", name=_capture(piece[1:]))
    if piece.startswith("<"):
        return _slot(piece)
    suffixes = {"!!": "negates", "!": "may_negate", "?": "maybe", "*": "many"}
    kind = "one"
    for suffix, meaning in suffixes.items():
        if piece.endswith(suffix) and len(piece) > len(suffix):
            piece, kind = piece.removesuffix(suffix), meaning
            break
    if piece.startswith("~"):
        piece, kind = piece[1:], "not_next"
    words: list[str] = []
    for part in piece.split("|"):
        words.extend(_expanded(table, [part]) if part.startswith("@") else [part.replace("_", " ")])
    return Element(kind=kind, words=tuple(words))


def _capture(name: str) -> str:
    if name not in CAPTURES:
        raise ValueError(f"{name!r} is none of the captures {', '.join(CAPTURES)}")
    return name


def _slot(piece: str) -> Element:
    match = _SLOT.match(piece)
    if match is None:
        raise ValueError(f"{piece!r} is no capture")
    low = int(match["low"] or 0)
    high = int(match["high"] or low)
    if match["name"] == "steps":
        return Element(kind="steps", name="value")
    name = _capture(match["name"])
    if match["mark"] == "^":
        return Element(kind="name_before", name=name, low=1, high=high or 2)
    if match["mark"] == "@":
        return Element(kind="name", name=name, low=1 if match["low"] is None else low, high=high or 3)
    if name == "when":
        return Element(kind="time", name=name)
    if low:
        return Element(kind="slot", name=name, low=low, high=high)
    return Element(kind="rest", name=name, low={None: 0, "-": 1, "+": 2, "=": 3}[match["mode"]])


def _read_example(keyword: str, rest: str, line: int) -> Example:
    text, *pairs = shlex.split(rest.strip())
    return Example(text=text, expected=_settings(pairs), is_match=keyword == "+", line=line)
