import math

import pytest

from amos.errors import UsageError
from amos.packets.request import PacketRequest, check_request, read_budget, read_request


def test_a_processor_brings_its_budget():
    assert PacketRequest(cues=("x",)).allowance == (24, 6_000, True)
    assert PacketRequest(cues=("x",), target_processor="planner").allowance == (20, 4_500, False)
    assert PacketRequest(cues=("x",), target_processor="toaster").allowance == (8, 25_000, False)


def test_an_explicit_budget_wins():
    request = PacketRequest(cues=("x",), max_items=3, token_budget=90, include_conflicts=False)
    assert request.allowance == (3, 90, False)


@pytest.mark.parametrize(
    "fields",
    [
        {"cues": [" "]},
        {"cues": ["x"] * 33},
        {"cues": ["x" * 20_001]},
        {"cues": ["x"], "max_items": 0},
        {"cues": ["x"], "max_items": -3},
        {"cues": ["x"], "max_items": 1.5},
        {"cues": ["x"], "max_items": True},
        {"cues": ["x"], "token_budget": 0},
        {"cues": ["x"], "token_budget": math.nan},
        {"cues": ["x"], "token_budget": "many"},
        {"cues": ["x"], "retrieval_mode": "telepathy"},
        {"cues": ["x"], "scope": {"planet": "mars"}},
        {"cues": ["x"], "no_such_field": 1},
    ],
)
def test_what_makes_no_sense_is_refused(fields):
    with pytest.raises(UsageError):
        read_request(fields)


def test_a_whole_request_is_read():
    request = read_request({"cues": ["tea"], "scope": {"project": "a"}, "as_of_us": 5, "max_items": 2})
    check_request(request)
    assert request.scope == {"project": "a"}
    assert request.as_of_us == 5


@pytest.mark.parametrize(
    ("value", "tokens"), [(400, 100), (401, 101), ({"tokens": 50}, 50), ({"bytes": 8}, 2), (8.0, 2)]
)
def test_budgets_are_bytes_unless_they_say_tokens(value, tokens):
    assert read_budget(value) == tokens


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, True, "9", None, {"words": 3}, {}, 2.5])
def test_a_budget_that_is_no_amount_is_refused(value):
    with pytest.raises(UsageError):
        read_budget(value)
