"""ChatGPT exports: trees with holes, hidden and abandoned messages, content of many kinds."""

import json

import pytest

from amos.schemas.vocabulary import SourceFlag
from delivered import delivered, document


def node(name, parent, text="hello", role="user", **message):
    content = {"content_type": "text", "parts": [text]}
    made = {"id": name, "author": {"role": role}, "create_time": 1767600000.0, "content": content} | message
    return {name: {"id": name, "parent": parent, "message": made}}


def chat(*nodes, **fields):
    mapping = {"root": {"id": "root", "parent": None, "message": None, "children": []}}
    for one in nodes:
        mapping |= one
    return {"conversation_id": "c", "title": "Talk", "mapping": mapping} | fields


def read(tmp_path, *conversations, name="conversations.json"):
    return delivered(document(tmp_path / name, list(conversations)), format="chatgpt")


def test_a_missing_title_time_and_current_node_are_no_obstacle(tmp_path):
    found = read(
        tmp_path,
        chat(
            node("a", "root"),
            node("b", "a", role="assistant", create_time=None),
            title=None,
            create_time=None,
        ),
    )
    assert [(block.conversation_title, block.event_us, block.flags) for block in found.blocks] == [
        (None, 1767600000000000, 0),
        (None, None, 0),
    ]
    assert found.codes == []


def test_the_null_root_is_no_record(tmp_path):
    assert read(tmp_path, chat(node("a", "root"))).record_count == 1


def test_branches_are_kept_off_the_visible_thread(tmp_path):
    tree = chat(
        node("a", "root"), node("b1", "a", "old"), node("b2", "a", "new"), node("c", "b2"), current_node="c"
    )
    found = read(tmp_path, tree)
    assert {block.record_key: (block.turn, block.flags) for block in found.blocks} == {
        "c/a": (0, 0),
        "c/b1": (1, SourceFlag.OFF_THREAD),
        "c/b2": (1, 0),
        "c/c": (2, 0),
    }
    assert [block.reply_to for block in found.blocks] == [None, "c/a", "c/a", "c/b2"]


def test_without_a_current_node_the_latest_leaf_is_the_end(tmp_path):
    tree = chat(
        node("a", "root"), node("late", "a", create_time=9e8 + 9e8), node("early", "a", create_time=1e9)
    )
    flagged = [block.record_key for block in read(tmp_path, tree).blocks if block.flags]
    assert flagged == ["c/early"]


@pytest.mark.parametrize(
    "hidden", [{"weight": 0.0}, {"weight": 0}, {"metadata": {"is_visually_hidden_from_conversation": True}}]
)
def test_hidden_messages_are_flagged(tmp_path, hidden):
    assert read(tmp_path, chat(node("a", "root", **hidden))).blocks[0].flags == SourceFlag.HIDDEN


@pytest.mark.parametrize("parents", [{"a": "b", "b": "a"}, {"a": "a"}, {"a": "b", "b": "c", "c": "b"}])
def test_rings_of_parents_end_and_are_said(tmp_path, parents):
    tree = chat(*(node(name, parent) for name, parent in parents.items()))
    found = read(tmp_path, tree)
    assert len(found.blocks) == len(parents)
    assert set(found.codes) == {"broken_thread"}


def test_a_parent_that_is_missing_starts_the_thread(tmp_path):
    found = read(tmp_path, chat(node("a", "gone"), node("b", "a")))
    assert [(block.turn, block.reply_to) for block in found.blocks] == [(0, None), (1, "c/a")]


def test_a_long_thread_is_read_in_linear_time(tmp_path):
    names = [f"n{number}" for number in range(5000)]
    tree = chat(
        *(node(name, above) for name, above in reversed(list(zip(names, ["root", *names], strict=False))))
    )
    found = read(tmp_path, tree)
    assert [block.turn for block in found.blocks] == list(range(5000))


@pytest.mark.parametrize(
    ("content", "message", "expected"),
    [
        ({"content_type": "code", "text": "print(1)"}, {}, [("print(1)", "code", "agent")]),
        (
            {"content_type": "code", "text": "search()"},
            {"recipient": "web"},
            [("search()", "tool_use", "agent")],
        ),
        (
            {"content_type": "thoughts", "thoughts": [{"content": "hm"}, "so"]},
            {},
            [("hm", "thinking", "agent"), ("so", "thinking", "agent")],
        ),
        ({"content_type": "reasoning_recap", "content": "3 s"}, {}, [("3 s", "thinking", "agent")]),
        (
            {"content_type": "execution_output", "text": "7"},
            {"author": {"role": "tool", "name": "python"}},
            [("7", "tool_result", "tool")],
        ),
        (
            {"content_type": "text", "parts": ["page"]},
            {"author": {"role": "tool", "name": "browser"}},
            [("page", "tool_result", "untrusted_web")],
        ),
        (
            {"content_type": "text", "parts": ["file"]},
            {"author": {"role": "tool", "name": "myfiles_browser"}},
            [("file", "tool_result", "untrusted_web")],
        ),
        (
            {"content_type": "tether_browsing_display", "result": "page"},
            {"author": {"role": "tool"}},
            [("page", "tool_result", "untrusted_web")],
        ),
        (
            {"content_type": "model_editable_context", "model_set_context": "likes tea"},
            {},
            [("likes tea", "text", "recall")],
        ),
        (
            {
                "content_type": "multimodal_text",
                "parts": ["a", {"content_type": "audio_transcription", "text": "b"}, {"asset": 1}],
            },
            {},
            [("a", "text", "agent"), ("b", "text", "agent"), ("", "text", "agent")],
        ),
        ({"content_type": "novel_kind", "payload": 1}, {}, [("", "text", "agent")]),
        ({"content_type": "novel_kind", "text": "kept"}, {}, [("kept", "text", "agent")]),
        ({"content_type": "text"}, {}, [("", "text", "agent")]),
        ({}, {}, [("", "text", "agent")]),
        (None, {}, [("", "text", "agent")]),
        ("bare", {}, [("bare", "text", "agent")]),
        ([1], {}, [("", "text", "agent")]),
    ],
)
def test_each_kind_of_content_has_its_standing(tmp_path, content, message, expected):
    found = read(tmp_path, chat(node("a", "root", role="assistant", **({"content": content} | message))))
    assert [(block.text, block.kind, block.trust) for block in found.blocks] == expected


def test_content_nobody_knows_is_kept_whole(tmp_path):
    content = {"content_type": "novel_kind", "payload": [1, {"b": None}]}
    extra = json.loads(read(tmp_path, chat(node("a", "root", content=content))).blocks[0].extra)
    assert extra["content"] == content


@pytest.mark.parametrize("mapping", [None, [], "x", 7])
def test_a_conversation_without_a_tree_is_lost_and_the_rest_is_read(tmp_path, mapping):
    found = read(tmp_path, chat(mapping=mapping), chat(node("a", "root")))
    assert (found.texts, found.lost) == (["hello"], [(1, "wrong_type")])


def test_nodes_that_are_no_objects_are_said(tmp_path):
    tree = chat(node("a", "root"))
    tree["mapping"] |= {"x": 5, "y": None, "z": {"message": "text"}, "w": {}}
    found = read(tmp_path, tree)
    assert (found.texts, found.codes) == (["hello"], ["broken_thread"])


@pytest.mark.parametrize("author", [None, {}, {"role": None}, {"role": "ghost"}, "user"])
def test_an_unknown_author_is_no_trusted_user(tmp_path, author):
    found = read(tmp_path, chat(node("a", "root", author=author)))
    assert (found.blocks[0].trust, found.codes) == ("tool", ["unknown_role"])


@pytest.mark.parametrize("missing", [{"conversation_id": None}, {"conversation_id": None, "id": "c"}])
def test_a_conversation_without_an_id_is_named_by_its_first_message(tmp_path, missing):
    found = read(tmp_path, chat(node("a", "root"), node("b", "a"), **missing))
    has_id = "id" in missing
    assert [block.conversation_key for block in found.blocks] == (["c"] * 2 if has_id else ["a"] * 2)
    assert found.codes == ([] if has_id else ["missing_id"])


@pytest.mark.parametrize("time", [1767600000000, -1, "gestern", float("nan"), [], 4.3e9])
def test_an_absurd_time_is_flagged_and_the_message_kept(tmp_path, time):
    found = read(tmp_path, chat(node("a", "root", create_time=time)))
    assert (found.blocks[0].event_us, found.blocks[0].flags) == (None, SourceFlag.TIME_INVALID)
    assert found.codes[-1] == "time_invalid"


def test_an_edit_is_marked_by_its_later_time(tmp_path):
    found = read(
        tmp_path, chat(node("a", "root", update_time=1767600060.0), node("b", "a", update_time=1767600000.0))
    )
    assert [(block.revised_us, block.flags) for block in found.blocks] == [
        (1767600060000000, SourceFlag.EDITED),
        (1767600000000000, 0),
    ]


def test_what_the_export_says_of_the_conversation_stands_with_its_first_message(tmp_path):
    found = read(tmp_path, chat(node("a", "root"), node("b", "a"), gizmo_id="g-1", moderation_results=[]))
    assert json.loads(found.blocks[0].extra) == {"conversation": {"gizmo_id": "g-1"}}
    assert found.blocks[1].extra is None


def test_a_damaged_element_costs_only_itself(tmp_path):
    good = json.dumps(chat(node("a", "root")))
    path = tmp_path / "conversations.json"
    path.write_text(
        f'[{good}, {{"mapping": nope}}, {good.replace("conversation_id", "id")}, {{"mapping": {{"x"'
    )
    found = delivered(path)
    assert (found.texts, found.lost) == (["hello"] * 2, [(2, "invalid_json"), (4, "truncated")])


def test_conversations_may_stand_in_a_wrapper(tmp_path):
    path = document(tmp_path / "x.json", {"conversations": [chat(node("a", "root")), 5]})
    found = delivered(path, format="chatgpt")
    assert (found.texts, found.lost) == (["hello"], [(2, "wrong_type")])


def test_surrogates_in_a_conversation_are_flagged_on_all_its_messages(tmp_path):
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chat(node("a", "root", "\ud83d"), node("b", "a"))]))
    found = delivered(path)
    assert [(block.text, block.flags) for block in found.blocks] == [("\ufffd", 16), ("hello", 16)]
    assert found.codes == ["surrogate_replaced"]
