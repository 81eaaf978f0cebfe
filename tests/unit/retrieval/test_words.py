import time

import numpy as np
import pytest

from amos.retrieval.language import FORM_OF
from amos.retrieval.stemming import stem_of
from amos.retrieval.words import PASSAGE_WORDS, Vocabulary, encode, segment, words_of


def terms(text):
    return [term for token in segment(text) for word in words_of(token) for term in word.main]


def test_function_words_carry_nothing():
    assert terms("What is it that you would do with them?") == []


def test_negation_is_kept():
    assert terms("I can't, never, not without") == ["not", "never", "not", "without"]


def test_inflected_and_irregular_forms_meet():
    assert stem_of("baking") == stem_of("bakes")
    assert stem_of("taught") == stem_of("teach") == stem_of("teaches")


def test_every_irregular_form_differs_from_its_base():
    assert all(form != base for form, base in FORM_OF.items())


def test_an_accented_word_also_keeps_its_exact_form():
    (word,) = words_of("Crêpe")
    assert word.main == ("crepe",)
    assert word.extra == ("=crêpe",)


def test_a_token_with_digits_stays_whole_and_gives_parts():
    (word,) = words_of("88-401")
    assert word.main == ("88-401",)
    assert word.parts == ("88", "401")
    assert words_of("3,500")[0].main == ("3500",)
    assert words_of("B12")[0].parts == ("12",)


def test_han_runs_give_pairs_and_thai_runs_triples():
    assert words_of("会議室")[0].main == ("会議", "議室")
    assert words_of("สีฟ้า")[0].main == ("สีฟ", "ีฟ้", "ฟ้า")


def test_full_width_and_half_width_forms_meet():
    assert terms("ｶﾞﾗｽ") == terms("ガラス")


def test_an_elided_article_does_not_hide_the_noun():
    assert "eglis" in terms("l'église")


@pytest.mark.parametrize("bare", ["قط", "قطة", "مدينة", "قهوة", "كتاب", "أب", "ماء", "شاي"])
def test_an_arabic_word_meets_itself_behind_the_article(bare):
    for before in ("ال", "بال", "كال", "لل") if len(bare) > 2 else ("ال",):
        assert terms(before + bare) == terms(bare)


@pytest.mark.parametrize("bare", ["مدينة", "بيت", "قهوة"])
def test_an_arabic_word_behind_and_stays_whole_and_gives_the_word(bare):
    (word,) = words_of("وال" + bare)
    assert word.parts == words_of(bare)[0].main
    assert word.main != word.parts


@pytest.mark.parametrize("whole", ["الله", "ألم", "بالغ", "بالون", "والد", "والدي", "لله"])
def test_an_arabic_word_that_begins_so_by_nature_keeps_its_beginning(whole):
    (word,) = words_of(whole)
    assert word.main[0].startswith(whole.replace("أ", "ا")[:2])
    assert word.parts == ()


def test_a_long_text_becomes_passages_that_hold_every_word():
    text = " ".join(f"word{n}" for n in range(2 * PASSAGE_WORDS + 5))
    encoded = encode(["short", text, ""], Vocabulary())
    assert encoded.text_of.tolist() == [0, 1, 1, 1, 2]
    assert encoded.passage.tolist() == [0, 0, 1, 2, 0]
    assert len(np.unique(encoded.codes)) > 2 * PASSAGE_WORDS + 5


@pytest.mark.parametrize("unit", ["a", "7", "a-", "会", "é", "ก", "a1"])
def test_a_hostile_run_costs_time_in_proportion_to_its_length(unit):
    def seconds(size):
        best = 1.0
        for _ in range(3):
            start = time.perf_counter()
            encode([unit * size], Vocabulary())
            best = min(best, time.perf_counter() - start)
        return best

    small, large = seconds(2_000), seconds(16_000)
    assert large < 8 * 6 * small + 0.02
