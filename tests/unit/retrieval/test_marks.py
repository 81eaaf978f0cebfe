"""What a text looks like beside its words, and which of it a question asks for."""

import pytest

from amos.retrieval.cues import read_cue
from amos.retrieval.marks import CUES, ENDS_AS_QUESTION, HOLDS_QUESTION, KINDS, REPLIES, cue_bit, kind_bit
from amos.retrieval.words import Vocabulary, encode


def marks(text):
    return int(encode([text], Vocabulary()).marks[0])


def has(text, name):
    names = {**{n: cue_bit(i) for i, n in enumerate(CUES)}, **{n: kind_bit(i) for i, n in enumerate(KINDS)}}
    return bool(marks(text) & names[name])


@pytest.mark.parametrize(
    ("question", "cue"),
    [
        ("When did Bo sail?", "when"),
        ("How many pears are there?", "number"),
        ("Where is the key?", "where"),
        ("Why did Bo leave?", "reason"),
        ("How did Bo feel about it?", "feeling"),
        ("Who has the key?", "name"),
    ],
)
def test_a_question_asks_for_a_type_of_answer(question, cue):
    asked = read_cue(question, lambda _: True).asked_cues
    assert CUES.index(cue) in asked


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("we sailed two weeks ago", "when"),
        ("the shed burnt in 1987", "when"),
        ("there are 14 of them", "number"),
        ("a dozen eggs", "number"),
        ("the key is in the kitchen", "where"),
        ("we met near Ghent", "where"),
        ("because it rained", "reason"),
        ("i was so proud", "feeling"),
        ("then old Marten came", "name"),
        ("two puppies", "animal"),
        ("she plays the cello", "music"),
        ("a slice of lasagna and some cookies", "food"),
    ],
)
def test_a_text_carries_what_answers_such_questions(text, mark):
    assert has(text, mark)
    assert not has("it broke down", mark)


def test_a_question_and_a_mere_reply_are_told_apart_from_statements():
    assert marks("Is it yours?") & ENDS_AS_QUESTION
    assert marks("Is it? I think so.") & (ENDS_AS_QUESTION | HOLDS_QUESTION) == HOLDS_QUESTION
    assert marks("Wow, that is great") & REPLIES
    assert marks("The key is mine") & (ENDS_AS_QUESTION | HOLDS_QUESTION | REPLIES) == 0


def test_the_first_word_of_a_sentence_is_no_proper_name():
    assert not has("Rain fell. Then snow fell.", "name")
    assert has("Rain fell on Bruges.", "name")


def test_a_kind_is_asked_for_by_its_common_name():
    assert KINDS.index("animal") in read_cue("What pets does Bo have?", lambda _: True).asked_kinds
    assert read_cue("What does Bo have?", lambda _: True).asked_kinds == ()


def test_marks_of_texts_do_not_depend_on_their_neighbours():
    texts = ["two puppies", "because it rained", "", "Is it yours?"]
    together = encode(texts, Vocabulary()).marks.tolist()
    assert together == [marks(text) for text in texts]
