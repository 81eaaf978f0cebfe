"""Lines that a screen must catch, and lines that only look like them.

Every line is one message: `text`, `trust`, and other fields where the find stands in one of those.  `cut`
is what must leave no trace, null where nothing may be found; `flag` and `kind` say what a line is.
"""

import json
from pathlib import Path

import pytest

from amos.extraction.screen import apply_cuts, screen
from proposed import lines_of
from screen_samples import raw_rows

FIELDS = ("trust", "conversation_title", "author", "channel")
HELD = ("sensitive_content", "third_party_sensitive")


def lines(name):
    """Return the lines of one file."""
    text = (Path(__file__).parent / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def screened(line):
    """Return the actions found in a line, and all its texts after the cuts."""
    columns = {name: line[name] for name in FIELDS if name in line}
    if "extra" in line:
        columns["extra"] = json.dumps(line["extra"], ensure_ascii=False)
    if line.get("trust") == "tool":
        columns["kind"] = "tool_result"
    raw = raw_rows([line["text"]], **columns)
    found = screen(raw)
    row = apply_cuts(raw, found)[0].to_pylist()[0]
    left = [row[name] or "" for name in ("text", "extra", "conversation_title", "author", "channel")]
    return set(found["action"].to_pylist()), "\n".join(left).replace("\\", "")


@pytest.mark.parametrize("line", lines("secrets") + lines("exclusions"), ids=lambda line: line["text"])
def test_what_must_not_be_kept_is_cut_and_what_looks_like_it_stays(line):
    actions, left = screened(line)
    if line["cut"] is None:
        assert actions == set()
    else:
        assert line["cut"] not in left


@pytest.mark.parametrize("line", lines("instructions"), ids=lambda line: line["text"])
def test_orders_from_where_nobody_may_give_any_are_flagged(line):
    assert ("flag" in screened(line)[0]) == line["flag"]


@pytest.mark.parametrize("line", lines("encoded"), ids=lambda line: ascii(line["text"]))
def test_one_layer_of_disguise_hides_nothing_and_what_is_merely_odd_stays(line):
    actions, _ = screened(line)
    assert actions == set() if line["kind"] == "none" else line["kind"] in actions


@pytest.mark.parametrize("line", lines("sensitive"), ids=lambda line: line["text"])
def test_sensitive_claims_wait_and_others_do_not(line):
    decided = [(one["outcome"], one["reasons"][0]) for one in lines_of(line["text"])]
    if line["held"]:
        assert not [outcome for outcome, _ in decided if outcome in ("commit", "link")]
    else:
        assert not [reason for _, reason in decided if reason in HELD]


@pytest.mark.parametrize("line", lines("forget"), ids=lambda line: line["text"])
def test_a_wish_to_have_something_forgotten_waits_for_a_person_and_claims_nothing(line):
    trust = {"trust": line["trust"]} if "trust" in line else {}
    decided = [(one["outcome"], one["reasons"][0]) for one in lines_of(line["text"], **trust)]
    assert (("quarantine", "forget_requested") in decided) == line["asks"]
