"""The laws of changed texts, over every example line of the grammar: new patterns are under them at once."""

import functools

import pytest

from amos.extraction.grammar import load_grammar
from proposed import WRITTEN, proposed

KEPT = ("outcome", "subject", "property", "value", "polarity", "modality", "memory_class")


NUMERO = " no."
"""Ends no sentence before what is no capital: it may be short for "number"."""


@functools.cache
def examples():
    """Return the distinct example texts of the current grammar, and their claims."""
    lines = [example.text for pattern in load_grammar().patterns for example in pattern.examples]
    texts = list(dict.fromkeys(lines))
    return texts, [claims(lines) for lines in proposed(*texts)]


def claims(lines, *, shift=0):
    """Return what the claims of a text say and where, spans moved back by so many bytes."""
    return [
        (*(line[name] for name in KEPT), *(place - shift for place in line["span"]))
        for line in lines
        if line["span"] is not None
    ]


def written(lines):
    """Return the statements that were committed or linked."""
    return [line["statement"] for line in lines if line["outcome"] in WRITTEN]


def bare(text):
    """Return a text without its last mark."""
    return text.rstrip(".!?")


@pytest.mark.parametrize("prefix", ["🎈 ", "ok. ", "\n\n", "\u200b", "Ü! "])
def test_a_prefix_moves_every_span_by_its_bytes(prefix):
    texts, plain = examples()
    found = proposed(*(prefix + text for text in texts))
    moved = [claims(lines, shift=len(prefix.encode())) for lines in found]
    assert [(text, one) for text, one, other in zip(texts, moved, plain, strict=True) if one != other] == []


@pytest.mark.parametrize("suffix", [" Thanks!", "\n\nSee you later.", " 👍"])
def test_small_talk_behind_a_text_changes_no_claim(suffix):
    texts, plain = examples()
    ended = (text if text[-1] in ".!?…" else text + "." for text in texts)
    longer = [claims(lines) for lines in proposed(*(text + suffix for text in ended))]
    rows = zip(texts, longer, plain, strict=True)
    differing = [(text, one) for text, one, other in rows if one != other and not text.endswith(NUMERO)]
    assert differing == []


@pytest.mark.parametrize(
    "frame",
    [
        'The card said "{}" in red.',
        "Somebody wrote: “{}”",
        "{}?",
        "{}, right?",
        "Pasting the caretaker's mail:\n---\n{}.\n---\nCan you draft a reply?",
        "> {}",
        "Dana: {}.",
        "```\n{}\n```",
        "Let's pretend {}.",
        "Off the record: {}.",
        "Don't remember this: {}.",
    ],
)
def test_in_a_frame_that_takes_it_from_its_author_nothing_is_written(frame):
    texts, _ = examples()
    found = proposed(*(frame.format(bare(text)) for text in texts))
    assert [(text, written(lines)) for text, lines in zip(texts, found, strict=True) if written(lines)] == []


@pytest.mark.parametrize("trust", ["tool", "untrusted_web", "recall"])
def test_of_a_source_that_is_not_trusted_nothing_is_written(trust):
    texts, _ = examples()
    found = proposed(*texts, trust=trust)
    assert [(text, written(lines)) for text, lines in zip(texts, found, strict=True) if written(lines)] == []


def test_an_agents_own_promise_is_all_that_an_agent_can_write():
    texts, _ = examples()
    kept = [line for lines in proposed(*texts, trust="agent") for line in lines if line["outcome"] in WRITTEN]
    assert {(line["type"], line["subject"]) for line in kept} == {("commitment", "assistant")}
