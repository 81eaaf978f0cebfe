"""Texts of every kind against what must be read from them: a diff of two sorted text files.

input.jsonl: id, text, trust (trusted_user when absent).  expected.jsonl: id and either the
claims in order (pattern, subject, property, value, polarity, modality, memory class, words of time,
veto) or the reason why there is none.  `python tests/golden/extraction/test_extraction.py` rewrites
the second file; read the diff before you keep it.
"""

import json
import sys
from pathlib import Path

import pytest

from amos.extraction.grammar import load_grammar
from amos.extraction.propose import propose
from claims_read import SATURDAY, sources

FOLDER = Path(__file__).parent
SHOWN = (
    "pattern", "subject", "property", "value", "polarity", "modality", "memory_class", "time_text", "veto",
)  # fmt: skip


def lines_of(name):
    """Return the records of a JSON lines file."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def read_all(cases):
    """Return one record per case: its claims, or the reason of its silence."""
    table = sources(
        [case["text"] for case in cases],
        trust=[case.get("trust", "trusted_user") for case in cases],
        at=SATURDAY,
    )
    proposal = propose(table, load_grammar(), is_compiled=False)
    found = {case["id"]: {"id": case["id"], "claims": []} for case in cases}
    for claim in proposal.claims.to_pylist():
        shown = {name: claim[name] for name in SHOWN if claim[name] is not None}
        found[cases[claim["source_row"]]["id"]]["claims"].append(shown)
    for note in proposal.notes.to_pylist():
        case = cases[note["source_row"]]["id"]
        found[case] = {"id": case, "reason": note["reason"]}
    return [found[case["id"]] for case in cases]


CASES = lines_of("input.jsonl")


@pytest.fixture(scope="module")
def read():
    """Return what is read from every case, by id; one batch."""
    return {record["id"]: record for record in read_all(CASES)}


@pytest.mark.parametrize("expected", lines_of("expected.jsonl"), ids=lambda record: record["id"])
def test_each_text_reads_as_expected(expected, read):
    assert read[expected["id"]] == expected


def test_every_text_has_an_expectation():
    assert [case["id"] for case in CASES] == [record["id"] for record in lines_of("expected.jsonl")]


if __name__ == "__main__":
    sys.stdout.write(f"{len(CASES)} cases\n")
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in read_all(CASES))
    (FOLDER / "expected.jsonl").write_text(text, encoding="utf-8")
