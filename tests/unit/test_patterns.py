"""An expression that is compiled when first used finds what a compiled one finds."""

import re

import pytest

from amos.patterns import pattern_of


@pytest.mark.parametrize("text", ["a Goose, a GANDER", "", "no birds\nhere"])
def test_it_finds_what_a_compiled_expression_finds(text):
    late, early = pattern_of(r"(?P<bird>g\w+)", re.IGNORECASE), re.compile(r"(?P<bird>g\w+)", re.IGNORECASE)
    assert [m.span("bird") for m in late.finditer(text)] == [m.span("bird") for m in early.finditer(text)]
    assert late.sub("x", text) == early.sub("x", text)
    assert (late.pattern, late.flags, late.groupindex) == (early.pattern, early.flags, early.groupindex)


def test_bytes_are_searched_too():
    assert pattern_of(rb"\d+").search(b"room 12").group() == b"12"


def test_it_is_compiled_at_its_first_use_and_once(monkeypatch):
    seen, compiled = [], re.compile
    monkeypatch.setattr(re, "compile", lambda *words: seen.append(words) or compiled(*words))
    late = pattern_of("goose")
    assert seen == []
    assert [late.search(text) is not None for text in ("goose", "gander")] == [True, False]
    assert late.fullmatch("goose") is not None
    assert seen == [("goose", 0)]


def test_a_fault_in_it_shows_at_its_first_use():
    late = pattern_of("(")
    with pytest.raises(re.error, match="unterminated"):
        late.search("goose")
