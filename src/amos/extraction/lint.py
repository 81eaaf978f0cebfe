"""Check a grammar: unused sets, patterns without a word or that can never fire, properties of two arities."""

from __future__ import annotations

from amos.errors import SchemaError
from amos.extraction.grammar_text import Element, GrammarText, Pattern
from amos.extraction.rules import first_words


def lint(table: GrammarText) -> list[str]:
    """Return what is wrong with the grammar, a line each."""
    problems = [f"set {name} is never used" for name in sorted(set(table.sets) - table.used)]
    earlier_by_opening: dict[tuple[str, int, int], list[Pattern]] = {}
    for pattern in table.patterns:
        kinds = {element.kind for element in pattern.elements}
        if not kinds & {"one", "negates"}:
            problems.append(f"{pattern.name} (line {pattern.line}) needs no word at all")
        if first_words(pattern) is None and pattern.elements[0].kind != "head":
            problems.append(f"{pattern.name} (line {pattern.line}) begins with a capture but not at ^")
        alike = earlier_by_opening.setdefault(_opening(pattern), [])
        problems += [
            f"{pattern.name} (line {pattern.line}) is shadowed by {earlier.name}"
            for earlier in alike
            if _shadows(earlier.elements, pattern.elements)
        ]
        alike.append(pattern)
    return problems


def _opening(pattern: Pattern) -> tuple[str, int, int]:
    """Return the kind and size of the first element, the same in all patterns that one shadows."""
    first = pattern.elements[0]
    return first.kind, first.low, first.high


def _shadows(earlier: tuple[Element, ...], later: tuple[Element, ...]) -> bool:
    """Tell whether `earlier` takes everything that `later` could match."""
    for place, element in enumerate(earlier):
        if element.kind == "rest":
            return place < len(later) and later[place].kind not in ("time",)
        if place >= len(later):
            return False
        other = later[place]
        is_equal = element.kind == other.kind and (element.low, element.high) == (other.low, other.high)
        if not is_equal or not set(element.words) >= set(other.words):
            return False
    return False


def arity_problems(table: GrammarText) -> list[str]:
    """Return which patterns name a property with another arity than the first that names it, a line each."""
    problems = []
    named: dict[str, Pattern] = {}
    for pattern in table.patterns:
        held, arity = pattern.settings["property"], pattern.settings["arity"]
        if held and not held.startswith("@"):
            first = named.setdefault(held, pattern)
            if first.settings["arity"] != arity:
                where = f"{pattern.name} (line {pattern.line})"
                problems.append(f"{where}: {held} is not {arity} in {first.name}")
    return problems


def check_grammar(table: GrammarText) -> None:
    """Raise SchemaError naming every problem that `lint` finds."""
    problems = lint(table)
    if problems:
        raise SchemaError("grammar: " + "; ".join(problems), advice="Correct these lines of the grammar.")
