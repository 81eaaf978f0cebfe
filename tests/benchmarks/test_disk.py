"""What a memory costs on disk: message, evidence, claim, decision, atom, journal and chain, all sealed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from amos.api import Store
from benchmarks.recording import Figure, record_figure
from benchmarks.workload import write_messages, write_statements

pytestmark = pytest.mark.benchmark

MESSAGES = 12_000
LONG_AFTER = datetime(2040, 1, 1, tzinfo=UTC)


def bytes_per_message(folder, transcript):
    """Return the bytes of every file of a compacted store except derived ones, per message."""
    with Store.create(folder / "store") as store:
        store.ingest(transcript)
        store.compact(full=True)
        store.shard.collect_garbage(now=LONG_AFTER)
        with store.shard.pin() as snapshot:
            counts = snapshot.counts()
    assert counts["sources"] == MESSAGES
    shard = folder / "store" / "default" / "default"
    files = [path for path in shard.rglob("*") if path.is_file() and "derived" not in path.parts]
    return sum(path.stat().st_size for path in files) / MESSAGES, counts


def test_a_statement_that_nothing_could_guess(tmp_path):
    size, counts = bytes_per_message(tmp_path, write_statements(tmp_path / "said.jsonl", MESSAGES))
    assert counts["atoms"] == MESSAGES
    work = "on disk per message of 70 random characters that states something"
    record_figure("disk_statement", Figure(work=work, value=round(size), unit="bytes", goal="≤ 600"))
    assert size <= 600


def test_ordinary_chat(tmp_path):
    size, _ = bytes_per_message(tmp_path, write_messages(tmp_path / "chat.jsonl", MESSAGES))
    work = "on disk per message of ordinary chat, a quarter of them with claims"
    record_figure("disk_chat", Figure(work=work, value=round(size), unit="bytes", goal="≤ 400"))
    assert size <= 400
