"""A past state answers as it did: nothing that was committed later shows in it, and nothing is missing."""

import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import amos.flow.looking
from amos.api import Store
from amos.flow.look import Wanted
from amos.flow.recall import refresh
from amos.packets.packet import packet_json
from laws import scratch
from remembered import EVERYTHING, Remembered, told
from told import NOW

TEXTS = (
    "My gate code word is heron.",
    "My gate code word is plover.",
    "I like smoked plums.",
    "I don't like smoked plums anymore.",
    "Which gate was painted?",
    "Robin's ladder is blue.",
    "Robin's ladder is red.",
    "Remind me that my gate, my gate and again my gate is green.",
)
QUESTIONS = ("gate code word", "Robin ladder", "smoked plums gate")
QUERIES = (
    "SELECT * FROM atoms ORDER BY atom_id",
    "SELECT * FROM decisions ORDER BY decision_id",
    "SELECT * FROM entities ORDER BY entity_id",
    "SELECT * FROM disputes ORDER BY dispute_id",
    "SELECT count(*) AS n, max(version) AS v FROM events",
)
KINDS = ("atoms", "sources", "conversations", "candidates", "decisions")


def answers(store, **when):
    """Return everything the reading methods say, without what names the moment of asking."""
    found = [_packet(store, text, when) for text in QUESTIONS]
    found += [store.search(text, include_superseded=True, **when).rows for text in QUESTIONS]
    listed = [store.list(Wanted(kind=kind, state="all", page=EVERYTHING), **when).rows for kind in KINDS]
    atoms = [row["atom_id"] for row in listed[0]]
    found += [store.show(ref, **when) for ref in atoms] + [store.why(ref, **when) for ref in atoms]
    return [*found, *listed, *(store.sql(query, **when).to_pylist() for query in QUERIES)]


def _packet(store, text, when):
    fields = json.loads(packet_json(store.packet(text, **when)))
    return {name: value for name, value in fields.items() if name != "packet_id"}


@pytest.fixture(autouse=True)
def _one_moment(monkeypatch):
    monkeypatch.setattr(amos.flow.looking, "utc_now", lambda: NOW)


BATCHES = st.lists(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(1, 28)), min_size=1, max_size=3),
    min_size=2,
    max_size=3,
)


@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(batches=BATCHES, is_indexed=st.booleans())
def test_every_version_of_a_grown_store_answers_as_the_store_did_then(batches, is_indexed):
    with scratch() as (folder, store):
        memory, kept = Remembered(folder, store), []
        for number, batch in enumerate(batches):
            memory.hear(*(told(f"m{number}-{n}", text, day) for n, (text, day) in enumerate(batch)))
            copy = folder / f"copy-{number}"
            shutil.copytree(store.root, copy)
            kept.append((store.shard.head, copy))
        if is_indexed:
            refresh(store.shard, at_least=1)
        for version, copy in kept:
            with Store.open(copy) as then:
                assert answers(store, at_version=version) == answers(then)
