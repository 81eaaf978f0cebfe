from time import process_time

import pytest

from amos.extraction.forget_requests import find_requests, requests_of
from amos.schemas.vocabulary import SourceFlag
from claims_read import sources

ASKS = "Forget that I live in Ghent."


def words_of(text):
    return [one.words for one in find_requests(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ASKS, "that I live in Ghent"),
        ("Please delete what I said about my salary, thanks.", "what I said about my salary"),
        ("Remove my phone number from your memory.", "my phone number"),
        ("Don't remember my birthday any more.", "my birthday"),
        ("Vergiss, dass ich in Gent wohne.", "ich in Gent wohne"),
        ("Lösch meine Adresse aus deinem Gedächtnis.", "meine Adresse"),
        ("Olvida mi cumpleaños, por favor.", "mi cumpleaños"),
    ],
)
def test_a_request_names_what_is_to_be_forgotten(text, words):
    assert words_of(text) == [words]


def test_several_requests_of_one_message_are_told_apart():
    assert words_of("Forget my address. Forget that I own a boat.") == ["my address", "that I own a boat"]


def test_the_range_is_in_bytes_of_the_text_as_it_is():
    text = "Öl ist alle 🙂. Vergiss bitte meine Schuhgröße!"
    (found,) = find_requests(text)
    assert text.encode()[found.start : found.end].decode() == found.words == "meine Schuhgröße"


@pytest.mark.parametrize("trust", ["agent", "tool", "untrusted_web", "recall"])
def test_nobody_but_the_trusted_user_asks(trust):
    assert requests_of(sources([ASKS], trust=trust)) == {}


@pytest.mark.parametrize(
    "flag", [SourceFlag.FORWARDED, SourceFlag.WITHHELD, SourceFlag.INSTRUCTION_SHAPED, SourceFlag.OFF_THREAD]
)
def test_what_is_not_ones_own_visible_word_asks_nothing(flag):
    assert requests_of(sources([ASKS], flags=int(flag))) == {}


@pytest.mark.parametrize("kind", ["attachment", "thinking", "tool_result", "code"])
def test_only_what_is_said_asks(kind):
    assert requests_of(sources([ASKS], kind=kind)) == {}


def test_a_large_batch_finds_what_small_ones_find():
    texts = [
        ASKS,
        "My boat is Petrel.",
        "Oublie mon anniversaire.",
        "x " * 5_000,
        "Ya no guardes mi dirección.",
    ]
    at_once = requests_of(sources(texts))
    alone = {row: requests_of(sources([text])).get(0) for row, text in enumerate(texts)}
    assert at_once == {row: found for row, found in alone.items() if found}
    assert sorted(at_once) == [0, 2, 4]


@pytest.mark.parametrize(
    "piece", ["forget that I ", "delete what I said about ", "please ", '"forget my ', "vergiss "]
)
def test_a_hostile_text_takes_time_that_grows_with_its_length(piece):
    def seconds(length):
        text = piece * (length // len(piece))
        begun = process_time()
        find_requests(text)
        return process_time() - begun

    seconds(1_000)
    short, long = seconds(20_000), seconds(160_000)
    assert long < max(0.5, 24 * short)
