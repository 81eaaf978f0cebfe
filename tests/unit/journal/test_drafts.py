import numpy as np

from amos.journal import drafts
from committed_rows import story


def zeros(size):
    return bytes(size)


def test_a_large_commit_has_the_same_bytes_as_one_that_is_drafted_table_by_table(monkeypatch):
    rows = story(0, drafts.SEGMENT_ROWS)
    abreast = drafts.draft_commit(rows, operation="test", random_bytes=zeros)
    monkeypatch.setattr(drafts, "do_abreast", lambda work, pieces: [work(piece) for piece in pieces])
    in_turn = drafts.draft_commit(rows, operation="test", random_bytes=zeros)
    assert abreast.bodies == in_turn.bodies
    for one, other in zip(abreast.tables, in_turn.tables, strict=True):
        assert one.table == other.table
        assert np.array_equal(one.buffer, other.buffer)
        assert np.array_equal(one.offsets, other.offsets)
