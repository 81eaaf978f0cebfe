"""Small stories after what users report: what was decided of every line, and what is remembered then.

`expected.jsonl` holds one sorted line per decision and per claim; a difference reads as text.
"""

import json
from pathlib import Path

import pytest

from remembered import remembered

HERE = Path(__file__).parent
CASES = sorted(folder.name for folder in HERE.iterdir() if (folder / "input.jsonl").exists())


def outcome(memory):
    """Return what became of every line, and every claim, as sorted JSON lines."""
    said = {row["candidate_id"]: row for row in memory.listed("candidates")}
    keys = {row["source_id"]: row["key"] for row in memory.store.sql(_KEYS).to_pylist()}
    rows = []
    for decision in memory.listed("decisions"):
        claim = said.get(decision["candidate_id"])
        rows.append(
            {
                "line": keys[decision["source_id"]],
                "outcome": decision["outcome"],
                "reasons": decision["reasons"],
                "claim": claim and claim["statement"],
                "span": claim and claim["spans"][:2],
            }
        )
    for atom in memory.listed("atoms"):
        kept = ("statement", "state", "type", "health", "evidence_count", "intervals", "scope")
        rows.append({"remembered": True, **{name: atom[name] for name in kept}})
    return sorted(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)


_KEYS = "SELECT source_id, split_part(delivery_key, '/', 2) AS key FROM sources"


@pytest.mark.parametrize("case", CASES)
def test_each_story_is_remembered_as_expected(case):
    lines = [json.loads(line) for line in (HERE / case / "input.jsonl").read_text("utf-8").splitlines()]
    expected = (HERE / case / "expected.jsonl").read_text("utf-8").splitlines()
    with remembered(*lines) as memory:
        assert outcome(memory) == expected
        assert outcome_of_parts(lines) == expected
        assert memory.store.verify().problems == []


def outcome_of_parts(lines):
    """Return the outcome when the lines arrive one by one, the last one first."""
    with remembered() as memory:
        for line in reversed(list(enumerate(lines))):
            memory.hear({"turn": line[0], **line[1]})
        return outcome(memory)
