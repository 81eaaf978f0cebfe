import json
from pathlib import Path

import pytest

from households import line, write_lines

OURS = Path(__file__).parents[1] / "fixtures" / "extraction-cases.jsonl"
GOOD = {"id": "c1", "text": "My locker is B12.", "expected": {"admission": "commit", "value": "B12"}}
BAD = {
    "id": "c2",
    "text": "My badge is 7.",
    "expected": {"admission": "ignore", "admission_never": ["commit"]},
}


def report_of(told):
    return json.loads(told.out)


@pytest.fixture(scope="module")
def ours():
    from amos.api import evaluate_extraction

    return evaluate_extraction(OURS, extractors=["rules@1", "rules@2"], failures=True)


def test_our_cases_do_hardly_any_harm_and_are_nearly_all_right(ours):
    assert ours["cases"] == {"read": 290, "evaluated": 290, "bad": 0}
    for run in ours["runs"]:
        assert run["all"]["harmful_ratio"] <= 0.01, run["failures"]
        assert run["all"]["right_ratio"] >= 0.9, run["failures"]
        assert run["all"]["evidence"]["valid_ratio"] == 1
        for kind in ("secret", "exclusion", "web", "tool"):
            assert run["by"]["kind"][kind]["harmful"] == 0, run["failures"]


def test_every_kind_and_every_label_is_a_slice_whose_cases_add_up(ours):
    for run in ours["runs"]:
        assert len(run["by"]["kind"]) == 29
        assert list(run["by"]["extractor"]) == [run["extractor"]]
        assert list(run["by"]["policy"]) == ["default@1"]
        for parts in run["by"].values():
            assert sum(part["cases"] for part in parts.values()) == 290
            for stage in ("spans", "claims"):
                assert sum(part[stage]["hit"] for part in parts.values()) == run["all"][stage]["hit"]


def test_a_report_for_people_tells_every_stage(amos):
    told = amos("evaluate", "extraction", OURS)
    assert (told.code, told.err) == (0, "")
    for words in (
        "fully right",
        "harmful",
        "where claims stand",
        "what they say",
        "what is written",
        "Brier",
    ):
        assert words in told.out
    assert "smalltalk" in told.out


def test_failures_are_listed_when_asked_for_and_harm_is_marked(amos, folder):
    path = write_lines(folder / "cases.jsonl", GOOD, BAD)
    assert "failures" not in report_of(amos("evaluate", "extraction", path, "--json"))["runs"][0]
    (failure,) = report_of(amos("evaluate", "extraction", path, "--json", "--failures"))["runs"][0][
        "failures"
    ]
    assert (failure["id"], failure["is_harmful"]) == ("c2", True)
    told = amos("evaluate", "extraction", path, "--failures")
    assert "c2 (unstated): HARMFUL My badge is 7." in told.out
    assert "outcome commit must never happen" in told.out


def test_it_decides_as_propose_does(amos, folder):
    path = write_lines(folder / "cases.jsonl", BAD)
    lines = write_lines(folder / "lines.jsonl", {"id": "c2", "text": BAD["text"]})
    proposed = report_of(amos("propose", lines, "--from", "messages"))
    (failure,) = report_of(amos("evaluate", "extraction", path, "--json", "--failures"))["runs"][0][
        "failures"
    ]
    assert failure["decided"] == [{name: proposed[name] for name in failure["decided"][0]}]


def test_bad_lines_are_named_and_only_a_strict_run_fails_for_them(amos, folder):
    path = write_lines(folder / "cases.jsonl", GOOD, "{torn", {**GOOD, "id": "c3", "mood": "grim"})
    told = amos("evaluate", "extraction", path, "--json")
    assert told.code == 0
    assert report_of(told)["bad"][0] == {
        "file": str(path), "line": 2, "id": None, "reason": "not_json",
        "message": report_of(told)["bad"][0]["message"],
    }  # fmt: skip
    assert "cases.jsonl:2" in told.err
    assert "`mood` is no field of a case; it was passed over in 1 line" in told.err
    strict = amos("evaluate", "extraction", path, "--strict")
    assert strict.code == 3
    assert "1 case" in amos("evaluate", "extraction", write_lines(folder / "one.jsonl", GOOD)).out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["gone.jsonl"], 3),
        (["."], 3),
        (["empty.jsonl"], 3),
        (["notes.jsonl"], 3),
        ([""], 2),
        ([], 2),
        (["cases.jsonl", "--extractor", "guesses@9"], 2),
        (["cases.jsonl", "--volume", "9"], 2),
    ],
)
def test_what_cannot_be_measured_is_said_with_the_next_step(words, code, amos, folder):
    write_lines(folder / "cases.jsonl", GOOD)
    (folder / "empty.jsonl").write_text("")
    write_lines(folder / "notes.jsonl", line("n1", "My kettle colour is blue.", 1))
    told = amos("evaluate", "extraction", *words)
    assert told.code == code
    assert told.out == ""
    assert "next:" in told.err
    assert "--from" not in told.err


def test_the_queue_of_a_named_store_is_told_and_the_store_stays_as_it_is(amos, folder):
    path = write_lines(folder / "cases.jsonl", GOOD)
    notes = write_lines(folder / "n.jsonl", line("m1", "My visa status is pending.", 1))
    assert report_of(amos("evaluate", "extraction", path, "--json"))["store"] is None
    assert amos("-s", "mem", "evaluate", "extraction", path).code == 2
    assert amos("-s", "mem", "ingest", notes, "--from", "messages").code == 0
    told = report_of(amos("-s", "mem", "evaluate", "extraction", path, "--json"))
    assert told["store"]["waiting"] == 1
    assert told["store"]["by"]["reason"]["sensitive_content"]["waiting"] == 1
    assert "1 candidate of the store wait" in amos("-s", "mem", "evaluate", "extraction", path).out
    assert (
        report_of(amos("-s", "mem", "report", "ingest", "--json"))["graph_version"]
        == told["store"]["graph_version"]
    )


def test_claims_of_a_model_are_measured_beside_the_rules(amos, folder):
    path = write_lines(folder / "cases.jsonl", GOOD, {**GOOD, "id": "c4", "text": "My hook is B12."})
    wrong = {"type": "belief", "property": "locker", "value": "C40", "quote": "My locker is B12"}
    answers = write_lines(folder / "answers.jsonl", {"text": GOOD["text"], "claims": [wrong]})
    words = ("evaluate", "extraction", path, "--extractor", "rules@2", "--proposals", answers)
    rules, model = report_of(amos(*words, "--json"))["runs"]
    assert (rules["extractor"], rules["all"]["right"], rules["fallbacks"]) == ("rules@2", 2, {})
    assert (model["extractor"], model["all"]["right"]) == ("proposals@1", 1)
    assert sum(model["fallbacks"].values()) == 1
    assert model["all"]["refusals"] == {"reject": {"unsupported_by_source": 1}}
    assert "read by the rules instead: 1" in amos(*words).out


def test_a_case_of_another_tenant_is_refused_as_propose_refuses_it(amos, folder):
    case = {
        "id": "c1", "text": "My locker is B12.", "scope": {"tenant": "other"},
        "expected": {"admission": "reject", "admission_never": ["commit"]},
    }  # fmt: skip
    told = report_of(amos("evaluate", "extraction", write_lines(folder / "c.jsonl", case), "--json"))
    assert told["runs"][0]["all"]["right"] == 1
    assert told["runs"][0]["all"]["refusals"] == {"reject": {"tenant_boundary": 1}}
