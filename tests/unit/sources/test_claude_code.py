"""Claude Code sessions: a user line is not always the user's word."""

import json

import pytest

from amos.schemas.vocabulary import SourceFlag
from amos.sources.claude_code import is_markup_only
from delivered import delivered, lines

SESSION = "0d4c7f5e-1111-4222-8333-944444444444"


def line(kind="user", content="hello", **fields):
    message = {"role": kind, "content": content} | fields.pop("message", {})
    return {
        "type": kind,
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "cwd": "proj",
        "message": message,
    } | fields


def read(tmp_path, *rows, name="session.jsonl"):
    return delivered(lines(tmp_path / name, rows), format="claude-code")


def standing(block):
    return block.role, block.trust, block.is_owner


@pytest.mark.parametrize(
    ("row", "expected", "flags"),
    [
        (line(), ("user", "trusted_user", True), 0),
        (line("assistant", message={"model": "m"}), ("assistant", "agent", False), 0),
        (line(isSidechain=True), ("assistant", "agent", False), SourceFlag.SIDECHAIN),
        (line(isMeta=True), ("assistant", "agent", False), 0),
        (line(isCompactSummary=True), ("assistant", "agent", False), 0),
        (line(toolUseResult="ok"), ("assistant", "agent", False), 0),
        (
            line(content="<command-name>/clear</command-name>"),
            ("assistant", "agent", False),
            SourceFlag.MARKUP_ONLY,
        ),
        (
            line(content="<local-command-stdout>3</local-command-stdout>"),
            ("tool", "tool", False),
            SourceFlag.MARKUP_ONLY,
        ),
        (
            line(content="[Request interrupted by user for tool use]"),
            ("assistant", "agent", False),
            SourceFlag.MARKUP_ONLY,
        ),
        (
            line(content=[{"type": "tool_result", "tool_use_id": "t", "content": "x"}]),
            ("tool", "tool", False),
            0,
        ),
        (line(content="Use the <b>bold</b> tag."), ("user", "trusted_user", True), 0),
    ],
)
def test_only_what_the_user_typed_is_the_user_s(tmp_path, row, expected, flags):
    found = read(tmp_path, row)
    assert standing(found.blocks[0]) == expected
    assert found.blocks[0].flags == flags


@pytest.mark.parametrize(
    ("tool", "result", "trust"),
    [
        ("Read", None, "tool"),
        ("WebFetch", None, "untrusted_web"),
        ("mcp__browser__open", None, "untrusted_web"),
        ("Read", {"url": "https://x.example", "code": 200}, "untrusted_web"),
    ],
)
def test_what_a_tool_brings_from_the_web_is_nobody_s_word(tmp_path, tool, result, trust):
    call = line("assistant", [{"type": "tool_use", "id": "t1", "name": tool, "input": {}}], uuid="u1")
    answer = line(
        content=[{"type": "tool_result", "tool_use_id": "t1", "content": "text"}],
        uuid="u2",
        toolUseResult=result,
    )
    block = read(tmp_path, call, answer).blocks[-1]
    assert (block.trust, block.reply_to) == (trust, f"{SESSION}/u1")
    assert json.loads(block.extra)["tool_use_id"] == "t1"


def test_thinking_is_kept_apart_from_speech(tmp_path):
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "yes"},
        {"type": "redacted_thinking", "data": "x"},
    ]
    found = read(tmp_path, line("assistant", content))
    assert [(block.kind, block.text, block.block) for block in found.blocks] == [
        ("thinking", "hm", 0),
        ("text", "yes", 1),
        ("thinking", "", 2),
    ]


def test_a_copy_under_another_name_is_the_same_records(tmp_path):
    rows = [{"type": "summary", "summary": "s", "leafUuid": "u1"}, line(), line("assistant", "hi", uuid="u2")]
    here, there = read(tmp_path, *rows), read(tmp_path, *rows, name="moved-copy.jsonl")
    assert here.keys == there.keys
    assert [block.conversation_key for block in here.blocks] == ["no-session", SESSION, SESSION]


def test_a_summary_and_a_snapshot_are_kept_as_records(tmp_path):
    found = read(
        tmp_path, {"type": "summary", "summary": "Old talk", "leafUuid": "x"}, {"type": "newer-kind", "n": 1}
    )
    assert [(block.role, block.text, block.flags) for block in found.blocks] == [
        ("record", "", SourceFlag.NOT_A_MESSAGE)
    ] * 2
    assert json.loads(found.blocks[0].extra)["summary"] == "Old talk"


@pytest.mark.parametrize("session", [None, "", 7, ["x"]])
def test_a_message_without_a_session_is_refused_and_the_rest_is_read(tmp_path, session):
    found = read(tmp_path, line(), line(sessionId=session, uuid="u2"), line(uuid="u3"))
    assert [block.record_key for block in found.blocks] == [f"{SESSION}/u1", f"{SESSION}/u3"]
    assert found.lost == [(2, "missing_id")]


def test_a_message_without_a_uuid_is_keyed_by_its_digest(tmp_path):
    first, again = (read(tmp_path, line(uuid=None), name=name) for name in ("a.jsonl", "b.jsonl"))
    assert first.keys == again.keys
    assert first.blocks[0].flags == SourceFlag.NO_STABLE_ID
    assert first.codes == ["missing_id"]


def test_scope_follows_each_line(tmp_path):
    found = read(tmp_path, line(cwd="/src/alpha"), line(cwd="/src/beta", uuid="u2"))
    assert [(block.scope_project, block.scope_session) for block in found.blocks] == [
        ("/src/alpha", SESSION),
        ("/src/beta", SESSION),
    ]


def test_a_sub_agent_speaks_in_a_conversation_of_its_own(tmp_path):
    found = read(
        tmp_path, line(), line(uuid="u2", isSidechain=True, agentId="a1"), line("assistant", "x", uuid="u3")
    )
    assert [(block.conversation_key, block.turn) for block in found.blocks] == [
        (SESSION, 0),
        (f"{SESSION}/a1", 0),
        (SESSION, 1),
    ]


def test_attachments_and_documents_are_sources_of_their_own(tmp_path):
    document = {"type": "document", "source": {"type": "text", "data": "Pasted minutes."}, "title": "minutes"}
    attached = {
        "type": "attachment",
        "uuid": "u2",
        "sessionId": SESSION,
        "attachment": {"type": "file", "content": "A file."},
    }
    found = read(tmp_path, line(content=[{"type": "text", "text": "See this."}, document]), attached)
    assert [(block.kind, block.trust, block.text) for block in found.blocks] == [
        ("text", "trusted_user", "See this."),
        ("attachment", "untrusted_web", "Pasted minutes."),
        ("attachment", "untrusted_web", "A file."),
    ]


@pytest.mark.parametrize(
    ("message", "codes"),
    [(None, ["wrong_type"]), ("plain", ["wrong_type"]), ({"role": "user"}, []), ({"content": []}, [])],
)
def test_an_odd_message_still_gives_one_block(tmp_path, message, codes):
    found = read(tmp_path, line() | {"message": message})
    assert (len(found.blocks), found.codes) == (1, codes)


@pytest.mark.parametrize(
    "content",
    [
        [None, {"type": "text", "text": "x"}],
        [{"type": "image", "source": {}}],
        [5],
        [{"type": "hologram", "z": 1}],
        {"a": 1},
    ],
)
def test_unknown_content_is_kept_in_extra(tmp_path, content):
    found = read(tmp_path, line(content=content))
    assert len(found.blocks) == 1
    assert found.codes == []


def test_a_half_written_last_line_is_said(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps(line()) + "\n" + json.dumps(line(uuid="u2"))[:40])
    assert delivered(path).lost == [(2, "truncated")]


def test_a_notice_of_the_client_is_no_evidence(tmp_path):
    notice = {
        "type": "system",
        "uuid": "u9",
        "sessionId": SESSION,
        "content": "Compacted.",
        "subtype": "compact_boundary",
    }
    found = read(tmp_path, notice, {**notice, "uuid": "u10", "content": None})
    assert [(block.role, block.trust, block.text) for block in found.blocks] == [
        ("system", "recall", "Compacted."),
        ("record", "recall", ""),
    ]


def test_a_title_line_names_the_conversation(tmp_path):
    found = read(tmp_path, line(), {"type": "custom-title", "customTitle": "Kiln", "sessionId": SESSION})
    assert found.blocks[1].conversation_title == "Kiln"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a>x</a>", True),
        (" <a>x</a>\n<b-c d='e'>y</b-c> ", True),
        ("<a>x</a> and more", False),
        ("before <a>x</a>", False),
        ("<a>never closed", False),
        ("<a><a>x</a></a>", False),
        ("", False),
        ("a < b > c", False),
    ],
)
def test_markup_only_means_nothing_but_closed_tags(text, expected):
    assert is_markup_only(text) is expected


def test_markup_is_judged_in_linear_time():
    assert is_markup_only("<a></a>" * 100_000)
    assert not is_markup_only("<a>" * 300_000)
