"""Reading kept sources again ends where a store ends that was read that way from the start."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amos.extraction.registry import find_extractor
from laws import digest_of, scratch
from rereading import Partial, ingest_with, read_again, take_back
from strategies import message_logs, write_lines

FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
RULES = find_extractor()


def read_from_start(groups, extractor):
    with scratch() as (folder, store):
        for number, lines in enumerate(groups):
            ingest_with(store, [write_lines(folder / f"{number}.jsonl", lines)], extractor)
        return digest_of(store)


@FEW
@given(lines=message_logs())
def test_an_applied_run_equals_a_store_read_so_from_the_start(lines):
    with scratch() as (folder, store):
        ingest_with(store, [write_lines(folder / "log.jsonl", lines)], Partial())
        read_again(store, RULES)
        assert digest_of(store) == read_from_start([lines], RULES)
        assert store.verify(deep=True).ok


@FEW
@given(lines=message_logs())
def test_a_reverted_run_leaves_the_state_before_it(lines):
    with scratch() as (folder, store):
        ingest_with(store, [write_lines(folder / "log.jsonl", lines)], RULES)
        before = digest_of(store)
        record = read_again(store, Partial())
        assert digest_of(store) == read_from_start([lines], Partial())
        if record["graph_version"]:
            take_back(store, record, Partial())
        assert digest_of(store) == before
        assert store.verify(deep=True).ok


@FEW
@given(lines=message_logs(), more=message_logs(), cut=st.integers(0, 10))
def test_sources_that_come_after_a_run_or_its_revert_meet_the_state_it_left(lines, more, cut):
    later = [{**line, "id": f"later-{line['id']}", "turn": 100 + line["turn"]} for line in more]
    first, second = later[:cut], later[cut:]
    with scratch() as (folder, store):
        ingest_with(store, [write_lines(folder / "log.jsonl", lines)], RULES)
        record = read_again(store, Partial())
        if first:
            ingest_with(store, [write_lines(folder / "first.jsonl", first)], RULES)
        if record["graph_version"]:
            take_back(store, record, Partial())
        if second:
            ingest_with(store, [write_lines(folder / "second.jsonl", second)], RULES)
        again = read_again(store, Partial())
        take_back(store, again, Partial())
        assert digest_of(store) == read_from_start([lines + later], RULES)
        assert store.verify(deep=True).ok
