import os
import threading

import pytest

from amos.abreast import do_abreast, make_ahead


def test_what_is_made_abreast_comes_in_the_order_given():
    assert do_abreast(lambda piece: piece * piece, range(20)) == [n * n for n in range(20)]
    assert do_abreast(str, []) == []


def test_a_failure_is_raised_when_nothing_is_at_work_any_more():
    begun, ended = [], []

    def work(piece):
        begun.append(piece)
        if piece == 1:
            raise IndexError(piece)
        ended.append(piece)

    with pytest.raises(IndexError, match="1"):
        do_abreast(work, [0, 1, 2, 3])
    assert sorted(begun) == sorted([1, *ended])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_has_helpers_of_its_own():
    assert do_abreast(str, range(3)) == ["0", "1", "2"]
    child = os.fork()
    if child == 0:
        os._exit(0 if do_abreast(str, range(3)) == ["0", "1", "2"] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_one_piece_needs_no_thread():
    assert do_abreast(lambda _: threading.current_thread(), [0]) == [threading.main_thread()]


@pytest.mark.parametrize("is_long", [True, False])
def test_what_is_made_ahead_comes_in_order(is_long):
    assert list(make_ahead(range(5), lambda _: is_long)) == [0, 1, 2, 3, 4]
    assert list(make_ahead([], lambda _: is_long)) == []


def test_the_piece_after_a_long_one_is_made_on_another_thread():
    makers = []

    def pieces():
        for piece in range(3):
            makers.append(threading.current_thread() is threading.main_thread())
            yield piece

    assert list(make_ahead(pieces(), lambda piece: piece == 0)) == [0, 1, 2]
    assert makers == [True, False, True]


def test_a_piece_that_cannot_be_made_fails_after_those_before_it():
    def pieces():
        yield 0
        raise ValueError("no second one")

    made = make_ahead(pieces(), lambda _: True)
    assert next(made) == 0
    with pytest.raises(ValueError, match="second"):
        next(made)


def test_who_stops_early_leaves_no_piece_half_made():
    made, done = [], threading.Event()

    def pieces():
        for piece in range(3):
            made.append(piece)
            yield piece
        done.set()

    ahead = make_ahead(pieces(), lambda _: True)
    assert next(ahead) == 0
    ahead.close()
    assert made == [0, 1]
    assert not done.is_set()
