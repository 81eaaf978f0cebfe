"""The library's door takes what people have at hand."""

from datetime import UTC, datetime

import pytest

import amos
from amos.errors import UsageError
from laws import scratch
from strategies import write_lines

LINES = [
    {"id": "a", "text": "My locker is B12.", "ts": "2026-03-01T08:00:00Z"},
    {"id": "b", "text": "My locker is C40.", "ts": "2026-04-01T08:00:00Z"},
]


@pytest.mark.parametrize(
    "moment", ["2026-03-10", "2026-03-10T12:00:00+02:00", datetime(2026, 3, 10, tzinfo=UTC)]
)
def test_a_packet_answers_as_of_a_date_a_text_or_a_moment(moment):
    with scratch() as (folder, store):
        store.ingest([write_lines(folder / "a.jsonl", LINES)], format="messages")
        assert "B12" in store.packet("which locker", as_of=moment).items[0].statement
        assert "C40" in store.packet("which locker").items[0].statement


@pytest.mark.parametrize(
    "shape", [str, lambda path: path, lambda path: [path], lambda path: iter([str(path)])]
)
def test_one_path_is_one_path_however_it_is_given(shape):
    with scratch() as (folder, store):
        path = write_lines(folder / "a.jsonl", LINES)
        assert len(list(amos.propose(shape(path), format="messages"))) == 2
        assert store.ingest(shape(path), dry_run=True)["sources"]["new"] == 2
        assert store.ingest(shape(path))["sources"]["new"] == 2


@pytest.mark.parametrize("paths", ["", [""], ["a.jsonl", ""]])
def test_an_empty_text_is_no_path_and_never_the_current_folder(paths, monkeypatch):
    with scratch() as (folder, store):
        write_lines(folder / "a.jsonl", LINES)
        monkeypatch.chdir(folder)
        for read in (store.ingest, lambda given: list(amos.propose(given))):
            with pytest.raises(UsageError, match="empty path"):
                read(paths)


def test_the_package_lists_its_names():
    assert {"Store", "open", "propose", "__version__"} <= set(dir(amos))
