"""Candidates: ids in batches equal ids one by one, spans are sound, gates are remembered."""

import pyarrow as pa
import pytest

from amos.admission.candidates import are_spans_sound, candidate_ids
from amos.identity import (
    candidate_identity,
    claim_identity,
    history_identity,
    keyed_id,
    slot_identity,
    statement_slot_identity,
)

KEY = b"k" * 32
SCOPE = ("alpha", None, None, None, None)


@pytest.mark.parametrize("arity", ["single", "set"])
@pytest.mark.parametrize("holder_property", ["locker", None])
def test_ids_in_a_batch_equal_ids_one_by_one(arity, holder_property):
    subject, source = b"s" * 32, b"q" * 32
    columns = {
        "subject": [subject],
        "holder_property": [holder_property],
        "kind": ["text"],
        "canonical": ["b12"],
        "applicability": ['{"time_of_day":"evening"}'],
    }
    claims = pa.table({"polarity": ["positive"], "arity": [arity]})
    names = ("project", "user", "agent", "task", "tool_environment")
    cited = pa.table(
        {f"scope_{name}": pa.array([value], pa.string()) for name, value in zip(names, SCOPE, strict=True)}
    )
    ids = candidate_ids(
        columns,
        claims,
        cited,
        identities_of_sources=[source],
        spans=[[3, 9]],
        extractor="rules@1",
        key=KEY,
    )
    conditions = columns["applicability"][0]
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
    assert are_spans_sound("éab".encode(), spans) is is_sound
