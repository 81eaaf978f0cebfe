"""Lists and searches are whole or say that they are not; an empty answer says why it is empty."""

import pytest

from amos.errors import UsageError
from amos.flow.look import Wanted
from amos.flow.paging import PageRequest
from remembered import remembered, told

COUNT = 257


@pytest.fixture(scope="module")
def crates():
    lines = [
        told(f"k{number}", f"Crate {number} contains {number} hinges.", turn=number)
        for number in range(1, COUNT + 1)
    ]
    with remembered(*lines) as memory:
        yield memory


def pages(memory, size, kind="atoms"):
    """Yield the pages of a list."""
    cursor = None
    while True:
        page = memory.store.list(Wanted(kind=kind, page=PageRequest(limit=size, cursor=cursor)))
        yield page.rows
        cursor = page.cursor
        assert page.is_truncated is (cursor is not None)
        if cursor is None:
            return


@pytest.mark.parametrize("kind", ["atoms", "sources", "candidates", "decisions"])
@pytest.mark.parametrize(
    ("size", "sizes"), [(100, [100, 100, 57]), (257, [257]), (256, [256, 1]), (1_000, [257])]
)
def test_pages_are_full_and_together_the_whole(crates, kind, size, sizes):
    found = list(pages(crates, size, kind))
    assert [len(rows) for rows in found] == sizes
    key = {
        "atoms": "atom_id",
        "sources": "source_id",
        "candidates": "candidate_id",
        "decisions": "decision_id",
    }
    refs = [row[key[kind]] for rows in found for row in rows]
    assert len(set(refs)) == COUNT
    assert refs == [row[key[kind]] for row in next(pages(crates, 1_000, kind))]


def test_the_usual_page_says_that_there_is_more(crates):
    page = crates.store.list()
    assert len(page.rows) < COUNT
    assert page.is_truncated
    assert page.cursor


def test_every_way_to_count_gives_one_number(crates):
    assert crates.store.sql("SELECT count(*) AS n FROM atoms").to_pylist() == [{"n": COUNT}]
    assert crates.store.report_ingest()["stored"]["atoms"] == COUNT
    assert sum(row["table"] == "atoms" for row in crates.store.export(["atoms"])) == COUNT
    assert crates.store.search("crate hinges", limit=1).total == COUNT


def test_a_search_pages_to_the_last_row_without_repeating_one(crates):
    cursor, sizes, refs = None, [], []
    while True:
        page = crates.store.search("which crate holds hinges", limit=100, cursor=cursor)
        sizes.append(len(page.rows))
        refs += [row["source_id"] for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            break
    assert sizes == [100, 100, 57]
    assert len(set(refs)) == COUNT


def test_the_one_row_asked_for_is_found_wherever_it_stands(crates):
    for number in (1, 128, COUNT):
        assert crates.found(f"crate {number}", limit=1) == [f"k{number}"]


def test_a_packet_that_leaves_something_out_says_how_much(crates):
    packet = crates.packet("crate hinges", max_items=10)
    assert len(packet["items"]) == 10
    assert packet["omissions"]["counts"]["budget_exhausted"] == COUNT - 10


def test_rows_that_arrive_between_two_pages_neither_repeat_nor_hide_others():
    lines = [told(f"k{number}", f"Crate {number} contains nails.", 1 + number % 20) for number in range(30)]
    with remembered(*lines) as memory:
        first = memory.store.list(Wanted(page=PageRequest(limit=10)))
        before = {row["atom_id"] for row in memory.listed()}
        memory.hear(
            told("late", "Crate 99 contains nails.", 28), told("early", "Crate 98 contains nails.", 1)
        )
        rest, cursor = [], first.cursor
        while cursor:
            page = memory.store.list(Wanted(page=PageRequest(limit=10, cursor=cursor)))
            rest += [row["atom_id"] for row in page.rows]
            cursor = page.cursor
        seen = [row["atom_id"] for row in first.rows] + rest
        assert len(seen) == len(set(seen))
        assert before <= set(seen)


def test_a_search_goes_on_in_the_version_it_began_in():
    lines = [told(f"k{number}", f"Crate {number} contains nails.") for number in range(6)]
    with remembered(*lines) as memory:
        first = memory.store.search("crate nails", limit=3)
        memory.hear(told("late", "Crate 99 contains nails and nails.", 28))
        second = memory.store.search("crate nails", limit=9, cursor=first.cursor)
        assert second.total == 6
        assert len({row["source_id"] for row in (*first.rows, *second.rows)}) == 6


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "W10", "ZZZZZZZZZZZZ"])
def test_a_made_up_cursor_is_refused(crates, cursor):
    with pytest.raises(UsageError):
        crates.store.search("crate", cursor=cursor)
    with pytest.raises(UsageError):
        crates.store.list(Wanted(page=PageRequest(cursor=cursor)))


GARDEN = [
    "My tomatoes are staked in May.",
    "The compost bin is full.",
    "My beans climb the south fence.",
    "The hose leaks near the tap.",
    "My garlic is planted in October.",
    "The shears need oil.",
]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("submarine warranty terms", "no_match"),
        ("what is it", "no_match"),
        ("?!", "no_match"),
        ("beans submarine warranty obligations insurer ledger harbour", "below_threshold"),
    ],
)
def test_a_question_about_something_absent_is_empty_with_a_reason(question, reason):
    with remembered(*[told(str(number), text) for number, text in enumerate(GARDEN)]) as memory:
        page, packet = memory.store.search(question), memory.packet(question)
        assert (page.rows, page.total, page.empty_reason) == ([], 0, reason)
        assert (packet["items"], packet["empty_reason"]) == ([], reason)
        assert memory.found("where do beans climb") == ["2"]


def test_an_empty_store_and_a_scope_without_rows_give_other_reasons():
    with remembered() as memory:
        assert memory.store.search("beans").empty_reason == "nothing_stored"
        memory.hear(told("a", "My beans climb.", scope={"project": "garden"}))
        other = {"project": "kitchen"}
        assert memory.store.search("beans", scope=other).empty_reason == "nothing_visible"
        assert memory.packet("beans", scope=other)["empty_reason"] == "nothing_visible"


@pytest.mark.parametrize("question", ["beans", "where do my beans climb", "garlic October", "hose tap fence"])
def test_search_and_packet_have_one_floor_and_one_order(question):
    with remembered(*[told(str(number), text) for number, text in enumerate(GARDEN)]) as memory:
        rows, items = memory.store.search(question).rows, memory.packet(question)["items"]
        assert [(row["source_id"], row["score"]) for row in rows] == [
            (item["source_id"], item["score"]) for item in items
        ]
