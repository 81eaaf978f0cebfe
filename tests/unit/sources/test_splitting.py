"""Cutting streams into records, whatever the sizes of the reads."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.sources.faults import Fault
from amos.sources.splitting import line_chunks, split_lines, split_values

LONGEST = 1 << 20


class Drip(io.RawIOBase):
    """A stream that hands out a few bytes at a time."""

    def __init__(self, content, step):
        self._inner = io.BytesIO(content)
        self._step = step

    def read(self, size=-1):
        return self._inner.read(min(size, self._step) if size >= 0 else self._step)


def values_of(content, step=1 << 18, longest=LONGEST):
    return list(split_values(Drip(content, step), longest=longest))


def summary(pieces):
    return [(piece.number, piece.raw, piece.fault) for piece in pieces]


HARD = [
    {"a": "]}[{,\\", "b": '"'},
    [],
    {"c\\": "\\\\", "d": ['\\"', {}]},
    [[["x"]]],
    {"é]": "\u20ac{"},
]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 64, 1000])
@pytest.mark.parametrize("indent", [None, 2])
def test_elements_are_cut_where_they_end(step, indent):
    raw = json.dumps(HARD, ensure_ascii=False, indent=indent).encode()
    pieces = values_of(b"\xef\xbb\xbf \n" + raw, step)
    assert [json.loads(piece.raw) for piece in pieces] == HARD
    assert [piece.number for piece in pieces] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("step", [1, 5, 1000])
def test_a_sequence_of_values_is_cut_like_an_array(step):
    raw = b'{"a":1}\n{"b":"}"} {"c":[2]}'
    assert [piece.raw for piece in values_of(raw, step)] == [b'{"a":1}', b'{"b":"}"}', b'{"c":[2]}']


@pytest.mark.parametrize("step", [1, 4, 1000])
def test_what_follows_an_array_is_still_read(step):
    assert [piece.raw for piece in values_of(b'[{"a":1}]\n{"b":2}', step)] == [b'{"a":1}', b'{"b":2}']


def test_scalars_between_elements_are_faults():
    pieces = summary(values_of(b'[{"a":1}, 7, {"b":2}, "x"]'))
    assert [(number, fault) for number, _, fault in pieces] == [
        (1, None),
        (2, Fault.WRONG_TYPE),
        (3, None),
        (4, Fault.WRONG_TYPE),
    ]


@pytest.mark.parametrize("raw", [b'[{"a":1},{"b":', b'[{"a":1},', b'[{"a":1}', b'[{"a":1},{"b":"]}'])
def test_an_array_that_does_not_end_says_so(raw):
    assert summary(values_of(raw, 3)) == [(1, b'{"a":1}', None), (2, b"", Fault.TRUNCATED)]


@pytest.mark.parametrize("raw", [b"", b"  \n", b"[]", b"[ ]\n"])
def test_nothing_gives_no_record(raw):
    assert values_of(raw) == []


def test_a_stray_bracket_costs_only_its_element():
    pieces = values_of(b'[{"a":1}},{"b":2},{"c":3}]')
    assert [piece.raw for piece in pieces if piece.fault is None] == [b'{"a":1}', b'{"b":2}', b'{"c":3}']


@pytest.mark.parametrize("step", [1, 10, 1000])
def test_a_value_that_is_too_long_is_skipped_to_its_end(step):
    raw = b'[{"a":1},{"b":"' + b"x" * 200 + b'"},{"c":3}]'
    assert summary(values_of(raw, step, longest=50)) == [
        (1, b'{"a":1}', None),
        (2, b"", Fault.TOO_LARGE),
        (3, b'{"c":3}', None),
    ]


@pytest.mark.parametrize("byte", [b"]", b"[", b"\\", b'"', b"{", b"}"])
def test_floods_of_one_sign_give_a_few_faults(byte):
    pieces = values_of(b"[" + byte * (1 << 20))
    assert len(pieces) <= 6
    assert all(piece.fault for piece in pieces)


json_values = st.recursive(
    st.text(alphabet='a"\\[]{},: é', max_size=6) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(alphabet='b"\\]}', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.lists(st.dictionaries(st.text(max_size=3), json_values, max_size=3), max_size=5), st.integers(1, 40)
)
def test_any_array_of_objects_comes_back_whole(elements, step):
    raw = json.dumps(elements, ensure_ascii=False).encode()
    assert [json.loads(piece.raw) for piece in values_of(raw, step)] == elements


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text(alphabet='a"\\[]{},: ', max_size=60).map(str.encode), st.integers(1, 9))
def test_any_bytes_are_cut_alike_at_any_step(raw, step):
    whole = values_of(raw)
    in_steps = values_of(raw, step)
    assert [piece.raw for piece in whole if piece.fault is None] == [
        piece.raw for piece in in_steps if piece.fault is None
    ]


def test_lines_are_numbered_as_an_editor_counts():
    raw = b'\xef\xbb\xbf{"a":1}\r\n\n  \n{"b":2}\nlast'
    pieces = list(split_lines(io.BytesIO(raw), longest=LONGEST))
    assert [(piece.number, piece.raw.strip(), piece.is_last) for piece in pieces] == [
        (1, b'{"a":1}', False),
        (4, b'{"b":2}', False),
        (5, b"last", True),
    ]


def test_a_line_that_is_too_long_is_skipped_to_its_end():
    raw = b"short\n" + b"y" * 500 + b"\nnext\n" + b"z" * 11
    pieces = list(split_lines(io.BytesIO(raw), longest=10))
    assert [(piece.number, piece.raw, piece.fault) for piece in pieces] == [
        (1, b"short\n", None),
        (2, b"", Fault.TOO_LARGE),
        (3, b"next\n", None),
        (4, b"", Fault.TOO_LARGE),
    ]


def test_a_line_of_exactly_the_longest_length_is_read():
    pieces = list(split_lines(io.BytesIO(b"x" * 10 + b"\n" + b"y" * 10), longest=10))
    assert [piece.fault for piece in pieces] == [None, None]


@pytest.mark.parametrize(
    ("count", "size", "chunks"),
    [
        (2, 100, [[1, 3], [4, 5]]),
        (9, 6, [[1, 3], [4, 5]]),
        (9, 1, [[1], [3], [4], [5]]),
        (9, 100, [[1, 3, 4, 5]]),
    ],
)
def test_chunks_of_lines_end_at_a_count_or_a_size(count, size, chunks):
    stream = io.BytesIO(b"aa\n\nbb\ncc\ndd\n")
    found = list(line_chunks(stream, longest=LONGEST, count=count, size=size))
    assert [numbers for numbers, _ in found] == chunks
    assert b"".join(raw for _, raws in found for raw in raws) == b"aa\nbb\ncc\ndd\n"
