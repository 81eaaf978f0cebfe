"""One instant is one instant in any offset; the zone is kept; nothing is shifted, rewritten or invented."""

import re
from datetime import UTC, datetime

import pytest

from amos.flow.instants import instant_us
from amos.packets.packet import packet_json
from remembered import remembered, told

OFFSETS = ["Z", "+00:00", "-07:00", "+05:45", "+13:00", "-03:30"]
LATE = "2026-07-24T19:30:00-07:00"
"""Late in the evening of the 24th there, the 25th in UTC."""
RFC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def moved(instant, offset):
    """Return an instant of UTC as it is written at an offset."""
    zone = datetime.fromisoformat(f"2026-01-01T00:00:00{offset}").tzinfo
    return datetime.fromisoformat(instant).astimezone(zone).isoformat()


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("kind", ["sources", "atoms", "candidates", "conversations", "decisions"])
def test_a_day_written_in_any_offset_selects_the_same_rows(kind, offset):
    with remembered(told("m", "My puzzle has a thousand pieces.", ts=LATE)) as memory:
        for since, until, count in (
            ("2026-07-25T02:30:00+00:00", "2026-07-25T02:30:01+00:00", 1),
            ("2026-07-25T00:00:00+00:00", "2026-07-26T00:00:00+00:00", 1),
            ("2026-07-24T00:00:00+00:00", "2026-07-25T02:30:00+00:00", 0),
            ("2026-07-25T02:30:01+00:00", "2026-07-27T00:00:00+00:00", 0),
        ):
            found = memory.listed(
                kind,
                since_us=instant_us(moved(since, offset), "--since"),
                until_us=instant_us(moved(until, offset), "--until"),
            )
            assert len(found) == count


@pytest.mark.parametrize("offset", OFFSETS)
def test_the_same_instant_in_any_offset_orders_and_dates_alike(offset):
    first, second = "2026-05-03T08:00:00+00:00", "2026-05-03T08:00:01+00:00"
    with remembered(
        told("b", "My bay is D9.", ts=second), told("a", "My bay is C3.", ts=moved(first, offset))
    ) as memory:
        assert memory.said() == ["User's bay is D9."]
        (old,) = memory.listed(state="superseded")
        assert old["intervals"] == [
            {"from": "2026-05-03T08:00:00.000000Z", "until": "2026-05-03T08:00:01.000000Z"}
        ]


def test_offset_and_words_of_a_time_are_kept_beside_the_instant():
    with remembered(told("m", "My kettle is blue.", ts=LATE)) as memory:
        (row,) = memory.listed("sources")
        assert (row["event_time"], row["event_text"], row["zone"]) == (
            "2026-07-25T02:30:00.000000Z",
            LATE,
            "-07:00",
        )
        assert datetime.fromisoformat(row["event_text"]) == datetime.fromisoformat(row["event_time"])
        (stored,) = memory.rows("sources")
        assert stored["is_zone_assumed"] is False


def test_a_time_without_a_zone_says_that_it_was_assumed():
    with remembered(told("m", "My kettle is blue.", ts="2026-07-24T19:30:00")) as memory:
        (stored,) = memory.rows("sources")
        assert stored["is_zone_assumed"] is True
        assert stored["event_time"] == datetime(2026, 7, 24, 19, 30, tzinfo=UTC)


def test_a_named_zone_applies_where_the_record_names_none():
    with remembered() as memory:
        path = memory.folder / "zoned.jsonl"
        path.write_text(
            '{"id":"a","text":"x","ts":"2026-07-24T19:30:00"}\n{"id":"b","text":"y","ts":"2026-07-24T19:30:00Z"}\n'
        )
        memory.read(path, format="messages", zone="Europe/Brussels")
        times = {row["text"]: row["event_time"] for row in memory.listed("sources")}
        assert times == {"x": "2026-07-24T17:30:00.000000Z", "y": "2026-07-24T19:30:00.000000Z"}


@pytest.mark.parametrize(
    ("ts", "day"),
    [
        ("2026-03-01T23:30:00-08:00", "2026-02-28T08:00:00.000000Z"),
        ("2026-03-02T07:30:00Z", "2026-03-01T00:00:00.000000Z"),
        ("2026-03-02T20:30:00+13:00", "2026-02-28T11:00:00.000000Z"),
    ],
)
def test_yesterday_is_the_day_before_where_it_was_said(ts, day):
    with remembered(told("m", "I planted leeks yesterday.", ts=ts)) as memory:
        (row,) = memory.listed()
        assert [span["from"] for span in row["intervals"]] == [day]
        assert row["statement"] == "User: I planted leeks yesterday."


def test_the_same_words_of_two_days_are_two_occurrences():
    text = "I planted leeks yesterday."
    with remembered(told("a", text, 4), told("b", text, 20)) as memory:
        (row,) = memory.listed()
        days = [(span["from"][:10], span["until"][:10]) for span in row["intervals"]]
        assert days == [("2026-05-03", "2026-05-04"), ("2026-05-19", "2026-05-20")]


@pytest.mark.parametrize("ts", [None, "", "soon", "0000-00-00", "2026-02-30T10:00:00Z", 9e30])
def test_a_time_that_is_missing_or_absurd_stays_unknown_and_the_message_is_kept(ts):
    with remembered(told("m", "I planted leeks yesterday. My kettle is blue.", ts=ts)) as memory:
        (row,) = memory.listed("sources")
        assert row["event_time"] is None
        assert "User's kettle is blue." in [claim["statement"] for claim in memory.listed()]
        assert not [claim for claim in memory.listed() if "yesterday" in claim["statement"]]
        (talk,) = memory.listed("conversations")
        assert talk["has_unknown_time"] is True


def test_when_it_was_said_and_when_it_was_read_are_two_times_and_both_can_be_asked():
    with remembered(told("m", "My kettle is blue.", ts="2019-01-02T03:04:05Z")) as memory:
        (row,) = memory.store.sql("SELECT event_time, ingest_time FROM sources").to_pylist()
        assert row["event_time"].year == 2019
        assert row["ingest_time"].year >= 2026
        events = memory.store.sql("SELECT accepted_at FROM events").to_pylist()
        assert {event["accepted_at"] for event in events} == {row["ingest_time"]}


def test_every_printed_time_has_one_form():
    with remembered(told("m", "My kettle is blue.", ts=LATE)) as memory:
        printed = [memory.packet("kettle blue"), memory.store.search("kettle blue").rows]
        printed += [memory.listed(kind) for kind in ("atoms", "sources", "conversations", "candidates")]
        printed += [memory.store.why(memory.listed()[0]["atom_id"]), list(memory.store.export())]
        times = list(_times(printed))
        assert len(times) > 20
        assert not [text for text in times if not RFC.fullmatch(text)]


def _times(value, name=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _times(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _times(inner, name)
    elif isinstance(value, str) and name.endswith(("_time", "_at", "from", "until", "since", "deadline")):
        yield value


def test_a_moment_in_a_text_is_never_written_anew():
    text = "My train leaves at 12:05 local time, that is 10:05Z."
    with remembered(told("m", text, ts=LATE)) as memory:
        assert [row["text"] for row in memory.listed("sources")] == [text]
        assert text in packet_json(memory.store.packet("train leaves local")).decode()
