"""The grammar keeps its own promises: every example line, and no dead weight."""

import pytest

from amos.errors import SchemaError
from amos.extraction.grammar import compile_grammar, grammar_texts, load_grammar
from amos.extraction.grammar_text import GrammarText, parse_grammar
from amos.extraction.lint import arity_problems, lint
from claims_read import examples_read

PATTERNS = [pattern.name for pattern in load_grammar().patterns]

FAMILY = "family f type=belief class=durable_fact arity=single subject=author property=p confidence=90\n"


def agrees(claim, wanted):
    """Tell whether a claim has the wanted columns; `claim` and `scope` are looked for in the payload."""
    in_payload = ("claim", "scope")
    return all(
        text in (claim["payload"] or "") if name in in_payload else str(claim[name]) == text
        for name, text in wanted.items()
    )


@pytest.mark.parametrize("name", PATTERNS)
def test_each_pattern_matches_its_plus_lines_and_spares_its_minus_lines(name):
    for pattern, example, claims in examples_read():
        if pattern.name != name:
            continue
        if example.is_match:
            fits = [c for c in claims if c["pattern"] == name and agrees(c, example.expected)]
            assert fits, f"line {example.line}: {example.text!r} gave {claims}"
        elif example.expected:
            assert not claims or any(agrees(c, example.expected) for c in claims), example.text
        else:
            assert not any(c["pattern"] == name for c in claims), f"line {example.line}: {example.text!r}"


@pytest.mark.parametrize("name", PATTERNS)
def test_each_pattern_has_two_examples_of_each_kind(name):
    pattern = next(pattern for pattern in load_grammar().patterns if pattern.name == name)
    kinds = [example.is_match for example in pattern.examples]
    assert kinds.count(True) >= 2
    assert kinds.count(False) >= 2


def parsed(text):
    return parse_grammar(text, origin="trial.txt")


def test_an_unused_set_is_a_lint_problem():
    assert lint(parsed("set idle = a | b\n")) == ["set idle is never used"]


def test_a_pattern_behind_a_wider_one_is_a_lint_problem():
    table = parsed(FAMILY + "pat wide : ping <value>\npat narrow : ping pong <value>\n")
    assert lint(table) == ["narrow (line 3) is shadowed by wide"]


def test_a_pattern_without_a_word_is_a_lint_problem():
    table = parsed(FAMILY + "pat empty : ^ <subject 1-2> <value>\n")
    assert any("needs no word" in problem for problem in lint(table))


def test_every_pattern_names_a_property_with_one_arity():
    table = GrammarText()
    for origin, text in grammar_texts():
        parse_grammar(text, origin=origin, into=table)
    assert arity_problems(table) == []
    table = parsed(FAMILY + "pat one : ping <value>\npat many arity=set : pong <value>\n")
    assert arity_problems(table) == ["many (line 3): p is not set in one"]


def test_lint_problems_stop_the_grammar_from_loading():
    with pytest.raises(SchemaError, match="never used"):
        compile_grammar(parsed("set idle = a\n" + FAMILY + "pat one : ping <value>\n"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sett a = b\n", "unknown keyword"),
        (FAMILY + "pat one ping\n", "' : '"),
        (FAMILY + "pat one : @missing <value>\n", "no set"),
        (FAMILY + "pat one : ping <colour>\n", "none of the captures"),
        (FAMILY + "pat one : ping <value>\npat one : pong <value>\n", "exists"),
        ("set a = b\nset a = c\n", "exists"),
        ("set a =\n", "empty word list"),
    ],
)
def test_a_faulty_line_is_named_with_its_number(text, complaint):
    with pytest.raises(SchemaError, match=complaint) as caught:
        parsed(text)
    assert "trial.txt:" in caught.value.message


def test_a_setting_outside_its_choices_is_refused():
    family = FAMILY.replace("arity=single", "arity=many")
    with pytest.raises(SchemaError, match="arity=many"):
        compile_grammar(parsed(family + "pat one : ping <value>\n"))


def test_a_set_can_be_extended_by_a_later_line():
    table = parsed("set greet = hi\nset greet |= hello\n" + FAMILY + "pat one : @greet <value>\n")
    assert table.patterns[0].elements[0].words == ("hi", "hello")


def test_the_digest_names_the_text_of_the_grammar():
    assert len(load_grammar().digest) == 64
