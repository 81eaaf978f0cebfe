"""Folders of memory files: the path inside is the key, a changed file revises, a copy adds nothing."""

import os
import shutil
import zipfile

import pytest

from amos.sources.memory_folder import key_of
from amos.sources.reading import detect
from delivered import delivered
from laws import scratch

FIRST, LATER, COPIED = 1_770_000_000, 1_771_000_000, 1_772_000_000


def saved(path, text, at=FIRST):
    """Write a file as it was saved at a time; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path


@pytest.mark.parametrize(
    ("shown", "key"),
    [
        ("memory/MEMORY.md", "MEMORY.md"),
        ("project/memory/topics/a.md", "topics/a.md"),
        ("projects/pier/memory/a.md", "pier/a.md"),
        ("export.zip/memory/a.md", "a.md"),
        ("a.md", "a.md"),
    ],
)
def test_both_ways_into_a_folder_lead_to_one_key(shown, key):
    assert key_of(shown) == key


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("memory/notes.txt", "The pump leaks.", "memory-folder"),
        ("memory-bank/context.md", "The pump leaks.", "memory-folder"),
        ("docs/MEMORY.md", "# Memory", "memory-folder"),
        ("kb/pump.md", "---\ntitle: Pump\npermalink: kb/pump\n---\nIt leaks.", "memory-folder"),
        ("kb/pump.md", "---\nname: pump\ndescription: leaks\ntype: project\n---\nIt leaks.", "memory-folder"),
        ("docs/README.md", "# Pump\n\nIt leaks.", None),
        ("blog/post.md", "---\ntitle: Pump\n---\nIt leaks.", None),
        ("notes.txt", "Dear diary,", None),
    ],
)
def test_only_what_looks_like_memory_is_taken_for_it(tmp_path, name, text, form):
    folder = tmp_path / "home"
    saved(folder / name, text)
    assert [one.format for one in detect([folder])] == [form]


def test_any_text_is_read_when_the_format_is_named(tmp_path):
    (block,) = delivered(saved(tmp_path / "notes.txt", "The pump leaks."), format="memory-folder").blocks
    assert (block.text, block.trust, block.role) == ("The pump leaks.", "agent", "assistant")


def test_a_file_is_kept_byte_by_byte_with_its_front_matter(tmp_path):
    text = "---\ntitle: Pump\nupdated: 2026-02-10\n---\n---\nodd: second\n---\n\n# Leaks\r\n"
    path = tmp_path / "memory" / "pump.md"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    (block,) = delivered(path.parent).blocks
    assert block.text == text
    assert (block.event_text, block.conversation_title) == ("2026-02-10", "Pump")


def test_an_empty_file_beside_others_is_a_note_or_is_lost_by_name(tmp_path):
    saved(tmp_path / "memory" / "a.md", "The pump leaks.")
    saved(tmp_path / "memory" / "b.md", "\n")
    assert delivered(tmp_path / "memory").codes == ["skipped_files"]
    assert delivered(tmp_path / "memory", format="memory-folder").lost == [(1, "empty_file")]


def test_a_changed_file_revises_and_a_copy_of_any_version_adds_nothing():
    with scratch() as (folder, store):
        path = saved(folder / "memory" / "a.md", "The pump leaks.")
        store.ingest([path.parent])
        shutil.copytree(path.parent, folder / "old" / "memory")
        saved(path, "The pump holds.", LATER)
        assert store.ingest([path.parent])["sources"]["new"] == 1
        version = store.ingest([path.parent])["graph_version"]
        saved(path, "The pump holds.", COPIED)
        saved(folder / "old" / "memory" / "a.md", "The pump leaks.", COPIED)
        for copy in (path.parent, folder / "old" / "memory"):
            receipt = store.ingest([copy])
            assert (receipt["sources"]["new"], receipt["sources"]["linked"]) == (0, 1)
            assert receipt["graph_version"] == version


def test_an_older_version_that_comes_late_is_no_edit():
    with scratch() as (folder, store):
        path = saved(folder / "memory" / "a.md", "The pump holds.", LATER)
        store.ingest([path.parent])
        saved(path, "The pump leaks.", FIRST)
        assert store.ingest([path.parent])["reasons"] == {"delivery_conflict": 1}


def test_a_folder_in_an_archive_is_the_same_folder():
    with scratch() as (folder, store):
        path = saved(folder / "memory" / "a.md", "The pump leaks.")
        store.ingest([path.parent])
        with zipfile.ZipFile(folder / "memory.zip", "w") as packed:
            packed.write(path, "memory/a.md")
        assert store.ingest([folder / "memory.zip"])["sources"]["linked"] == 1
