"""The laws of outcomes: once, in any order, members only, replayed alike, gone with what they name."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amos.api import Store
from amos.flow.look import Wanted
from amos.schemas.vocabulary import OutcomeLabel
from delivered import lines
from laws import digest_of
from remembered import told
from strategies import START

FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
TEXTS = (
    "I like rye bread with butter.",
    "I like plum jam.",
    "My favourite tea is Assam.",
    "My favourite tea is Darjeeling.",
)
CUES = ("what do I like", "plum jam", "favourite tea", "rye bread or tea")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Return a store, and by packet id the references of its items and one that it does not hold."""
    folder = tmp_path_factory.mktemp("asked")
    path = lines(folder / "talk.jsonl", [told(f"m{n}", text, day=n + 1) for n, text in enumerate(TEXTS)])
    with Store.create(folder / "store") as store:
        store.ingest(path, format="messages")
        every = {row["atom_id"] for row in store.sql("SELECT atom_id FROM atoms").to_pylist()}
        packets = {}
        for cue in CUES:
            packet = store.packet(cue, record=True, include_superseded=True)
            items = [item.atom_id or item.source_id for item in packet.items]
            packets[packet.packet_id] = (items, sorted(every - set(items)))
    return folder / "store", packets


@st.composite
def outcomes(draw, packets, size=8):
    """Draw outcomes of these packets, each at a time of its own or of another."""
    rows = []
    for _ in range(draw(st.integers(1, size))):
        packet = draw(st.sampled_from(sorted(packets)))
        items, _ = packets[packet]
        named = st.lists(st.sampled_from(items), max_size=2, unique=True)
        rows.append(
            {
                "packet_id": packet,
                "labels": draw(st.lists(st.sampled_from(list(OutcomeLabel)), max_size=2)),
                "used": draw(named),
                "corrected": draw(named),
                "unhelpful": draw(named),
                "missing_capabilities": draw(st.sampled_from([[], ["calendar"]])),
                "at": (START + timedelta(hours=draw(st.integers(0, 5)))).isoformat(),
            }
        )
    return rows


def said(row):
    """Return what a row says, whatever the words: of several for one item the strongest counts."""
    kinds = {ref: word for word in ("used", "unhelpful", "corrected") for ref in row[word]}
    labels = sorted(set(row["labels"]) or {OutcomeLabel.OBSERVED})
    return str([row["packet_id"], labels, sorted(kinds.items()), row["missing_capabilities"]])


def copied(asked, folder):
    """Return a copy of the store in a fresh folder."""
    target = Path(folder) / "store"
    shutil.rmtree(target, ignore_errors=True)
    return shutil.copytree(asked, target)


def standing(store):
    """Return what was learned of every claim."""
    fields = ("utility", "salience", "health", "used", "access_count", "unhelpful", "last_accessed_at")
    rows = store.list(Wanted(state="all")).rows
    return {row["atom_id"]: [row[name] for name in fields] for row in rows}


@given(data=st.data())
@FEW
def test_the_order_and_size_of_recording_change_nothing(asked, tmp_path_factory, data):
    store_folder, packets = asked
    rows = data.draw(outcomes(packets))
    # the first record of an outcome tells its time, so each is told once here
    rows = list({said(row): row for row in rows}.values())
    shuffled = data.draw(st.permutations(rows))
    results = []
    for order, size in ((rows, len(rows)), (rows[::-1], 1), (shuffled, 2)):
        with Store.open(copied(store_folder, tmp_path_factory.mktemp("order"))) as store:
            for start in range(0, len(order), size):
                done = store.record_outcomes(order[start : start + size])
                assert done["refused"] == 0
            results.append((digest_of(store), standing(store)))
            assert store.verify(deep=True).problems == []
    assert results[1:] == results[:-1]
    utilities = [fields[0] for fields in results[0][1].values()]
    assert all(0 <= utility <= 1 for utility in utilities)


@given(data=st.data())
@FEW
def test_recording_again_adds_nothing(asked, tmp_path_factory, data):
    store_folder, packets = asked
    rows = data.draw(outcomes(packets))
    with Store.open(copied(store_folder, tmp_path_factory.mktemp("again"))) as store:
        first = store.record_outcomes(rows)
        state = digest_of(store), store.shard.head, standing(store)
        later = [{**row, "at": (START + timedelta(days=9)).isoformat()} for row in rows]
        again = store.record_outcomes(later)
        assert (again["recorded"], again["known"]) == (0, len(rows))
        assert first["recorded"] + first["known"] == len(rows)
        assert (digest_of(store), store.shard.head, standing(store)) == state


@given(data=st.data())
@FEW
def test_only_members_are_fed_back(asked, tmp_path_factory, data):
    store_folder, packets = asked
    packet = data.draw(st.sampled_from([one for one in sorted(packets) if packets[one][1]]))
    items, strangers = packets[packet]
    word = data.draw(st.sampled_from(["used", "corrected", "unhelpful"]))
    with Store.open(copied(store_folder, tmp_path_factory.mktemp("members"))) as store:
        before = digest_of(store), store.shard.head
        named = [data.draw(st.sampled_from(strangers)), items[0]]
        done = store.record_outcomes([{"packet_id": packet, word: named}])
        assert (done["refused"], done["reasons"]) == (1, {"not_in_packet": 1})
        assert (digest_of(store), store.shard.head) == before


@given(data=st.data())
@FEW
def test_what_is_forgotten_takes_its_feedback_along(asked, tmp_path_factory, data):
    store_folder, packets = asked
    rows = data.draw(outcomes(packets))
    claims = sorted({ref for items, _ in packets.values() for ref in items if ref.startswith("atm_")})
    gone = data.draw(st.sampled_from(claims))
    with Store.open(copied(store_folder, tmp_path_factory.mktemp("gone"))) as store:
        store.record_outcomes(rows)
        store.forget(gone)
        left = store.sql("SELECT DISTINCT atom_id FROM feedback WHERE atom_id IS NOT NULL")
        assert gone not in left["atom_id"].to_pylist()
        assert store.verify(deep=True).problems == []
