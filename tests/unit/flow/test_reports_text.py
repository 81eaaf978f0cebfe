"""Any text in any script is found by its own words, and evidence points at the match, byte for byte."""

import json

import pytest

from amos.packets.packet import packet_json
from remembered import remembered, told

SCRIPTS = {
    "Chinese": ("备用钥匙放在阳台的花盆下面。", "花盆"),
    "Japanese": ("自転車の鍵は玄関の青い箱に入れました。", "青い箱"),
    "Korean": ("우산은 현관 옆 초록색 통에 있어요.", "초록색"),
    "Thai": ("กุญแจสำรองอยู่ในลิ้นชักชั้นสอง", "ลิ้นชัก"),
    "Khmer": ("កូនសោនៅក្រោមផើង", "ផើង"),
    "Burmese": ("သော့က အိုးအောက်မှာရှိတယ်", "အိုး"),
    "Arabic": ("المفتاح الاحتياطي تحت أصيص النعناع.", "أصيص"),
    "Hebrew": ("המפתח הרזרבי מתחת לעציץ", "לעציץ"),
    "Cyrillic": ("Запасной ключ лежит под горшком.", "горшком"),
    "Greek": ("Το κλειδί είναι κάτω από τη γλάστρα.", "γλάστρα"),
    "Devanagari": ("अतिरिक्त चाबी गमले के नीचे है।", "गमले"),
    "Tamil": ("சாவி பானையின் கீழ் உள்ளது", "பானையின்"),
    "Georgian": ("გასაღები ქოთნის ქვეშ დევს.", "ქოთნის"),
    "Ethiopic": ("ቁልፉ ከድስቱ ስር ነው።", "ከድስቱ"),
    "Vietnamese": ("Chìa khóa ở dưới chậu cây.", "chậu"),
    "French": ("La clé est sous le pot près du théâtre.", "théâtre"),
    "German": ("Der Schlüssel liegt in der Straße.", "Straße"),
    "Turkish": ("Anahtar İzmir kutusunda.", "İzmir"),
    "emoji": ("the left kiln 🔥 runs hot", "🔥"),
    "wide letters": ("ＡＢＣ番号は１２３", "ＡＢＣ"),
    "parted accents": ("Le ga\u0302teau est pre\u0302t", "ga\u0302teau"),
    "English": ("The theatre closes at nine.", "closes"),
}


@pytest.fixture(scope="module")
def scripts():
    lines = [told(name, text, conversation=name) for name, (text, _) in SCRIPTS.items()]
    with remembered(*lines) as memory:
        yield memory


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_word_of_each_script_finds_its_text_and_marks_the_word(scripts, name):
    text, word = SCRIPTS[name]
    assert scripts.found(word)[0] == name
    best = scripts.store.search(word).rows[0]
    marked = [text.encode()[start:end].decode() for start, end in best["matches"]]
    assert word in marked


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_text_is_translated_cut_or_normalised(scripts, name):
    text, _ = SCRIPTS[name]
    (row,) = scripts.rows_of(name)
    assert row["text"] == text
    assert row["bytes"] == len(text.encode())


def test_a_word_with_an_accent_meets_its_plain_form_and_no_longer_word():
    with remembered(
        told("plain", "We met at the cafe by the lock.", conversation="a"),
        told("accent", "Le café de la gare ouvre à sept heures.", conversation="b"),
        told("longer", "The cafeteria closes at six.", conversation="c"),
    ) as memory:
        assert memory.found("café")[0] == "accent"
        assert set(memory.found("café")) == {"accent", "plain"}
        assert memory.found("cafeteria") == ["longer"]


LONG = {
    "Thai": ("คำนำยาว ", "กุญแจอยู่ในลิ้นชัก", "ลิ้นชัก"),
    "Chinese": ("前言很长。", "备用钥匙在花盆下面。", "花盆"),
    "Czech": ("Zima byla dlouhá. ", "Klíč je v květináči. ", "květináči"),
    "emoji": ("🙂 ok ", "the ladle 🥄 hangs left", "🥄"),
    "one word": ("x", " kestrel ", "kestrel"),
}


@pytest.mark.parametrize("name", LONG)
def test_evidence_of_a_long_text_stands_around_the_match(name):
    filler, fact, word = LONG[name]
    text = filler * 600 + fact + filler * 600
    with remembered(told("m", text)) as memory:
        (row,) = memory.store.search(word).rows
        assert text.encode()[row["start"] : row["end"]].decode() == row["excerpt"]
        assert word in row["excerpt"]
        assert len(row["excerpt"]) < 1_000
        (item,) = memory.packet(word)["items"]
        assert word in item["evidence"][0]["excerpt"]


@pytest.mark.parametrize("repeats", [1, 2_000])
def test_a_fact_at_the_end_of_a_long_message_has_its_exact_span(repeats):
    head = "The queue at the depot moved without a word. " * repeats
    text = f"{head}My locker colour is teal."
    with remembered(told("m", text)) as memory:
        (row,) = [row for row in memory.listed() if row["property"] == "locker colour"]
        (piece,) = memory.store.why(row["atom_id"])["evidence"]
        assert (piece["start"], piece["end"]) == (len(head), len(text) - 1)
        assert piece["excerpt"] == "My locker colour is teal"
        assert memory.rows("sources")[0]["content"] == text
        assert memory.found("locker colour teal")[0] == "m"


RAW_TEXTS = [
    r"My build folder is C:\_tmp\new\_x",
    r"My motto is %s %% $1 \u0000 \_ <b>bold</b> &amp;",
    "My pen name is O'Hara'); DROP TABLE atoms; --",
    "My tag is #{x} ${y} {{z}} `w` \\",
    "My mark is \u202eright\u202c and \u200bnothing\ufeff.",
    "My note has\ttabs, \r\nlines and \u2028 breaks.",
]


@pytest.mark.parametrize("text", RAW_TEXTS)
def test_any_text_is_nothing_but_text(text):
    with remembered(told("m", text)) as memory:
        (row,) = memory.rows("sources")
        assert row["content"] == text
        assert memory.decided()
        for claim in memory.listed():
            for piece in memory.store.why(claim["atom_id"])["evidence"]:
                assert text.encode()[piece["start"] : piece["end"]].decode() == piece["excerpt"]
        packet = memory.store.packet(text)
        assert [item["source_id"] for item in json.loads(packet_json(packet))["items"]] == [
            memory.listed("sources")[0]["source_id"]
        ]
        assert memory.store.verify().problems == []


def test_a_budget_that_is_too_small_says_what_it_needs():
    with remembered(told("m", "My kettle is blue. " + "It whistles and whistles. " * 40)) as memory:
        packet = memory.packet("kettle blue", token_budget=20)
        assert packet["items"] == []
        needed = packet["budget"]["needed_tokens"]
        assert needed > 20
        assert len(memory.packet("kettle blue", token_budget=needed)["items"]) == 1
