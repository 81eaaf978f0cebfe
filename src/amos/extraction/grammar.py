"""The compiled grammar: what the kernels read, what each pattern means, and its digest."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from amos.errors import SchemaError
from amos.extraction.compile import build_book
from amos.extraction.grammar_text import GrammarText, Pattern, parse_grammar
from amos.extraction.lint import check_grammar
from amos.schemas.vocabulary import Cue, MemoryClass, Modality, Reason

_CHOICES = {
    "class": {item.value for item in MemoryClass},
    "modality": {item.value for item in Modality},
    "arity": {"single", "set", "per_scope"},
    "polarity": {"positive", "negative"},
    "subject": {"author", "thing", "person", "pronoun", "other"},
    "needs": {
        "", "request", "due", "previous", "succession", "time", "promised", "replaced", "number", "count",
        "instead", "name", "activity", "opening", "recurrence",
    },
    "when": {"", "from", "at"},
    "shape": {
        "", "none", "statement", "constraint", "preference", "goal", "commitment", "habit", "episode",
        "outcome", "procedure",
    },
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a match of one pattern says, beyond its captures."""

    name: str
    family: str
    type: str
    memory_class: str
    subject: str
    property: str
    arity: str
    is_negative: bool
    modality: str
    confidence: int
    shape: str
    needs: str
    when: str
    cues: int
    is_for_agents: bool
    is_inherited: bool
    is_replaced: bool
    is_generalised: bool
    is_dated: bool
    lead: str


@dataclass(frozen=True, kw_only=True)
class Veto:
    """Texts that keep a claim out, and the reason.

    column: property, value, value_head (first word), value_start (first two words) or family
    (family name, then first word or two).
    """

    reason: str
    column: str
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Grammar:
    """The grammar as numbers for the kernels, and what each pattern means.

    book: one flat array laid out as `kernels.book` says; plain_book: the same as a list, for plain
    runs.  passing, passing_heads: values and first words of values that are a passing state.
    digest: SHA-256 of the grammar's text, part of the extractor's version.
    """

    book: NDArray[np.int64]
    plain_book: list[int]
    meanings: tuple[Meaning, ...]
    patterns: tuple[Pattern, ...]
    vetoes: tuple[Veto, ...]
    passing: frozenset[str]
    passing_heads: frozenset[str]
    digest: str


def _meaning(pattern: Pattern) -> Meaning:
    settings = dict(pattern.settings)
    for name, allowed in _CHOICES.items():
        value = settings.get(name, "")
        if name in settings and value not in allowed:
            choices = ", ".join(sorted(allowed))
            raise SchemaError(
                f"{pattern.name} (line {pattern.line}): {name}={value} is none of {choices}",
                advice="Correct that line of the grammar.",
            )
    cues = 0
    for cue in filter(None, settings.get("cues", "").split("|")):
        cues |= int(Cue[cue])
    return Meaning(
        name=pattern.name,
        family=pattern.family,
        type=settings["type"],
        memory_class=settings["class"],
        subject=settings["subject"],
        property=settings["property"],
        arity=settings["arity"],
        is_negative=settings.get("polarity") == "negative",
        modality=settings.get("modality", Modality.ASSERTED),
        confidence=int(settings["confidence"]),
        shape=settings.get("shape", "none"),
        needs=settings.get("needs", ""),
        when=settings.get("when", ""),
        cues=cues,
        is_for_agents=settings.get("agent") == "yes",
        is_inherited=settings.get("inherit") == "yes",
        is_replaced=settings.get("replaced") == "yes",
        is_generalised=settings.get("generalised") == "yes",
        is_dated=settings.get("dated") == "yes",
        lead=settings.get("lead", ""),
    )


def _vetoes(table: GrammarText) -> tuple[Veto, ...]:
    vetoes = []
    for (reason, column), texts in table.vetoes.items():
        if column not in ("property", "value", "value_head", "value_start", "family"):
            raise SchemaError(
                f"veto {reason}: no column {column}", advice="Correct that line of the grammar."
            )
        vetoes.append(Veto(reason=Reason(reason).value, column=column, texts=tuple(texts)))
    return tuple(vetoes)


def compile_grammar(table: GrammarText, *, digest: str = "") -> Grammar:
    """Return the arrays of `table`.  Raises SchemaError on an unknown setting or a lint problem."""
    check_grammar(table)
    book = build_book(table)
    return Grammar(
        book=book,
        plain_book=book.tolist(),
        meanings=tuple(_meaning(pattern) for pattern in table.patterns),
        patterns=tuple(table.patterns),
        vetoes=_vetoes(table),
        passing=frozenset(table.passing.get("value", ())),
        passing_heads=frozenset(table.passing.get("value_head", ())),
        digest=digest,
    )


CURRENT = "rules@2"
"""The grammar that is worked on; earlier ones stay as they were, so that a re-run can be compared."""
GRAMMARS = {"rules@1": "grammars/rules-1", CURRENT: "grammars"}
"""Folder of each shipped grammar by the extractor that reads with it."""


def grammar_texts(name: str = CURRENT) -> list[tuple[str, str]]:
    """Return (file name, text) of each file of the grammar `name`, English first, then by name."""
    folder = resources.files("amos.extraction").joinpath(*GRAMMARS[name].split("/"))
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".txt"))
    names.sort(key=lambda name: name != "english.txt")
    return [(name, (folder / name).read_text(encoding="utf-8")) for name in names]


def load_grammar(name: str = CURRENT) -> Grammar:
    """Return the shipped grammar `name`, compiled once per process."""
    return _compiled(name)


@functools.cache
def _compiled(name: str) -> Grammar:
    table = GrammarText()
    digest = hashlib.sha256()
    for origin, text in grammar_texts(name):
        digest.update(origin.encode() + b"\0" + text.encode() + b"\0")
        parse_grammar(text, origin=origin, into=table)
    table.patterns.sort(key=lambda pattern: pattern.settings.get("late") == "yes")
    return compile_grammar(table, digest=digest.hexdigest())
