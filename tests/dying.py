"""Run a short program in a process of its own, to be killed at a failpoint."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

TESTS = str(Path(__file__).parent)


class Done(NamedTuple):
    """How a program ended."""

    status: int
    out: str
    err: str

    @property
    def was_killed(self) -> bool:
        """Whether it died at its failpoint before it could say anything; else raises with what it said."""
        assert (self.status, self.out) == (-signal.SIGKILL, ""), self
        return True


def run(program: str, *words: object, failpoint: str = "") -> Done:
    """Run Python code with `words` as its arguments; it finds what the tests find."""
    known = {"PYTHONPATH": os.pathsep.join([TESTS, *sys.path]), "PATH": os.environ.get("PATH", "")}
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env={**known, "AMOS_FAILPOINT": failpoint} if failpoint else known,
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout.strip(), done.stderr)
