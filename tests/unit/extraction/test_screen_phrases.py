from hypothesis import given, settings
from hypothesis import strategies as st

from amos.extraction.screen_nouns import NOUN, find_nouns
from amos.extraction.screen_phrases import find_phrases, is_plausible_password
from screen_samples import HARMLESS, SECRETS

SAMPLES = st.sampled_from(
    [text for text, _ in SECRETS] + HARMLESS + ["filler words of no weight, " * 12, "İ", "ſ"]
)


@settings(max_examples=50, deadline=None)
@given(text=st.lists(SAMPLES, min_size=1, max_size=6).map(" ".join))
def test_windows_lose_no_noun(text):
    whole = [match.span() for match in NOUN.finditer(text)]
    assert [match.span() for match in find_nouns(text)] == whole


def test_every_noun_of_a_sentence_is_looked_at():
    text = "my pin is 7305 and the password is walnut-9"
    assert [text[hit.start : hit.end] for hit in find_phrases(text)] == ["7305", "walnut-9"]


def test_remarks_are_no_passwords():
    assert not any(
        map(is_plausible_password, ["wrong", "required", "expired", "too", "str", "abc", "${PW}", "****"])
    )


def test_plain_and_made_up_words_are_passwords():
    assert all(map(is_plausible_password, ["walnut", "Kestrel!9", "a1b2", "correcthorse"]))
