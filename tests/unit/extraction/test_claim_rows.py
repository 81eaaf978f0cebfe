"""Drafts of texts are given to every source that has the text."""

import numpy as np

from amos.extraction.claim_rows import claim_rows, place_drafts
from amos.schemas.claims import CLAIMS
from claims_read import sources


def test_each_source_gets_the_drafts_of_its_text_in_order():
    placed = place_drafts(np.array([2, 0, 1]), np.array([2, 0, 1, 0]), np.array([3, 5, 6, 9]))
    assert placed.which.tolist() == [2, 0, 1, 0, 1]
    assert placed.source.tolist() == [3, 5, 5, 9, 9]


def test_no_drafts_give_no_rows():
    none = np.zeros(0, np.int64)
    assert claim_rows([], place_drafts(none, none, none), sources([])).equals(CLAIMS.empty_table())
