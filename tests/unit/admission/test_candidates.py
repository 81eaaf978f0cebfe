"""Candidates: ids in batches equal ids one by one, spans are sound, gates are remembered."""

import numpy as np
import pyarrow as pa
import pytest

from amos.admission.candidate_ids import Named, candidate_ids
from amos.admission.claim_spans import are_sound, spans_of
from amos.identity import (
    candidate_identity,
    claim_identity,
    history_identity,
    keyed_id,
    slot_identity,
    statement_slot_identity,
)
from amos.schemas.buffers import column_arrays
from amos.schemas.columns import INTS

KEY = b"k" * 32
SCOPE = ("alpha", None, None, None, None)


@pytest.mark.parametrize("arity", ["single", "set"])
@pytest.mark.parametrize("holder_property", ["locker", None])
def test_ids_in_a_batch_equal_ids_one_by_one(arity, holder_property):
    subject, source = b"s" * 32, b"q" * 32
    conditions = '{"time_of_day":"evening"}'
    named = Named([subject], [holder_property], ["text"], ["b12"], [conditions])
    claims = pa.table({"polarity": ["positive"], "arity": [arity]})
    names = ("project", "user", "agent", "task", "tool_environment")
    cited = pa.table(
        {f"scope_{name}": pa.array([value], pa.string()) for name, value in zip(names, SCOPE, strict=True)}
    )
    ids = candidate_ids(
        named,
        claims,
        cited,
        sources=np.frombuffer(source, np.uint8).reshape(1, 32),
        span_texts=pa.array(["3,9"]),
        extractor="rules@1",
        key=KEY,
    )
    if holder_property is None:
        slot = statement_slot_identity(subject, "b12", SCOPE, conditions)
    else:
        slot = slot_identity(subject, holder_property, SCOPE, conditions)
    claim = claim_identity(slot, "positive", "text", "b12")
    history = history_identity(slot, arity, "text", "b12")
    candidate = candidate_identity(source, [3, 9], "rules@1", claim)
    assert ids["slot_id"][0].as_py() == keyed_id(KEY, "slots", slot)
    assert ids["history_id"][0].as_py() == keyed_id(KEY, "histories", history)
    assert ids["claim_id"][0].as_py() == keyed_id(KEY, "atoms", claim)
    assert ids["candidate_id"][0].as_py() == keyed_id(KEY, "candidates", candidate)


def claims_at(spans):
    """Return the span columns of a claim at `spans` and of one at 0 to 4."""
    start, end, *more = spans
    return pa.table({"start": [start, 0], "end": [end, 4], "more_spans": pa.array([more, []], INTS)})


@pytest.mark.parametrize(
    ("spans", "is_sound"),
    [
        ([0, 2], True),
        ([0, 1], False),  # inside the two bytes of the first letter
        ([2, 2], False),
        ([2, 9], False),
        ([-1, 2], False),
        ([0, 2, 2, 3], True),
    ],
)
def test_a_span_lies_inside_the_text_on_character_boundaries(spans, is_sound):
    read = spans_of(claims_at(spans))
    text = column_arrays(pa.array(["é", "éab", "é"]))
    assert are_sound(read, text, np.array([1, 1])).tolist() == [is_sound, True]


def test_spans_stand_in_order_as_lists_and_as_text():
    read = spans_of(claims_at([3, 9, 12, 14, 20, 21]))
    assert read.as_lists().to_pylist() == [[3, 9, 12, 14, 20, 21], [0, 4]]
    assert read.as_texts().to_pylist() == ["3,9,12,14,20,21", "0,4"]
    assert [part.tolist() for part in read.first()] == [[3, 0], [9, 4]]
    assert spans_of(claims_at([3, 9, 12, 14]).slice(1)).as_texts().to_pylist() == ["0,4"]
