import pyarrow as pa
import pytest

from amos.schemas.cuts import erased, marked


@pytest.mark.parametrize("size", [1, 2, 40])
def test_a_cut_range_is_one_mark_whatever_its_length(size):
    assert marked("I live in " + "\x1a" * size + ", by the sea") == "I live in [cut], by the sea"


@pytest.mark.parametrize(
    ("text", "is_erased"),
    [
        ("\x1a\x1a\x1a.", True),
        ("“\x1a\x1a” – \x1a!", True),
        ("\x1a\x1a, noted", False),
        ("\x1a\x1a 東", False),
        ("\x1a 👍", False),
        ("...", False),
        ("", False),
        (None, False),
    ],
)
def test_a_text_is_erased_when_nothing_but_punctuation_is_left_of_it(text, is_erased):
    assert erased(pa.array([text], pa.string())).to_pylist() == [is_erased]
