"""Rows of a model are checked against the text; what does not hold is refused with a reason."""

import hashlib

import pytest

from amos.extraction.model import ModelExtractor
from amos.extraction.model_claims import MOST_CLAIMS, claim_rows_of
from claims_read import sources

TEXT = "Grüße! My locker is B12, and Petra's extension is 4417. Is the pool open?"


def read(*rows):
    return list(claim_rows_of(list(rows), TEXT, 0))


def row(**fields):
    return {"type": "belief", "property": "locker", "value": "B12", "quote": "My locker is B12", **fields}


def test_a_row_stands_on_the_bytes_of_its_quote():
    (claim,) = read(row())
    assert TEXT.encode()[claim["start"] : claim["end"]] == b"My locker is B12"
    assert (claim["property"], claim["value"], claim["veto"]) == ("locker", "B12", None)


def test_a_span_is_in_bytes_and_a_right_digest_is_accepted():
    start = TEXT.encode().index(b"My locker")
    said = b"My locker is B12"
    digest = hashlib.sha256(said).hexdigest()
    (claim,) = read(row(quote=None, span=[start, start + len(said)], excerpt_sha256=digest))
    assert (claim["start"], claim["end"], claim["veto"]) == (start, start + len(said), None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"quote": "My locker is C40"}, "unsupported_by_source"),
        ({"value": "C40"}, "unsupported_by_source"),
        ({"quote": None}, "unsupported_by_source"),
        ({"subject": "Zanzibar"}, "unsupported_by_source"),
        ({"quote": "Petra", "span": [0, 4]}, "unsupported_by_source"),
        ({"quote": None, "span": [0, 9_999]}, "evidence_span_out_of_range"),
        ({"quote": None, "span": [-3, 4]}, "evidence_span_out_of_range"),
        ({"quote": None, "span": [4, 4]}, "evidence_span_out_of_range"),
        ({"quote": None, "span": [3, 10]}, "evidence_span_out_of_range"),  # inside the bytes of "ü"
        ({"excerpt_sha256": "0" * 64}, "evidence_excerpt_digest_mismatch"),
        ({"type": "covenant"}, "malformed_model_output"),
        ({"type": None}, "malformed_model_output"),
        ({"polarity": "sideways"}, "malformed_model_output"),
        ({"confidence": 900}, "malformed_model_output"),
        ({"value": None}, "malformed_model_output"),
        ({"property": "x" * 500}, "malformed_model_output"),
        ({"trust": "trusted_user"}, "malformed_model_output"),
        ({"scope": {"user": "admin"}}, "malformed_model_output"),
    ],
)
def test_what_does_not_hold_is_refused_and_nothing_of_it_is_kept(change, reason):
    (claim,) = read(
        {key: value for key, value in row(**change).items() if value is not None or key == "type"}
    )
    assert claim["veto"] == reason
    assert (claim["property"], claim["value"]) == (None, None)
    assert "C40" not in claim["payload"]


@pytest.mark.parametrize("answer", [None, "My locker is B12", 7, {}, [[]], [None], [{"type": "belief"}]])
def test_answers_of_another_shape_are_one_refusal_each(answer):
    claims = list(claim_rows_of(answer, TEXT, 0))
    assert [claim["veto"] for claim in claims] in (["malformed_model_output"], ["unsupported_by_source"])


def test_more_rows_than_a_text_may_have_are_refused_each_with_its_number():
    claims = read(*[row()] * (MOST_CLAIMS + 2))
    refused = [claim for claim in claims if claim["veto"]]
    assert len(refused) == 2
    assert len({claim["payload"] for claim in refused}) == 2


class Told:
    """Answers given by a test."""

    written_to = None

    def __init__(self, answers):
        self.failures = {}
        self._answers = answers

    def of(self, texts):
        return {text: self._answers[text] for text in texts if text in self._answers}


def proposed(answers, *texts, **settings):
    return ModelExtractor(Told(answers)).propose(sources(list(texts), **settings), is_compiled=False)


def test_a_question_stays_one_whatever_the_model_says():
    text = "Is my locker B12?"
    found = proposed({text: [row(quote="my locker B12")]}, text).claims.to_pylist()
    assert [claim["veto"] for claim in found] == ["question"]


@pytest.mark.parametrize(
    "text",
    [
        "If my locker was B12 I would laugh.",
        "Petra says my locker is B12.",
        "Maybe my locker is B12.",
        'The poster reads "my locker is B12".',
    ],
)
def test_a_model_makes_no_claim_stronger_than_the_rules_find_it(text):
    quote = "my locker was B12" if "was" in text else "my locker is B12"
    model = proposed({text: [row(quote=quote)]}, text).claims.to_pylist()
    rules = proposed({}, text).claims.to_pylist()
    weak = [claim["veto"] or claim["modality"] != "asserted" or claim["cues"] for claim in model]
    assert all(weak), (model, rules)


def test_a_model_is_no_surer_of_a_generalisation_than_the_rules_are():
    text = "Last time the mint tea worked well."
    sure = row(type="preference", property="preference", value="mint tea", quote="mint tea", confidence=99)
    (claim,) = proposed({text: [sure]}, text).claims.to_pylist()
    assert claim["confidence"] == 40


def test_texts_without_an_answer_are_read_by_the_rules_and_say_so():
    found = proposed({}, "My crate is blue.").claims.to_pylist()
    assert [claim["value"] for claim in found] == ["blue"]
    assert found[0]["pattern"].startswith("rules/")


def test_an_empty_answer_is_a_note():
    notes = proposed({"My crate is blue.": []}, "My crate is blue.").notes.to_pylist()
    assert [note["reason"] for note in notes] == ["model_returned_no_claim"]


def test_the_words_of_an_agent_stay_an_agents():
    text = "Your locker is B12."
    found = proposed({text: [row(quote="Your locker is B12")]}, text, trust="agent", role="assistant")
    rules = proposed({}, text, trust="agent", role="assistant")
    assert found.claims.num_rows + found.notes.num_rows == 1
    assert rules.claims.num_rows == 0
