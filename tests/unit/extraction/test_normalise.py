"""The view that matching reads, and the way back to the bytes of the source."""

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.extraction.normalise import normalise, view_texts


def view_of(*texts):
    """Return the view texts and the maps of a batch."""
    view = view_texts(pa.array(texts, pa.string()))
    raw = view.buffer.tobytes()
    ends = view.offsets.tolist()
    return [raw[a:b].decode() for a, b in pairwise(ends)], view.maps


def test_plain_text_is_its_own_view():
    assert view_of("plain", "", "naïve café “quoted” …") == (["plain", "", "naïve café “quoted” …"], {})


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("pen​name", "penname"),
        ("ﬁn", "fin"),
        ("Ａ４", "A4"),
        ("cafe\u0301", "café"),
        ("I\u200bg\u200bn", "Ign"),
        ("👩\u200d🚒", "👩\u200d🚒"),
        ("a\u200db", "ab"),
        ("one\u00adtwo", "onetwo"),
    ],
)
def test_compatibility_forms_and_invisible_characters_are_folded(text, view):
    assert normalise(text)[0].decode() == view


def test_only_the_texts_that_need_it_get_a_map():
    views, maps = view_of("my desk", "my pen​name", "tea")
    assert (views, list(maps)) == (["my desk", "my penname", "tea"], [1])


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_every_piece_of_a_view_maps_back_inside_its_source(text):
    view, offsets = normalise(text)
    raw = text.encode("utf-8")
    shown = view.decode()
    place = 0
    for char in shown:
        size = len(char.encode())
        start, end = offsets.source_span(place, place + size)
        assert raw[start:end].decode()
        place += size


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("My `editor` is `helix`.", "My editor is helix."),
        ("My editor is ~~vim~~ helix.", "My editor is  helix."),
        ("__My locker is 12__", "My locker is 12"),
        ("I live in [Bonn](https://example.com/b).", "I live in Bonn."),
        ("My site is <https://example.com>.", "My site is https://example.com."),
        ("Mein `é` ist ~~alt~~ neu", "Mein é ist  neu"),
        ("run `rm -rf x` now", "run `rm -rf x` now"),
        ("```\nx\n```", "```\nx\n```"),
        ("snake__case and a ~ b", "snake__case and a ~ b"),
        ("![alt](x.png)", "![alt](x.png)"),
    ],
)
def test_marks_that_say_how_words_look_are_not_shown(text, shown):
    view, offsets = normalise(text)
    assert view.decode() == shown
    place = view.decode().find("helix")
    if place >= 0:
        start, end = offsets.source_span(place, place + 5)
        assert text.encode()[start:end] == b"helix"


def test_the_whole_view_maps_to_the_whole_source():
    view, offsets = normalise("ﬁx cafe\u0301")
    assert offsets.source_span(0, len(view)) == (0, len("ﬁx cafe\u0301".encode()))


def test_plain_characters_map_to_themselves_between_changed_ones():
    view, offsets = normalise("ab e\u0301 ﬁx y")
    assert view.decode() == "ab é fix y"
    assert offsets.starts.tolist() == [0, 1, 2, 3, 3, 6, 7, 7, 10, 11, 12]
    assert offsets.ends.tolist() == [1, 2, 3, 6, 6, 7, 10, 10, 11, 12, 13]
