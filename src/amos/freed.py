"""Give memory back to the system."""

from __future__ import annotations

import pyarrow as pa


def give_back() -> None:
    """Give the system what is free: what long work leaves would be held beside what the next one takes."""
    default, system = pa.default_memory_pool(), pa.system_memory_pool()
    if default.backend_name != system.backend_name:
        default.release_unused()
    system.release_unused()
