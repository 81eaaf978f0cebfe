import pytest

from proposed import lines_of


@pytest.mark.parametrize(
    "text",
    [
        "My locker is B12, isn't it",
        "My locker is B12, or was it B21?",
        "My locker is B12, but I'd have to check.",
        "Great, my laptop is broken again.",
        "Per the landlord, my deposit is gone.",
        "Her note reads: my locker is B12",
        "Turn this into a rhyme: my locker is B12",
    ],
)
def test_what_is_left_open_not_meant_or_given_to_others_is_not_written(text):
    assert not [line for line in lines_of(text) if line["outcome"] in ("commit", "link")]


@pytest.mark.parametrize(
    "text",
    [
        "My locker is B12. Is it raining?",
        "Please remember this: my locker is B12",
        "Fun fact: my locker is B12",
        "Great, my locker is B12.",
        "Oh yeah, my locker is B12.",
    ],
)
def test_what_is_stated_beside_a_question_a_lead_or_a_cheer_is_written(text):
    assert [line for line in lines_of(text) if line["outcome"] == "commit"]
