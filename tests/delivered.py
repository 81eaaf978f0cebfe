"""Read files for a test, and check with every read that the records are all accounted for."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from amos.sources.reading import batch_blocks, read_batches

EXAMPLES = Path(__file__).parent / "golden" / "sources"
CASES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "expected.jsonl").exists())
KEPT_BACK = {"expected.jsonl", "mapping.toml"}


def example(case):
    """Return the input files and folders of a golden case, and the options they are read with."""
    folder = EXAMPLES / case
    mapping = folder / "mapping.toml"
    paths = sorted(path for path in folder.iterdir() if path.name not in KEPT_BACK)
    return paths, {"mapping": mapping} if mapping.exists() else {}


def first_file(paths):
    """Return the first file among `paths` and below them."""
    path = paths[0]
    return path if path.is_file() else first_file(sorted(path.iterdir()))


def copied(case, place):
    """Copy the input of a golden case into a folder as it stands; return what to read."""
    paths, _ = example(case)
    for path in paths:
        (shutil.copytree if path.is_dir() else shutil.copy)(path, place / path.name)
    return [place / path.name for path in paths]


@dataclass
class Delivered:
    """Everything that came of some files."""

    blocks: list
    problems: list
    record_count: int

    @property
    def texts(self):
        return [block.text for block in self.blocks]

    @property
    def keys(self):
        return [(block.format, block.record_key, block.block) for block in self.blocks]

    @property
    def codes(self):
        return [problem.code for problem in self.problems]

    @property
    def lost(self):
        return [(problem.record, problem.code) for problem in self.problems if problem.is_lost]


def delivered(*paths, **options):
    """Return blocks and problems of `paths`; every record has a block or is lost."""
    blocks, problems, count = [], [], 0
    for batch in read_batches(list(paths), **options):
        read = batch_blocks(batch)
        kept = len({block.locator for block in read})
        assert kept + sum(problem.is_lost for problem in batch.problems) == batch.record_count
        blocks += read
        problems += batch.problems
        count += batch.record_count
    return Delivered(blocks, problems, count)


def lines(path, rows):
    """Write `rows`, objects or ready text, one per line; return the path."""
    texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def document(path, value):
    """Write `value` as one JSON document; return the path."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
