import json

from hypothesis import given
from hypothesis import strategies as st

from amos.extraction.screen_json import RawPlaces, cut_json, json_strings

DOCUMENTS = st.dictionaries(st.text(), st.text() | st.lists(st.text()) | st.integers() | st.none())


def test_strings_know_their_key():
    strings = list(json_strings('{"a": "b", "c": ["d", {"e" : "f"}]}'))
    assert [(s.text, s.is_key, s.key) for s in strings] == [
        ("a", True, ""),
        ("b", False, "a"),
        ("c", True, ""),
        ("d", False, ""),
        ("e", True, ""),
        ("f", False, "e"),
    ]


@given(document=DOCUMENTS, escaped=st.booleans())
def test_every_string_is_found_decoded(document, escaped):
    raw = json.dumps(document, ensure_ascii=escaped)
    found = [string.text for string in json_strings(raw)]
    expected = []
    for key, value in document.items():
        expected += [key, *([value] if isinstance(value, str) else value if isinstance(value, list) else [])]
    assert found == expected


@given(text=st.text(min_size=1), data=st.data(), escaped=st.booleans())
def test_cutting_a_decoded_range_keeps_the_rest_and_the_byte_length(text, data, escaped):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    raw = json.dumps({"k": text}, ensure_ascii=escaped)
    string = list(json_strings(raw))[1]
    places = RawPlaces(raw, string)
    byte_range = tuple(len(raw[: places.raw(at)].encode()) for at in (start, end))
    cut, size = cut_json(raw.encode(), [byte_range])
    assert size == len(text[start:end].encode())
    assert json.loads(cut)["k"] == text[:start] + "\x1a" * size + text[end:]


def test_a_broken_document_is_read_to_its_end():
    assert [s.text for s in json_strings('{"a": "b\\')] == ["a", "b"]
