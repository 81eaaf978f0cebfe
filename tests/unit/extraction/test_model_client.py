"""Whatever a model's endpoint does, a run goes on: the rules read what it left, and that is counted."""

import json

import pytest

from amos.errors import CapacityError, InputError, UsageError
from amos.extraction.model import ModelExtractor
from amos.extraction.model_answers import FileAnswers, digest_of
from amos.extraction.model_client import ModelClient
from claims_read import sources
from misbehaving import model_server

TEXTS = ["My locker is B12.", "My crate is blue.", "The bus was late."]


def ask(url, path, *, timeout=5.0, texts=TEXTS):
    """Read the texts with a model at `url`; return claims, failures and the client's pauses."""
    pauses = []
    client = ModelClient(url, "tiny", key="k-1", timeout=timeout, sleep=pauses.append)
    extractor = ModelExtractor(FileAnswers(path, asking=client))
    found = extractor.propose(sources(texts), is_compiled=False)
    return found, dict(extractor.fallback_reasons), pauses


@pytest.mark.parametrize("behaviour", ["honest", "fenced", "busy once"])
def test_a_good_answer_is_taken(behaviour, tmp_path):
    with model_server(behaviour) as (url, asked):
        found, failures, _ = ask(url, tmp_path / "answers.jsonl")
    assert failures == {}
    (claim,) = found.claims.to_pylist()
    assert (claim["pattern"], claim["value"]) == ("model", "B12")
    assert {note["reason"] for note in found.notes.to_pylist()} == {"model_returned_no_claim"}
    assert asked[0]["path"] == "/v1/chat/completions"
    assert asked[0]["key"] == "Bearer k-1"


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        ("broken", "endpoint_refused"),
        ("forbidden", "endpoint_refused"),
        ("redirecting", "endpoint_refused"),
        ("not json", "malformed_response"),
        ("other shape", "malformed_response"),
        ("prose", "malformed_response"),
        ("truncated", "malformed_response"),
        ("nested", "malformed_response"),
        ("wrong numbers", "malformed_response"),
        ("hangs up", "endpoint_unreachable"),
        ("silent", "timeout"),
        ("dripping", "timeout"),
        ("endless", "response_too_large"),
    ],
)
def test_whatever_it_does_the_rules_read_what_it_left(behaviour, failure, tmp_path):
    timeout = 0.7 if failure == "timeout" else 20.0
    with model_server(behaviour) as (url, _):
        found, failures, _ = ask(url, tmp_path / "answers.jsonl", timeout=timeout)
    assert failures == {failure: len(TEXTS)}
    by_rules = {claim["value"] for claim in found.claims.to_pylist()}
    assert by_rules == {"B12", "blue"}
    assert all(claim["pattern"].startswith("rules/") for claim in found.claims.to_pylist())
    assert not (tmp_path / "answers.jsonl").exists()


def test_an_endpoint_that_is_not_there_is_left_alone_after_some_tries(tmp_path):
    texts = [f"My locker is B{number}." for number in range(60)]
    _, failures, pauses = ask("http://127.0.0.1:9/v1", tmp_path / "answers.jsonl", texts=texts)
    assert failures == {"endpoint_unreachable": 24, "endpoint_given_up": 36}
    assert len(pauses) == 6


def test_what_was_answered_is_not_asked_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    with model_server("honest") as (url, asked):
        first, _, _ = ask(url, path)
        second, failures, _ = ask(url, path)
        assert len(asked) == 1
        ask(url, path, texts=[*TEXTS, "My locker is C40."])
        assert [one["text"] for one in json.loads(asked[1]["messages"][-1]["content"])] == [
            "My locker is C40."
        ]
    assert first.claims.equals(second.claims)
    assert failures == {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["text_sha256"] for line in lines} == set(map(digest_of, [*TEXTS, "My locker is C40."]))
    assert {line["model"] for line in lines} == {"tiny"}


def test_texts_are_asked_about_in_batches(tmp_path):
    texts = [f"My locker is B{number}." for number in range(20)]
    with model_server("honest") as (url, asked):
        found, _, _ = ask(url, tmp_path / "answers.jsonl", texts=texts)
    assert [len(json.loads(one["messages"][-1]["content"])) for one in asked] == [8, 8, 4]
    assert found.claims.num_rows == 20


def test_a_line_that_a_killed_run_left_open_is_ended_and_counted(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"text": "My crate is blue.", "claims": []}\n{"text": "My lo')
    with model_server("honest") as (url, _):
        _, failures, _ = ask(url, path)
    assert failures == {"malformed_line": 1}
    assert json.loads(path.read_text().splitlines()[-1])["text_sha256"]


@pytest.mark.parametrize(
    "line", ["[]", "{}", '{"claims": []}', '{"text": 7, "claims": []}', '{"text_sha256": "zz", "claims": []}',
             '{"text": "a", "text_sha256": "' + "0" * 64 + '", "claims": []}', "nonsense", "[" * 3000],
)  # fmt: skip
def test_a_line_that_answers_no_text_is_counted(line, tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(line + "\n")
    assert FileAnswers(path).failures == {"malformed_line": 1}


def test_a_missing_file_without_a_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        FileAnswers(tmp_path / "gone.jsonl")


def test_a_file_that_cannot_be_written_ends_the_run(tmp_path):
    with model_server("honest") as (url, _), pytest.raises(CapacityError):
        ask(url, tmp_path / "no" / "answers.jsonl")


def test_an_address_that_is_none_is_refused():
    with pytest.raises(UsageError, match="no web address"):
        ModelClient("localhost:8080", "tiny")
