"""Run a piece of work in a process of its own and read its time and memory from the system."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one process used, and the JSON it printed last.

    peak_bytes: at most in memory, pages of mapped files included, which the system takes back at need.
    own_bytes: at most of the process's own, seen in samples; 0 where the system does not tell.
    """

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    own_bytes: int
    printed: Any


def run_measured(code: str, *arguments: str, python: str = sys.executable) -> Cost:
    """Run `code` with `arguments`; raises CalledProcessError when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [python, "-c", f"{code}\n{_REPORT}", *arguments]
    own_bytes, printed = _run_sampled(command)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [line for line in printed.splitlines() if line.strip()]
    own = json.loads(lines[-1])
    return Cost(
        wall_seconds=wall,
        cpu_seconds=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        peak_bytes=own["peak_kib"] * 1024,
        own_bytes=own_bytes,
        printed=json.loads(lines[-2]) if len(lines) > 1 else None,
    )


def _run_sampled(command: list[str]) -> tuple[int, str]:
    """Run a command; return the most memory of its own that was seen, and what it printed."""
    own = 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        started = subprocess.Popen(
            command, stdout=out, stderr=errors, env=os.environ | {"PYTHONWARNINGS": "ignore"}
        )
        while started.poll() is None:
            own = max(own, _own_bytes(started.pid))
            time.sleep(_SAMPLE_SECONDS)
        for stream in (out, errors):
            stream.seek(0)
        printed = out.read()
        if started.returncode:
            raise subprocess.CalledProcessError(started.returncode, command, printed, errors.read())
    return own, printed


def _own_bytes(pid: int) -> int:
    """Return how many bytes a process holds that are no pages of a file; 0 where that is not told."""
    try:
        told = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = [line for line in told.splitlines() if line.startswith("RssAnon")]
    return int(found[0].split()[1]) * 1024 if found else 0


_SAMPLE_SECONDS = 0.005
_REPORT = """
import json as _json, resource as _resource
print()
print(_json.dumps({"peak_kib": _resource.getrusage(_resource.RUSAGE_SELF).ru_maxrss}))
"""
