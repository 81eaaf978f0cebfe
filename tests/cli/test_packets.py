import pytest

from households import write_lines

ROW = {
    "qid", "packet_id", "rank", "item_kind", "atom_id", "source_id", "score", "components", "statement",
    "excerpt",
}  # fmt: skip


@pytest.fixture
def questions(folder):
    return write_lines(
        folder / "questions.jsonl",
        {"qid": "q1", "cues": ["barn colour"]},
        {"qid": "q2", "cues": ["favourite plum"], "as_of": "2026-05-05T00:00:00Z"},
        {"qid": "q3", "cues": ["zeppelin"]},
        {"qid": "q4", "cues": ["favourite plum", "barn colour"], "scope": {"project": "barn"}},
    )


def test_rows_are_json_lines_one_per_item(household, questions):
    told = household("packets", questions)
    assert told.code == 0
    assert all(set(row) == ROW for row in told.rows)
    best = {row["qid"]: row["statement"] for row in reversed(told.rows)}
    assert best["q1"] == "User's barn colour is green."
    assert "Victoria" in best["q2"]
    assert "q3" not in best
    assert best["q4"] == "User's barn colour is green."


def test_a_question_in_bulk_ranks_as_it_does_alone(household, questions):
    alone = household("packet", "barn colour", "--json").object["items"]
    bulk = [row for row in household("packets", questions).rows if row["qid"] == "q1"]
    assert [(row["statement"], row["score"]) for row in bulk] == [
        (one["statement"], one["score"]) for one in alone
    ]


def test_one_question_is_counted_as_one(household, folder):
    path = write_lines(folder / "one.jsonl", {"qid": "q1", "cues": ["zeppelin"]})
    assert household("packets", path, "-o", "one.parquet").out == "one.parquet: 0 rows for 1 question\n"


def test_rows_go_to_a_parquet_file(household, questions, folder):
    import pyarrow.parquet as pq

    told = household("packets", questions, "-o", "answers.parquet", "--json")
    assert told.object["questions"] == 4
    table = pq.read_table(folder / "answers.parquet")
    assert set(table.schema.names) == ROW
    assert table.num_rows == told.object["rows"] == len(household("packets", questions).rows)
    assert sorted(path.name for path in folder.iterdir()) == ["answers.parquet", "questions.jsonl"]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("{torn", 3, "questions.jsonl:1"),
        ('{"qid": "q1"}', 3, "cues"),
        ('{"qid": "q1", "cues": ["a"], "colour": 1}', 3, "colour"),
        ("", 3, "no question"),
        ('{"qid": "q1", "cues": [""]}', 2, "empty"),
        ('{"qid": "q1", "cues": ["a"], "as_of": "soon"}', 2, "soon"),
    ],
)
def test_a_line_that_is_no_question_is_named(household, folder, text, code, said):
    path = write_lines(folder / "questions.jsonl", text)
    told = household("packets", path)
    assert told.code == code
    assert said in told.err


def test_a_missing_file_is_exit_2(household):
    assert household("packets", "gone.jsonl").code == 2


def test_a_question_cannot_leave_the_given_scope(household_store, amos, questions):
    told = amos("-s", household_store, "--project", "orchard", "packets", questions)
    assert told.code == 2
    assert "outside the given scope" in told.err
