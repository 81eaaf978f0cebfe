"""What a match says whatever its value is found once per wording, never where more decides it."""

from amos.extraction.grammar import load_grammar
from amos.extraction.propose import propose
from claims_read import sources


def slots(texts, **settings):
    """Return (subject, property, modality) of the claims of one batch, in order."""
    claims = propose(sources(texts, **settings), load_grammar(), is_compiled=False).claims.to_pylist()
    return [(claim["subject"], claim["property"], claim["modality"]) for claim in claims]


def test_a_number_is_a_phone_number_by_its_value_alone():
    named = [name for _, name, _ in slots(["My phone is a Fairphone.", "My phone is 0471 555 019."])]
    assert named == ["phone", "phone number"]


def test_a_genitive_takes_the_property_said_before_it_in_its_own_text():
    texts = ["My hat size is M; my cousin's is XL.", "My badge colour is teal; my cousin's is navy."]
    assert [name for _, name, _ in slots(texts)] == ["hat size", "hat size", "badge colour", "badge colour"]


def test_a_pronoun_stands_for_the_subject_of_its_own_text():
    found = slots(["My son is four and he likes trams.", "My nephew is nine and he likes kites."])
    assert [subject for subject, name, _ in found if name == "preference"] == ["user's son", "user's nephew"]


def test_the_same_words_from_another_source_are_another_voices():
    found = slots(["My bike colour is 7.", "My bike colour is 9."], trust=["trusted_user", "untrusted_web"])
    assert [subject for subject, _, _ in found] == ["user", "page author"]


def test_the_same_words_in_doubt_and_asked_keep_their_moods():
    texts = ["My desk height is 9.", "Maybe my desk height is 7.", "My desk height is 8."]
    assert [mood for _, _, mood in slots(texts)] == ["asserted", "uncertain", "asserted"]
