import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from amos.kernels.canonical import row_bytes
from amos.schemas.buffers import layout_of
from amos.schemas.cells import cells_of
from amos.schemas.columns import ID, INTS, TEXT, TEXTS

TEXTS_DRAWN = st.sampled_from(["", "a", "b", "aa", "ab", "aab", "ä"])
DRAWN = {
    TEXT: TEXTS_DRAWN,
    ID: st.sampled_from([bytes(16), b"0123456789abcdef"]),
    pa.int32(): st.sampled_from([0, 1, -1]),
    pa.bool_(): st.booleans(),
    TEXTS: st.lists(TEXTS_DRAWN, max_size=3),
    INTS: st.lists(st.sampled_from([0, 7]), max_size=3),
}


@st.composite
def columns(draw):
    """Draw a column whose values often repeat, and a part of it."""
    kind = draw(st.sampled_from(list(DRAWN)))
    values = draw(st.lists(st.none() | DRAWN[kind], max_size=6))
    if values and draw(st.booleans()):
        values = values[:1] * len(values)
    start = draw(st.integers(0, len(values)))
    return pa.array(values, kind).slice(start, draw(st.integers(0, len(values) - start)))


def plain_value(value):
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    return value.encode() if isinstance(value, str) else value


@given(column=columns())
def test_cells_of_a_column_are_those_of_its_values_one_by_one(column):
    expected = [row_bytes([plain_value(value)])[1:] for value in column.to_pylist()]
    assert cells_of(column, layout_of(column.type)) == expected


def test_long_texts_have_their_own_lengths():
    column = pa.array(["a" * 5_000, "b", "a" * 5_000])
    expected = [row_bytes([value.encode()])[1:] for value in column.to_pylist()]
    assert cells_of(column, layout_of(column.type)) == expected
