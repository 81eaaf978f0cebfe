"""Who takes part in what happened, and what is known to come before what."""

from hypothesis import given
from hypothesis import strategies as st

from amos.atoms.occurrences import Occurrence, follower_in, next_after, participants_of, precedes

TIMES = st.none() | st.integers(0, 6)


@st.composite
def happenings(draw):
    """Return occurrences; some are moments, some of unknown beginning or end."""
    found = []
    for number in range(draw(st.integers(0, 7))):
        start, end = draw(TIMES), draw(TIMES)
        if start is not None and end is not None:
            start, end = min(start, end), max(start, end)
        found.append(Occurrence(bytes([number]), start, end))
    return found


def named(kind, fields, subject="user"):
    """Return participants as pairs."""
    return [tuple(one) for one in participants_of(kind, fields, subject)]


def test_an_episode_names_whom_it_was_with_and_where():
    said = "I went to Rome yesterday with Lotte and my brother Tom"
    assert named("episode", {"claim": said}) == [
        ("agent", "user"),
        ("companion", "Lotte"),
        ("companion", "my brother Tom"),
        ("place", "Rome"),
    ]


def test_a_day_is_no_place():
    assert named("episode", {"claim": "I ran in May with my dog"}) == [
        ("agent", "user"),
        ("companion", "my dog"),
    ]


def test_an_outcome_is_of_what_worked_and_for_what():
    fields = {"outcome": "worked well", "purpose": "my cough", "summary": "the mint tea worked well"}
    assert named("episode", fields, "mint tea") == [("theme", "mint tea"), ("purpose", "my cough")]


def test_an_action_has_an_agent_an_instrument_and_a_call():
    fields = {"action_ref": "t1", "agent": "model-a", "tool": "Bash", "status": "failed", "sign": "exit_code"}
    assert named("action_outcome", fields, "model-a") == [
        ("agent", "model-a"),
        ("instrument", "Bash"),
        ("action", "t1"),
    ]


@given(happenings())
def test_nothing_precedes_itself_and_order_has_no_circle(found):
    for one in found:
        assert not precedes(one, one)
        for other in found:
            assert not (precedes(one, other) and precedes(other, one))
            for third in found:
                if precedes(one, other) and precedes(other, third):
                    assert precedes(one, third)


@given(happenings())
def test_what_is_next_has_nothing_known_in_between(found):
    for one in found:
        later = [other for other in found if precedes(one, other)]
        expected = [other for other in later if not any(precedes(between, other) for between in later)]
        assert next_after(one, found) == sorted(expected, key=lambda other: other.key)


def test_of_unknown_times_there_is_no_order():
    assert not precedes(Occurrence(b"a", None, None), Occurrence(b"b", 5, 6))
    assert precedes(Occurrence(b"a", None, 5), Occurrence(b"b", 5, None))


def test_what_is_told_next_follows():
    assert follower_in([b"a", b"b", b"c"], b"b") == b"c"
    assert follower_in([b"a", b"b"], b"b") is None
