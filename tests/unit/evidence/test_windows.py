"""Windows of a conversation: sessions and silences begin one, shorter silences are noted."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from amos.evidence.windows import SURE_GAP_US, Turn, episode_windows

MINUTE = 60_000_000


def windows(*minutes, sessions=None):
    """Return (first, last, opened_by, doubtful turns) of turns said at these minutes."""
    turns = [
        Turn(number, sessions[number] if sessions else None, None if at is None else at * MINUTE)
        for number, at in enumerate(minutes)
    ]
    return [
        (one.first, one.last, one.opened_by, [doubt.turn for doubt in one.doubts])
        for one in episode_windows(turns)
    ]


def test_a_long_silence_begins_a_window_and_a_shorter_one_is_in_doubt():
    assert windows(0, 5, 30, 100) == [(0, 2, "start", [2]), (3, 3, "silence", [])]


def test_a_session_begins_a_window():
    assert windows(0, 1, 2, sessions="aab") == [(0, 1, "start", []), (2, 2, "session", [])]


def test_turns_without_a_time_begin_nothing():
    assert windows(None, None, None) == [(0, 2, "start", [])]
    assert windows(0, None, 90) == [(0, 1, "start", []), (2, 2, "silence", [])]


TURNS = st.lists(
    st.builds(
        Turn,
        st.integers(0, 9),
        st.sampled_from([None, "a", "b"]),
        st.none() | st.integers(0, 5 * SURE_GAP_US),
    )
)


@given(TURNS, st.randoms(use_true_random=False))
def test_windows_part_the_turns_whatever_their_order_of_arrival(turns, random):
    found = episode_windows(turns)
    assert episode_windows(random.sample(turns, len(turns))) == found
    assert all(one.last < other.first for one, other in pairwise(found))
    numbers = {turn.turn for turn in turns}
    covered = {number for one in found for number in range(one.first, one.last + 1)}
    assert numbers <= covered
    for window in found:
        assert all(window.first < doubt.turn <= window.last for doubt in window.doubts)
