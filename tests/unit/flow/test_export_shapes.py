import json
import re

import pytest

import amos.api
from amos.errors import InputError, IntegrityError
from amos.flow.export_memories import _plain
from amos.moves import export_lines, import_export
from households import line, write_lines

NOTES = [
    line("n1", "My favourite tea is *sencha*. I live in Ghent.", 1),
    line("n2", "My bike is red.", 2),
    line("n3", "My bike is blue now.", 3),
    line("n4", "Noted: you live in Ghent.", 4, role="assistant"),
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return a store with four messages."""
    folder = tmp_path_factory.mktemp("kept")
    with amos.api.Store.create(folder / "mem") as store:
        store.ingest(write_lines(folder / "notes.jsonl", *NOTES), format="messages")
    return folder / "mem"


def written(kept, form, path):
    with amos.api.Store.open(kept) as store:
        return export_lines(store, form, path)


def unkeyed(text):
    """Return text without what depends on the store's key."""
    text = re.sub(r"\b(atm|src|ent)_[a-z2-7]{26}", r"\1_", text)
    return re.sub(r"-[0-9a-f]{8}\.md", ".md", text)


def test_mem0_holds_one_object_per_claim(kept, tmp_path):
    written(kept, "mem0", tmp_path / "out.json")
    found = json.loads(unkeyed((tmp_path / "out.json").read_text(encoding="utf-8")))["results"]
    assert [one["memory"] for one in found] == [
        "User's favourite tea is sencha.",
        "User's home city is Ghent.",
        "User's bike is red.",
        "User's bike is blue.",
    ]
    assert found[1] == {
        "id": "atm_",
        "memory": "User's home city is Ghent.",
        "hash": found[1]["hash"],
        "user_id": None,
        "agent_id": None,
        "run_id": None,
        "categories": ["belief"],
        "created_at": "2026-05-01T07:30:00.000000Z",
        "updated_at": "2026-05-01T07:30:00.000000Z",
        "expiration_date": None,
        "metadata": {
            "type": "belief",
            "state": "active",
            "subject": "user",
            "confidence": found[1]["metadata"]["confidence"],
            "validity": [{"from": "2026-05-01T07:30:00.000000Z", "until": None}],
            "source": "src_",
            "excerpt": "I live in Ghent",
            "author": "user",
        },
    }
    assert (found[2]["metadata"]["state"], found[2]["expiration_date"]) == ("superseded", "2026-05-03")


def test_an_mcp_memory_file_holds_what_is_true_now_and_is_read_again(kept, tmp_path):
    written(kept, "mcp-memory", tmp_path / "out.jsonl")
    lines = [json.loads(text) for text in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    said = {one["name"]: one["observations"] for one in lines if one["type"] == "entity"}
    told = [text for texts in said.values() for text in texts]
    assert "User's bike is blue." in told
    assert "User's bike is red." not in told
    with amos.api.Store.create(tmp_path / "again") as store:
        receipt = store.ingest(tmp_path / "out.jsonl")
        again = store.ingest(tmp_path / "out.jsonl")
    assert receipt["formats"] == {"mcp-memory": len(lines)}
    assert (receipt["sources"]["unreadable"], again["sources"]["linked"]) == (0, len(lines))


def test_openai_lines_hold_the_talk_in_order_and_are_read_again(kept, tmp_path):
    written(kept, "openai", tmp_path / "out.jsonl")
    (only,) = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    talk = json.loads(only)
    assert [one["role"] for one in talk["messages"]] == ["user", "user", "user", "assistant"]
    assert talk["messages"][1]["content"] == "My bike is red."
    assert talk["metadata"]["times"][0] == "2026-05-01T07:30:00.000000Z"
    with amos.api.Store.create(tmp_path / "again") as store:
        assert store.ingest(tmp_path / "out.jsonl")["formats"] == {"openai": 1}


def test_a_page_tells_what_holds_and_what_held(kept, tmp_path):
    written(kept, "markdown", tmp_path / "pages")
    pages = {
        unkeyed(path.name): unkeyed(path.read_text(encoding="utf-8"))
        for path in (tmp_path / "pages").iterdir()
    }
    assert "user.md" in pages["index.md"]
    text = "\n".join(pages.values())
    assert (
        "- User's favourite tea is sencha. [1] (preference, `atm_`)\n  > My favourite tea is \\*sen" in text
    )
    assert text.index("## What holds") < text.index("## What held once")


@pytest.mark.parametrize("text", ["<script>x</script>", "a\n# b", "[x](javascript:y)", "`z`", "1 | 2"])
def test_no_text_becomes_markup(text):
    assert not re.search(r"(?<!\\)[<>#\[\]`|]|\n", _plain(text))


def test_json_lines_are_imported_again_and_add_nothing_twice(kept, tmp_path):
    written(kept, "jsonl", tmp_path / "out.jsonl")
    first = import_export(tmp_path / "again", tmp_path / "out.jsonl")
    with amos.api.Store.open(kept, read_only=True) as store:
        assert first["state_digest"] == store.verify().state_digest
    second = import_export(tmp_path / "again", tmp_path / "out.jsonl")
    assert second["sources"] == {"new": 0, "linked": 4, "rejected": 0, "unreadable": 0}
    assert import_export(kept, tmp_path / "out.jsonl", dry_run=True)["sources"]["new"] == 0
    assert second["graph_version"] == first["graph_version"]


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (lambda lines: lines[:-1], IntegrityError, "cut short"),
        (lambda lines: lines[1:], IntegrityError, "cut short"),
        (lambda lines: [*lines[:3], "{", *lines[4:]], IntegrityError, "line 4 is not the one exported"),
        (lambda lines: [*lines, lines[0]], InputError, "no row of ours"),
        (lambda lines: [lines[0].replace("sencha", "matcha"), *lines[1:]], IntegrityError, "not the one"),
        (lambda lines: ["{", *lines], InputError, "line 1 is no row"),
        (lambda lines: ["[" * 100_000, *lines], InputError, "line 1 is no row"),
        (lambda _: [json.dumps(NOTES[0])], InputError, "no row of ours"),
        (lambda _: [], InputError, "line 1 is no row"),
    ],
)
def test_json_lines_that_were_changed_are_named(kept, tmp_path, change, error, told):
    written(kept, "jsonl", tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "out.jsonl").write_text("\n".join(change(lines)) + "\n", encoding="utf-8")
    with pytest.raises(error, match=told):
        import_export(tmp_path / "again", tmp_path / "out.jsonl")
    assert not (tmp_path / "again").exists()


def test_json_lines_that_end_inside_a_line_are_cut_short(kept, tmp_path):
    written(kept, "jsonl", tmp_path / "out.jsonl")
    whole = (tmp_path / "out.jsonl").read_bytes()
    (tmp_path / "out.jsonl").write_bytes(whole[: whole.index(b"\n", 200) + 30])
    with pytest.raises(IntegrityError, match=r"ends inside line \d+: it is cut short"):
        import_export(tmp_path / "again", tmp_path / "out.jsonl")
