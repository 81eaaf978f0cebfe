import re
import sys
import unicodedata

import pytest

from amos.retrieval import scripts


def test_every_combining_mark_of_the_basic_plane_belongs_to_a_word():
    inside = re.compile(f"[{scripts.MARKS}{scripts.UNSPACED_PAIRS}{scripts.UNSPACED_TRIPLES}]")
    selectors = range(0xFE00, 0xFE10)
    outside = [
        code
        for code in range(min(sys.maxunicode, 0xFFFF))
        if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me"}
        and code not in selectors
        and not inside.match(chr(code))
    ]
    assert outside == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Stairs at 12-B, v3.1.4!", ["Stairs", "at", "12-B", "v3.1.4"]),
        ("мёд и хлеб", ["мёд", "и", "хлеб"]),
        ("हिन्दी किताब", ["हिन्दी", "किताब"]),
        ("鍵は棚", ["鍵は棚"]),
        ("私のiPhoneです", ["私の", "iPhone", "です"]),
        ("บ้านสีฟ้า 2 หลัง", ["บ้านสีฟ้า", "2", "หลัง"]),
        ("honey🍯🏽jar", ["honey", "🍯", "jar"]),
        ("to 🇧🇷 and back", ["to", "🇧🇷", "and", "back"]),
        ("e\u0301clair", ["e\u0301clair"]),
        ("هل العسلُ حلوٌ؟", ["هل", "العسلُ", "حلوٌ"]),
    ],
)
def test_words_end_where_their_script_says(text, words):
    assert scripts.word_pattern().findall(text) == words


def test_ascii_text_is_cut_the_same_way_by_both_patterns():
    text = "It's 10:30, mail ann@post.example about B-12/4 (v2.0.1); don't wait... x_y"
    assert scripts.ASCII_WORD.findall(text) == scripts.word_pattern().findall(text)


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("Crème", "creme"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Ørsted", "orsted"),
        ("Ёж", "еж"),
        ("чай", "чай"),
        ("Ωραίος", "ωραιοσ"),
        ("ＴＥＡ", "tea"),
        ("إسلام", "اسلام"),
        ("e\u0301te\u0301", "ete"),
    ],
)
def test_folding_drops_what_people_leave_out(word, plain):
    assert scripts.folded(scripts.lowered(word)) == plain
