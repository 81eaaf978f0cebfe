"""Each folder here is one input; `expected.jsonl` holds its blocks and problems, one per line."""

import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from amos.sources.block import Block
from amos.sources.reading import batch_blocks, read_batches

HERE = Path(__file__).parent
CASES = sorted(folder.name for folder in HERE.iterdir() if (folder / "expected.jsonl").exists())
SAVED = 1_770_000_000
"""When every file counts as saved, in seconds since 1970."""
DEFAULTS = msgspec.to_builtins(
    Block(format="", record_key="", conversation_key="", text="", turn=-1, locator="")
)


def rendered(case, place):
    """Return the lines that tell what the readers make of one folder: only what is not default."""
    folder = place / case
    shutil.copytree(HERE / case, folder)
    for path in folder.rglob("*"):
        os.utime(path, (SAVED, SAVED))
    mapping = folder / "mapping.toml"
    inputs = sorted(path for path in folder.iterdir() if path.name not in {"expected.jsonl", "mapping.toml"})
    batches = list(read_batches(inputs, mapping=mapping if mapping.exists() else None))
    lines = []
    for batch in batches:
        for block in batch_blocks(batch):
            row = msgspec.to_builtins(block)
            lines.append({name: value for name, value in row.items() if value != DEFAULTS[name]})
        problems = [replace(one, file=one.file.removeprefix(f"{folder}/")) for one in batch.problems]
        lines.extend({"problem": msgspec.to_builtins(problem)} for problem in problems)
    lines.append({"records": sum(batch.record_count for batch in batches)})
    return [json.dumps(line, ensure_ascii=False, sort_keys=True) for line in lines]


@pytest.mark.parametrize("case", CASES)
def test_input_reads_as_expected(case, tmp_path):
    expected = (HERE / case / "expected.jsonl").read_text(encoding="utf-8")
    assert rendered(case, tmp_path) == expected.splitlines()
