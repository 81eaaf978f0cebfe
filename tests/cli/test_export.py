import hashlib
import json

import pytest

from amos.api import Store
from households import call

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
    *rows, end = [json.loads(text) for text in told.out.splitlines()]
    assert end == {"amos_end": {"rows": len(rows), "truncated": False, "cursor": None}}
    return rows


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
    receipt = told.object
    assert (receipt["place"], receipt["rows"]) == ("atoms.jsonl", len(lines))
    assert receipt["sha256"] == hashlib.sha256((folder / "atoms.jsonl").read_bytes()).hexdigest()
    assert {json.loads(text)["table"] for text in lines[:-1]} == {"atoms"}
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


SHAPES = {"mem0": "json", "mcp-memory": "jsonl", "openai": "jsonl"}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_every_shape_says_what_it_leaves_out_and_hides_what_is_withheld(household, folder, shape):
    told = household("export", shape, "-o", f"out.{SHAPES[shape]}", "--json")
    assert told.code == 0, told.err
    assert (told.object["lossless"], len(told.object["left_out"]) > 1) == (False, True)
    printed = household("export", shape)
    assert printed.out == (folder / f"out.{SHAPES[shape]}").read_text(encoding="utf-8")
    assert printed.err.count("left out: ") == len(told.object["left_out"])
    assert "Ignore all previous" not in printed.out
    assert "hunter-EXAMPLE" not in printed.out
    assert [path.name for path in folder.iterdir()] == [f"out.{SHAPES[shape]}"]


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_scope_narrows_every_shape(household_store, amos, shape):
    told = amos("-s", household_store, "--project", "barn", "export", shape)
    assert "plum" not in told.out
    assert "green" in told.out


def test_markdown_pages_cite_what_they_say(household, folder):
    told = household("export", "markdown", "-o", "pages", "--json")
    assert told.code == 0, told.err
    pages = {path.name: path.read_text(encoding="utf-8") for path in (folder / "pages").iterdir()}
    assert all(f"]({name})" in pages["index.md"] for name in pages if name != "index.md")
    text = "".join(pages.values())
    assert "## What holds" in text
    assert "  > " in text
    assert "Ignore all previous" not in text
    again = household("export", "markdown", "-o", "pages")
    assert (again.code, "exists already" in again.err) == (2, True)


def test_the_store_remembers_its_exports(household_store, household, folder):
    household("export", "mem0", "-o", "out.json")
    with Store.open(household_store, read_only=True) as store:
        places = [(entry.kind, entry.place) for entry in store.shard.copies()]
    assert ("export mem0", str(folder / "out.json")) in places


@pytest.mark.parametrize(
    ("form", "told", "command"),
    [
        ("jsonl", "an export of Amos as JSON lines", "`amos import out`"),
        ("parquet", "part of a Parquet export of Amos", "`amos import out`"),
        ("journal", "a journal of Amos", "`python -I check_export.py out`"),
        ("markdown", "a page of `amos export markdown`", "`amos export parquet` and `amos import`"),
    ],
)
def test_what_ingest_does_not_read_of_our_own_is_refused_with_the_command_that_does(
    household, form, told, command
):
    assert household("export", form, *(["out"] if form == "journal" else ["-o", "out"])).code == 0
    found = call("-s", "again", "ingest", "out")
    assert (found.code, told in found.err, command in found.err) == (3, True, True), found.err


@pytest.mark.parametrize("form", ["mem0", "mcp-memory", "openai"])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_what_is_shaped_for_others_is_read_again_by_ingest(household, form, suffix):
    household("export", form, "-o", f"out.{suffix}")
    found = call("-s", "again", "ingest", f"out.{suffix}", "--json")
    assert found.code == 0, found.err
    assert list(found.object["formats"]) == [form]
    assert found.object["sources"]["new"] > 0
    assert found.object["sources"]["unreadable"] == 0
    refused = call("-s", "again", "import", f"out.{suffix}")
    assert (refused.code, "`amos ingest`" in refused.err) == (3, True)


def test_a_backup_and_a_store_are_named_to_whoever_would_import_them(household):
    household("backup", "copy", "--with-keys")
    assert "`amos restore copy DESTINATION`" in call("-s", "again", "import", "copy").err
    call("-s", "there", "init")
    assert "`amos -s there`" in call("-s", "again", "import", "there").err
    assert "`amos restore`" in call("-s", "again", "ingest", "copy").err


@pytest.mark.parametrize("form", ["jsonl", "mem0", "journal"])
def test_a_file_that_stands_there_is_replaced_only_when_asked(household, folder, form):
    place = ["out"] if form == "journal" else ["-o", "out"]
    (folder / "out").write_text("mine", encoding="utf-8")
    told = household("export", form, *place)
    assert (told.code, "--replace" in told.err) == (2, True)
    assert (folder / "out").read_text(encoding="utf-8") == "mine"
    assert household("export", form, *place, "--replace").code == 0
    assert (folder / "out").read_text(encoding="utf-8") != "mine"


def test_a_folder_and_a_device_are_never_replaced(household, folder):
    (folder / "pages").mkdir()
    assert household("export", "markdown", "-o", "pages").code == 2
    told = household("export", "jsonl", "-o", "/dev/null", "--replace")
    assert (told.code, "is no file" in told.err) == (2, True)


def test_another_check_export_beside_a_journal_is_not_overwritten(household, folder):
    (folder / "check_export.py").write_text("mine", encoding="utf-8")
    assert household("export", "journal", "out").code == 2
    assert [path.name for path in folder.iterdir()] == ["check_export.py"]
    assert household("export", "journal", "out", "--replace").code == 0
    assert (folder / "check_export.py").read_text(encoding="utf-8") != "mine"
