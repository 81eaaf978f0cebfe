import msgspec
import pytest

from amos.packets.packet import EvidenceRef, PacketItem
from amos.packets.redundancy import fold_redundant


def cited(author="user", day="2026-05-01", excerpt="x"):
    return EvidenceRef(
        source_id="src_a",
        start=0,
        end=1,
        excerpt=excerpt,
        event_time=f"{day}T09:00:00.000000Z",
        author=author,
        kind="text",
        trust="trusted_user",
        locator="a#1",
        spans=[],
        matches=[],
    )


def item(statement, *, kind="belief", subject="user", **fields):
    is_turn = kind == "turn"
    evidence = [cited(**fields)]
    return PacketItem(
        rank=1,
        item_kind="turn" if is_turn else "atom",
        atom_id=None if is_turn else "atm_a",
        source_id="src_a",
        type=kind,
        statement=statement,
        score=0.5,
        score_components={},
        evidence=evidence,
        subject=None if is_turn else subject,
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("User's barn is green.", "user's barn is GREEN!"),
        ("User's barn is green.", "User’s barn is really green"),
        ("User has a cat.", "User has the cat"),
        ("Café at noon.", "Cafe\u0301 at noon"),
    ],
)
def test_the_same_said_again_is_folded_and_counted(first, second):
    kept, left_out = fold_redundant([item(first), item("User likes plums."), item(second), item(second)])
    assert [each.statement for each in kept] == [first, "User likes plums."]
    assert [each.folded for each in kept] == [2, 0]
    assert [each.statement for each in left_out] == [second, second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("User's desk is 112 cm.", "User's desk is 98 cm."),
        ("User likes tea.", "User does not like tea."),
        ("User no longer drinks tea.", "User drinks tea."),
        ("Ana owes Bo a lift.", "Bo owes Ana a lift."),
        (
            "The talk is on Monday morning at the old town hall.",
            "The talk is on Tuesday morning at the old town hall.",
        ),
        ("User still has a cat.", "User has a cat."),
        ("…", "!"),
    ],
)
def test_what_says_something_else_stays(first, second):
    items = [item(first), item(second)]
    assert fold_redundant(items) == (items, [])


@pytest.mark.parametrize("change", [{"subject": "Robin"}, {"kind": "preference"}])
def test_claims_about_another_or_of_another_type_stay(change):
    items = [item("It is green."), item("It is green.", **change)]
    assert fold_redundant(items) == (items, [])


@pytest.mark.parametrize("field", ["is_disputed", "is_superseded"])
def test_a_claim_in_another_state_stays(field):
    items = [item("It is green."), msgspec.structs.replace(item("It is green."), **{field: True})]
    assert fold_redundant(items) == (items, [])


@pytest.mark.parametrize("change", [{"author": "Robin"}, {"day": "2026-05-02"}])
def test_turns_of_another_speaker_or_day_stay(change):
    said = item("Going for a run", kind="turn")
    assert len(fold_redundant([said, item("Going for a run", kind="turn")])[0]) == 1
    assert len(fold_redundant([said, item("Going for a run", kind="turn", **change)])[0]) == 2


def test_an_episode_of_another_day_happened_again():
    runs = [
        item("User ran home.", kind="episode", day=day) for day in ("2026-05-01", "2026-05-01", "2026-05-03")
    ]
    assert [each.folded for each in fold_redundant(runs)[0]] == [1, 0]
