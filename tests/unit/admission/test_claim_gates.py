"""Gates of a batch: facts are read by columns, each claim with the source it came from."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from amos.admission.claim_gates import gates_of
from amos.admission.claim_spans import spans_of
from amos.admission.meanings import bounds_of
from amos.admission.policy import default_policy_text, read_policy
from amos.schemas.buffers import column_arrays
from amos.schemas.claims import CLAIMS
from amos.schemas.vocabulary import Cue

POLICY = read_policy(default_policy_text())
TEXTS = ["My façade is blue and tall.", "a" * 1200]
PLAIN = {
    "source_row": 0,
    "pattern": "own.is",
    "type": "belief",
    "memory_class": "durable_fact",
    "subject_kind": "author",
    "subject": "user",
    "property": "façade",
    "value": "blue",
    "value_kind": "text",
    "arity": "single",
    "polarity": "positive",
    "modality": "asserted",
    "start": 0,
    "end": 19,
    "more_spans": [],
    "confidence": 90,
    "cues": 0,
}


def day(number):
    """Return the morning of a day of May 2026."""
    return datetime(2026, 5, number, 8, tzinfo=UTC)


def claims_of(*changes):
    """Return a CLAIMS table of plain claims with `changes`, one claim each."""
    return pa.Table.from_pylist([{**PLAIN, **change} for change in changes], schema=CLAIMS)


def cited(*changes):
    """Return sources as `gates_of` and `bounds_of` read them, one per claim."""
    plain = {
        "may_retain": True,
        "purposes": ["personalization"],
        "trust": "trusted_user",
        "event_time": day(10),
        "format": "messages",
        "conversation_key": "attic",
    }
    schema = pa.schema(
        [
            ("may_retain", pa.bool_()),
            ("purposes", pa.list_(pa.string())),
            ("trust", pa.string()),
            ("event_time", CLAIMS.field("valid_from").type),
            ("format", pa.string()),
            ("conversation_key", pa.string()),
        ]
    )
    return pa.Table.from_pylist([{**plain, **change} for change in changes], schema=schema)


def gates(claims, sources):
    """Return the gate of each claim."""
    bounds = bounds_of(claims, sources)
    text = column_arrays(pa.array(TEXTS))
    return gates_of(claims, sources, text, spans_of(claims), is_bounded=bounds.is_bounded, policy=POLICY)


@pytest.mark.parametrize(
    ("claim", "source", "gate"),
    [
        ({}, {}, None),
        ({"end": 6}, {}, "reject:evidence_span_out_of_range"),  # inside a letter of two bytes
        ({"valid_until": day(9)}, {}, "reject:temporal_invalid"),  # over before it was said
        ({"valid_until": day(9), "valid_from": day(3)}, {}, None),
        ({"valid_until": day(9)}, {"event_time": None}, None),
        ({"valid_until": day(9), "memory_class": "episode", "time_precision": "day"}, {}, None),
        ({"valid_until": day(9), "cues": int(Cue.FORMER)}, {}, "ignore:historical_observation"),
        ({}, {"purposes": ["audit"]}, "reject:unauthorized_scope"),
        ({}, {"may_retain": False}, "reject:unauthorized_scope"),
        ({"value": "é" * 400}, {}, None),  # counted in letters, not bytes
        ({"value": "e" * 401}, {}, "ignore:value_too_long"),
        ({"source_row": 1, "value": None, "end": 401}, {}, "ignore:value_too_long"),
        ({"source_row": 1, "value": None, "end": 400}, {}, None),
        ({"memory_class": "episode"}, {}, "quarantine:non_durable_class"),
        ({}, {"trust": "tool"}, "quarantine:untrusted_source_requires_review"),
    ],
)
def test_each_claim_is_stopped_for_its_own_reason_among_others(claim, source, gate):
    others = {}, {"veto": "small_talk"}
    read = gates(claims_of(others[0], claim, others[1]), cited({}, source, {}))
    assert read == [None, gate, "ignore:small_talk"]


def test_purposes_are_each_source_its_own():
    sources = cited({"purposes": []}, {"purposes": ["audit", "personalization"]}, {"purposes": ["audit"]})
    assert [gate is None for gate in gates(claims_of({}, {}, {}), sources)] == [False, True, False]
    assert [gate is None for gate in gates(claims_of({}, {}), sources.slice(1))] == [True, False]


def test_what_holds_for_now_is_bound_to_its_talk_when_its_end_is_unknown():
    passing = {"memory_class": "temporary_state"}
    claims = claims_of(
        {}, passing, {**passing, "valid_until": day(12)}, {**passing, "applicability": '{"a":1}'}
    )
    bounds = bounds_of(claims, cited({}, {"event_time": None}, {}, {}))
    assert bounds.is_bounded.tolist() == [False, True, True, False]
    assert bounds.applicability == [
        None,
        '{"conversation":"messages:attic"}',
        None,
        '{"a":1,"conversation":"messages:attic"}',
    ]
