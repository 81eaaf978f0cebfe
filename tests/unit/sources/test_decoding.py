"""Decoding one record: what is mended is named, what cannot be read is lost."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.sources.decoding import canonical_json, decode_record, extra_json, known_keys, plain_keys
from amos.sources.faults import Fault, UnreadableRecordError


def repaired(raw):
    decoded = decode_record(raw, depth=64)
    return decoded.value, [code for code, _ in decoded.repairs], decoded.is_text_replaced


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a":"x\ud800y"}', {"a": "x\ufffdy"}),
        (rb'{"a":"\udc00"}', {"a": "\ufffd"}),
        (rb'{"a":"\ud83d\ud83d\ude00"}', {"a": "\ufffd\U0001f600"}),
        (rb'{"\udfff":1}', {"\ufffd": 1}),
    ],
)
def test_lone_surrogates_become_replacement_characters_and_are_named(raw, value):
    assert repaired(raw) == (value, [Fault.SURROGATE_REPLACED], True)


@pytest.mark.parametrize(
    "raw", [rb'{"a":"\ud83d\ude00"}', rb'{"a":"\\ud800 is a code"}', rb'{"a":"\\\\ud8"}']
)
def test_pairs_and_escaped_backslashes_are_left_alone(raw):
    assert repaired(raw) == (json.loads(raw), [], False)


def test_a_written_replacement_character_is_no_repair():
    assert repaired(b'{"a":"\\ufffd","b":1e999}')[1:] == ([Fault.NOT_FINITE], False)


def test_bytes_that_are_no_text_are_replaced_and_named():
    assert repaired(b'{"a":"caf\xe9"}') == ({"a": "caf\ufffd"}, [Fault.INVALID_UTF8], True)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1,"a":2}',
        b'{"a":{"b":1,"b":2}}',
        b'{"a":1, "a" :2}',
        b'[{"x":"\\":","x":1}]',
    ],
)
def test_equal_keys_are_named_and_the_last_value_wins(raw):
    value, codes, _ = repaired(raw)
    assert value == json.loads(raw)
    assert codes == [Fault.DUPLICATE_KEY]


@pytest.mark.parametrize("raw", [b'{"a":1, "b" : "\\"a\\":2"}', b'{"a\\\\":1}', b'{"a":"\\\\\\":"}'])
def test_text_that_looks_like_keys_is_no_repair(raw):
    assert repaired(raw) == (json.loads(raw), [], False)


def test_numbers_that_json_has_no_form_for_become_text_and_are_named():
    value, codes, is_replaced = repaired(b'{"a":NaN,"b":-Infinity,"c":1e999,"d":12345678901234567890123}')
    assert canonical_json(value) == '{"a":"NaN","b":"-Infinity","c":"1e999","d":12345678901234567890123}'
    assert (codes, is_replaced) == ([Fault.NOT_FINITE], False)


@pytest.mark.parametrize("raw", [b"", b"{", b'{"a"}', b"nonsense", b'{"a":1}{"b":2}', b"1" * 5000])
def test_what_is_no_json_is_lost(raw):
    with pytest.raises(UnreadableRecordError) as caught:
        decode_record(raw, depth=64)
    assert caught.value.code is Fault.INVALID_JSON


@pytest.mark.parametrize("depth", [65, 900, 5000, 200_000])
@pytest.mark.parametrize("start", [b"", b"NaN,"])
def test_nesting_is_bounded(depth, start):
    with pytest.raises(UnreadableRecordError) as caught:
        decode_record(b"[" + start + b"[" * depth + b"]" * depth + b"]", depth=64)
    assert caught.value.code is Fault.TOO_DEEP


def test_nesting_within_the_bound_is_read():
    assert decode_record(b"[" * 64 + b"]" * 64, depth=64).repairs == []


def test_extra_is_sorted_compact_and_absent_when_empty():
    assert (
        extra_json({"b": [1.5, {"z": None, "é": True}], "a": "x"})
        == '{"a":"x","b":[1.5,{"z":null,"é":true}]}'
    )
    assert extra_json({}) is None


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(json_values)
def test_any_json_decodes_as_the_standard_library_does(value):
    raw = json.dumps(value)
    decoded = decode_record(raw.encode(), depth=64)
    assert json.loads(canonical_json(decoded.value)) == json.loads(raw)
    assert decoded.repairs == []


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.binary(max_size=60))
def test_any_bytes_decode_or_are_lost(raw):
    try:
        decoded = decode_record(raw, depth=8)
    except UnreadableRecordError:
        return
    canonical_json(decoded.value).encode()


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a"\t:1,"a":2}',
        b'{"a"  :1,"a":2}',
        b'{"a"\r\n :1,"a":2}',
        rb'{"a\\":0,"a":1,"a":2}',
    ],
)
def test_a_key_that_stands_twice_is_found_however_it_is_written(raw):
    assert repaired(raw)[1] == [Fault.DUPLICATE_KEY]


def objects(keys):
    texts = st.text(alphabet='a\\": \t', max_size=4)
    return st.recursive(
        texts | st.none(), lambda inner: st.dictionaries(keys, inner, max_size=4), max_leaves=10
    )


def size(value):
    """Return how many keys stand in `value`."""
    return len(value) + sum(map(size, value.values())) if isinstance(value, dict) else 0


COLONS = st.sampled_from([":", ": ", " :", "\t:", " \r:"])
LAWS = settings(deadline=None, derandomize=True, max_examples=100)


@LAWS
@given(value=objects(st.text(alphabet='ab\\": \t', max_size=3)), colon=COLONS)
def test_no_key_is_missed_without_a_closer_look(value, colon):
    counted = plain_keys(json.dumps(value, separators=(",", colon)).encode())
    assert counted == -1 or counted >= size(value)


@LAWS
@given(value=objects(st.text(alphabet="ab1é", max_size=3).map("{}z".format)), colon=COLONS)
def test_known_keys_are_counted_exactly(value, colon):
    raw = json.dumps({"z": value}, separators=(",", colon)).encode()
    assert known_keys(raw) in {-1, 1 + size(value)}


def test_blanks_before_colons_inside_texts_ask_for_no_closer_look():
    raw = json.dumps({"a": "bonjour : ici", "b": 'say "x": y'}).encode()
    assert plain_keys(raw) == known_keys(raw) == 2
