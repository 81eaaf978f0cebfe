"""Tokens of hard lines: where they begin and end, and what they are flagged as."""

import pytest

from amos.extraction.grammar import load_grammar
from amos.kernels.book import BREAK, END, FLAGS, NEEDED, PATTERN_MASKS, START, T
from amos.kernels.features import CLAUSE, SENTENCE
from amos.kernels.moments import mark_times
from amos.kernels.segments import mark_breaks, mark_pasted, merge_phrases
from amos.kernels.tokens import tokenise
from amos.kernels.words import CODE, CUT, EMOJI, FOREIGN, PASTED, QUOTED, STEP


def cut(text):
    """Return (token texts, flags, breaks) of one message, phrases joined."""
    raw = text.encode()
    book = load_grammar().plain_book
    tok = [0] * (T * (len(raw) + 2))
    frame = [0] * (NEEDED + book[PATTERN_MASKS])
    count = merge_phrases(tok, tokenise(raw, 0, len(raw), book, tok, frame), book)
    mark_pasted(tok, count, book)
    mark_times(raw, tok, count, book)
    mark_breaks(raw, tok, count, book)
    texts = [raw[tok[t * T + START] : tok[t * T + END]].decode() for t in range(count)]
    flags = [tok[t * T + FLAGS] for t in range(count)]
    return texts, flags, [tok[t * T + BREAK] for t in range(count)]


def words(text):
    """Return the token texts of one message."""
    return cut(text)[0]


def flagged(text, flag):
    """Return the tokens that carry `flag`."""
    texts, flags, _ = cut(text)
    return [token for token, have in zip(texts, flags, strict=True) if have & flag]


def starting(text, level):
    """Return the tokens that begin a clause (CLAUSE) or a sentence (SENTENCE)."""
    texts, _, breaks = cut(text)
    return [token for token, found in zip(texts, breaks, strict=True) if found == level]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don’t stop", ["don’t", "stop"]),
        ("Noor's hat", ["Noor", "'s", "hat"]),
        ("o'clock sharp", ["o'clock", "sharp"]),
        ("1.7 l or 41,500", ["1.7", "l", "or", "41,500"]),
        ("at 14:30 on 2031-04-06", ["at", "14:30", "on", "2031-04-06"]),
        ("tag 88-401-B", ["tag", "88-401-B"]),
        ("see https://a.example/b?c=d.", ["see", "https://a.example/b?c=d", "."]),
        ("mail me@a.example, ok", ["mail", "me@a.example", ",", "ok"]),
        ("C++ and C#", ["C++", "and", "C", "#"]),
        ("**bold** words", ["bold", "words"]),
        ("no longer here", ["no longer", "here"]),
        ("wait... what?!", ["wait", "...", "what", "?!"]),
    ],
)
def test_tokens_of_hard_lines(text, expected):
    assert words(text) == expected


def test_pictographs_with_joiners_and_skin_tones_are_one_token():
    assert flagged("board 🟩🟦👩🏽‍🚒 here", EMOJI) == ["🟩🟦👩🏽‍🚒"]


def test_other_scripts_are_flagged():
    assert flagged("мой кот and cat", FOREIGN) == ["мой", "кот"]


def test_quotes_are_flagged_up_to_their_closing_mark():
    assert "mine" not in flagged('a "b c" mine', QUOTED)
    assert flagged("it goes 'my heart' on", QUOTED) == ["'", "my", "heart", "'"]


def test_an_open_quote_without_an_end_flags_nothing():
    assert flagged('the 5" pipe is mine', QUOTED) == []


def test_fences_and_inline_code_are_one_token_each():
    assert flagged("a ```x = 1\ny``` b `z` c", CODE) == ["```x = 1\ny```", "`z`"]


def test_an_open_fence_runs_to_the_end():
    assert words("a ```b c") == ["a", "```b c"]


def test_erased_bytes_are_one_token():
    assert flagged("key \x1a\x1a\x1a end", CUT) == ["\x1a\x1a\x1a"]


def test_text_between_matching_tags_is_pasted_and_unmatched_tags_flag_nothing():
    assert "c" in flagged("a <p>b <i>c</i></p> d", PASTED)
    assert "d" not in flagged("a <p>b</p> d", PASTED)
    assert flagged("a <br> b", PASTED) == []


def test_a_block_after_a_forwarding_line_is_pasted_up_to_the_rule():
    text = "Forwarded message:\n---\nhidden\n---\nmine"
    assert "hidden" in flagged(text, PASTED)
    assert "mine" not in flagged(text, PASTED)


def test_steps_are_numbered_in_order_only():
    assert flagged("Do: 1. cut 2. wait 4. odd", STEP) == ["1.", "2."]
    assert flagged("I bought 3. Then left", STEP) == []


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Sol came. He left.", ["Dr", "He"]),
        ("It is 2.5 cm. Good.", ["It", "Good"]),
        ("Ask J. Brown. Now.", ["Ask", "Now"]),
        ("one; two", ["one", "two"]),
        ("First line\nsecond line", ["First", "second"]),
        ("She said etc. and went.", ["She"]),
    ],
)
def test_sentences_begin_where_they_should(text, sentences):
    assert starting(text, SENTENCE) == sentences


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("My hook is 7, my tag is 9", ["my"]),
        ("My hook is 7 and my tag is 9", ["and"]),
        ("I like apples, pears and plums", []),
        ("I like tea and he likes cake", ["and"]),
        ("I like tea but not milk", ["but"]),
        ("My flask is 0.7 l, not 0.5", ["not"]),
    ],
)
def test_clauses_begin_where_a_new_statement_does(text, clauses):
    assert starting(text, CLAUSE) == clauses


def test_a_long_line_that_goes_on_in_lower_case_was_wrapped():
    line = "a line of words that is long enough to have been wrapped by a mail"
    assert starting(f"{line}\nprogram", SENTENCE) == ["a"]
