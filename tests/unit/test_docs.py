"""The pages that are written from code and results say what these say."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.recording import Figure, record_figure

DOCS = Path(__file__).parents[2] / "docs"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return script("_generate")


@pytest.fixture(scope="module")
def figures() -> ModuleType:
    return script("_figures")


def test_reference_pages_match_the_code(generator):
    assert generator.stale_pages() == []


def test_a_changed_page_is_reported_as_stale(generator, tmp_path, monkeypatch):
    monkeypatch.setattr(generator, "REFERENCE", tmp_path)
    generator.write_pages()
    (tmp_path / "errors.md").write_text("# Errors\n\nThere are none.\n")
    assert generator.stale_pages() == ["errors.md"]


def test_every_stored_column_has_a_meaning(generator):
    rows = [line for line in generator.columns_page().splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.endswith("|  |")] == []
    assert len(rows) > 100


def test_every_error_class_has_its_row(generator):
    assert "| 5 | `verification_failed` |" in generator.errors_page()
    assert "| 6 | `store_busy` |" in generator.errors_page()


def test_the_page_on_performance_matches_the_recorded_figures(figures):
    page = figures.PAGE.read_text(encoding="utf-8")
    assert figures.page_with(figures.read_results(figures.RESULTS), page) == page


def test_a_recorded_figure_becomes_a_row_with_its_peer(figures, tmp_path):
    figure = Figure(
        work="ingest",
        value=23456.0,
        unit="messages/s",
        goal="10,000",
        peer="floor",
        peer_value=98765.0,
        ratio=0.2375,
    )
    record_figure("ingest", figure, folder=tmp_path)
    page = figures.page_with(figures.read_results(tmp_path), figures.START + "old\n" + figures.END + "rest\n")
    assert "| ingest | 23,500 messages/s |  | floor: 98,800 messages/s | 0.24 | 10,000 |" in page
    assert "old" not in page
    assert page.endswith("rest\n")
    assert json.loads((tmp_path / "ingest.json").read_text())["unit"] == "messages/s"
