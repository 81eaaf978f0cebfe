"""Run commands in a temporary folder, and on a small household."""

from __future__ import annotations

from pathlib import Path

import pytest

from households import HOUSEHOLD, Amos, call, write_lines


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with no store named by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AMOS_STORE", raising=False)
    return tmp_path


@pytest.fixture
def amos(folder: Path) -> Amos:  # noqa: ARG001 - commands run inside the folder
    """Return the function that runs a command."""
    return call


@pytest.fixture(scope="session")
def household_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store that holds the household; tests read it and leave it as it is."""
    folder = tmp_path_factory.mktemp("household")
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD)
    done = call("-q", "-s", folder / "store", "ingest", notes, "--from", "messages", "--json")
    assert done.code == 0, done.err
    return folder / "store"


@pytest.fixture
def household(household_store: Path, folder: Path) -> Amos:  # noqa: ARG001
    """Return the function that runs a command on the household's store."""
    return lambda *words: call("-s", household_store, *words)
