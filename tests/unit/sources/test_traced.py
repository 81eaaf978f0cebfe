"""Traces of model calls: each message once, tools and prompts in their own standing, other steps counted."""

import csv
import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from amos.schemas.vocabulary import SourceFlag
from delivered import delivered, document, lines


def spoken(role, text):
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def attributes(**values):
    return [{"key": name.replace("__", "."), "value": {"stringValue": text}} for name, text in values.items()]


def span(asked, answered, number=1, **more):
    told = {
        "gen_ai__operation__name": "chat",
        "gen_ai__input__messages": json.dumps(asked),
        "gen_ai__output__messages": json.dumps(answered),
        **more,
    }
    return {
        "traceId": "t",
        "spanId": f"s{number}",
        "startTimeUnixNano": f"177243840{number}000000000",
        "attributes": attributes(**told),
    }


def traces(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def test_a_talk_that_every_span_repeats_is_told_once(tmp_path):
    talk = [spoken("user", "I row."), spoken("assistant", "Where?"), spoken("user", "On the Scheldt.")]
    spans = [
        span(talk[:1], talk[1:2], 1, session__id="a"),
        span(talk, [spoken("assistant", "Nice.")], 2, session__id="a"),
    ]
    found = delivered(document(tmp_path / "t.json", traces(*spans)))
    assert found.texts == ["I row.", "Where?", "On the Scheldt.", "Nice."]
    assert [block.turn for block in found.blocks] == [0, 1, 2, 3]
    assert {block.conversation_key for block in found.blocks} == {"a"}


def test_a_prompt_that_names_the_day_begins_no_other_talk(tmp_path):
    spans = [
        span([spoken("system", f"It is day {day}."), spoken("user", "I row.")], [], day, session__id="a")
        for day in (1, 2)
    ]
    found = delivered(document(tmp_path / "t.json", traces(*spans)))
    assert [(block.role, block.trust, block.text) for block in found.blocks] == [
        ("system", "recall", "It is day 1."),
        ("user", "trusted_user", "I row."),
        ("system", "recall", "It is day 2."),
    ]


def test_equal_words_of_two_users_are_two_messages(tmp_path):
    spans = [
        span([spoken("user", "I row.")], [], number, user__id=name)
        for number, name in ((1, "ana"), (2, "ben"))
    ]
    found = delivered(document(tmp_path / "t.json", traces(*spans)))
    assert [block.scope_user for block in found.blocks] == ["ana", "ben"]
    assert len(set(found.keys)) == 2


def test_a_trace_without_user_and_session_says_so(tmp_path):
    found = delivered(document(tmp_path / "t.json", traces(span([spoken("user", "I row.")], []))))
    assert found.blocks[0].flags & SourceFlag.NO_STABLE_ID


def test_a_call_whose_content_was_not_captured_is_kept_as_a_record(tmp_path):
    bare = {"traceId": "t", "spanId": "s", "attributes": attributes(gen_ai__operation__name="chat")}
    found = delivered(document(tmp_path / "t.json", traces(bare)))
    assert [(block.role, block.text, block.record_key) for block in found.blocks] == [
        ("record", "", "span/t/s")
    ]


def test_spans_of_other_work_are_counted_and_left_out(tmp_path):
    other = {"traceId": "t", "spanId": "x", "attributes": attributes(http__method="GET")}
    found = delivered(document(tmp_path / "t.json", traces(other, span([spoken("user", "I row.")], []))))
    assert found.record_count == 1
    assert found.codes == ["left_out"]


def test_a_result_of_a_tool_on_a_users_message_is_the_tools(tmp_path):
    content = [
        {"type": "tool_result", "tool_use_id": "k", "content": [{"type": "text", "text": "I am admin."}]},
        {"type": "text", "text": "What does it say?"},
    ]
    row = {"trace_id": "t", "type": "GENERATION", "start_time": "2026-03-02 08:00:00.000000", "id": "o"}
    asked = [{"role": "user", "content": content}]
    found = delivered(lines(tmp_path / "o.jsonl", [{**row, "input": asked, "output": None}]))
    assert [(block.role, block.trust, block.text) for block in found.blocks] == [
        ("tool", "tool", "I am admin."),
        ("user", "trusted_user", "What does it say?"),
    ]


@pytest.mark.parametrize(
    "shape",
    [
        [{"role": "user", "content": "I row."}],
        json.dumps([{"role": "user", "content": "I row."}]),
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "I row."}]}]},
        {"contents": [{"role": "user", "parts": [{"text": "I row."}]}]},
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": "I row."}]}]},
        [[{"lc": 1, "id": ["langchain", "HumanMessage"], "kwargs": {"content": "I row."}}]],
        [{"type": "human", "data": {"content": "I row."}}],
        {"role": "user", "content": "I row."},
        {"question": "I row."},
        "I row.",
    ],
    ids=range(10),
)
def test_a_question_is_found_in_every_shape(tmp_path, shape):
    row = {"trace_id": "t", "type": "GENERATION", "start_time": "2026-03-02 08:00:00.000000", "id": "o"}
    found = delivered(lines(tmp_path / "o.jsonl", [{**row, "input": shape, "output": "Nice."}]))
    assert [(block.role, block.text) for block in found.blocks] == [
        ("user", "I row."),
        ("assistant", "Nice."),
    ]


@pytest.mark.parametrize(
    "shape",
    [
        {"choices": [{"message": {"role": "assistant", "content": "Nice."}}]},
        {
            "generations": [
                [{"text": "Nice.", "message": {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "Nice."}}}]
            ]
        },
        {"generations": [[{"text": "Nice."}]]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Nice."}]}}]},
        {"messages": [{"role": "user", "content": "I row."}, {"role": "assistant", "content": "Nice."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Nice."}]},
        {
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Nice."}],
                }
            ]
        },
        {"output": "Nice."},
    ],
    ids=range(8),
)
def test_an_answer_is_found_in_every_shape(tmp_path, shape):
    run = {"id": "r", "run_type": "llm", "trace_id": "r", "start_time": "2026-03-02T08:00:00"}
    asked = {"messages": [{"role": "user", "content": "I row."}]}
    found = delivered(lines(tmp_path / "r.jsonl", [{**run, "inputs": asked, "outputs": shape}]))
    assert [(block.role, block.text) for block in found.blocks] == [
        ("user", "I row."),
        ("assistant", "Nice."),
    ]
    assert not any(block.flags & SourceFlag.OFF_THREAD for block in found.blocks)


def test_a_call_of_a_tool_and_its_answer_are_neither_speech(tmp_path):
    asked = [
        {"role": "user", "content": "I row."},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "k", "toolName": "web_fetch", "input": {"u": 1}}],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "k", "toolName": "web_fetch", "output": "page"}
            ],
        },
    ]
    row = {"trace_id": "t", "type": "GENERATION", "start_time": "2026-03-02 08:00:00.000000", "id": "o"}
    found = delivered(lines(tmp_path / "o.jsonl", [{**row, "input": asked, "output": "Nice."}]))
    assert [(block.kind, block.trust, block.text) for block in found.blocks] == [
        ("text", "trusted_user", "I row."),
        ("tool_use", "agent", '{"u":1}'),
        ("tool_result", "untrusted_web", "page"),
        ("text", "agent", "Nice."),
    ]


def test_the_session_of_a_langsmith_run_is_its_project_and_no_thread(tmp_path):
    run = {
        "id": "r",
        "run_type": "llm",
        "trace_id": "r",
        "session_id": "project",
        "inputs": {"messages": [{"role": "user", "content": "x"}]},
    }
    inner = {**run, "id": "q", "extra": {"metadata": {"thread_id": "th"}}}
    found = delivered(lines(tmp_path / "r.jsonl", [run, inner]))
    assert [block.session for block in found.blocks] == [None, "th"]


def test_runs_inside_runs_are_read(tmp_path):
    inner = {"id": "q", "run_type": "llm", "inputs": {"messages": [{"role": "user", "content": "I row."}]}}
    run = {"id": "r", "run_type": "chain", "inputs": {}, "parent_run_id": None, "child_runs": [inner]}
    assert delivered(document(tmp_path / "r.json", run)).texts == ["I row."]


def test_a_question_of_a_trace_counts_where_no_call_gave_messages(tmp_path):
    row = {
        "id": "t1",
        "timestamp": "2026-03-02T08:00:00Z",
        "session_id": "s",
        "project_id": "p",
        "user_id": "ana",
    }
    found = delivered(lines(tmp_path / "traces.jsonl", [{**row, "input": "I row.", "output": "Nice."}]))
    assert found.texts == ["I row.", "Nice."]


def test_a_file_of_steps_without_a_message_is_refused_loudly(tmp_path):
    from amos.errors import InputError

    row = {
        "trace_id": "t",
        "type": "SPAN",
        "start_time": "2026-03-02 08:00:00.000000",
        "parent_observation_id": "o",
    }
    with pytest.raises(InputError):
        delivered(lines(tmp_path / "o.jsonl", [row]))


TALK = [("user", "I row."), ("assistant", "Nice.")]
OBSERVED = {
    "id": "o",
    "trace_id": "t",
    "type": "GENERATION",
    "start_time": "2026-03-02 08:00:00.000000",
    "input": json.dumps([{"role": "user", "content": "I row."}]),
    "output": json.dumps({"role": "assistant", "content": "Nice."}),
}


def test_a_table_of_observations_is_read_like_its_lines(tmp_path):
    path = tmp_path / "observations.csv"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, OBSERVED)
        table.writeheader()
        table.writerow(OBSERVED)
    found = delivered(path)
    assert [(block.role, block.text) for block in found.blocks] == TALK
    assert found.keys == delivered(lines(tmp_path / "observations.jsonl", [OBSERVED])).keys


def test_runs_in_parquet_are_read_when_the_format_is_named(tmp_path):
    run = {
        "id": "r",
        "run_type": "llm",
        "trace_id": "r",
        "parent_run_ids": [],
        "start_time": datetime(2026, 3, 2, 8, tzinfo=UTC),
        "inputs": json.dumps({"messages": [{"role": "user", "content": "I row."}]}),
        "outputs": json.dumps({"generations": [[{"text": "Nice."}]]}),
        "extra": json.dumps({"metadata": {"thread_id": "th"}}),
    }
    path = tmp_path / "runs.parquet"
    pq.write_table(pa.Table.from_pylist([run]), path)
    found = delivered(path, format="langsmith")
    assert [(block.role, block.text, block.session) for block in found.blocks] == [
        ("user", "I row.", "th"),
        ("assistant", "Nice.", "th"),
    ]
    assert found.blocks[0].event_us == 1_772_438_400_000_000


@pytest.mark.parametrize("form", ["langsmith", "langfuse"])
def test_a_damaged_table_costs_itself(tmp_path, form):
    path = tmp_path / "runs.parquet"
    path.write_bytes(b"PAR1" + b"\x00" * 100 + b"PAR1")
    assert [code for _, code in delivered(path, format=form).lost] == ["unreadable"]
