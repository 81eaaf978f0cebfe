"""The fold of ordered histories, on small hand-made histories and as laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amos.kernels import history as kernel
from amos.kernels.compiled import compiled

DAY = kernel.DAY_US


def folded(rows, twins=(), run=kernel.fold_histories):
    """Fold rows of (claim, time or None, conversation, extra traits, end, start) of one history."""
    claim = np.array([row[0] for row in rows], np.int64)
    count = int(claim.max()) + 1 if rows else 0
    twin = np.full(count, -1, np.int64)
    for one, two in twins:
        if max(one, two) < count:
            twin[one], twin[two] = two, one
    times = [row[1] for row in rows]
    traits = np.array(
        [(kernel.KNOWN if row[1] is not None else 0) | (row[3] if len(row) > 3 else 0) for row in rows],
        np.int16,
    )
    order = np.array([0 if at is None else at for at in times], np.int64)
    start = np.array([kernel.OPEN_FROM if at is None else at for at in times], np.int64)
    start[[len(row) > 5 for row in rows]] = [row[5] for row in rows if len(row) > 5]
    until = np.array([row[4] if len(row) > 4 else kernel.OPEN_UNTIL for row in rows], np.int64)
    return run(
        np.zeros(len(rows), np.int64),
        claim,
        twin,
        order,
        np.array([row[2] for row in rows], np.int64),
        start,
        until,
        traits,
        count,
    )


def intervals(result):
    found = {}
    for claim, start, end in zip(*(column.tolist() for column in result[3:6]), strict=True):
        found.setdefault(claim, []).append((start, end))
    return found


def test_a_later_value_ends_the_one_before():
    result = folded([(0, 10, 0), (1, 20, 0)])
    assert result[0].tolist() == [kernel.ADD, kernel.SUPERSEDE]
    assert intervals(result) == {0: [(10, 20)], 1: [(20, kernel.OPEN_UNTIL)]}


def test_the_same_value_links_and_opens_nothing():
    result = folded([(0, 10, 0), (0, 20, 1)])
    assert result[0].tolist() == [kernel.ADD, kernel.LINK]
    assert intervals(result) == {0: [(10, kernel.OPEN_UNTIL)]}


def test_a_value_that_returns_opens_a_second_interval():
    result = folded([(0, 10, 0), (1, 20, 0), (0, 30, 0)])
    assert intervals(result)[0] == [(10, 20), (30, kernel.OPEN_UNTIL)]


def test_equal_times_in_two_conversations_are_disputed():
    result = folded([(0, 10, 0), (1, 10, 1)])
    assert result[0].tolist() == [kernel.ADD, kernel.DISPUTE]
    assert (result[7] >= 0).tolist() == [True, True]


def test_a_later_clear_statement_settles_a_dispute():
    result = folded([(0, 10, 0), (1, 10, 1), (1, 50, 2)])
    assert result[0].tolist() == [kernel.ADD, kernel.DISPUTE, kernel.LINK_SETTLES]
    assert (result[7] >= 0).tolist() == [False, False]
    assert intervals(result)[0] == [(10, 50)]


def test_unknown_times_in_two_conversations_are_disputed():
    result = folded([(0, None, 0), (1, None, 1)])
    assert result[0].tolist() == [kernel.ADD, kernel.DISPUTE]


def test_turns_of_one_conversation_decide_without_times():
    result = folded([(0, None, 0), (1, None, 0)])
    assert result[0].tolist() == [kernel.ADD, kernel.SUPERSEDE]
    assert intervals(result)[0] == [(kernel.OPEN_FROM, kernel.ENDED_UNKNOWN)]


def test_an_assumed_zone_proves_no_order_within_a_day():
    near = folded([(0, 0, 0, kernel.ZONE_ASSUMED), (1, DAY - 1, 1)])
    far = folded([(0, 0, 0, kernel.ZONE_ASSUMED), (1, DAY, 1)])
    assert near[0].tolist() == [kernel.ADD, kernel.DISPUTE]
    assert far[0].tolist() == [kernel.ADD, kernel.SUPERSEDE]


def test_a_denial_ends_the_value_it_denies_and_no_other():
    result = folded([(0, 10, 0), (1, 20, 0, kernel.NEGATIVE)], twins=[(0, 1)])
    assert result[0].tolist() == [kernel.ADD, kernel.SUPERSEDE]
    other = folded([(2, 10, 0), (1, 20, 0, kernel.NEGATIVE)], twins=[(0, 1)])
    assert other[0].tolist() == [kernel.ADD, kernel.ADD]


def test_a_state_with_an_end_leaves_by_itself():
    result = folded([(0, 10, 0, 0, 15), (1, 20, 1)])
    assert result[0].tolist() == [kernel.ADD, kernel.ADD]
    assert intervals(result) == {0: [(10, 15)], 1: [(20, kernel.OPEN_UNTIL)]}


def test_an_earlier_period_told_late_is_an_occurrence_of_its_own():
    rows = [(0, 10, 0, 0, 100, 80), (0, 20, 0, 0, 40, 30), (1, 21, 0, 0, 60, 50), (0, 22, 1, 0, 40, 30)]
    result = folded(rows)
    assert result[0].tolist() == [kernel.ADD, kernel.REOPEN, kernel.ADD, kernel.LINK]
    assert intervals(result) == {0: [(80, 100), (30, 40)], 1: [(50, 60)]}
    assert (result[7] < 0).all()


def test_a_plain_statement_of_unknown_time_does_not_beat_a_correction():
    result = folded([(0, 10, 0, kernel.CORRECTS), (1, None, 1)])
    assert result[0].tolist() == [kernel.ADD, kernel.OUTRANKED]


def test_what_a_person_approved_is_disputed_by_a_correction_and_never_outranked():
    result = folded([(0, 10, 0, kernel.CORRECTS), (1, None, 1, kernel.APPROVED)])
    assert result[0].tolist() == [kernel.ADD, kernel.DISPUTE]


def standing(*claims, traits=kernel.ROOT, run=kernel.fold_histories):
    """Return the claims that stand after rows of unknown time, each in a talk of its own."""
    result = folded([(claim, None, place, traits) for place, claim in enumerate(claims)], run=run)
    return set(np.flatnonzero(result[8] >= 0).tolist())


@pytest.mark.parametrize("run", [kernel.fold_histories, compiled(kernel.fold_histories)])
@pytest.mark.parametrize("claims", [(0, 0, 1), (0, 1, 0), (1, 0, 0)])
def test_more_independent_roots_settle_what_nothing_else_decides(run, claims):
    assert standing(*claims, run=run) == {0}
    assert standing(*claims, 1, run=run) == {0, 1}
    assert standing(*claims, 1, 1, run=run) == {1}


def test_what_rests_on_no_further_root_settles_nothing():
    rows = [(0, None, 0, kernel.ROOT), (1, None, 1, kernel.ROOT), (0, None, 2, 0)]
    assert folded(rows)[0].tolist() == [kernel.ADD, kernel.DISPUTE, kernel.LINK]


@pytest.mark.parametrize("trait", [kernel.CORRECTS, kernel.AUTHORITY])
def test_roots_do_not_outweigh_a_correction_or_the_authority(trait):
    rows = [(0, 10, 0, kernel.ROOT | trait), (1, None, 1, kernel.ROOT), (1, None, 2, kernel.ROOT)]
    assert folded(rows)[8][0] >= 0


def test_a_denial_with_more_roots_ends_what_it_denies():
    rows = [(0, None, 0, kernel.ROOT)]
    rows += [(1, None, place, kernel.ROOT | kernel.NEGATIVE) for place in (1, 2)]
    result = folded(rows, twins=[(0, 1)])
    assert result[0].tolist() == [kernel.ADD, kernel.DISPUTE, kernel.LINK_SETTLES]
    assert (result[8] >= 0).tolist() == [False, True]


def test_many_sides_are_not_compared():
    many = kernel.CHECKED_SIDES + 1
    assert standing(*range(many), 0) == set(range(many))


ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.one_of(st.none(), st.integers(0, 5)),
        st.integers(0, 2),
        st.sampled_from([0, kernel.CORRECTS, kernel.ZONE_ASSUMED, kernel.APPROVED, kernel.ROOT, kernel.ROOT]),
    ),
    max_size=14,
).map(lambda rows: sorted(rows, key=lambda row: (row[1] is None, row[1] or 0, row[2])))


@settings(max_examples=150)
@given(ROWS)
def test_a_fold_decides_a_prefix_as_it_decides_the_whole(rows):
    whole = folded(rows)
    for size in range(1, len(rows)):
        assert folded(rows[:size])[0].tolist() == whole[0][:size].tolist()


@settings(max_examples=150)
@given(ROWS)
def test_one_value_holds_at_a_time_unless_disputed(rows):
    result = folded(rows)
    is_standing = np.array(result[8]) >= 0
    disputed = np.array(result[7]) >= 0
    assert is_standing.sum() <= 1 or disputed[is_standing].sum() >= 2


def _random_row(random):
    claim, at, conversation = (int(random.integers(0, top)) for top in (6, 40, 3))
    start = at + int(random.integers(-20, 20))
    until = start + int(random.integers(1, 9)) if random.random() < 0.4 else kernel.OPEN_UNTIL
    root = kernel.ROOT * int(random.integers(0, 2))
    return claim, at if random.random() < 0.7 else None, conversation, root, until, start


@pytest.mark.parametrize("seed", range(3))
def test_the_compiled_fold_equals_the_plain_one(seed):
    random = np.random.default_rng(seed)
    rows = [_random_row(random) for _ in range(300)]
    rows.sort(key=lambda row: (row[1] is None, row[1] or 0, row[2]))
    plain, fast = folded(rows), folded(rows, run=compiled(kernel.fold_histories))
    for one, two in zip(plain, fast, strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("run", [kernel.fold_histories, compiled(kernel.fold_histories)])
@pytest.mark.parametrize(
    ("earlier", "later", "action"),
    [
        (kernel.AUTHORITY, 0, kernel.DISPUTE),
        (0, kernel.AUTHORITY, kernel.SUPERSEDE),
        (kernel.AUTHORITY, kernel.AUTHORITY, kernel.SUPERSEDE),
        (kernel.AUTHORITY, kernel.CORRECTS, kernel.SUPERSEDE),
        (0, kernel.IMPLIED, kernel.DISPUTE),
        (kernel.IMPLIED, 0, kernel.SUPERSEDE),
        (kernel.IMPLIED, kernel.IMPLIED | kernel.AUTHORITY, kernel.SUPERSEDE),
    ],
)
def test_a_correction_then_authority_then_what_was_said_go_before_time(run, earlier, later, action):
    for conversation in (0, 1):
        result = folded([(0, 10, 0, earlier), (1, 20, conversation, later)], run=run)
        assert result[0].tolist() == [kernel.ADD, action]
