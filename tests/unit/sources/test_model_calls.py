"""Logged calls of the Messages and the Responses API: who said what, each thing once, nothing lost."""

import json

import pytest

from amos.schemas.vocabulary import SourceFlag
from amos.sources.reading import detect
from delivered import delivered, document, lines

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
MARK = {"cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "They want the forecast.", "signature": "c2ln"}
LOOK = {"type": "text", "text": "Let me look."}
USE = {"type": "tool_use", "id": "toolu_1", "name": "get_forecast", "input": {"place": "Ghent"}}
GOT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "I live in Paris."}
ASKED = {"role": "user", "content": "Is rain coming to Ghent?"}
DONE = {"role": "user", "content": [{**GOT, **MARK}, {"type": "text", "text": "I grow leeks.", **MARK}]}


def words(text):
    return [{"type": "text", "text": text}]


def claude(messages, content, system=None, **more):
    request = {"model": "claude-test", "max_tokens": 900, "messages": messages, **more}
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "usage": {"input_tokens": 9},
    }
    return {"request": {**request, **({"system": system} if system else {})}, "response": answer}


CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_forecast", "arguments": "{}"}
REASON = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look."}]}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "I live in Paris."}


def item(text, **more):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content, **more}


def responded(asked, output, number=1, **more):
    answer = {"id": f"resp_{number}", "object": "response", "created_at": 1767600000, "output": output}
    return {"request": {"model": "gpt-test", "input": asked, **more}, "response": answer}


def read(tmp_path, *rows, name="log.jsonl"):
    return delivered(lines(tmp_path / name, rows))


def told(found):
    return [(block.role, block.kind, block.text) for block in found.blocks]


def extra(block):
    return json.loads(block.extra or "{}")


TALK = [
    ("user", "text", "Is rain coming to Ghent?"),
    ("assistant", "text", "Let me look."),
    ("assistant", "tool_use", '{"place":"Ghent"}'),
    ("assistant", "thinking", "They want the forecast."),
    ("tool", "tool_result", "I live in Paris."),
    ("user", "text", "I grow leeks."),
    ("assistant", "text", "Good."),
]


def test_each_block_of_the_messages_api_is_told_by_who_said_it_and_told_once(tmp_path):
    history = [ASKED, {"role": "assistant", "content": [LOOK, USE]}, DONE]
    found = read(tmp_path, claude([ASKED], [THOUGHT, LOOK, USE]), claude(history, words("Good.")))
    assert told(found) == TALK
    assert {block.trust for block in found.blocks if block.text == "I live in Paris."} == {"tool"}
    assert [block.author for block in found.blocks if block.role == "tool"] == ["get_forecast"]
    assert {block.conversation_key for block in found.blocks} == {found.blocks[0].record_key}
    assert found.problems == []


def test_a_later_log_that_leaves_thoughts_out_delivers_the_same_parts(tmp_path):
    first = read(tmp_path, claude([ASKED], [THOUGHT, USE]))
    history = [ASKED, {"role": "assistant", "content": [USE]}, DONE]
    later = read(tmp_path, claude(history, words("Good.")), name="later.jsonl")
    parts = dict(zip(later.keys, later.texts, strict=True))
    assert {key: parts[key] for key in first.keys[:2]} == dict(
        zip(first.keys[:2], first.texts[:2], strict=True)
    )


@pytest.mark.parametrize("system", ["Be kind.", [{"type": "text", "text": "Be kind.", **MARK}]])
def test_a_system_prompt_is_a_message_of_the_system(tmp_path, system):
    found = read(tmp_path, claude([ASKED], words("Yes."), system))
    assert [(block.role, block.trust, block.text) for block in found.blocks] == [
        ("system", "recall", "Be kind."),
        ("user", "trusted_user", "Is rain coming to Ghent?"),
        ("assistant", "agent", "Yes."),
    ]


def test_a_system_prompt_that_names_the_day_begins_no_other_talk(tmp_path):
    longer = [ASKED, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "When?"}]
    found = read(
        tmp_path, claude([ASKED], words("Yes."), "Day 1."), claude(longer, words("At noon."), "Day 2.")
    )
    assert found.texts == ["Day 1.", "Is rain coming to Ghent?", "Yes.", "Day 2.", "When?", "At noon."]
    assert {block.conversation_key for block in found.blocks} == {found.blocks[1].record_key}
    bare = read(tmp_path, claude([ASKED], words("Yes.")), name="bare.jsonl")
    assert bare.keys == found.keys[1:3]


def test_what_stands_beside_the_words_is_kept(tmp_path):
    picture = {"role": "user", "content": [PICTURE, {"type": "text", "text": "What is it?", **MARK}]}
    found = read(tmp_path, claude([picture], [THOUGHT, {**USE, **MARK}], temperature=0))
    question, use = extra(found.blocks[0]), extra(found.blocks[1])
    assert question == {"content": [PICTURE], **MARK}
    assert {name: use[name] for name in ("id", "name", "reasoning", *MARK)} == {
        "id": "toolu_1",
        "name": "get_forecast",
        "reasoning": [{"signature": "c2ln"}],
        **MARK,
    }
    assert use["call"]["request"] == {"model": "claude-test", "max_tokens": 900, "temperature": 0}
    assert use["call"]["response"] == {"id": "msg_1", "type": "message", "usage": {"input_tokens": 9}}


def test_a_tool_that_brings_pictures_keeps_them_beside_its_words(tmp_path):
    both = {**GOT, "content": [*words("A map."), PICTURE], "is_error": True}
    alone = {**GOT, "content": [PICTURE]}
    found = read(tmp_path, claude([ASKED, {"role": "user", "content": [both, alone]}], words("Yes.")))
    assert [(block.text, extra(block)["content"]) for block in found.blocks if block.role == "tool"] == [
        ("A map.", [PICTURE]),
        ("", [PICTURE]),
    ]
    assert extra(found.blocks[1])["is_error"] is True


def test_pages_that_the_maker_of_the_model_fetched_are_nobodys_word(tmp_path):
    content = [
        LOOK,
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "rain"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": words("It rains.")},
        *words("It will rain."),
    ]
    found = read(tmp_path, claude([ASKED], content))
    assert [(block.trust, block.text) for block in found.blocks] == [
        ("trusted_user", "Is rain coming to Ghent?"),
        ("agent", "Let me look."),
        ("agent", '{"query":"rain"}'),
        ("untrusted_web", "It rains."),
        ("agent", "It will rain."),
    ]
    assert not any(block.flags & SourceFlag.OFF_THREAD for block in found.blocks)


def test_a_document_is_an_attachment_and_not_the_users_word(tmp_path):
    page = {"type": "document", "title": "Lease", "source": {"type": "text", "data": "I am the tenant."}}
    found = read(tmp_path, claude([{"role": "user", "content": [page, *words("Sum it up.")]}], words("Yes.")))
    assert [(block.kind, block.trust) for block in found.blocks[:2]] == [
        ("attachment", "untrusted_web"),
        ("text", "trusted_user"),
    ]


@pytest.mark.parametrize(
    "response",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"status_code": 429, "body": {"error": {"message": "Too many"}}},
        {"status_code": 503, "body": "busy"},
    ],
)
def test_a_call_that_failed_gives_what_was_asked_and_keeps_the_error(tmp_path, response):
    row = claude([ASKED], [])
    found = read(tmp_path, {**row, "response": response})
    assert (found.texts, found.problems) == (["Is rain coming to Ghent?"], [])
    assert extra(found.blocks[0])["call"]["response"] == response


@pytest.mark.parametrize("response", ["data: {}", [{"type": "message_start"}], {"id": "x"}])
def test_an_answer_in_no_known_shape_is_said_and_kept(tmp_path, response):
    found = read(tmp_path, {**claude([ASKED], []), "response": response})
    assert (found.texts, found.codes) == (["Is rain coming to Ghent?"], ["unknown_content"])
    assert extra(found.blocks[0])["call"]["response"] == response


def test_batches_and_sides_written_as_text_are_read(tmp_path):
    row = claude([ASKED], words("Yes."))
    batch = {
        "custom_id": "1",
        "params": {**row["request"], "messages": [{"role": "user", "content": "Asked."}]},
    }
    result = {"custom_id": "1", "result": {"type": "succeeded", "message": row["response"]}}
    texts = {name: json.dumps(value) for name, value in row.items()}
    found = read(tmp_path, texts, batch, result)
    assert found.texts == ["Is rain coming to Ghent?", "Yes.", "Asked.", "Yes."]


def test_items_of_the_responses_api_are_told_by_who_said_them_and_told_once(tmp_path):
    asked = {"role": "user", "content": [{"type": "input_text", "text": "Is rain coming?"}]}
    rows = [
        responded([asked], [REASON, CALL], instructions="Be kind."),
        responded(
            [asked, CALL, OUTPUT], [item("I looked."), item("It will rain.")], 2, instructions="Be kind."
        ),
    ]
    found = read(tmp_path, *rows)
    assert told(found) == [
        ("system", "text", "Be kind."),
        ("user", "text", "Is rain coming?"),
        ("assistant", "tool_use", "{}"),
        ("assistant", "thinking", "Look."),
        ("tool", "tool_result", "I live in Paris."),
        ("assistant", "text", "I looked."),
        ("assistant", "text", "It will rain."),
    ]
    assert [block.author for block in found.blocks if block.role == "tool"] == ["get_forecast"]
    assert not any(block.flags & SourceFlag.OFF_THREAD for block in found.blocks)
    assert extra(found.blocks[4])["tool_call_id"] == extra(found.blocks[2])["id"] == "call_1"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "rain"}},
            [("tool_use", "agent", '{"query":"rain","type":"search"}')],
        ),
        (
            {"type": "mcp_call", "id": "m", "name": "roll", "arguments": "{}", "output": "4", "error": None},
            [("tool_use", "agent", "{}"), ("tool_result", "tool", "4")],
        ),
        (
            {
                "type": "code_interpreter_call",
                "id": "c",
                "code": "1+1",
                "outputs": [{"type": "logs", "logs": "2"}],
            },
            [("tool_use", "agent", "1+1"), ("tool_result", "tool", "")],
        ),
        (
            {"type": "custom_tool_call", "call_id": "k", "name": "note", "input": "buy tea"},
            [("tool_use", "agent", "buy tea")],
        ),
    ],
)
def test_calls_of_every_kind_are_calls_of_tools(tmp_path, given, expected):
    found = read(tmp_path, responded("Go.", [given]))
    assert [(block.kind, block.trust, block.text) for block in found.blocks[1:]] == expected
    assert found.problems == []


def test_a_screenshot_that_a_tool_answers_with_is_kept_and_no_words(tmp_path):
    shot = {"type": "computer_screenshot", "image_url": "data:,"}
    found = read(
        tmp_path, responded([{"type": "computer_call_output", "call_id": "k", "output": shot}], [item("Ok.")])
    )
    assert (found.texts, extra(found.blocks[0])["content"]) == (["", "Ok."], [shot])


def test_items_that_nobody_knows_are_said_and_kept(tmp_path):
    reference, listed = {"type": "item_reference", "id": "msg_1"}, {"type": "mcp_list_tools", "tools": []}
    found = read(tmp_path, responded([reference, {"role": "user", "content": "Go."}], [listed, item("Yes.")]))
    assert (found.texts, found.codes) == (["Go.", "Yes."], ["unknown_content", "unknown_content"])
    kept = extra(found.blocks[-1])["call"]["not_understood"]
    assert kept == {"request": [reference], "response": [listed]}


@pytest.mark.parametrize(
    "links",
    [
        [{}, {"previous_response_id": "resp_1"}, {"previous_response_id": "resp_2"}],
        [{"conversation": {"id": "conv_1"}}] * 3,
    ],
)
def test_a_talk_that_the_api_remembers_is_one_talk_and_equal_words_in_it_are_two(tmp_path, links):
    rows = [
        responded(text, [item("Fine.")], number, instructions="Be kind.", **link)
        for number, (text, link) in enumerate(zip(["I row.", "Yes.", "Yes."], links, strict=True), 1)
    ]
    found = read(tmp_path, *rows)
    assert found.texts == ["Be kind.", "I row.", "Fine.", "Yes.", "Fine.", "Yes.", "Fine."]
    assert len(set(found.keys)) == 7
    assert len({block.conversation_key for block in found.blocks}) == 1
    turns = [block.turn for block in found.blocks]
    assert turns == sorted(set(turns))
    alone = read(tmp_path, rows[2], name="alone.jsonl")
    assert alone.keys[1:] == found.keys[5:]


def test_a_plain_question_and_a_plain_answer_are_both_read(tmp_path):
    assert read(tmp_path, {"input": "I row.", "output": "Where?"}).texts == ["I row.", "Where?"]


CHAT = {
    "request": {"messages": [{"role": "user", "content": "I row."}]},
    "response": {"choices": [{"message": {"role": "assistant", "content": "Where?"}}]},
}


def test_lines_of_several_apis_may_stand_in_one_log_and_are_named(tmp_path):
    path = lines(
        tmp_path / "log.jsonl", [claude([ASKED], words("Yes.")), responded("Go.", [item("Ok.")]), CHAT]
    )
    assert delivered(path).texts == ["Is rain coming to Ghent?", "Yes.", "Go.", "Ok.", "I row.", "Where?"]
    assert seen(path) == (
        "openai",
        "logged API calls: Anthropic Messages, OpenAI Responses, chat completions",
    )


def test_one_long_call_is_known_from_its_beginning(tmp_path):
    path = document(tmp_path / "one.json", claude([ASKED], words("word " * 20_000)))
    assert seen(path) == ("openai", "an API call with `messages` in its request")
    assert len(delivered(path).blocks) == 2


def seen(path):
    (found,) = detect([path])
    return found.format, found.saw


def test_rows_to_train_with_may_give_their_prompt_apart(tmp_path):
    row = {"system": "Be kind.", "messages": [ASKED, {"role": "assistant", "content": [THOUGHT, LOOK]}]}
    found = read(tmp_path, row, row)
    assert [block.text for block in found.blocks[:3]] == [
        "Be kind.",
        "Is rain coming to Ghent?",
        "Let me look.",
    ]
    assert len(set(found.keys)) == len(found.keys)
