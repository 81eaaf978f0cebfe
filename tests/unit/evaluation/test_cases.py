"""Lines of a case file: what is a case, and why a line is none."""

import json

import pytest

from amos.errors import InputError
from amos.evaluation.cases import read_cases

SIMPLE = {"id": "c1", "text": "My locker is B12.", "expected": {"admission": "commit", "value": "B12"}}


def read(folder, *lines):
    path = folder / "cases.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return read_cases([path])


def test_a_text_and_its_admission_are_a_case(tmp_path):
    (case,) = read(tmp_path, SIMPLE).cases
    assert (case.id, case.line) == ("c1", 1)
    assert case.message == {"text": "My locker is B12."}
    assert case.labels == {
        "kind": "unstated", "channel": "user", "language": "unstated", "tenant": "default",
        "memory_class": "unstated",
    }  # fmt: skip


def test_a_case_without_an_id_is_called_by_its_line(tmp_path):
    nameless = {name: value for name, value in SIMPLE.items() if name != "id"}
    assert [case.id for case in read(tmp_path, SIMPLE, "", nameless).cases] == ["c1", "3"]


def test_labels_and_the_fields_of_a_message_are_kept_apart(tmp_path):
    line = {
        **SIMPLE, "source_trust": "untrusted_web", "kind": "web", "language": "en", "tenant": "north",
        "privacy_class": "plain", "ts": "2026-03-01T09:00:00Z", "context": ["Hello."],
    }  # fmt: skip
    (case,) = read(tmp_path, line).cases
    assert case.message["trust"] == "untrusted_web"
    assert case.message["context"] == ["Hello."]
    assert {"kind", "language", "tenant"} & set(case.message) == set()
    assert case.labels["channel"] == "web"
    assert case.labels["tenant"] == "north"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{torn", "not_json"),
        ("[1]", "not_an_object"),
        ({"id": "c2", "expected": {"admission": "commit"}}, "schema_invalid"),
        ({**SIMPLE, "id": "c2", "expected": None}, "schema_invalid"),
        ({**SIMPLE, "id": "c2", "expected": {"admission": "keep"}}, "schema_invalid"),
        ({**SIMPLE, "id": "c2", "source_trust": "friend"}, "schema_invalid"),
        (SIMPLE, "duplicate_id"),
        ({**SIMPLE, "id": "c2", "expected": {"admission": "commit", "span": "my boat"}}, "span_mismatch"),
        (
            {**SIMPLE, "id": "c2", "expected": {"admission": "commit", "span_bytes": [3, 99]}},
            "span_out_of_range",
        ),
        (
            {**SIMPLE, "id": "c2", "expected": {"admission": "commit", "span": "B12", "span_bytes": [0, 3]}},
            "span_mismatch",
        ),
    ],
)
def test_a_line_that_is_no_case_is_a_row_with_a_reason(line, reason, tmp_path):
    found = read(tmp_path, SIMPLE, line)
    assert [case.id for case in found.cases] == ["c1"]
    assert [(one.line, one.reason) for one in found.bad] == [(2, reason)]
    assert found.bad[0].message


def test_fields_that_nobody_knows_are_named_and_do_not_stop_anything(tmp_path):
    expected = {**SIMPLE["expected"], "must_no": ["B12"], "more": [{"value": "3", "colour": "red"}]}
    found = read(tmp_path, {**SIMPLE, "mood": "grim", "expected": expected})
    assert len(found.cases) == 1
    assert sorted(found.unknown_fields) == ["expected.more.colour", "expected.must_no", "mood"]


def test_an_empty_file_and_one_without_any_case_say_what_a_case_is(tmp_path):
    with pytest.raises(InputError, match="there is no case in it") as empty:
        read(tmp_path, "")
    assert "expected" in empty.value.advice
    with pytest.raises(InputError, match="none of 2 lines is a case"):
        read(tmp_path, '{"text": "My locker is B12."}', "{torn")
