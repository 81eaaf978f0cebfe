"""The library's door takes what people have at hand."""

from datetime import UTC, datetime

import pytest

from laws import scratch
from strategies import write_lines

LINES = [
    {"id": "a", "text": "My locker is B12.", "ts": "2026-03-01T08:00:00Z"},
    {"id": "b", "text": "My locker is C40.", "ts": "2026-04-01T08:00:00Z"},
]


@pytest.mark.parametrize(
    "moment", ["2026-03-10", "2026-03-10T12:00:00+02:00", datetime(2026, 3, 10, tzinfo=UTC)]
)
def test_a_packet_answers_as_of_a_date_a_text_or_a_moment(moment):
    with scratch() as (folder, store):
        store.ingest([write_lines(folder / "a.jsonl", LINES)], format="messages")
        assert "B12" in store.packet("which locker", as_of=moment).items[0].statement
        assert "C40" in store.packet("which locker").items[0].statement
