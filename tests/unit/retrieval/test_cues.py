import pytest
from tests.told import Told

from amos.retrieval.cues import languages_of, read_cue
from amos.retrieval.languages import LANGUAGES
from amos.retrieval.words import segment


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("wann habe ich das gesagt", ("german",)),
        ("où est la clé de ma maison", ("french",)),
        ("dónde están mis llaves", ("spanish",)),
        ("when did I say that", ("english",)),
        ("kettle", ("english", *LANGUAGES)),
    ],
)
def test_function_words_tell_the_language_of_a_question(text, languages):
    assert languages_of(segment(text)) == languages


def texts(question, known=()):
    cue = read_cue(question, lambda term: term in known)
    return [term.texts[0] for term in cue.terms]


def test_a_word_stands_once_however_often_it_is_asked():
    assert texts("pear and pears and PEAR") == ["pear"]


def test_the_grams_of_one_run_are_one_word():
    cue = read_cue("青い棚 oak", set().__contains__)
    assert [term.word for term in cue.terms] == [0, 0, 1]


def test_an_unknown_number_falls_apart_into_its_parts():
    assert texts("88-401") == ["88", "401"]


def test_negation_is_not_required():
    cue = read_cue("not plum", bool)
    assert [(term.texts[0], term.is_required) for term in cue.terms] == [("not", False), ("plum", True)]


@pytest.mark.parametrize(("text", "means"), [("where are my keys", True), ("where are the keys", False)])
def test_first_person_means_the_owner(text, means):
    assert read_cue(text, bool).means_owner is means


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Ich habe die alten Häuser an der Küste fotografiert", "welches Haus habe ich fotografiert"),
        ("Les chevaux de la ferme sont dans le pré", "où est le cheval de la ferme"),
        ("Las llaves están en el cajón de la cocina", "dónde está la llave"),
        ("Ich habe die alten Häuser an der Küste fotografiert", "Haus"),
    ],
)
def test_inflected_forms_of_other_languages_meet(text, question):
    told = Told()
    told.turn("The barn is empty", conversation="a")
    told.turn(text, conversation="b")
    assert told.found(question) == [text]
