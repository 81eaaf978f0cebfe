import threading

import pytest

from amos.abreast import do_abreast


def test_what_is_made_abreast_comes_in_the_order_given():
    assert do_abreast(lambda piece: piece * piece, range(20)) == [n * n for n in range(20)]
    assert do_abreast(str, []) == []


def test_a_failure_is_raised_after_all_others_have_ended():
    ended = []

    def work(piece):
        if piece == 1:
            raise ValueError(piece)
        ended.append(piece)

    with pytest.raises(ValueError, match="1"):
        do_abreast(work, [0, 1, 2, 3])
    assert sorted(ended) == [0, 2, 3]


def test_one_piece_needs_no_thread():
    assert do_abreast(lambda _: threading.current_thread(), [0]) == [threading.main_thread()]
