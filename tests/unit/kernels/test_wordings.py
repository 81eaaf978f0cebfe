"""Words without case, spacing and Unicode form, and sums over runs of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.kernels.wordings import (
    ascii_values,
    prefix_sums,
    run_starts,
    run_sums,
    word_value,
    wording_of,
)

BASE = 0x9E3779B97F4A7C15


@pytest.mark.parametrize(
    "other",
    [
        "the RED kite nests, in march!",
        "the  red\tkite\nnests in march",
        "ｔｈｅ ｒｅｄ kite nests in march",
        "the red\u200b ki\u00adte nests in march",
        "“the red kite” nests—in march…",
    ],
)
def test_case_spacing_form_and_punctuation_make_no_difference(other):
    assert wording_of(other).words == wording_of("The red kite nests in March").words


def test_composed_and_decomposed_letters_are_the_same_words():
    assert wording_of("Caf\u00e9 Z\u00fcrich").words == wording_of("cafe\u0301 zu\u0308rich").words
    assert wording_of("Stra\u00dfe").words == wording_of("STRASSE").words


def test_scripts_without_spaces_count_character_by_character():
    assert wording_of("我住在东京").words == list("我住在东京")
    assert wording_of("กาแฟ x").words[-1] == "x"


def test_each_word_names_the_bytes_it_came_from():
    text = "né ici: ｌｉｖｅ"
    found = wording_of(text)
    raw = text.encode()
    parts = [raw[start:end].decode() for start, end in zip(found.starts, found.ends, strict=True)]
    assert parts == ["né", "ici", "ｌｉｖｅ"]


@given(st.text(max_size=60))
def test_words_lie_inside_the_text_and_in_order(text):
    found = wording_of(text)
    size = len(text.encode("utf-8", "surrogatepass"))
    assert all(0 <= start < end <= size for start, end in zip(found.starts, found.ends, strict=True))
    assert found.starts == sorted(found.starts)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30), st.integers(1, 5))
def test_the_sum_of_a_run_does_not_depend_on_its_place(values, length):
    array = np.array(values * 2, np.uint64)
    sums = prefix_sums(array, BASE)
    starts = run_starts([len(array)], length)
    found = run_sums(sums, starts, length)
    again = {int(start): int(total) for start, total in zip(starts, found, strict=True)}
    for start in range(len(values) - length + 1):
        assert again[start] == again[start + len(values)]
        plain = sum(value * BASE**power for power, value in enumerate(values[start : start + length]))
        assert again[start] == plain % 2**64


def test_runs_never_cross_from_one_text_to_the_next():
    assert run_starts([3, 0, 1, 4], 2).tolist() == [0, 1, 4, 5, 6]
    assert run_starts([1], 2).tolist() == []


@given(st.lists(st.text(st.characters(max_codepoint=127), max_size=30), min_size=1, max_size=8))
def test_words_of_plain_texts_are_valued_in_bulk_as_one_by_one(texts):
    raw = "".join(texts).encode()
    offsets = np.cumsum([3, *map(len, texts)])
    buffer = np.frombuffer(b"abc" + raw + b"xyz", np.uint8)
    values, counts = ascii_values(buffer, offsets, BASE)
    wordings = [wording_of(text).words for text in texts]
    assert counts.tolist() == [len(words) for words in wordings]
    assert values.tolist() == [word_value(word, BASE) for words in wordings for word in words]
