"""The door to the readers: identity, batches, trust, and that no input breaks it."""

import json
import zipfile

import pyarrow as pa
import pytest

from amos.schemas.raw import RAW
from amos.sources.reading import raw_table, read_batches
from delivered import CASES, copied, delivered, document, example, lines


def content(found):
    return [(*key, block.turn, block.text) for key, block in zip(found.keys, found.blocks, strict=True)]


@pytest.mark.parametrize("case", CASES)
def test_a_moved_copy_and_an_archive_are_the_same_records(tmp_path, case):
    paths, options = example(case)
    moved = tmp_path / "some" / "other folder"
    moved.mkdir(parents=True)
    copied(case, moved)
    zipped = tmp_path / "re-zipped.zip"
    top = "" if case == "memory-folder" else "deep/"  # there the path inside what is given counts
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in moved.rglob("*"):
            archive.write(path, f"{top}{path.relative_to(moved)}")
    here = content(delivered(*paths, **options))
    assert content(delivered(moved, **options)) == here
    assert content(delivered(zipped, **options)) == here


@pytest.mark.parametrize("case", CASES)
def test_the_size_of_batches_changes_nothing(case):
    paths, options = example(case)
    whole = delivered(*paths, **options)
    single = delivered(*paths, batch_records=1, **options)
    assert single.blocks == whole.blocks
    assert sorted(single.problems, key=str) == sorted(whole.problems, key=str)
    sizes = [batch.record_count for batch in read_batches(paths, batch_records=1, **options)]
    assert max(sizes) <= 1 + sum(problem.is_lost for problem in whole.problems)


@pytest.mark.parametrize("case", CASES)
def test_blocks_fill_a_raw_table(case):
    paths, options = example(case)
    blocks = delivered(*paths, **options).blocks
    table = raw_table(blocks)
    table.validate(full=True)
    assert table.schema == RAW
    assert table["text"].to_pylist() == [block.text for block in blocks]
    assert table["purposes"].to_pylist() == [list(block.purposes) for block in blocks]
    for name in set(RAW.names) - {"purposes"}:
        assert table[name].to_pylist() == [getattr(block, name) for block in blocks]
    for extra in table["extra"].to_pylist():
        assert extra is None or isinstance(json.loads(extra), dict)


def test_no_blocks_give_an_empty_raw_table():
    assert raw_table([]).equals(pa.table({name: [] for name in RAW.names}, schema=RAW))


def test_batches_hold_about_as_many_records_as_asked_for(tmp_path):
    path = lines(tmp_path / "n.jsonl", [{"text": str(number)} for number in range(5000)])
    sizes = [batch.record_count for batch in read_batches([path], batch_records=2048)]
    assert sizes == [2048, 2048, 904]


def test_the_first_batch_is_short_as_a_run_waits_for_it(tmp_path):
    path = lines(tmp_path / "n.jsonl", [{"text": str(number)} for number in range(25_000)])
    assert [batch.record_count for batch in read_batches([path])] == [4096, 12_288, 8616]


def test_batches_end_by_bytes_too(tmp_path):
    path = lines(tmp_path / "n.jsonl", [{"text": "x" * (5 << 19)} for _ in range(5)])
    batches = list(read_batches([path]))
    assert [batch.record_count for batch in batches] == [2, 2, 1]
    assert sum(batch.bytes_read for batch in batches) == path.stat().st_size


@pytest.mark.parametrize(
    ("ceiling", "expected"),
    [
        (None, ["trusted_user", "agent", "tool", "recall"]),
        ("trusted_user", ["trusted_user", "agent", "tool", "recall"]),
        ("tool", ["tool", "tool", "tool", "recall"]),
        ("untrusted_web", ["untrusted_web", "untrusted_web", "untrusted_web", "recall"]),
    ],
)
def test_a_given_trust_is_a_ceiling_and_raises_nothing(tmp_path, ceiling, expected):
    rows = [{"text": "x", "role": role} for role in ("user", "assistant", "tool", "system")]
    found = delivered(lines(tmp_path / "n.jsonl", rows), trust=ceiling)
    assert [block.trust for block in found.blocks] == expected


def test_good_files_are_read_when_another_is_bad(tmp_path):
    good = lines(tmp_path / "good.jsonl", [{"text": "fine"}])
    bad = document(tmp_path / "bad.json", {"planets": []})
    found = delivered(bad, good)
    assert (found.texts, found.lost) == (["fine"], [(0, "unknown_format")])


def test_reading_never_writes_to_the_input(tmp_path):
    path = lines(tmp_path / "n.jsonl", [{"text": "x"}, "broken"])
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    delivered(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize("form", ["messages", "claude-code", "openai"])
def test_a_first_line_longer_than_the_sample_is_recognised(tmp_path, form):
    long = "x" * 200_000 + '\\"' * 50_000
    rows = {
        "messages": {"id": "1", "text": long},
        "claude-code": {
            "type": "user",
            "uuid": "u",
            "sessionId": "s",
            "message": {"role": "user", "content": long},
        },
        "openai": {"messages": [{"role": "user", "content": long}]},
    }
    found = delivered(lines(tmp_path / "long.jsonl", [rows[form]]))
    assert [(block.format, block.text) for block in found.blocks] == [(form, long)]
