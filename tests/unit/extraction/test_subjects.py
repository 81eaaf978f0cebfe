"""Whom a claim is about."""

import pytest

from amos.extraction.subjects import Subject, find_subject


def found(kind, text="", property_name="desk", before=None, trust="trusted_user", is_other_voice=False):
    """Return subject and property for one capture."""
    return find_subject(kind, text, property_name, before, trust=trust, is_other_voice=is_other_voice)


def test_the_author_is_the_user():
    assert found("author") == (Subject("author", "user", is_person=False), "desk")


def test_a_possessive_in_the_property_names_its_holder():
    assert found("author", property_name="cousin's wedding") == (
        Subject("thing", "user's cousin", is_person=True),
        "wedding",
    )


@pytest.mark.parametrize(
    ("trust", "name"),
    [("untrusted_web", "page author"), ("tool", "tool"), ("trusted_user", "quoted speaker")],
)
def test_another_voice_is_never_the_user(trust, name):
    subject, _ = found("author", trust=trust, is_other_voice=trust == "trusted_user")
    assert (subject.kind, subject.name) == ("other", name)


def test_an_agent_speaks_of_itself():
    assert found("author", trust="agent")[0] == Subject("author", "agent", is_person=False)


def test_a_pronoun_takes_the_person_before_it_in_the_sentence_only():
    before = Subject("person", "Noor", is_person=True)
    assert found("pronoun", "Her", before=before)[0] == before
    assert found("pronoun", "Her")[0] == Subject("pronoun", "her", is_person=True)
    author = Subject("author", "user", is_person=False)
    assert found("pronoun", "Her", before=author)[0].kind == "pronoun"


def test_kin_with_a_name_is_a_person_and_a_tent_is_none():
    assert found("thing", "colleague Omar")[0].is_person
    assert not found("thing", "tent")[0].is_person
    assert found("thing", "dentists")[0].name == "user's dentist"
