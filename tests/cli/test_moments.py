"""`--as-of`, `--at-version`, `--known-at` and `--min-version`: where they belong, and where not."""

import json

import pytest

from amos.cli import COMMANDS
from amos.cli.moments import MOMENT_COMMANDS, MOMENT_FLAGS

ELSEWHERE = [name for name in COMMANDS if name not in MOMENT_COMMANDS]
GROUPS = {"export": "jsonl", "report": "ingest"}


@pytest.mark.parametrize("flag", MOMENT_FLAGS)
@pytest.mark.parametrize("command", ELSEWHERE)
def test_other_commands_refuse_them_by_name(amos, command, flag):
    words = [command, *([GROUPS[command]] if command in GROUPS else [])]
    refused = amos(*words, flag, "3", "--json")
    assert refused.code == 2
    assert f"does not take {flag}" in refused.err
    assert "`amos packet`" in refused.err
    assert json.loads(refused.out)["error"]["code"] == "usage"


@pytest.mark.parametrize("command", ["show", "why"])
def test_a_reference_of_later_is_unknown_before(household, command):
    ref = household("list", "--json").rows[0]["atom_id"]
    assert household(command, ref, "--at-version", 1).code == 0
    told = household(command, ref, "--at-version", 0, "--json")
    assert told.code == 2 if command == "why" else told.object["found"] is False


def test_lists_searches_packets_and_tables_answer_from_the_version(household, folder):
    assert household("list", "--at-version", 0, "--json").end["rows"] == 0
    assert household("search", "barn", "--at-version", 0, "--json").end["rows"] == 0
    assert household("packet", "barn", "--at-version", 0, "--json").object["empty_reason"] == "nothing_stored"
    counted = household("sql", "SELECT count(*) AS n FROM atoms", "--at-version", 0, "--json")
    assert counted.rows == [{"n": 0}]
    questions = folder / "asked.jsonl"
    questions.write_text('{"qid": "q", "cues": ["barn"]}\n')
    assert household("packets", questions, "--at-version", 0).end["rows"] == 0
    assert household("packets", questions, "--min-version", 1).end["rows"] > 0


def test_a_version_that_nobody_commits_is_exit_6(household, monkeypatch):
    monkeypatch.setattr("amos.flow.moments.WAIT_SECONDS", 0)
    refused = household("packet", "barn", "--min-version", 9, "--json")
    assert refused.code == 6
    assert refused.object["error"]["code"] == "version_not_reached"
    assert refused.object["error"]["retryable"] is True


def test_a_version_that_never_was_is_exit_2(household):
    assert household("list", "--at-version", 9).code == 2
