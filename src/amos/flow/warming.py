"""Compile the kernels before anybody waits for them."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

from amos.bundled import samples_folder
from amos.clock import utc_now
from amos.flow.ingest import Run
from amos.flow.rules import default_rules
from amos.identity import random_id
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.kernels.compiled import cache_folder
from amos.sources.reading import read_batches

_PASSES = 2
"""The first pass loads the compiler; in the second every loop is long enough to be compiled."""


def is_warm() -> bool:
    """Return whether compiled kernels of this version wait in the cache."""
    return any(cache_folder().rglob("*.nbi"))


def warm_kernels() -> None:
    """Read the sample story into throw-away stores with every kernel compiled."""
    rules = dataclasses.replace(default_rules(size=0), is_compiled=True)
    for _ in range(_PASSES):
        with tempfile.TemporaryDirectory(prefix="amos-warm-") as folder:
            now = utc_now()
            with Shard.create(Path(folder) / "store", now=now) as shard:
                run = Run(shard=shard, rules=rules, actor="warm", run_id=random_id(), now=utc_now)
                run.ingest(read_batches([samples_folder()]))
                verify_shard(shard)
