import json

import pytest
from tests.told import NOW_US, Told, new_shard, seen

from amos.atoms.statement import statements
from amos.retrieval.cited import search_text
from amos.retrieval.store import index_path, open_index, refresh_index
from amos.schemas.state import OPEN_FROM

QUESTIONS = ["who waters the ferns", "copper kettle", "fern", "kettle in the hall", "nothing of the sort"]


@pytest.fixture
def shard(tmp_path):
    with new_shard(tmp_path / "store") as opened:
        yield opened


def first_part():
    told = Told()
    source = told.turn("I water the ferns on Mondays", days=9)
    told.claim(source, "fern day", "Monday", span=(0, 28), key="fern")
    told.turn("The copper kettle stands in the hall", days=8, conversation="house")
    return told


def second_part():
    told = Told()
    told.turn("Then the ferns in the hall as well", key="n1", turn=2, days=2)
    told.turn("The kettle leaks", key="n2", turn=1, days=2, conversation="house")
    return told


def answers(shard, version=None):
    with shard.pin(version) as snapshot:
        retriever = open_index(shard, snapshot, statements)
        found = [retriever.rank([question], seen(), 10) for question in QUESTIONS]
        return [(r.items, r.omitted, r.empty_reason) for r in found], retriever.corpus


def same(left, right):
    return all(a[0].equals(b[0]) and a[1:] == b[1:] for a, b in zip(left, right, strict=True))


def test_a_stored_index_answers_as_the_tables_do(shard):
    first_part().commit(shard)
    before, _ = answers(shard)
    assert refresh_index(shard, statements)
    after, corpus = answers(shard)
    assert same(before, after)
    assert before[0][0].num_rows == 1
    assert len(corpus.turns.parts) == 2


def test_a_lagging_index_is_completed_when_it_is_read(shard, tmp_path):
    first_part().commit(shard)
    refresh_index(shard, statements)
    second_part().commit(shard)
    lagging, corpus = answers(shard)
    assert corpus.degradation == ()
    with new_shard(tmp_path / "other") as fresh:
        first_part().commit(fresh)
        second_part().commit(fresh)
        whole, _ = answers(fresh)
    assert [entry[0].drop(["atom_id", "source_id"]) for entry in lagging] == [
        entry[0].drop(["atom_id", "source_id"]) for entry in whole
    ]
    refresh_index(shard, statements)
    assert same(answers(shard)[0], lagging)


def test_a_new_version_of_a_claim_replaces_the_stored_one(shard):
    first_part().commit(shard)
    refresh_index(shard, statements)
    told = first_part()
    update = told.rows["atoms"][0] | {"version": 2, "intervals": [OPEN_FROM, NOW_US - 1]}
    later = Told()
    later.rows["atoms"].append(update)
    later.commit(shard)
    for _ in range(2):
        (items, omitted, _), *_ = answers(shard)[0]
        assert items.num_rows == 0
        assert omitted == {"superseded": 2}
        refresh_index(shard, statements)


def test_an_earlier_version_is_answered_without_what_came_later(shard):
    version = first_part().commit(shard)
    before, _ = answers(shard)
    second_part().commit(shard)
    refresh_index(shard, statements)
    assert same(answers(shard, version)[0], before)


def test_nothing_is_written_when_nothing_is_missing(shard):
    first_part().commit(shard)
    assert refresh_index(shard, statements)
    assert not refresh_index(shard, statements)
    second_part().commit(shard)
    assert not refresh_index(shard, statements, at_least=50)


def test_reading_writes_nothing(shard):
    first_part().commit(shard)
    answers(shard)
    assert not index_path(shard).exists()


@pytest.mark.parametrize("place", [3, 200, -40, -1])
def test_a_damaged_index_is_not_believed_and_is_replaced(shard, place):
    first_part().commit(shard)
    expected, _ = answers(shard)
    refresh_index(shard, statements)
    raw = bytearray(index_path(shard).read_bytes())
    raw[place] ^= 0x04
    index_path(shard).write_bytes(raw)
    found, corpus = answers(shard)
    assert same(found, expected)
    assert corpus.degradation == () or corpus.degradation[0].startswith("index_rebuilt_in_memory")
    second_part().commit(shard)
    refresh_index(shard, statements)
    assert answers(shard)[1].degradation == ()


def test_damage_is_disclosed(shard):
    first_part().commit(shard)
    refresh_index(shard, statements)
    raw = bytearray(index_path(shard).read_bytes())
    for place in range(len(raw) // 2, len(raw)):
        raw[place] ^= 0x55
    index_path(shard).write_bytes(raw)
    with shard.pin() as snapshot:
        retriever = open_index(shard, snapshot, statements)
        ranking = retriever.rank(["ferns"], seen(), 5)
    assert ranking.items.num_rows == 1
    assert "index_rebuilt_in_memory" in ranking.degradation[0]


@pytest.mark.parametrize("size", [0, 4, 90])
def test_an_index_cut_short_is_not_believed(shard, size):
    first_part().commit(shard)
    expected, _ = answers(shard)
    refresh_index(shard, statements)
    index_path(shard).write_bytes(index_path(shard).read_bytes()[:size])
    assert same(answers(shard)[0], expected)


def test_the_index_of_another_store_is_not_believed(shard, tmp_path):
    first_part().commit(shard)
    with new_shard(tmp_path / "other") as other:
        second_part().commit(other)
        refresh_index(other, statements)
        foreign = index_path(other).read_bytes()
    expected, _ = answers(shard)
    index_path(shard).parent.mkdir(parents=True)
    index_path(shard).write_bytes(foreign)
    assert same(answers(shard)[0], expected)


def test_the_text_of_barred_sources_is_in_no_index(shard):
    told = first_part()
    told.turn("xylophonist instructions", key="bad", flags=32, trust="tool", role="tool")
    told.commit(shard)
    refresh_index(shard, statements)
    assert b"xylophonist" not in index_path(shard).read_bytes()


def test_search_text_adds_only_words_the_statement_lacks():
    payload = json.dumps(
        {"property": "desk", "value": "oak", "normal": ["text", "oak"], "steps": ["sand it"]}
    )
    assert search_text("User's desk is oak.", payload, "my Desk is oak wood") == (
        "User's desk is oak. sand it my wood"
    )
