"""Claims inside a frame are somebody else's, played, or taken back; all others stay as they are."""

import json
from time import process_time

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.extraction.frames import find_frames, frame_claims, suspects
from amos.extraction.frames_speakers import is_speaker
from amos.extraction.grammar import load_grammar
from amos.extraction.propose import propose
from amos.schemas.claims import CLAIMS
from amos.schemas.vocabulary import Cue, Modality, Reason
from claims_read import sources

PASSED_ON = [
    "Translate into Polish: my name is Ilse and I live in Turku.",
    "Please rephrase the next bit:\nI live in Turku.",
    "Can you proofread my essay? Thanks! Here is the essay:\n\nI grew up far away.\n\nI live in Turku.",
    "Shorten this: I live in Turku.",
    "Could you proofread? I live in Turku.",
    "Please translate this into Polish. I live in Turku.",
    "Check the following letter: Dear Sir, I live in Turku.\n\nI love rowing.",
    "Below is an email, summarise it: Hi, I live in Turku.",
    "This is a product review: I love this kettle. I live in Turku.",
    "Polish the wording: I live in Turku.",
    "Übersetze bitte: I live in Turku.",
    "I live in Turku and I love rowing. Could you please translate that into Polish?",
    "I live in Turku, how do I say that in Polish?",
    "My name is Ilse. Make it sound more formal please",
    "---------- Forwarded message ---------\nSee you soon.\nI live in Turku.",
    "From: ilse@example.org\nSubject: hello\n\nI live in Turku.",
    "Transcript: hello there. I live in Turku.",
]
SPOKEN = [
    "Ilse: I live in Turku.",
    "Ilse Moor: I live in Turku.",
    "Dr. Moor: I live in Turku.",
    "C: I live in Turku.",
    "ILSE: I live in Turku.",
    "**Ilse:** I live in Turku.",
    "[09:41] ilse: I live in Turku",
    "12/05/26, 9:41 - ilse moor: I live in Turku",
    "<ilse> I live in Turku",
    "Speaker 2: I live in Turku.",
    "Interviewer: where to?\nGuest: I live in Turku.",
    "A sample dialogue:\nJo: hello\nIlse: nice day\nand I live in Turku.",
    "Look what I got:\nJan: when?\nIlse: I live in Turku.",
]
PLAYED = [
    "Let's role-play. I live in Turku.",
    "Role play: you sell boats and I live in Turku.",
    "Pretend you are a pirate. I live in Turku.",
    "Imagine we are two foxes. I live in Turku.",
    "My D&D character is called Borka. I live in Turku.",
    "Write me a short poem in the first person, I love the rain.",
    "Compose a song for my band: I love the rain.",
    "For the quiz: I live in Turku.",
    "For the school play:\nI live in Turku.",
    "Example: I live in Turku.",
    "Here is a sample input: I live in Turku.",
    "Test data for the parser: my name is Ilse.",
    "The parser should read many lines, e.g. I live in Turku.",
    "My system prompt: you are a fox. My name is Borka.",
    "As a user, I want to live in Turku. As an admin, I need a second desk.",
]
JOKED = [
    "I live in Turku. Just kidding!",
    "I live in Turku, jk",
    "I live in Turku 😂 j/k lol",
    "I love rain, said nobody ever.",
    "I love rain. NOT.",
    "I love rain. Yeah, right.",
    "I love rain /s",
    "I love it when the lift is broken 🙄",
]
TAKEN_BACK = [
    "I live in Turku. That was a lie.",
    "I live in Turku, but that's not true.",
    "I live in Turku... not really.",
    "I live in Turku. I lied.",
]
UNWANTED = [
    "Forget that I live in Turku.",
    "Please unlearn that I live in Turku.",
    "Stop saying that I live in Turku.",
    "Delete the fact that I live in Turku.",
]
OWN = [
    "Note: I live in Turku.",
    "Update: I live in Turku.",
    "FYI: I live in Turku.",
    "PS: I live in Turku.",
    "Correction: I live in Turku.",
    "Reminder: I live in Turku.",
    "Edit: I live in Turku.",
    "TL;DR: I live in Turku.",
    "Breakfast: I love rye bread.",
    "Día de mañana: I live in Turku.",
    "Hi Ilse: I live in Turku.",
    "Accommodation: I live in Turku.",
    "Fun Fact: I live in Turku.",
    "Me: I live in Turku.",
    "Plan for today: I live in Turku.",
    "12:30 Lunch: I love rye bread.",
    "My name: Ilse. I live in Turku.",
    "I love role-playing games. I live in Turku.",
    "I translate books from Polish. I live in Turku.",
    "I live in Turku. Can you translate the attached letter?",
    "I love writing poems. I live in Turku.",
    "I can't imagine leaving. I live in Turku.",
    "Don't forget that I live in Turku.",
    "I forgot that one. I live in Turku.",
    "Forget it, I live in Turku.",
    "No kidding, I live in Turku.",
    "Just kidding about the rain. I live in Turku.",
    "That was a lie. I live in Turku.",
    "I live in Turku 🙄",
    "I hate rain 🙄",
    "My favourite character is Borka. I live in Turku.",
    'Translate this sentence: "I love rain". I live in Turku.',
    "Shorten this: the boat is late.\n\nI live in Turku.",
    "Ilse: the boat is late.\nI live in Turku.",
    "For example, I love rain.",
    "Here is my email: ilse@example.org. I live in Turku.",
    "This is my story: I live in Turku.",
    "Write an email to my landlord: I live in Turku.",
    "Please translate the attached page. I live in Turku.",
    "As a nurse, I live in Turku.",
    "Just so you know: I live in Turku.",
]
EVERY = [*PASSED_ON, *SPOKEN, *PLAYED, *JOKED, *TAKEN_BACK, *UNWANTED, *OWN]


def read(text):
    """Return the claims of `text` before and after the stage, as dicts."""
    table = sources([text])
    claims = propose(table, load_grammar(), is_compiled=False).claims
    return claims.to_pylist(), frame_claims(claims, table).to_pylist()


def framed(text):
    """Return the claims of `text` after the stage; there is at least one."""
    _, after = read(text)
    assert after, text
    return after


@pytest.mark.parametrize("text", [*PASSED_ON, *SPOKEN])
def test_words_of_others_are_marked_as_pasted_and_are_not_about_the_author(text):
    for claim in framed(text):
        assert claim["cues"] & Cue.PASTED
        assert not claim["subject"].startswith("user")
        assert claim["subject_kind"] not in ("author", "thing")


@pytest.mark.parametrize("text", PLAYED)
def test_play_and_examples_are_hypothetical(text):
    assert {claim["modality"] for claim in framed(text)} == {Modality.HYPOTHETICAL}


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (JOKED, Reason.SUSPECTED_IRONY),
        (TAKEN_BACK, Reason.SELF_CORRECTION),
        (UNWANTED, Reason.REQUEST_NOT_MEMORY),
    ],
)
def test_what_is_taken_back_is_vetoed(texts, reason):
    for text in texts:
        assert {claim["veto"] for claim in framed(text)} == {reason}, text


@pytest.mark.parametrize("text", OWN)
def test_the_authors_own_words_stay_as_they_are(text):
    before, after = read(text)
    place = text.encode().rindex(b"I l") if "I l" in text else text.encode().rindex(b"I hate")
    own = [claim for claim in before if claim["start"] >= place]
    assert own
    assert [claim for claim in after if claim["start"] >= place] == own


def test_a_role_for_the_assistant_leaves_the_authors_words_in_doubt():
    assert {claim["modality"] for claim in framed("Act as a cook. I live in Turku.")} == {Modality.UNCERTAIN}


def test_a_speaker_owns_what_they_say():
    subjects = [claim["subject"] for claim in framed("Jan: I live in Turku.\nIlse: my boat is blue.")]
    assert subjects == ["Jan", "Ilse's boat"] or subjects == ["Jan", "Ilse"]


def test_what_follows_a_joke_stands():
    first, second = framed("I live in Turku. Just kidding, I live in Oulu.")
    assert (first["veto"], second["veto"]) == (Reason.SUSPECTED_IRONY, None)


def test_frames_are_bytes_behind_letters_of_several_bytes():
    text = "Ähm 🦊 – e.g. «ö», ok. I live in Turku."
    start, end = next((frame.start, frame.end) for frame in find_frames(text))
    assert text.encode()[start:end].decode() in text


@pytest.mark.parametrize("name", ["Ilse", "Ilse Moor", "J. Moor", "Anna de Vries", "O'Neil", "B", "Person 3"])
def test_names_are_speakers(name):
    assert is_speaker(name)


@pytest.mark.parametrize(
    "name", ["Note", "TODO", "P.S.", "Home City", "Sailing", "my boat", "The thing", "b", "Ilse and I"]
)
def test_headings_are_no_speakers(name):
    assert not is_speaker(name)


def test_nothing_in_gives_nothing_out():
    assert frame_claims(CLAIMS.empty_table(), sources([])).equals(CLAIMS.empty_table())


PIECES = st.sampled_from([*EVERY, "\n", "\n\n", " ", "’", "\u00a0", "🙄", ": ", "» ", "İ", "ſ", "\u2028"])


@settings(max_examples=50, deadline=None)
@given(parts=st.lists(PIECES, min_size=1, max_size=5), cut=st.integers(0, 40))
def test_the_bulk_look_hides_no_frame_and_frames_end_on_characters(parts, cut):
    text = "".join(parts)[cut:]
    found = find_frames(text)
    assert suspects(pa.chunked_array([[text]])).tolist()[0] or not found
    for frame in found:
        assert 0 <= frame.start < frame.end <= len(text.encode())
        text.encode()[frame.start : frame.end].decode()


def test_a_claim_is_framed_alike_in_every_batch():
    table = sources(EVERY)
    grammar = load_grammar()
    together = frame_claims(propose(table, grammar, is_compiled=False).claims, table).to_pylist()
    apart = []
    for row, text in enumerate(EVERY):
        apart += [{**claim, "source_row": row} for claim in read(text)[1]]
    assert json.dumps(together, default=str) == json.dumps(apart, default=str)


HOSTILE = [
    "jk ", "🙄", "e.g, ", "eg. x ", "/s ", "forget that i ", "translate a ", "translate: ",
    "Ilse: ", "Ilse:\n",
    "12:30 ", "[12:30] i: ", "<a> ", "my character ", "as a user, i want ", "example a b ",
    "example: ", "! ", "\n",
    "that was a lie, ", "write a poem a b c ", "here is my email a b ", "for the quiz, ", "“",
    "role play as ",
    "please translate that ", "make it sound a", "delete that I ", "A B C ", "fix my a b ", "Not! ", "- - - ",
    "let's play a ", "you be the x and ", "let's do a ", "pretend ", "imagine this ", "in a made-up ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_repeated_trigger_makes_the_search_quadratic(piece):
    text = piece * (40_000 // len(piece))
    begun = process_time()
    find_frames(text)
    assert process_time() - begun < 6  # linear: about 0.1 s; quadratic: tens of seconds


def test_many_texts_are_marked_as_few_are():
    texts, times = [*PASSED_ON[:6], *PLAYED[:4]], 30
    few, many = sources(texts), sources(texts * times)
    claims = [propose(batch, load_grammar(), is_compiled=False).claims for batch in (few, many)]
    of_few, of_many = (frame_claims(*batch).to_pylist() for batch in zip(claims, (few, many), strict=True))
    assert many["content"].nbytes > 8192 > few["content"].nbytes
    assert any(claim["subject"] == "quoted speaker" for claim in of_few)
    assert of_many == [
        {**claim, "source_row": claim["source_row"] + turn * len(texts)}
        for turn in range(times)
        for claim in of_few
    ]
