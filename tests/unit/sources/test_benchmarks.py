"""LoCoMo and LongMemEval as inputs: dates as people write them, gold answers left out."""

import json

import pytest

from delivered import delivered, document, lines


def spoken(speaker, dia_id, text="hello", **fields):
    return {"speaker": speaker, "dia_id": dia_id, "text": text} | fields


def sample(**fields):
    conversation = {"speaker_a": "Ada", "speaker_b": "Bo"} | fields
    return {"sample_id": "s1", "qa": [{"question": "secret answer?"}], "conversation": conversation}


def locomo(tmp_path, *samples):
    return delivered(document(tmp_path / "x.json", list(samples)), format="locomo")


def test_sessions_follow_their_numbers_and_carry_their_date(tmp_path):
    found = locomo(
        tmp_path,
        sample(
            session_10=[spoken("Ada", "D10:1")],
            session_10_date_time="12:09 am on 13 September, 2023",
            session_2=[spoken("Bo", "D2:1"), spoken("Ada", "D2:2")],
            session_2_date_time="1:56 pm on 8 May, 2023",
        ),
    )
    assert [(b.record_key, b.session, b.turn, b.event_us) for b in found.blocks] == [
        ("s1/D2:1", "2", 0, 1683554160000000),
        ("s1/D2:2", "2", 1, 1683554160000000),
        ("s1/D10:1", "10", 2, 1694563740000000),
    ]


def test_both_speakers_are_named_people_and_neither_is_the_user(tmp_path):
    found = locomo(
        tmp_path, sample(session_1=[spoken("Ada", "D1:1"), spoken("Bo", "D1:2"), spoken(None, "D1:3")])
    )
    assert [(b.author, b.trust, b.is_owner) for b in found.blocks] == [
        ("Ada", "trusted_user", False),
        ("Bo", "trusted_user", False),
        (None, "trusted_user", False),
    ]


def test_a_caption_is_no_word_of_the_speaker(tmp_path):
    found = locomo(tmp_path, sample(session_1=[spoken("Bo", "D1:1", blip_caption="a dog", img_url=["u"])]))
    assert [(b.kind, b.trust, b.text, b.is_owner) for b in found.blocks] == [
        ("text", "trusted_user", "hello", False),
        ("caption", "tool", "a dog", False),
    ]


def test_answers_never_enter_and_that_is_said(tmp_path):
    found = locomo(tmp_path, sample(session_1=[spoken("Ada", "D1:1")]))
    assert found.codes == ["left_out"]
    assert "secret" not in "".join(f"{b.text}{b.extra}" for b in found.blocks)


def test_malformed_samples_cost_only_themselves(tmp_path):
    found = locomo(
        tmp_path,
        {"sample_id": "s0"},
        sample(
            session_1=[None, spoken("Ada", None), spoken("Ada", "D1:3", text=None)],
            session_2="x",
            session_1_date_time="?",
        ),
    )
    assert sorted(found.codes) == [
        "left_out",
        "missing_id",
        "time_invalid",
        "wrong_type",
        "wrong_type",
        "wrong_type",
    ]
    assert found.texts == ["hello", ""]


@pytest.mark.parametrize("key", [None, "", ["x"]])
def test_a_sample_without_an_id_has_a_stable_one(tmp_path, key):
    nameless = sample(session_1=[spoken("Ada", "D1:1")]) | {"sample_id": key}
    assert locomo(tmp_path, nameless).keys == locomo(tmp_path, sample(), nameless).keys


def question(number, **fields):
    return {"question_id": f"q{number}", "question": "secret?", "answer": "secret"} | fields


def haystack(tmp_path, *questions):
    return delivered(document(tmp_path / "x.json", list(questions)), format="longmemeval")


def test_a_session_of_two_questions_is_the_same_records(tmp_path):
    shared = [{"role": "user", "content": "a", "has_answer": True}, {"role": "assistant", "content": "b"}]
    found = haystack(
        tmp_path,
        question(
            1,
            haystack_session_ids=["x"],
            haystack_dates=["2023/05/20 (Sat) 02:21"],
            haystack_sessions=[shared],
        ),
        question(2, haystack_session_ids=["y", "x"], haystack_dates=[], haystack_sessions=[[], shared]),
    )
    assert found.record_count == 4
    assert found.keys[:2] == found.keys[2:]
    assert [b.event_us for b in found.blocks] == [1684549260000000] * 2 + [None] * 2
    assert "secret" not in json.dumps([b.extra for b in found.blocks])


def test_malformed_haystacks_cost_only_themselves(tmp_path):
    good = question(
        3,
        haystack_session_ids=["x"],
        haystack_dates=["2023/05/20"],
        haystack_sessions=[[{"role": "user", "content": "ok"}]],
    )
    odd = question(
        2,
        haystack_sessions=["x", [5, {"role": "user", "content": [1]}, {"content": "who"}]],
        haystack_dates="?",
    )
    found = haystack(tmp_path, question(1), odd, good)
    assert found.texts == ["", "who", "ok"]
    assert [b.trust for b in found.blocks] == ["trusted_user", "tool", "trusted_user"]
    assert found.lost == [(1, "wrong_type"), (2, "wrong_type"), (2, "wrong_type")]
    assert json.loads(found.blocks[0].extra) == {"content": [1]}


@pytest.mark.parametrize("number", [10**400, 2**63, -1, True, "1", None])
def test_a_turn_of_a_dialogue_set_without_a_count_is_lost_and_the_rest_is_read(tmp_path, number):
    turn = {"doc_id": "d", "conv_id": "c", "turn": 0, "speaker": "Ada", "text": "Hello."}
    found = delivered(lines(tmp_path / "set.jsonl", [turn, {**turn, "doc_id": "e", "turn": number}]))
    assert (found.texts, found.lost) == (["Hello."], [(2, "wrong_type")])
