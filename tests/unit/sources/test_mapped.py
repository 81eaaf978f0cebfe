"""Tables with a mapping file: CSV, JSON lines and Parquet come to the same messages."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from amos.errors import InputError, UsageError
from amos.sources.limits import Limits
from delivered import delivered, lines

MAPPING = """
name = "helpdesk"
[fields]
id = "no"
text = "body"
role = "kind"
ts = "sent"
[scope]
project = "team"
[values.role]
customer = "user"
"""
ROWS = [
    {
        "no": "1",
        "body": "The pump leaks.",
        "kind": "customer",
        "sent": "2026-02-03T09:00:00Z",
        "team": "north",
        "stars": "5",
    },
    {
        "no": "2",
        "body": 'We send "Max",\ntomorrow: größer.',
        "kind": "bot",
        "sent": "",
        "team": "north",
        "stars": "",
    },
]


@pytest.fixture
def mapping(tmp_path):
    path = tmp_path / "mapping.toml"
    path.write_text(MAPPING)
    return path


def csv_text(rows, delimiter=","):
    quoted = [[str(cell).replace('"', '""') for cell in row.values()] for row in rows]
    return (
        "\n".join([delimiter.join(rows[0]), *(delimiter.join(f'"{cell}"' for cell in row) for row in quoted)])
        + "\n"
    )


def written(tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    if kind == "csv":
        path.write_text(csv_text(ROWS), encoding="utf-8-sig")
    elif kind == "tsv":
        path.write_text(csv_text(ROWS, "\t"))
    elif kind == "json":
        path.write_text(json.dumps(ROWS))
    elif kind == "jsonl":
        lines(path, ROWS)
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_kind_of_table_gives_the_same_messages(tmp_path, mapping, kind):
    found = delivered(written(tmp_path, kind), mapping=mapping)
    assert found.keys == [("mapped:helpdesk", "1", 0), ("mapped:helpdesk", "2", 0)]
    assert [(b.text, b.role, b.scope_project) for b in found.blocks] == [
        ("The pump leaks.", "user", "north"),
        ('We send "Max",\ntomorrow: größer.', "assistant", "north"),
    ]
    assert [b.event_us for b in found.blocks] == [1770109200000000, None]
    assert json.loads(found.blocks[0].extra) == {"columns": {"stars": "5"}}


def test_columns_that_bear_names_of_ours_are_not_taken_for_them(tmp_path, mapping):
    path = lines(
        tmp_path / "t.jsonl", [{"body": "x", "trust": "trusted_user", "context": ["y"], "author": "z"}]
    )
    block = delivered(path, mapping=mapping).blocks[0]
    assert (block.text, block.author) == ("x", "user")
    assert json.loads(block.extra) == {"columns": {"author": "z", "context": ["y"], "trust": "trusted_user"}}


def test_dots_lead_into_nested_objects_and_constants_fill_in(tmp_path):
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        'name="n"\n[fields]\ntext="msg.body"\nid="msg.id"\n[constants]\nconversation="all"\nrole="assistant"\n'
    )
    block = delivered(
        lines(tmp_path / "t.jsonl", [{"msg": {"id": 7, "body": "deep"}}]), mapping=mapping
    ).blocks[0]
    assert (block.record_key, block.text, block.role) == ("all/7", "deep", "assistant")


def test_typed_parquet_columns_become_plain_values(tmp_path, mapping):
    table = pa.table(
        {
            "no": [7],
            "body": ["x"],
            "sent": [datetime(2026, 2, 3, 9, tzinfo=UTC)],
            "blob": [b"\xff"],
            "tags": [["a"]],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    block = delivered(tmp_path / "t.parquet", mapping=mapping).blocks[0]
    assert (block.record_key, block.event_us) == ("7", 1770109200000000)
    assert json.loads(block.extra) == {"columns": {"blob": "\ufffd", "tags": ["a"]}}


def test_rows_of_odd_length_lose_nothing(tmp_path, mapping):
    path = tmp_path / "t.csv"
    path.write_text("no,body\n1,short\n2,long,more,still\n\n3\n")
    found = delivered(path, mapping=mapping)
    assert found.texts == ["short", "long", ""]
    assert json.loads(found.blocks[1].extra) == {"columns": {"": ["more", "still"]}}


def test_bytes_that_are_no_text_are_replaced_and_said(tmp_path, mapping):
    path = tmp_path / "t.csv"
    path.write_bytes(b"no,body\n1,caf\xe9\n2,fine\n")
    found = delivered(path, mapping=mapping)
    assert (found.texts, found.codes) == (["caf\ufffd", "fine"], ["invalid_utf8"])


def test_a_field_that_is_too_long_costs_its_row(tmp_path, mapping):
    path = tmp_path / "t.csv"
    path.write_text("no,body\n1,before\n2," + "x" * 5000 + "\n3,after\n")
    found = delivered(path, mapping=mapping, strict_limits=Limits(record_bytes=1000))
    assert (found.texts, found.lost) == (["before", "after"], [(2, "wrong_type")])


def test_a_damaged_parquet_file_is_said(tmp_path, mapping):
    path = written(tmp_path, "parquet")
    path.write_bytes(path.read_bytes()[:-9])
    assert delivered(path, mapping=mapping).lost == [(1, "unreadable")]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_text_column_that_is_not_there_costs_its_rows_and_names_what_is(tmp_path, mapping, kind):
    mapping.write_text(MAPPING.replace('"body"', '"boddy"'))
    found = delivered(written(tmp_path, kind), mapping=mapping)
    assert (found.texts, {code for _, code in found.lost}) == ([], {"schema_invalid"})
    assert len(found.lost) == len(ROWS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name"),
        ('name="x"', "fields"),
        ('name="x"\n[fields]\nid="a"', "text"),
        ('name="x"\n[fields]\ntext="a"\nbanana="b"', "banana"),
        ('name="x"\n[fields]\ntext="a"\n[scope]\nplanet="b"', "planet"),
        ('name=""\n[fields]\ntext="a"', "name"),
        ('name="x"\ndelimiter=";;"\n[fields]\ntext="a"', "delimiter"),
        ('name="x"\nkind="xlsx"\n[fields]\ntext="a"', "kind"),
        ('name="x"\nsurprise=1\n[fields]\ntext="a"', "surprise"),
        ("not toml", ""),
    ],
)
def test_a_mapping_that_does_not_fit_says_why(tmp_path, text, said):
    mapping = tmp_path / "m.toml"
    mapping.write_text(text)
    with pytest.raises(InputError) as caught:
        delivered(written(tmp_path, "csv"), mapping=mapping)
    assert said in str(caught.value)


def test_a_mapping_goes_with_no_other_format(tmp_path, mapping):
    with pytest.raises(UsageError):
        delivered(written(tmp_path, "csv"), mapping=mapping, format="chatgpt")


def test_a_missing_mapping_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError):
        delivered(written(tmp_path, "csv"), mapping=tmp_path / "none.toml")
