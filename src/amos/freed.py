"""Give memory back to the system."""

from __future__ import annotations

import pyarrow as pa


def give_back() -> None:
    """Give the system what is free: what long work leaves would be held beside what the next one takes."""
    for pool in (pa.default_memory_pool(), pa.system_memory_pool()):
        pool.release_unused()
