import pytest

from amos.retrieval.cues import surface_terms
from amos.retrieval.excerpts import EXCERPT_CHARS, Wanted, byte_offsets, char_span, cut_excerpt, matches_in


def cut(text, question, focus=None):
    return cut_excerpt(text, matches_in(text, Wanted(surface_terms([question]))), focus)


def exact(text, excerpt):
    return text.encode()[excerpt.start : excerpt.end].decode() == excerpt.text


def test_a_short_text_is_shown_whole_with_its_matches():
    text = "Der Schlüssel liegt unter dem Blumentopf."
    found = cut(text, "Blumentopf")
    assert found.text == text
    assert [text.encode()[a:b].decode() for a, b in found.matches] == ["Blumentopf"]


def test_matches_of_unspaced_text_are_joined_to_the_asked_words():
    text = "倉庫の鍵は二番の箱に入っています。"
    found = cut(text, "二番の箱")
    assert found.matches == ((15, 27),)
    assert text.encode()[15:27].decode() == "二番の箱"


def test_an_excerpt_stands_where_the_words_are():
    text = "Nothing to report today. " * 400 + "The ferret hid the spoon. " + "All quiet again. " * 300
    found = cut(text, "which animal hid a spoon, the ferret?")
    assert "ferret hid the spoon" in found.text
    assert len(found.text) < EXCERPT_CHARS + 140
    assert exact(text, found)


def test_bytes_fit_in_texts_of_any_script():
    text = "Öde Zeilen überall. " * 200 + "Das Frettchen schläft. " + "Übrigens nichts. " * 200
    found = cut(text, "Frettchen")
    assert exact(text, found)
    start, end = found.matches[0]
    assert text.encode()[start:end].decode() == "Frettchen"


def test_a_focus_is_always_inside():
    text = "one two three. " * 300
    found = cut(text, "unrelated", focus=(3_000, 3_030))
    assert text[3_000:3_030] in found.text
    assert exact(text, found)


def test_the_richest_stretch_wins_over_the_first():
    text = "A kettle. " + "x y z. " * 200 + "The kettle and the teapot. " + "x y z. " * 200
    assert "teapot" in cut(text, "kettle teapot").text


def test_a_text_without_a_match_is_shown_from_its_beginning():
    text = "alpha beta. " * 100
    found = cut(text, "omega")
    assert found.start == 0
    assert found.matches == ()


def test_an_empty_text_gives_an_empty_excerpt():
    found = cut("", "word")
    assert (found.start, found.end, found.text) == (0, 0, "")


@pytest.mark.parametrize("text", ["plain", "größe", "🐝a🐝", "三番の棚"])
def test_offsets_and_spans_are_each_others_inverse(text):
    places = list(range(len(text) + 1))
    offsets = byte_offsets(text, places)
    assert offsets == [len(text[:place].encode()) for place in places]
    assert char_span(text, offsets[1], offsets[-1]) == (1, len(text))
