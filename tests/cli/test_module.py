"""`python -m amos` is the command line."""

import subprocess
import sys


def test_the_module_runs_the_commands():
    done = subprocess.run(
        [sys.executable, "-m", "amos", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("amos, version")
