"""Keys are those of real JSON, with their depth, up to where it is cut or stops being JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.sources.outline import outline_keys

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
RECORDS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(), VALUES, max_size=4)


def keys_of(value, depth=0):
    """Return what the outline must be, from the decoded value."""
    if isinstance(value, dict):
        return [
            found for name, item in value.items() for found in [(depth + 1, name), *keys_of(item, depth + 1)]
        ]
    if isinstance(value, list):
        return [found for item in value for found in keys_of(item, depth + 1)]
    return []


def plain(keys):
    """Return the keys without those that JSON writes with an escape or that UTF-8 cannot hold."""
    return [(depth, name) for depth, name in keys if json.dumps(name) == f'"{name}"']


@given(RECORDS, st.sampled_from([None, 2]))
def test_the_outline_of_whole_json_is_that_of_its_value(value, indent):
    head = json.dumps(value, indent=indent).encode()
    assert [one for one in outline_keys(head) if "\\" not in one[1]] == plain(keys_of(value))


@given(RECORDS, st.data())
def test_a_cut_leaves_a_beginning_of_the_outline(value, data):
    head = json.dumps(value).encode()
    whole = list(outline_keys(head))
    cut = list(outline_keys(head[: data.draw(st.integers(0, len(head)))]))
    assert cut == whole[: len(cut)]


@given(st.binary(max_size=200))
def test_any_bytes_end(head):
    assert all(depth > 0 for depth, _ in outline_keys(head))


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (b'{"a": 1}\n{"b": {"c": NaN}}\n', ["a", "b", "c"]),
        (b'{"a": 1} and then {"b": 2}', ["a"]),
        (b'text {"a": 1}', []),
        (b'"a": {"b": 1}', []),
        (b'{"a" {"b": 1}}', []),
        (b'[1 {"b": 1}]', []),
        (b'[{"a": 1}}, {"b": 1}]', ["a"]),
        (b'{"a": 1, {"b": 1}}', ["a"]),
        (b'{"a": tru', ["a"]),
        (b'{"a": "b\\": ', ["a"]),
    ],
)
def test_keys_end_where_it_is_no_json(head, names):
    assert [name for _, name in outline_keys(head)] == names


def test_deep_nesting_takes_no_stack():
    assert list(outline_keys(b"[" * 60_000 + b'{"a": 1}')) == [(60_001, "a")]
