"""OpenAI-style rows and logs: histories that repeat, fork and have no ids."""

import json

import pytest

from amos.schemas.vocabulary import SourceFlag
from delivered import delivered, document, lines


def turn(role, content="x", **fields):
    return {"role": role, "content": content} | fields


def history(length):
    return [turn("user" if number % 2 == 0 else "assistant", f"line {number}") for number in range(length)]


def logged(messages, answer="fine", **fields):
    choices = [{"index": 0, "message": turn("assistant", answer)}]
    return {
        "request": {"messages": messages},
        "response": {"choices": choices},
        "created": 1767600000,
    } | fields


def read(tmp_path, *rows, name="log.jsonl"):
    return delivered(lines(tmp_path / name, rows), format="openai")


@pytest.mark.parametrize("wrap", ["bare", "request"])
def test_a_growing_log_yields_each_message_once(tmp_path, wrap):
    grown = [history(2 * count) for count in range(1, 60)]
    rows = [
        {"messages": messages} if wrap == "bare" else {"request": {"messages": messages}}
        for messages in grown
    ]
    found = read(tmp_path, *rows)
    assert found.record_count == 59
    assert found.texts == [f"line {number}" for number in range(118)]
    assert len(set(found.keys)) == 118
    assert {block.conversation_key for block in found.blocks} == {found.blocks[0].record_key}
    assert [block.turn for block in found.blocks] == list(range(118))


def test_a_long_growing_log_gives_one_new_block_per_line(tmp_path):
    found = read(tmp_path, *({"messages": history(count)} for count in range(1, 201)))
    assert (len(found.blocks), found.record_count) == (200, 200)


def test_a_log_read_again_or_from_a_copy_has_the_same_keys(tmp_path):
    rows = [logged(history(1)), logged(history(3))]
    whole = read(tmp_path, *rows)
    late = read(tmp_path, rows[1], name="rest.jsonl")
    assert set(late.keys) <= set(whole.keys) | {late.keys[-1]}
    assert read(tmp_path, *rows, name="copy.jsonl").keys == whole.keys


def test_a_line_that_adds_nothing_delivers_its_last_message_again(tmp_path):
    found = read(tmp_path, logged(history(1)), logged(history(1)))
    assert found.texts == ["line 0", "fine", "fine"]
    assert found.keys[1] == found.keys[2]


def test_a_fork_shares_its_beginning_only(tmp_path):
    left, right = logged([*history(2), turn("user", "left")]), logged([*history(2), turn("user", "right")])
    found = read(tmp_path, left, right)
    assert found.texts == ["line 0", "line 1", "left", "fine", "right", "fine"]
    assert len(set(found.keys)) == 6
    assert len({block.conversation_key for block in found.blocks}) == 1


@pytest.mark.parametrize(
    "declared",
    [{"request": {"user": "pat"}}, {"metadata": {"session_id": "s"}}, {"user_id": "pat"}, {"thread_id": "t"}],
)
def test_declared_metadata_starts_a_chain_of_its_own(tmp_path, declared):
    plain = logged(history(1))
    other = {**plain, **declared}
    if "request" in declared:
        other["request"] = plain["request"] | declared["request"]
    found = read(tmp_path, plain, other)
    assert len(set(found.keys)) == 4
    assert [block.flags for block in found.blocks] == [SourceFlag.NO_STABLE_ID] * 2 + [0] * 2


def test_only_what_was_said_in_the_call_has_its_time(tmp_path):
    found = read(tmp_path, logged(history(5)))
    assert [block.event_us for block in found.blocks] == [None] * 4 + [1767600000000000] * 2


def test_further_choices_are_branches(tmp_path):
    row = logged(history(1))
    row["response"]["choices"].append({"index": 1, "message": turn("assistant", "else")})
    found = read(tmp_path, row)
    assert [(b.text, b.turn, b.flags & SourceFlag.OFF_THREAD) for b in found.blocks] == [
        ("line 0", 0, 0),
        ("fine", 1, 0),
        ("else", 1, 1),
    ]


def test_equal_rows_are_numbered_and_the_same_in_another_file(tmp_path):
    row, other = {"messages": history(2)}, {"messages": [turn("user", "z")]}
    here = read(tmp_path, row, other, row)
    there = read(tmp_path, other, row, row, name="shuffled.jsonl")
    assert len(set(here.keys)) == 5
    assert set(here.keys) == set(there.keys)
    assert [b.conversation_key[-2:] for b in here.blocks] == ["/0", "/0", "/0", "/1", "/1"]


def test_shards_share_the_numbers_of_equal_rows(tmp_path):
    row = {"messages": history(2)}
    for number in (1, 2):
        lines(tmp_path / f"train-0000{number}-of-00002.jsonl", [row])
    found = delivered(tmp_path)
    assert len(set(found.keys)) == 4


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (turn("system"), [("x", "text", "system", "recall")]),
        (turn("developer"), [("x", "text", "system", "recall")]),
        (
            turn("user", [{"type": "text", "text": "a"}, {"type": "image_url"}, "b"]),
            [("a", "text", "user", "trusted_user"), ("b", "text", "user", "trusted_user")],
        ),
        (
            turn(
                "assistant",
                None,
                tool_calls=[{"id": "1", "function": {"name": "f", "arguments": {"b": 1, "a": 2}}}],
            ),
            [('{"a":2,"b":1}', "tool_use", "assistant", "agent")],
        ),
        (
            turn(
                "assistant", "ok", tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "{}"}}, 7]
            ),
            [
                ("ok", "text", "assistant", "agent"),
                ("{}", "tool_use", "assistant", "agent"),
                ("", "tool_use", "assistant", "agent"),
            ],
        ),
        (
            turn("assistant", "ok", reasoning_content="hm"),
            [("ok", "text", "assistant", "agent"), ("hm", "thinking", "assistant", "agent")],
        ),
        (turn("tool", "out", name="calculator"), [("out", "tool_result", "tool", "tool")]),
        (turn("tool", "out", name="web_search"), [("out", "tool_result", "tool", "untrusted_web")]),
        (turn("function", "out", name="calc"), [("out", "tool_result", "tool", "tool")]),
        (
            turn("assistant", None, function_call={"name": "f", "arguments": "{}"}),
            [("{}", "tool_use", "assistant", "agent")],
        ),
        (turn("user", None), [("", "text", "user", "trusted_user")]),
        (turn("user", 5), [("", "text", "user", "trusted_user")]),
    ],
)
def test_each_kind_of_message_has_its_standing(tmp_path, message, expected):
    found = read(tmp_path, {"messages": [message]})
    assert [(b.text, b.kind, b.role, b.trust) for b in found.blocks] == expected


def test_people_with_names_are_not_the_user(tmp_path):
    said = [turn("user"), turn("user", "y", name="Ines"), turn("user", "z", name="pat")]
    found = read(tmp_path, logged(said, user="pat"))
    assert [(b.author, b.is_owner) for b in found.blocks if b.role == "user"] == [
        ("user", True),
        ("Ines", False),
        ("pat", True),
    ]


def test_two_calls_with_other_arguments_are_two_messages(tmp_path):
    def call(arguments):
        return logged(
            [
                turn("user"),
                turn(
                    "assistant",
                    None,
                    tool_calls=[{"id": "1", "function": {"name": "f", "arguments": arguments}}],
                ),
            ]
        )

    assert len(set(read(tmp_path, call("1"), call("2")).keys)) == 5


@pytest.mark.parametrize(
    "row",
    [
        {"messages": "no"},
        {"messages": []},
        {"messages": [5]},
        {"request": {"model": "m"}},
        {"other": 1},
        [1],
        "null",
    ],
)
def test_a_row_without_messages_is_lost_and_the_rest_is_read(tmp_path, row):
    raw = row if isinstance(row, str) else json.dumps(row)
    found = read(tmp_path, {"messages": [turn("user", "a")]}, raw, {"messages": [turn("user", "b")]})
    assert found.texts == ["a", "b"]
    assert found.lost == [(2, "wrong_type")]


def test_items_that_are_no_messages_are_said(tmp_path):
    found = read(tmp_path, {"messages": [turn("user", "a"), None, 5]})
    assert (found.texts, found.codes) == (["a"], ["wrong_type"])


def test_rows_may_stand_in_one_array(tmp_path):
    found = delivered(document(tmp_path / "rows.json", [{"messages": history(2)}, {"messages": history(3)}]))
    assert found.record_count == 2
    assert found.texts == ["line 0", "line 1", "line 2"]


def test_responses_and_batch_lines_are_understood(tmp_path):
    response = {
        "request": {"input": "What now?", "model": "m"},
        "response": {
            "output": [
                {"type": "reasoning"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "This."}],
                },
            ]
        },
    }
    batch = {
        "custom_id": "1",
        "body": {"messages": [turn("user", "asked")]},
        "response": {"body": {"choices": [{"message": turn("assistant", "told")}], "created": 1767600000}},
    }
    assert read(tmp_path, response, batch).texts == ["What now?", "This.", "asked", "told"]


def test_what_a_call_says_beside_its_messages_is_kept(tmp_path):
    row = logged(history(1), seed=7)
    row["request"]["temperature"] = 0.2
    found = read(tmp_path, row)
    assert json.loads(found.blocks[-1].extra)["call"] == {
        "choices": [{"index": 0}],
        "created": 1767600000,
        "request": {"temperature": 0.2},
        "seed": 7,
    }
