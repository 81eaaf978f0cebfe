from contextlib import suppress
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.kernels import canonical
from amos.kernels.canonical import encode_rows, row_bytes
from amos.kernels.canonical_reader import Shape, decode_rows
from amos.schemas.buffers import ColumnArrays, array_of, column_arrays, kind_of, layout_of
from amos.schemas.cells import cells_of

TYPES = {
    "number": pa.int32(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "text": pa.string(),
    "raw": pa.binary(),
    "identifier": pa.binary(4),
    "spans": pa.list_(pa.int64()),
    "words": pa.list_(pa.string()),
    "identifiers": pa.list_(pa.binary(4)),
}
VALUES = {
    "number": st.integers(-(2**31), 2**31 - 1),
    "flag": st.booleans(),
    "time": st.integers(-(2**50), 2**50),
    "text": st.text(max_size=9),
    "raw": st.binary(max_size=9),
    "identifier": st.binary(min_size=4, max_size=4),
    "spans": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3),
    "words": st.lists(st.text(max_size=4), max_size=3),
    "identifiers": st.lists(st.binary(min_size=4, max_size=4), max_size=2),
}
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | kind for name, kind in VALUES.items()}), max_size=30)


def table_of(rows):
    return {name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()}


def oracle_value(value):
    if isinstance(value, str):
        return value.encode()
    return [oracle_value(item) for item in value] if isinstance(value, list) else value


def oracle(rows):
    return [row_bytes([oracle_value(row[name]) for name in TYPES]) for row in rows]


def cut(buffer, offsets):
    return [buffer[a:b].tobytes() for a, b in pairwise(offsets.tolist())]


def shapes():
    widths = {"identifier": 4, "identifiers": 4}
    return [Shape(kind_of(kind), widths.get(name, 0)) for name, kind in TYPES.items()]


def test_a_row_is_a_version_then_presence_and_value_of_each_column():
    row = row_bytes([5, None, b"hi", [1, 2], [b"a", b""]])
    assert row.hex() == (
        "01" "010500000000000000" "00" "01020000006869"
        "010200000001000000000000000200000000000000" "0102000000010000006100000000"
    )  # fmt: skip


@given(rows=ROWS)
@settings(deadline=None, max_examples=60)
def test_all_ways_of_encoding_agree_with_the_readable_definition(rows):
    columns = [column_arrays(column) for column in table_of(rows).values()]
    lead = np.zeros((len(rows), 0), np.uint8)
    expected = oracle(rows)
    assert cut(*canonical._encode_plain(columns, len(rows), lead)) == expected
    assert cut(*canonical._encode_columns(columns, len(rows), lead)) == expected
    assert cut(*encode_rows(columns, len(rows))) == expected


@given(rows=ROWS, skip=st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_slices_of_a_table_encode_like_tables(rows, skip):
    columns = [column_arrays(column.slice(skip)) for column in table_of(rows).values()]
    kept = rows[skip:]
    lead = np.zeros((len(kept), 0), np.uint8)
    assert cut(*canonical._encode_columns(columns, len(kept), lead)) == oracle(kept)


@given(rows=ROWS, skip=st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_cells_taken_from_arrow_buffers_join_to_the_same_rows(rows, skip):
    columns = [column.slice(skip) for column in table_of(rows).values()]
    cells = [cells_of(column, layout_of(column.type)) for column in columns]
    joined = [bytes([canonical.VERSION]) + b"".join(row) for row in zip(*cells, strict=True)]
    assert joined == oracle(rows[skip:])


def test_cells_hide_bytes_that_stand_under_a_null():
    octets = pa.py_buffer(b"abcd")
    edges = pa.py_buffer(np.array([0, 2, 4], np.int32))
    column = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x02"), edges, octets])
    assert cells_of(column, layout_of(column.type)) == [b"\x00", b"\x01\x02\x00\x00\x00cd"]


def test_long_and_unsigned_values_have_cells_as_well():
    text, number = pa.array(["x" * 2_000]), pa.array([2**40], pa.uint64())
    assert cells_of(text, layout_of(text.type)) == [row_bytes([b"x" * 2_000])[1:]]
    assert cells_of(number, layout_of(number.type)) == [row_bytes([2**40])[1:]]


@given(rows=ROWS)
@settings(deadline=None, max_examples=60)
def test_decoding_gives_back_what_was_encoded(rows):
    table = table_of(rows)
    buffer, offsets = encode_rows([column_arrays(column) for column in table.values()], len(rows))
    spans = np.stack([offsets[:-1], offsets[1:]], axis=1)
    decoded = decode_rows(buffer, spans, shapes())
    for (name, column), found in zip(table.items(), decoded, strict=True):
        again = array_of(TYPES[name], ColumnArrays(*found))
        again.validate(full=True)
        assert again.equals(column), name


def test_the_lead_stands_before_each_row():
    columns = [column_arrays(pa.array([7] * 20))]
    lead = np.arange(60, dtype=np.uint8).reshape(20, 3)
    rows = cut(*encode_rows(columns, 20, lead=lead))
    assert rows == [bytes(lead[i]) + row_bytes([7]) for i in range(20)]


def test_compiled_copies_equal_plain_ones(monkeypatch):
    columns = [
        column_arrays(column)
        for column in (
            pa.array(["ab" * (i % 90) if i % 7 else None for i in range(300)]),
            pa.array([bytes([i % 256]) * 32 for i in range(300)], pa.binary(32)),
            pa.array([-i if i % 3 else None for i in range(300)]),
            pa.array([list(range(i % 4)) for i in range(300)]),
            pa.array([["x" * size for size in range(i % 5)] for i in range(310)]).slice(10),
        )
    ]
    lead = np.arange(4800, dtype=np.uint16).astype(np.uint8).reshape(300, 16)
    monkeypatch.setattr(canonical, "is_worth_compiling", lambda _: False)
    plain = encode_rows(columns, 300, lead=lead)
    calls = []
    monkeypatch.setattr(canonical, "is_worth_compiling", lambda rows: calls.append(rows) or True)
    assert cut(*encode_rows(columns, 300, lead=lead)) == cut(*plain)
    assert calls


def damaged(position, value):
    raw = bytearray(row_bytes([5, b"hello", [b"x", b"yz"], [3]]))
    raw[position] = value
    return np.frombuffer(bytes(raw), np.uint8)


SHAPES = [Shape("int"), Shape("bytes"), Shape("texts"), Shape("ints")]


@pytest.mark.parametrize(
    ("position", "value", "reason"),
    [
        (0, 9, "version"),
        (1, 2, "presence"),
        (11, 200, "inside a value"),
        (21, 255, "longer than its row"),
        (25, 250, "a row ends|longer than its row"),
    ],
)
def test_damaged_rows_are_refused(position, value, reason):
    raw = damaged(position, value)
    with pytest.raises(ValueError, match=reason):
        decode_rows(raw, np.array([[0, len(raw)]]), SHAPES)


@given(position=st.integers(0, 60), value=st.integers(0, 255))
@settings(deadline=None, max_examples=300)
def test_no_damage_escapes_as_anything_but_a_value_error(position, value):
    raw = row_bytes([5, b"hello", [b"x", b"yz"], [3]])
    raw = damaged(position % len(raw), value)
    with suppress(ValueError):
        decode_rows(raw, np.array([[0, len(raw)]]), SHAPES)


def test_rows_outside_their_block_are_refused():
    raw = damaged(0, 1)
    with pytest.raises(ValueError, match="outside"):
        decode_rows(raw, np.array([[0, len(raw) + 1]]), SHAPES)
    with pytest.raises(ValueError, match="left over"):
        decode_rows(np.append(raw, np.uint8(0)), np.array([[0, len(raw) + 1]]), SHAPES)


def test_floats_have_no_canonical_form():
    with pytest.raises(TypeError, match="double"):
        column_arrays(pa.array([0.5]))
