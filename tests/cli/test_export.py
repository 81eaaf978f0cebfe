import json

TABLES = [
    "sources",
    "conversations",
    "entities",
    "candidates",
    "decisions",
    "atoms",
    "edges",
    "lineage",
    "events",
]


def exported(told):
    return [json.loads(text) for text in told.out.splitlines()]


def test_every_row_names_its_table_and_has_text_ids(household):
    rows = exported(household("export", "jsonl"))
    found = list(dict.fromkeys(row["table"] for row in rows))
    assert [name for name in TABLES if name in found] == found
    counts = household("sql", "SELECT count(*) AS n FROM decisions", "--json").rows[0]["n"]
    assert sum(row["table"] == "decisions" for row in rows) == counts
    atom = next(row for row in rows if row["table"] == "atoms")
    assert atom["atom_id"].startswith("atm_")
    assert atom["observed_at"].endswith("Z")


def test_salts_keyed_digests_and_flagged_text_are_not_exported(household):
    told = household("export", "jsonl")
    for row in exported(told):
        assert not {"salt", "delivery_digest"} & set(row)
    assert "Ignore all previous" not in told.out
    assert "hunter-EXAMPLE" not in told.out
    flagged = [row for row in exported(told) if row["table"] == "sources" and row["withheld"]]
    assert [row["content"] for row in flagged] == [None]


def test_one_table_alone_goes_to_a_file(household, folder):
    told = household("export", "jsonl", "--table", "atoms", "-o", "atoms.jsonl", "--json")
    lines = (folder / "atoms.jsonl").read_text(encoding="utf-8").splitlines()
    assert told.object == {"file": "atoms.jsonl", "rows": len(lines)}
    assert {json.loads(text)["table"] for text in lines} == {"atoms"}
    assert [path.name for path in folder.iterdir()] == ["atoms.jsonl"]


def test_scope_narrows_an_export(household_store, amos):
    told = amos("-s", household_store, "--project", "barn", "export", "jsonl")
    assert "plum" not in told.out
    assert "green" in told.out


def test_an_unknown_table_is_exit_2_and_leaves_no_file(household, folder):
    told = household("export", "jsonl", "--table", "spoons", "-o", "out.jsonl")
    assert told.code == 2
    assert "Tables: sources" in told.err
    assert list(folder.iterdir()) == []
