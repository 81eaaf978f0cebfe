from pathlib import Path

import pytest

from amos.storage.drafts import clear_drafts, drafting, drafts_of


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_draft_takes_its_name_when_the_block_is_done_and_goes_when_it_fails(tmp_path):
    target = tmp_path / "out.txt"
    with drafting(target) as draft:
        draft.write_text("whole")
        assert not target.exists()
    with pytest.raises(FileNotFoundError), drafting(target) as draft:
        (draft.parent / "none").read_text()
    assert names(tmp_path) == ["out.txt"]
    assert target.read_text() == "whole"


def test_a_draft_that_is_being_written_stays_and_one_that_nobody_writes_goes(tmp_path):
    target = tmp_path / "out"
    left = tmp_path / ".out.1.draft"
    left.mkdir()
    (left / "part").write_text("plain")
    with drafting(target, is_folder=True) as draft:
        assert not left.exists()
        assert clear_drafts(target) == [draft]
        assert draft.is_dir()
    assert target.is_dir()


@pytest.mark.parametrize("name", [".out.draft", ".out.x.draft", ".other.1.draft", ".out.1.draft.txt"])
def test_what_is_called_otherwise_is_no_draft(tmp_path, name):
    (tmp_path / name).write_text("mine")
    assert clear_drafts(tmp_path / "out") == drafts_of(tmp_path / "out") == []
    assert (tmp_path / name).exists()


def test_a_link_is_never_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").write_text("mine")
    link = tmp_path / ".out.1.draft"
    link.symlink_to(tmp_path / "precious")
    assert clear_drafts(tmp_path / "out") == [link]
    assert names(tmp_path / "precious") == ["file"]
