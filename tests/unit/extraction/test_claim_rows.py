"""Drafts of texts are given to every source that has the text."""

import json

import numpy as np
import pyarrow as pa
import pytest

from amos.extraction.claim_rows import claim_rows, place_drafts
from amos.extraction.grammar import load_grammar
from amos.extraction.propose import propose
from amos.schemas.claims import CLAIMS
from claims_read import only_claim, sources


def test_each_source_gets_the_drafts_of_its_text_in_order():
    placed = place_drafts(np.array([2, 0, 1]), np.array([2, 0, 1, 0]), np.array([3, 5, 6, 9]))
    assert placed.which.tolist() == [2, 0, 1, 0, 1]
    assert placed.source.tolist() == [3, 5, 5, 9, 9]


def test_no_drafts_give_no_rows():
    none = np.zeros(0, np.int64)
    assert claim_rows([], place_drafts(none, none, none), sources([])).equals(CLAIMS.empty_table())


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("My dentist appointment is next Friday.", "2026-01-09"),
        ("My exam is tomorrow.", "2026-01-04"),
        ("My birthday is on 3 November.", None),
        ("My day off is Friday.", None),
        ("My meeting is this week.", None),
        ("My lease is until Friday.", None),
    ],
)
def test_an_appointment_keeps_the_day_that_its_words_name(text, date):
    claim = only_claim(text)
    assert json.loads(claim["payload"] or "{}").get("date") == date
    assert claim["value"] in text


def test_a_day_without_a_clock_or_under_the_rules_as_they_were_has_no_date():
    text = "My exam is tomorrow."
    assert only_claim(text, at=None)["payload"] is None
    claims = propose(sources([text]), load_grammar("rules@1"), is_compiled=False).claims
    assert claims["payload"].to_pylist() == [None]


def test_a_date_is_that_of_the_zone_of_its_source():
    table = sources(["My exam is tomorrow."], at=1_767_477_600_000_000)  # 2026-01-03T22:00Z
    zone = table.schema.get_field_index("zone")
    table = table.set_column(zone, table.schema.field("zone"), pa.array(["+05:00"]))
    (claim,) = propose(table, load_grammar(), is_compiled=False).claims.to_pylist()
    assert json.loads(claim["payload"]) == {"date": "2026-01-05"}
