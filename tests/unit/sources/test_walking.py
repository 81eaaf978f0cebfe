"""Finding files: every folder and archive in order, nothing hostile opened, nothing passed in silence."""

import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from amos.errors import InputError, UsageError
from amos.sources.limits import Limits
from amos.sources.reading import detect, plan_inputs
from amos.sources.walking import Walk, natural_order
from delivered import delivered, lines


def note(number):
    return {"id": f"n{number}", "text": f"note {number}"}


def walked(path, **limits):
    walk = Walk(limits=Limits(**limits))
    walk.add(path)
    return walk


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members:
            made.writestr(name, content)
    return path


def refused(walk):
    return {problem.file.rpartition("/")[2]: problem.message for problem in walk.problems if problem.is_lost}


def test_folders_are_read_whole_in_a_fixed_order(tmp_path):
    for name in ("b/10.jsonl", "b/9.jsonl", "a/x.jsonl", "c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        lines(tmp_path / name, [note(name)])
    shown = [part.shown.removeprefix(tmp_path.name + "/") for part in walked(tmp_path).parts]
    assert shown == ["a/x.jsonl", "b/9.jsonl", "b/10.jsonl", "c.jsonl"]


def test_shard_ten_follows_shard_nine():
    names = ["s-10", "s-9", "S-1", "s-009b", "s"]
    assert sorted(names, key=natural_order) == ["S-1", "s", "s-009b", "s-9", "s-10"]


def test_hidden_and_foreign_files_are_counted_as_passed_over(tmp_path):
    lines(tmp_path / "notes.jsonl", [note(1)])
    lines(tmp_path / ".hidden.jsonl", [note(2)])
    (tmp_path / ".git").mkdir()
    lines(tmp_path / ".git" / "x.jsonl", [note(3)])
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n")
    found = delivered(tmp_path)
    assert found.texts == ["note 1"]
    assert [(p.code, p.is_lost) for p in found.problems] == [("skipped_files", False)]
    assert found.problems[0].message.startswith("3 file(s)")


def test_a_folder_that_contains_itself_ends(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "back").symlink_to(tmp_path)
    lines(tmp_path / "sub" / "notes.jsonl", [note(1)])
    found = delivered(tmp_path)
    assert found.texts == ["note 1"]
    assert found.codes == ["folder_loop"]


def test_a_store_is_no_input_wherever_it_stands(tmp_path):
    lines(tmp_path / "notes.jsonl", [note(1)])
    for store in (tmp_path / "amos-store", tmp_path / "old" / "mine"):
        (store / "default").mkdir(parents=True)
        (store / "amos.toml").write_text("format = 1\n")
        lines(store / "default" / "rows.jsonl", [note(2)])
    found = delivered(tmp_path)
    assert found.texts == ["note 1"]
    assert [(p.file, p.code, p.is_lost) for p in found.problems] == [
        (str(tmp_path / "amos-store"), "store_folder", False),
        (str(tmp_path / "old" / "mine"), "store_folder", False),
    ]


def test_a_store_alone_is_an_input_error_that_says_so(tmp_path):
    (tmp_path / "amos.toml").write_text("format = 1\n")
    lines(tmp_path / "rows.jsonl", [note(1)])
    with pytest.raises(InputError) as caught:
        delivered(tmp_path)
    assert (caught.value.code, caught.value.path) == ("store_folder", str(tmp_path))
    assert "`-s`" in caught.value.advice


def test_problems_name_the_path_as_given_and_locators_no_folder_of_the_machine(tmp_path, monkeypatch):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    lines(tmp_path / "in" / "deep" / "notes.jsonl", [note(1), "{torn"])
    archive(tmp_path / "in" / "x.zip", [("a/b.jsonl", '{"id": "b", "text": "b"}\n{torn\n')])
    monkeypatch.chdir(tmp_path)
    for given, shown in (
        ("in", "in/"),
        ("in/deep", "deep/"),
        ("in/deep/notes.jsonl", ""),
        ("in/x.zip", "x.zip/"),
    ):
        found = delivered(Path(given))
        name = "a/b.jsonl" if given.endswith(".zip") else "notes.jsonl"
        where = {p.file for p in found.problems}
        assert where <= {"in/deep/notes.jsonl", "in/x.zip/a/b.jsonl"}
        assert where
        assert any(block.locator in (f"{shown}{name}#1", f"{shown}deep/{name}#1") for block in found.blocks)
    monkeypatch.chdir(tmp_path / "in")
    assert {p.file for p in delivered(Path()).problems} == {"deep/notes.jsonl", "x.zip/a/b.jsonl"}


def test_two_links_to_one_folder_are_no_loop(tmp_path):
    (tmp_path / "real").mkdir()
    lines(tmp_path / "real" / "notes.jsonl", [note(1)])
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = delivered(tmp_path)
    assert found.texts == ["note 1", "note 1"]
    assert len(set(found.keys)) == 1


def test_folders_nest_only_so_deep(tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    lines(deep / "notes.jsonl", [note(1)])
    walk = walked(tmp_path, folder_depth=3)
    assert (walk.parts, [problem.code for problem in walk.problems]) == ([], ["too_deep"])


def test_more_files_than_allowed_are_said(tmp_path):
    for number in range(4):
        lines(tmp_path / f"{number}.jsonl", [note(number)])
    walk = walked(tmp_path, files=3)
    assert len(walk.parts) == 3
    assert [problem.code for problem in walk.problems] == ["too_large"]


@pytest.mark.parametrize(
    "name",
    ["../escape.jsonl", "a/../../escape.jsonl", "/abs.jsonl", "C:\\x.jsonl", "..\\x.jsonl", "\\x.jsonl"],
)
def test_names_that_lead_out_of_an_archive_are_refused(tmp_path, name):
    content = '{"id":"n1","text":"fine"}\n'
    made = archive(tmp_path / "export.zip", [(name, content), ("good.jsonl", content)])
    found = delivered(made)
    assert found.texts == ["fine"]
    assert [(p.code, p.is_lost) for p in found.problems] == [("refused_member", True)]


def test_links_nested_and_encrypted_members_are_refused(tmp_path):
    link = zipfile.ZipInfo("link.jsonl")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    made = archive(
        tmp_path / "export.zip",
        [(link, "/etc/passwd"), ("inner.zip", "PK"), ("locked.jsonl", "secret"), ("ok.jsonl", "{}")],
    )
    raw = bytearray(made.read_bytes())
    at = raw.rindex(b"locked.jsonl") - 46
    assert raw[at : at + 4] == b"PK\x01\x02"
    raw[at + 8] |= 1
    made.write_bytes(bytes(raw))
    walk = walked(made)
    assert [part.name for part in walk.parts] == ["ok.jsonl"]
    assert {name: message.split(";")[0].split(" ")[-1] for name, message in refused(walk).items()} == {
        "link.jsonl": "link",
        "inner.zip": "archive",
        "locked.jsonl": "encrypted",
    }


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    made = archive(tmp_path / "bomb.zip", [("zeros.jsonl", b"\n" * (20 << 20))])
    with pytest.raises(InputError) as caught:
        delivered(made)
    assert caught.value.code == "refused_member"
    assert "it looks like a zip bomb: " in str(caught.value)
    assert "would unpack to 20,971,520, 1,0" in str(caught.value)
    assert "unpack it yourself" in caught.value.advice


def test_one_bomb_among_good_members_costs_only_itself(tmp_path):
    bulk = os.urandom(200_000)
    made = archive(
        tmp_path / "mixed.zip",
        [("zeros.jsonl", b"\n" * (17 << 20)), ("bulk.bin", bulk), ("good.jsonl", '{"text":"fine"}\n')],
    )
    found = delivered(made)
    assert found.texts == ["fine"]
    assert "refused_member" in found.codes


def test_a_member_that_lies_about_its_size_is_reported(tmp_path):
    made = archive(
        tmp_path / "liar.zip", [("big.jsonl", '{"text":"one"}\n' * 50), ("good.jsonl", '{"text":"fine"}\n')]
    )
    raw = bytearray(made.read_bytes())
    at = raw.rindex(b"big.jsonl") - 46
    raw[at + 24 : at + 28] = struct.pack("<I", 30)
    made.write_bytes(bytes(raw))
    found = delivered(made)
    assert found.texts[-1] == "fine"
    assert "unreadable" in found.codes


def test_too_many_members_are_refused(tmp_path):
    made = archive(tmp_path / "many.zip", [(f"{number}.jsonl", "{}") for number in range(6)])
    assert "6 members" in walked(made, members=5).problems[0].message


def test_a_damaged_archive_is_said(tmp_path):
    made = archive(tmp_path / "export.zip", [("a.jsonl", '{"text":"x"}')])
    made.write_bytes(made.read_bytes()[:-30])
    with pytest.raises(InputError) as caught:
        delivered(made)
    assert "cannot be opened" in str(caught.value)


def test_a_damaged_member_keeps_what_came_before(tmp_path):
    rows = "".join(f'{{"id":"{number}","text":"{os.urandom(60).hex()}"}}\n' for number in range(40_000))
    made = archive(tmp_path / "export.zip", [("a.jsonl", rows), ("b.jsonl", '{"id":"b","text":"after"}\n')])
    raw = bytearray(made.read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    made.write_bytes(bytes(raw))
    found = delivered(made)
    assert len(found.blocks) > 1000
    assert found.texts[-1] == "after"
    assert "unreadable" in found.codes


def test_a_missing_path_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError) as caught:
        delivered(tmp_path / "nowhere.jsonl")
    assert caught.value.exit_code == 2


def test_a_file_without_permission_is_an_input_error(tmp_path, monkeypatch):
    path = lines(tmp_path / "locked.jsonl", [note(1)])
    _lock(monkeypatch, path)
    with pytest.raises(InputError) as caught:
        delivered(path)
    assert "no permission" in str(caught.value)


def test_one_file_without_permission_costs_only_itself(tmp_path, monkeypatch):
    _lock(monkeypatch, lines(tmp_path / "locked.jsonl", [note(1)]))
    lines(tmp_path / "open.jsonl", [note(2)])
    found = delivered(tmp_path)
    assert found.texts == ["note 2"]
    assert found.codes == ["unreadable"]


def _lock(monkeypatch, path):
    """Make `path` unreadable even for a superuser, for whom file modes do not count."""
    original = Path.open

    def guarded(self, *args, **options):
        if self == path:
            raise PermissionError(13, "Permission denied")
        return original(self, *args, **options)

    monkeypatch.setattr(Path, "open", guarded)


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError):
        delivered(tmp_path / "pipe")


def test_equal_names_get_locators_of_their_own(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        lines(tmp_path / folder / "notes.jsonl", [{"id": folder, "text": folder}])
    found = delivered(tmp_path / "a" / "notes.jsonl", tmp_path / "b" / "notes.jsonl")
    assert [block.locator for block in found.blocks] == ["notes.jsonl#1", "notes.jsonl (2)#1"]


def test_detection_says_what_it_saw(tmp_path):
    lines(tmp_path / "notes.jsonl", [note(1)])
    (tmp_path / "odd.json").write_text('{"planets": [], "moons": 3}')
    archive(tmp_path / "in.zip", [("inner/notes.jsonl", '{"id":"1","text":"x"}')])
    found = {found.member or Path(found.file).name: (found.format, found.saw) for found in detect([tmp_path])}
    assert found == {
        "inner/notes.jsonl": ("messages", "JSON lines with `text`"),
        "notes.jsonl": ("messages", "JSON lines with `text`"),
        "odd.json": (None, "JSON with the keys 'planets', 'moons'"),
    }


def test_the_plan_knows_the_bytes_ahead(tmp_path):
    path = lines(tmp_path / "notes.jsonl", [note(1), note(2)])
    planned = plan_inputs([path])
    assert [(one.name, one.format, one.size) for one in planned] == [
        ("notes.jsonl", "messages", path.stat().st_size)
    ]
