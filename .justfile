# `just NAME`; every recipe uses the active environment, else .venv

set shell := ["bash", "-euo", "pipefail", "-c"]

export PATH := env("VIRTUAL_ENV", justfile_directory() / ".venv") / "bin:" + env("PATH")

# all but the benchmarks, crash tests and notebooks
check:
    .ci/check lint docs test wheel

# format the code in place
fmt:
    ruff check --fix .
    ruff format .

# linters, types, layers, dead code
lint:
    .ci/check lint

# fast tests; arguments go to pytest
test *ARGS:
    python -m pytest -q {{ ARGS }}

# kill a process at every named step and reopen the store
crash:
    .ci/check crash

# compare with the golden files
golden:
    python -m pytest -q tests/golden

# execute the notebooks
notebooks:
    .ci/check notebooks

# write the reference pages anew, then build the site into docs/_build/html
docs:
    python docs/_generate.py
    .ci/check docs

# measure, then write the figures into docs/performance.md
bench *ARGS:
    python -m pytest -q -s -m benchmark tests/benchmarks {{ ARGS }}
    python docs/_figures.py
