"""Valid time and transaction time are asked apart, and a caller never sees less than it wrote."""

import threading
from datetime import timedelta

import pytest

from amos.api import Store
from amos.clock import utc_now
from amos.errors import BusyError, UsageError
from amos.flow import moments
from amos.flow.look import Wanted
from remembered import remembered, told


@pytest.fixture
def corrected():
    """Return a memory that learnt of a flat, and in a later run of the move to another."""
    with remembered(told("a", "My flat is Quay Street.", 3)) as memory:
        memory.noticed = utc_now()
        memory.hear(told("b", "My flat is Mill Lane.", 20))
        yield memory


def flats(memory, **when):
    return sorted(row["value"] for row in memory.store.list(Wanted(), **when).rows)


def test_valid_time_asks_what_held_and_transaction_time_what_was_known(corrected):
    assert flats(corrected) == ["Mill Lane"]
    assert flats(corrected, as_of="2026-05-10") == ["Quay Street"]
    assert flats(corrected, known_at=corrected.noticed) == ["Quay Street"]
    assert flats(corrected, known_at=corrected.noticed, as_of="2026-05-25") == ["Quay Street"]
    assert flats(corrected, at_version=1) == ["Quay Street"]
    assert flats(corrected, as_of="2026-05-01") == []
    assert flats(corrected, at_version=0) == []


def test_what_was_told_later_about_then_answers_for_then():
    with remembered(told("late", "My badge is blue from 3 March 2026 to 20 March 2026.", 9)) as memory:
        for day, holds in (("2026-03-10", True), ("2026-04-10", False)):
            claims = [one for one in memory.packet("badge", as_of=day)["items"] if one["item_kind"] == "atom"]
            assert bool(claims) is holds
        before = utc_now() - timedelta(days=1)
        assert memory.packet("badge", as_of="2026-03-10", known_at=before)["items"] == []


def test_turns_of_then_are_those_said_until_then(corrected):
    def said(**when):
        return len(corrected.store.list(Wanted(kind="sources"), **when).rows)

    assert (said(), said(as_of="2026-05-10"), said(at_version=1)) == (2, 1, 1)


def test_sql_show_and_why_look_at_the_moment_too(corrected):
    states = "SELECT subject, state FROM atoms ORDER BY observed_at"
    assert corrected.store.sql(states, at_version=1)["state"].to_pylist() == ["active"]
    assert corrected.store.sql(states)["state"].to_pylist() == ["superseded", "active"]
    assert corrected.store.sql(states, as_of="2026-05-10")["state"].to_pylist()[0] == "active"
    newest = corrected.store.list(Wanted()).rows[0]["atom_id"]
    assert not corrected.store.show(newest, at_version=1)["found"]
    with pytest.raises(UsageError):
        corrected.store.why(newest, at_version=1)


@pytest.mark.parametrize(
    "when",
    [
        {"at_version": 1, "known_at": "2026-05-01"},
        {"at_version": 1, "min_version": 2},
        {"known_at": "2020-01-01", "min_version": 1},
        {"at_version": 99},
        {"known_at": "soon"},
        {"as_of": "then"},
    ],
)
def test_a_moment_that_contradicts_itself_is_refused(corrected, when):
    with pytest.raises(UsageError):
        corrected.store.list(Wanted(), **when)
    with pytest.raises(UsageError):
        corrected.store.packet("flat", **when)


@pytest.mark.parametrize("kind", ["decisions", "candidates", "conversations"])
def test_what_has_no_valid_time_says_so(corrected, kind):
    with pytest.raises(UsageError, match="--as-of"):
        corrected.store.list(Wanted(kind=kind), as_of="2026-05-10")
    assert corrected.store.list(Wanted(kind=kind), at_version=1).rows


def test_a_version_that_is_not_there_yet_is_waited_for_and_then_refused(corrected, monkeypatch):
    monkeypatch.setattr(moments, "WAIT_SECONDS", 0.05)
    with pytest.raises(BusyError) as refused:
        corrected.store.packet("flat", min_version=3)
    assert refused.value.code == "version_not_reached"
    assert refused.value.is_retryable


def test_a_caller_reads_what_another_program_is_about_to_commit(corrected):
    def write():
        with Store.open(corrected.store.root) as own:
            path = corrected.folder / "late.jsonl"
            path.write_text('{"id": "c", "text": "My shed is tarred.", "ts": "2026-05-22T08:00:00Z"}\n')
            own.ingest(path, format="messages")

    writer = threading.Thread(target=write)
    writer.start()
    with Store.open(corrected.store.root, read_only=True) as store:
        snapshot = moments.pin_moment(store.shard, moments.Moment(min_version=3), wait_seconds=30)
        with snapshot:
            assert snapshot.version >= 3
    writer.join()


def test_a_page_goes_on_in_its_own_version_unless_that_is_too_old(corrected):
    first = corrected.store.search("flat", limit=1, include_superseded=True)
    assert first.cursor is not None
    corrected.hear(told("c", "My flat has a balcony.", 22))
    more = corrected.store.search("flat", limit=5, cursor=first.cursor, include_superseded=True)
    assert more.total == first.total
    with pytest.raises(UsageError, match="--min-version"):
        corrected.store.search("flat", cursor=first.cursor, min_version=3, include_superseded=True)


def test_what_is_erased_is_gone_from_the_past_too_and_a_packet_says_so():
    with remembered(told("a", "My code word is heron. I like rye bread.", 1)) as memory:
        memory.hear(told("b", "My code word is plover.", 5))
        (ref,) = [row["atom_id"] for row in memory.listed(state="all") if "heron" in row["statement"]]
        assert memory.store.forget(ref)["status"] == "purged"
        memory.hear(told("c", "My shed is tarred.", 6))
        for version in range(memory.store.shard.head + 1):
            packet = memory.packet("code word", "heron", at_version=version, include_superseded=True)
            found = [packet, memory.store.list(Wanted(kind="sources"), at_version=version).rows]
            found.append(memory.store.sql("SELECT * FROM atoms", at_version=version).to_pylist())
            assert "heron" not in str([{**packet, "request": None}, *found[1:]])
            assert packet["degradation"]["reason_codes"] == (["erased_since"] if version < 3 else [])


def test_a_version_beyond_retention_is_refused(corrected):
    corrected.store.snapshot()
    corrected.store.compact(drop_history=True)
    oldest = corrected.store.shard.retained_from
    assert oldest > 1
    with pytest.raises(UsageError, match="retention"):
        corrected.store.packet("flat", at_version=1)
    with pytest.raises(UsageError, match="retention"):
        corrected.store.list(Wanted(), known_at=corrected.noticed)
    assert corrected.store.list(Wanted(), at_version=oldest).rows
