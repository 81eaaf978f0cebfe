import json
import re
from pathlib import Path
from time import process_time

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amos.extraction.normalise import text_buffer
from amos.extraction.screen_bytes import may_hold_keys
from amos.extraction.screen_prefilter import (
    holds_keys,
    loosened,
    needed_families,
    needed_families_of_json,
)
from amos.extraction.screen_text import find_in_json, find_in_name, find_in_text, message_rules
from screen_samples import EXCLUSIONS, HARMLESS, NAMED_EXCLUSIONS, NO_EXCLUSIONS, ORDERS, SECRETS

PIECES = [text for text, *_ in [*SECRETS, *NAMED_EXCLUSIONS]] + HARMLESS + EXCLUSIONS + NO_EXCLUSIONS + ORDERS
GOLDEN = Path(__file__).parents[2] / "golden"
RULES = message_rules(is_message=False, may_instruct=False)


@st.composite
def mixed_texts(draw):
    """Cut two sample texts anywhere and join them with something awkward between."""
    first, second = draw(st.sampled_from(PIECES)), draw(st.sampled_from(PIECES))
    joint = draw(st.sampled_from(["", " ", "\n", ". ", "\u200b", "'", '"', "%20", "=", "é", "\u00a0", "=("]))
    start, end = draw(st.integers(0, len(first))), draw(st.integers(0, len(second)))
    return draw(st.sampled_from([first[start:] + joint + second[:end], first[:start] + joint + second[end:]]))


@settings(max_examples=50, deadline=None)
@given(texts=st.lists(mixed_texts(), min_size=1, max_size=8))
@example(texts=["the word is lantern-cove-58My router"])
def test_the_bulk_filter_never_hides_what_the_exact_look_finds(texts):
    needed = needed_families(pa.array(texts), may_instruct=False)
    for text, families in zip(texts, needed.tolist(), strict=True):
        assert find_in_text(text, RULES, families) == find_in_text(text, RULES)


@settings(max_examples=50, deadline=None)
@given(texts=st.lists(mixed_texts(), min_size=1, max_size=8), escaped=st.booleans())
def test_the_bulk_filter_never_hides_what_json_strings_hold(texts, escaped):
    documents = [json.dumps({"a": {"note": text}}, ensure_ascii=escaped) for text in texts]
    needed = needed_families_of_json(pa.array(documents), may_instruct=False)
    for document, families in zip(documents, needed.tolist(), strict=True):
        found = find_in_json(document, RULES, families) if families else []
        assert found == find_in_json(document, RULES)


def test_the_bulk_filter_for_names_never_hides_a_key():
    mask = holds_keys(pa.array(PIECES))
    for text, is_suspect in zip(PIECES, mask, strict=True):
        assert is_suspect or not find_in_name(text)


@settings(max_examples=100, deadline=None)
@given(names=st.lists(mixed_texts(), min_size=1, max_size=8), skipped=st.integers(0, 3))
def test_the_bytes_of_a_name_never_hide_a_key(names, skipped):
    skipped = min(skipped, len(names) - 1)
    mask = may_hold_keys(*text_buffer(pa.array(names)[skipped:]))
    for name, may_hold in zip(names[skipped:], mask, strict=True):
        assert may_hold or not find_in_name(name)


def test_times_and_short_ids_hold_no_key_by_their_bytes():
    names = pa.array(["2026-01-05T07:00:00+00:00", "messages.jsonl#12", "", "m123", "m124", "m125", "m126"])
    assert not may_hold_keys(*text_buffer(names)).any()
    assert not may_hold_keys(*text_buffer(pa.array([""]))).any()


def test_small_talk_needs_no_exact_look():
    texts = pa.array(["See you at ten, then.", "That was a lovely walk!", "ok 👍", "Ja, gern."])
    assert needed_families(texts, may_instruct=False).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("exact", "loose"),
    [
        (r"(?<!\w)pin(?!\w)", "pin"),
        (r"a(?=[)]|\))b", "ab"),
        (r"x{0,4}y{1,9}z{3}", "x*y+z{3}"),
        (r"(?:^|\n)[^a]", r"(?:|\n)[^a]"),
    ],
)
def test_look_arounds_and_upper_bounds_are_dropped(exact, loose):
    assert loosened(re.compile(exact)) == loose


HOSTILE = [
    "password ", "my password is a ", "password for a b c d ", "don't save this ", "what i am a b c ",
    "-----BEGIN RSA PRIVATE KEY-----", "eyJ", "eyJa.", "sk-", "1 ", "4111 ", "DE89 ",
    "a" * 40 + "=", "://", "://a:b",
    'token="', "token=", "<!--", "display:none ", "between us ", "%41", "&#65;", "a\u200b", "aа",
    "QUJDREVGR0hJSktM",
    '="', "\t", "\n", "(", '\\"', "would be so lovely if the ",
    "mysql ", "mysql -p", "changed my password from ", "laptop opens with ", "pass is ",
    "passport number ", "my passport 1 ", "driving licence 9/", "1/a", "X1 ", "id card no A1-",
    "account number ", "AKIAQWERTYUIOPASDFGH ", "do not remember that my ", "ssn ", "219-09-",
    "add to a b ", "assistant ", "-u a:", "bearer ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_repeated_trigger_makes_the_look_quadratic(piece):
    text = piece * (10_000 // len(piece))
    begun = process_time()
    find_in_text(text, RULES)
    find_in_json(json.dumps({"a": text}), RULES)
    assert process_time() - begun < 1  # linear: about 0.05 s; quadratic: tens of seconds


def test_the_bulk_filter_names_every_family_that_finds_something_in_the_golden_cases():
    lines = (GOLDEN / "extraction" / "variations.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    needed = needed_families(pa.array(texts), may_instruct=False)
    for text, families in zip(texts, needed.tolist(), strict=True):
        assert find_in_text(text, RULES, families) == find_in_text(text, RULES), text
