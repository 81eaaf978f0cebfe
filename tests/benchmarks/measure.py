"""Run a piece of work in a process of its own and read its time and memory from the system."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one process used, and the JSON it printed last."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    printed: Any


def run_measured(code: str, *arguments: str, python: str = sys.executable) -> Cost:
    """Run `code` with `arguments`; raises CalledProcessError when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        [python, "-c", f"{code}\n{_REPORT}", *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    own = json.loads(lines[-1])
    return Cost(
        wall_seconds=wall,
        cpu_seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        peak_bytes=own["peak_kib"] * 1024,
        printed=json.loads(lines[-2]) if len(lines) > 1 else None,
    )


_REPORT = """
import json as _json, resource as _resource
print()
print(_json.dumps({"peak_kib": _resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss}))
"""
