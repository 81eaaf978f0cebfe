import gzip
import json
import tomllib

import msgspec
import pytest

from amos.evaluation.dialogue_sets import read_run
from amos.retrieval.profile import Profile

TURNS = [
    ("talk", 1, "Ada", "How was the weekend at the lake?"),
    ("talk", 1, "Bo", "Windy, but I took the dinghy out to the island."),
    ("talk", 2, "Ada", "I started weaving classes on Tuesday."),
    ("talk", 2, "Bo", "What did you make first?"),
    ("walk", 1, "Cy", "The dinghy is mine, not his."),
    ("walk", 1, "Di", "I lost a glove near the mill."),
]
QUESTIONS = [
    ("q1", "talk", "Who took the dinghy?", ["talk/1"], "who"),
    ("q2", "talk", "What classes did Ada start?", ["talk/2"], "what"),
    ("q3", "walk", "Where was the glove lost?", ["walk/5"], "where"),
    ("q4", "walk", "Which zebra sang?", [], "nobody"),
]


def write(path, rows):
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "set"
    place.mkdir()
    turns = [
        {"doc_id": f"{conv}/{at}", "conv_id": conv, "session": session, "turn": at, "timestamp": None}
        | {"speaker": who, "text": text, "caption": ""}
        for at, (conv, session, who, text) in enumerate(TURNS)
    ]
    asked = [
        {"qid": qid, "conv_id": conv, "text": text, "evidence": evidence, "category": kind, "asked_at": None}
        for qid, conv, text, evidence, kind in QUESTIONS
    ]
    write(place / "corpus.jsonl.gz", turns)
    write(place / "queries.jsonl", asked)
    return place


def test_a_set_is_ingested_asked_and_scored(amos, folder, tmp_path):
    run = tmp_path / "run.jsonl"
    told = amos("evaluate", "retrieval", folder, "--run-out", run, "--json")
    assert told.code == 0, told.err
    report = json.loads(told.out)
    assert (report["questions"], report["skipped"]) == (3, {"category": 0, "no_evidence": 1})
    assert report["turns"]["all"]["R@1"] == 1
    assert set(report["turns"]["by_category"]) == {"who", "what", "where"}
    assert set(report["turns"]["by_conversation"]) == {"talk", "walk"}
    assert report["sessions"]["all"]["MRR"] == 1
    assert report["ingest"]["records"] == len(TURNS)
    assert {qid: docs[0] for qid, docs in read_run(run).items()} == {
        "q1": "talk/1",
        "q2": "talk/2",
        "q3": "walk/5",
    }


def test_a_question_is_answered_from_its_own_conversation_alone(amos, folder, tmp_path):
    run = tmp_path / "run.jsonl"
    amos("evaluate", "retrieval", folder, "--run-out", run)
    ranked = read_run(run)
    assert all(doc.startswith("talk/") for doc in ranked["q1"])
    assert all(doc.startswith("walk/") for doc in ranked["q3"])


def test_a_run_compared_with_itself_gains_nothing_and_a_worse_one_shows(amos, folder, tmp_path):
    run, worse = tmp_path / "run.jsonl", tmp_path / "worse.jsonl"
    amos("evaluate", "retrieval", folder, "--run-out", run)
    write(worse, [{"qid": qid, "ranked": ["talk/0"]} for qid in ("q1", "q2", "q3")])
    same = json.loads(amos("evaluate", "retrieval", folder, "--compare", run, "--json").out)
    assert same["compared"]["all"]["nDCG@10"] == {"gain": 0, "interval": [0, 0], "p": 1}
    told = amos("evaluate", "retrieval", folder, "--compare", worse)
    assert "gain over the other run" in told.out
    assert "+1.0000" in told.out


def test_left_out_categories_are_counted_and_the_worst_answers_listed(amos, folder):
    told = amos("evaluate", "retrieval", folder, "--skip-category", "who", "--failures")
    assert "left out: category 1, no_evidence 1" in told.out
    write(
        folder / "queries.jsonl",
        [{"qid": "q", "conv_id": "talk", "text": "dinghy", "evidence": ["talk/3"], "category": "odd"}],
    )
    told = amos("evaluate", "retrieval", folder, "--failures")
    assert "q (odd) nDCG@10" in told.out
    assert "wanted  " in told.out
    assert ": What did you make first?" in told.out
    assert ": Windy, but I took the dinghy out to the island." in told.out


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("queries.jsonl", {"qid": "q", "conv_id": "talk", "text": "x", "evidence": ["walk/4"]}, "no turn of"),
        ("queries.jsonl", {"qid": "q", "conv_id": "talk", "text": "x", "evidence": []}, "can be scored"),
        ("queries.jsonl", {"qid": "q"}, "conv_id"),
    ],
)
def test_what_does_not_fit_is_named(amos, folder, name, line, said):
    write(folder / name, [line])
    told = amos("evaluate", "retrieval", folder)
    assert told.code == 3
    assert said in told.err


def test_a_folder_without_questions_is_no_set(amos, folder):
    (folder / "queries.jsonl").unlink()
    told = amos("evaluate", "retrieval", folder)
    assert told.code == 2
    assert "queries.jsonl" in told.err


def test_a_profile_is_fitted_and_names_what_it_was_fitted_on(amos, folder, tmp_path):
    output = tmp_path / "mine.toml"
    told = amos("evaluate", "fit", folder, "-o", output, "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["loss_after"] <= found["loss_before"]
    profile = msgspec.convert(tomllib.loads(output.read_text()), Profile)
    assert profile.name == "mine"
    assert profile.fitted_on.startswith("set x 1")
    assert msgspec.to_builtins(profile.weights) == found["weights"]


def test_shares_are_given_for_every_set_or_for_none(amos, folder, tmp_path):
    told = amos("evaluate", "fit", folder, "--share", "1", "--share", "2", "-o", tmp_path / "x.toml")
    assert told.code == 2
    assert "2 shares for 1 sets" in told.err


def test_a_profile_nobody_ships_cannot_begin(amos, folder, tmp_path):
    told = amos("evaluate", "fit", folder, "--begin", "amos.v9", "-o", tmp_path / "x.toml")
    assert told.code == 2
    assert "no ranking profile" in told.err


def test_answers_to_questions_without_an_answer_are_counted(amos, folder):
    report = amos("evaluate", "retrieval", folder, "--json").object
    told = report["abstention"]
    assert told["unanswerable"] == {
        "questions": 1, "answered": 0, "false_answer_rate": 0.0,
        "interval": told["unanswerable"]["interval"], "empty": {"no_match": 1},
    }  # fmt: skip
    # "Who took the dinghy?" has a word in the other talk, the other two have none
    assert (told["foreign"]["questions"], told["foreign"]["answered"]) == (3, 1)
    assert told["foreign"]["false_answer_rate"] == pytest.approx(1 / 3, abs=1e-4)
    said = amos("evaluate", "retrieval", folder).out
    assert "questions of other talks: 1 of 3 answered all the same" in said


def test_another_profile_ranks_and_is_named(amos, folder, tmp_path):
    ours = amos("evaluate", "retrieval", folder, "--profile", "words.v1", "--json").object
    assert ours["profile"] == "words.v1"
    mine = tmp_path / "mine.toml"
    amos("evaluate", "fit", folder, "-o", mine, "--name", "kitchen", "--begin", "words.v1")
    assert amos("evaluate", "retrieval", folder, "--profile", mine, "--json").object["profile"] == "kitchen"
    assert amos("evaluate", "retrieval", folder, "--profile", "absent").code == 2
