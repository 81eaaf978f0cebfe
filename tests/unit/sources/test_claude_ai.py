"""Claude.ai exports: typed content, attachments, branches, missing pieces."""

import json

import pytest

from amos.schemas.vocabulary import SourceFlag
from delivered import delivered, document, lines


def said(uuid="m1", **fields):
    return {"uuid": uuid, "sender": "human", "text": "hello", "created_at": "2026-05-01T09:00:00Z"} | fields


def chat(*messages, **fields):
    return {"uuid": "c", "name": "Talk", "chat_messages": list(messages)} | fields


def read(tmp_path, *conversations):
    return delivered(document(tmp_path / "conversations.json", list(conversations)), format="claude-ai")


@pytest.mark.parametrize(
    ("fields", "texts", "source"),
    [
        (
            {
                "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
                "text": "one\n\ntwo",
            },
            ["one", "two"],
            "content",
        ),
        ({"content": [], "text": "old field"}, ["old field"], "text"),
        ({"content": None, "text": "old field"}, ["old field"], "text"),
        ({"content": [None, {"type": "text", "text": "new"}], "text": None}, ["new"], "content"),
        ({"content": [{"type": "text", "text": ""}], "text": "old field"}, ["old field"], "text"),
        ({"content": [], "text": ""}, [""], None),
    ],
)
def test_typed_text_comes_before_the_old_field_and_the_choice_is_told(tmp_path, fields, texts, source):
    found = read(tmp_path, chat(said(**fields)))
    assert found.texts == texts
    assert json.loads(found.blocks[0].extra or "{}").get("text_from") == source


def test_old_text_that_says_something_else_is_kept(tmp_path):
    found = read(tmp_path, chat(said(content=[{"type": "text", "text": "new"}], text="quite different")))
    assert json.loads(found.blocks[0].extra)["text"] == "quite different"


def test_an_attachment_is_a_source_that_nobody_vouches_for(tmp_path):
    attachment = {"file_name": "a.txt", "extracted_content": "From a stranger."}
    found = read(tmp_path, chat(said(attachments=[attachment, {"file_name": "b.bin"}, None])))
    assert [(b.kind, b.trust, b.is_owner, b.text) for b in found.blocks] == [
        ("text", "trusted_user", True, "hello"),
        ("attachment", "untrusted_web", False, "From a stranger."),
    ]
    assert json.loads(found.blocks[0].extra)["attachments"] == [{"file_name": "b.bin"}]


def test_a_search_result_in_a_reply_is_a_page(tmp_path):
    content = [
        {"type": "tool_use", "id": "t", "name": "web_search", "input": {"query": "q"}},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "page"}]},
        {"type": "tool_result", "tool_use_id": "?", "name": "repl", "content": "7"},
    ]
    found = read(tmp_path, chat(said(sender="assistant", content=content, text="")))
    assert [(b.kind, b.trust) for b in found.blocks] == [
        ("tool_use", "agent"),
        ("tool_result", "untrusted_web"),
        ("tool_result", "tool"),
    ]


def test_the_thread_follows_parents_when_there_are_any(tmp_path):
    messages = [
        said("a", parent_message_uuid="0-root"),
        said("b", parent_message_uuid="a"),
        said("b2", parent_message_uuid="a"),
        said("c", parent_message_uuid="b"),
    ]
    found = read(tmp_path, chat(*messages, current_leaf_message_uuid="c"))
    assert [(b.record_key, b.turn, b.flags) for b in found.blocks] == [
        ("c/a", 0, 0),
        ("c/b", 1, 0),
        ("c/b2", 1, SourceFlag.OFF_THREAD),
        ("c/c", 2, 0),
    ]


def test_the_thread_follows_the_list_when_there_are_no_parents(tmp_path):
    found = read(tmp_path, chat(said("a"), said("b"), said("c")))
    assert [(b.turn, b.flags, b.reply_to) for b in found.blocks] == [
        (0, 0, None),
        (1, 0, "c/a"),
        (2, 0, "c/b"),
    ]


def test_a_message_that_stands_twice_has_one_key(tmp_path):
    found = read(tmp_path, chat(said("a"), said("b"), said("a", text="again")))
    assert [b.record_key for b in found.blocks] == ["c/a", "c/b", "c/a"]
    assert len({b.locator for b in found.blocks}) == 3


def test_missing_ids_are_replaced_by_digests_and_said(tmp_path):
    nameless = chat(said(None), said("b"), uuid=None)
    first, again = read(tmp_path, nameless), read(tmp_path, nameless)
    assert first.keys == again.keys
    assert sorted(first.codes) == ["missing_id", "missing_id"]
    assert all(b.flags & SourceFlag.NO_STABLE_ID for b in first.blocks)


@pytest.mark.parametrize("name", [None, "", 5])
def test_a_missing_name_is_no_title(tmp_path, name):
    assert read(tmp_path, chat(said(), name=name)).blocks[0].conversation_title is None


def test_wrong_types_cost_only_themselves(tmp_path):
    found = read(tmp_path, chat(chat_messages="none"), chat(5, said(), None), chat(said(text=7, content=8)))
    assert [(record, code) for record, code in found.lost] == [
        (1, "wrong_type"),
        (2, "wrong_type"),
        (2, "wrong_type"),
    ]
    assert found.texts == ["hello", ""]
    assert json.loads(found.blocks[1].extra) == {"content": 8, "text": 7}


def test_an_edit_is_marked_by_its_later_time(tmp_path):
    found = read(
        tmp_path, chat(said(updated_at="2026-05-01T10:00:00Z"), said("b", updated_at="2026-05-01T09:00:00Z"))
    )
    assert [b.flags for b in found.blocks] == [SourceFlag.EDITED, 0]


def test_the_export_may_come_as_lines(tmp_path):
    found = delivered(lines(tmp_path / "conversations.json", [chat(said()), chat(said("z"), uuid="d")]))
    assert [b.record_key for b in found.blocks] == ["c/m1", "d/z"]


@pytest.mark.parametrize("sender", [None, "robot", 5])
def test_an_unknown_sender_is_no_trusted_user(tmp_path, sender):
    found = read(tmp_path, chat(said(sender=sender)))
    assert (found.blocks[0].trust, found.codes) == ("tool", ["unknown_role"])
