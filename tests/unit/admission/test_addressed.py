"""What an agent tells somebody is found as what they had said, and nothing else is."""

import pyarrow as pa
import pytest

from amos.admission.addressed import may_address, readings_of
from amos.admission.tombstones import Graves
from amos.kernels.wordings import wording_of

KEY = b"k" * 32
SCOPE = (None, None, None, None, None)

ECHOES = [
    ("I live in Ghent", "You live in Ghent, noted."),
    ("I live in Ghent", "Got it — you live in Ghent!"),
    ("I live in Ghent", "Do you live in Ghent?"),
    ("We moved to Oslo", "OK, you moved to Oslo."),
    ("My favourite tea is Assam", "So your favourite tea is Assam."),
    ("Our dog is called Rex", "Your dog is called Rex, right"),
    ("I'm allergic to peanuts", "Since you're allergic to peanuts, I leave them out."),
    ("I'm allergic to peanuts", "You are allergic to peanuts"),
    ("I am allergic to peanuts", "you’re allergic to peanuts"),
    ("I was born in 1990", "You were born in 1990."),
    ("I've been to Peru", "you have been to Peru"),
    ("My sister calls me Bo", "Your sister calls you Bo."),
    ("User's home city is Ghent", "Your home city is Ghent."),
    ("User likes green tea", "Noted: you like green tea."),
    ("User studies law in Ghent", "You study law in Ghent"),
    ("User has two cats", "You have two cats."),
    ("Ich wohne in Köln", "Du wohnst in Köln, verstanden."),
    ("Ich wohne in Köln", "Sie wohnen in Köln."),
    ("Ich arbeite bei Umbra", "Also arbeitest du bei Umbra"),
    ("Ich arbeite bei Umbra", "Du arbeitest bei Umbra."),
    ("I am allergic to peanuts", "Are you allergic to peanuts?"),
    ("Ich wohne in Köln", "Dann wohnst du in Köln."),
    ("Ich heiße Jonte", "Schön, du heißt Jonte!"),
    ("Ich mag grünen Tee", "Du magst grünen Tee"),
    ("Ich esse kein Fleisch", "Du isst kein Fleisch."),
    ("Ich bin allergisch gegen Nüsse", "Da du gegen … nein: Sie sind allergisch gegen Nüsse"),
    ("Mein Lieblingstee ist Assam", "Dein Lieblingstee ist Assam."),
    ("Mein Lieblingstee ist Assam", "Ihr Lieblingstee ist Assam."),
    ("Meine Schwester heißt Ana", "deine Schwester heißt Ana"),
    ("J'habite à Lyon", "Tu habites à Lyon, c'est noté."),
    ("J'habite à Lyon", "Vous habitez à Lyon."),
    ("Je suis végétarien", "Bien, tu es végétarien"),
    ("Je n'aime pas le thé", "Vous n'aimez pas le thé."),
    ("Je m'appelle Solène", "Tu t'appelles Solène."),
    ("Je préfère le thé vert", "vous préférez le thé vert"),
    ("Mon thé préféré est l'Assam", "Ton thé préféré est l'Assam."),
    ("Ma sœur vit à Nice", "Votre sœur vit à Nice."),
    ("Vivo en Sevilla ahora", "Vives en Sevilla ahora, anotado."),
    ("Yo vivo en Sevilla", "Entonces usted vive en Sevilla"),
    ("Vivo en Sevilla", "Usted vive en Sevilla."),
    ("Me gusta el mate", "Te gusta el mate."),
    ("Me llamo Inés Roca", "Usted se llama Inés Roca."),
    ("Soy alérgica al polen", "Eres alérgica al polen."),
    ("Mi color favorito es el verde", "Tu color favorito es el verde"),
    ("Mi color favorito es el verde", "Su color favorito es el verde."),
]  # fmt: skip


def found(said, told, *, addressing=True):
    graves = Graves.for_passages([(tuple(wording_of(said).words), SCOPE)], KEY)
    return graves.passages([told], [SCOPE], [addressing])


@pytest.mark.parametrize(("said", "told"), ECHOES)
def test_what_is_told_to_somebody_is_found_as_they_said_it(said, told):
    assert found(said, told)
    assert may_address(pa.array([told])).tolist() == [True]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I live in Ghent", "She lives in Ghent."),
        ("I live in Ghent", "You live in Bruges."),
        ("My favourite tea is Assam", "Her favourite tea is Assam."),
        ("Ich wohne in Köln", "Er wohnt in Köln, nicht du."),
    ],
)
def test_what_is_said_of_somebody_else_is_not(said, told):
    assert found(said, told) == []


def test_the_bytes_that_are_found_are_those_of_the_sentence():
    told = "Verstanden – du wohnst in Köln, schön."
    (passage,) = found("Ich wohne in Köln", told)
    assert told.encode()[passage.start : passage.end].decode() == "du wohnst in Köln"


def test_what_nobody_addresses_is_read_no_further():
    assert found("I live in Ghent", "You live in Ghent", addressing=False) == []
    assert list(readings_of("The boats leave at noon.")) == []
    assert may_address(pa.array(["The boats leave at noon.", None])).tolist() == [False, False]
