"""What the deep check, the state digest and an export hold in memory as a store grows eightfold."""

from __future__ import annotations

import pytest

from benchmarks.measure import run_measured
from benchmarks.recording import Figure, record_figure
from benchmarks.workload import write_messages

pytestmark = pytest.mark.benchmark

MESSAGES = {"200 k": 76_000, "800 k": 304_000, "1.6 M": 608_000}
"""Messages whose ingest makes about so many rows.

Below the first size the working set has not reached its bounds: 32 MB of decoded columns, whole row groups.
"""

INGEST = """
import sys
from pathlib import Path
from amos.api import Store
with Store.create(sys.argv[2]) as store:
    store.ingest([Path(sys.argv[1])], format="messages")
    with store.shard.pin() as snapshot:
        print(sum(snapshot.counts().values()))
"""

# numba comes in first: every size then has the same floor
WORK = {
    "verify --deep": """
import sys, numba
from amos.api import Store
with Store.open(sys.argv[1], read_only=True) as store:
    report = store.verify(deep=True)
assert report.ok, report.problems
""",
    "state digest": """
import sys, numba
from amos.api import Store
from amos.flow.digest import state_digest
with Store.open(sys.argv[1], read_only=True) as store, store.shard.pin() as snapshot:
    state_digest(snapshot)
""",
    "export parquet": """
import shutil, sys, numba
from amos.api import Store
from amos.moves import export_tables
with Store.open(sys.argv[1]) as store:
    export_tables(store, sys.argv[1] + ".parquet")
shutil.rmtree(sys.argv[1] + ".parquet")
""",
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Return the paths of the stores, and how many rows each holds."""
    folder = tmp_path_factory.mktemp("memory")
    found = {}
    for size, count in MESSAGES.items():
        source = write_messages(folder / f"{count}.jsonl", count)
        store = folder / str(count)
        found[size] = str(store), run_measured(INGEST, str(source), str(store)).printed
    return found


@pytest.mark.parametrize("work", list(WORK))
def test_memory_stays_flat_as_the_store_grows(stores, work):
    held = {
        size: min(run_measured(WORK[work], path).own_bytes for _ in range(2))
        for size, (path, _) in stores.items()
    }
    ratio = held["1.6 M"] / held["200 k"]
    rows = " / ".join(f"{count:,}" for _, count in stores.values())
    in_megabytes = " / ".join(f"{octets / 1e6:.0f}" for octets in held.values())
    record_figure(
        f"memory_{work.split()[0]}_{work.split()[-1].strip('-')}",
        Figure(
            work=f"{work}: memory of its own at {rows} rows is {in_megabytes} MB; last to first",
            value=round(ratio, 2),
            unit="times",
            goal="flat: ≤ 1.5 times",
        ),
    )
    assert ratio < 2
