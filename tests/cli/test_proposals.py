"""Claims that a model proposed, from the command line: taken, refused, fallen back, forgotten."""

import json

import pytest

from households import line, write_lines
from misbehaving import model_server

NOTES = (
    line("n1", "My locker is B12, the one by the stairs.", 1),
    line("n2", "My crate is blue.", 2),
    line("n3", "Is my badge 7?", 3),
)


@pytest.fixture
def notes(folder):
    return write_lines(folder / "notes.jsonl", *NOTES)


@pytest.fixture
def answers(folder):
    """Return a file in which a model answers two of three texts, once wrongly."""
    locker = {"type": "belief", "quote": "My locker is B12", "property": "locker", "value": "B12"}
    return write_lines(
        folder / "answers.jsonl",
        {"text": NOTES[0]["text"], "claims": [locker, {**locker, "value": "C40"}, {"type": "poem"}]},
        {"text": NOTES[2]["text"], "claims": [{**locker, "quote": "my badge 7", "value": "7"}]},
    )


def test_what_a_model_proposes_is_checked_and_decided_like_anything_else(amos, notes, answers):
    done = amos("-q", "ingest", notes, "--from", "messages", "--proposals", answers, "--json").object
    assert done["fallback_reasons"] == {"no_answer": 1}
    assert done["decisions"]["commit"] == 2
    assert done["decisions"]["reject"] == 2
    assert done["reasons"]["malformed_model_output"] == 1
    assert done["reasons"]["unsupported_by_source"] == 1
    assert done["reasons"]["question"] == 1
    said = sorted(row["statement"] for row in amos("list", "--json").rows)
    assert said == ["User's crate is blue.", "User's locker is B12."]
    rows = amos("list", "candidates", "--json").rows
    assert {row["extractor"] for row in rows} == {"proposals@1"}
    assert amos("list", "--extractor", "rules@2", "--json").rows == []
    assert len(amos("list", "--extractor", "proposals@1", "--policy", "default@1", "--json").rows) == 2
    assert amos("list", "sources", "--extractor", "rules@2").code == 2
    assert amos("verify", "--deep", "--json").object["ok"] is True


def test_the_summary_says_that_the_rules_stood_in(amos, notes, answers):
    told = amos("-q", "ingest", notes, "--from", "messages", "--proposals", answers)
    assert "Read by the rules where the model gave nothing: 1 no_answer." in told.out


def test_the_same_answers_add_nothing_again(amos, notes, answers):
    amos("-q", "ingest", notes, "--from", "messages", "--proposals", answers)
    before = amos("verify", "--json").object
    again = amos("-q", "ingest", notes, "--from", "messages", "--proposals", answers, "--json").object
    assert again["sources"]["linked"] == 3
    assert amos("verify", "--json").object["state_digest"] == before["state_digest"]


def test_kept_messages_are_read_again_with_a_models_answers(amos, notes, answers):
    amos("-q", "ingest", notes, "--from", "messages")
    run = amos("reprocess", "--proposals", answers, "--json").object
    assert run["extractor"] == "proposals@1"
    assert amos("reprocess", "--apply", run["run_id"]).code == 2
    done = amos("reprocess", "--apply", run["run_id"], "--proposals", answers, "--json").object
    assert done["applied"] is True
    assert amos("revert", run["run_id"]).code == 0


def test_an_endpoint_is_asked_and_its_answers_are_kept_where_forgetting_finds_them(amos, notes, folder):
    with model_server("honest") as (url, asked):
        words = ("--from", "messages", "--proposals", "kept.jsonl", "--endpoint", url, "--model", "tiny")
        told = amos("ingest", notes, *words)
        assert told.code == 0
        assert f"are sent to {url}" in told.err
        assert len(asked) == 1
    assert len((folder / "kept.jsonl").read_text().splitlines()) == 3
    atom = amos("list", "--json").rows[0]["atom_id"]
    assert "kept.jsonl" in json.dumps(amos("forget", atom, "--json").object["residual"])


def test_an_endpoint_that_is_gone_leaves_the_rules_and_says_so(amos, notes):
    words = ("--from", "messages", "--proposals", "kept.jsonl", "--endpoint", "http://127.0.0.1:9/v1")
    done = amos("-q", "ingest", notes, *words, "--model", "tiny", "--json").object
    assert done["fallback_reasons"] == {"endpoint_unreachable": 3}
    assert done["decisions"]["commit"] == 2


def test_propose_reads_them_too(amos, notes, answers):
    told = amos("propose", notes, "--from", "messages", "--proposals", answers)
    rows = [json.loads(text) for text in told.out.splitlines()]
    assert [row["outcome"] for row in rows if row["id"] == "n1"] == ["commit", "reject", "reject"]


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--extractor", "proposals@1"), "--proposals FILE", 2),
        (("--endpoint", "http://x/v1", "--model", "m"), "--proposals FILE", 2),
        (("--proposals", "answers.jsonl", "--endpoint", "http://x/v1"), "go together", 2),
        (("--proposals", "answers.jsonl", "--extractor", "rules@1"), "not by rules@1", 2),
        (("--proposals", "gone.jsonl"), "cannot be read", 3),
        (("--proposals", "x.jsonl", "--endpoint", "ftp:x", "--model", "m"), "no web address", 2),
    ],
)
def test_options_that_do_not_fit_are_refused(amos, notes, answers, words, said, code):  # noqa: ARG001
    told = amos("ingest", notes, "--from", "messages", *words)
    assert told.code == code
    assert said in told.err
