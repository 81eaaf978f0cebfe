"""The receipt keeps problems and notes apart, and finds the place of a refused record."""

import pytest

from amos.flow.receipt import SHOWN_ERRORS, Receipt
from amos.sources.block import Batch
from amos.sources.faults import NOTES, Fault, lost, noted


def batch(*problems):
    return Batch(blocks=[], problems=list(problems), record_count=1, format="messages")


@pytest.mark.parametrize("code", sorted(NOTES))
def test_a_note_is_no_error(code):
    receipt = Receipt()
    receipt.count_batch(
        batch(noted("in/user.json", 0, code, "passed over"), lost("a", 1, Fault.TOO_DEEP, "x"))
    )
    record = receipt.as_record()
    assert [one["code"] for one in record["errors"]] == ["too_deep"]
    assert [one["code"] for one in record["notes"]] == [code]
    assert (record["errors_total"], record["notes_total"], record["sources"]["unreadable"]) == (1, 1, 1)


def test_notes_are_kept_up_to_a_bound_and_all_are_counted():
    receipt = Receipt()
    for _ in range(3):
        receipt.count_batch(batch(*[noted("a", 0, Fault.LEFT_OUT, "x")] * (SHOWN_ERRORS // 2)))
    assert (len(receipt.notes), receipt.notes_total) == (SHOWN_ERRORS, 3 * (SHOWN_ERRORS // 2))


@pytest.mark.parametrize(
    ("locator", "file", "record"),
    [
        ("notes.jsonl#12", "in/notes.jsonl", 12),
        ("a#b.json#4/n#2", "in/a#b.json", 4),
        ("x.zip/c.json#2/m1", "in/x.zip/c.json", 2),
        ("notes.jsonl (2)#7", "other/notes.jsonl", 7),
        ("notes.jsonl#", "in/notes.jsonl", 0),
        ("unknown#3", "unknown#3", 0),
    ],
)
def test_a_refused_record_is_named_by_path_and_number(locator, file, record):
    paths = {
        "notes.jsonl": "in/notes.jsonl",
        "notes.jsonl (2)": "other/notes.jsonl",
        "a#b.json": "in/a#b.json",
        "x.zip/c.json": "in/x.zip/c.json",
    }
    receipt = Receipt()
    receipt.count_conflicts([locator, locator], paths)
    (error,) = receipt.as_record()["errors"]
    assert (error["file"], error["record"], error["code"]) == (file, record, "delivery_conflict")
    assert (receipt.conflicts, receipt.errors_total) == (1, 1)
    assert receipt.sources["unreadable"] == 0


def test_refused_records_are_listed_up_to_a_bound():
    receipt = Receipt()
    receipt.count_conflicts([f"a#{n}" for n in range(SHOWN_ERRORS + 50)], {"a": "a"})
    assert (len(receipt.errors), receipt.errors_total) == (SHOWN_ERRORS, SHOWN_ERRORS + 50)
