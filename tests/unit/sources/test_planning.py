"""Deciding what to read: unknown formats are loud, companions quiet, shards one export."""

import json
from importlib.metadata import EntryPoint

import pytest

from amos.errors import InputError, UsageError
from amos.sources import registry
from amos.sources.reading import detect, plan_inputs
from delivered import delivered, document, lines


def chat(number):
    message = {
        "id": f"m{number}",
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["hello"]},
    }
    return {
        "id": f"c{number}",
        "mapping": {f"m{number}": {"id": f"m{number}", "parent": None, "message": message}},
    }


@pytest.mark.parametrize(
    ("name", "content", "seen"),
    [
        ("x.json", b'{"planets":[1],"moons":2}', "'planets', 'moons'"),
        ("x.json", b'[{"a":1},{"b":2}]', "'a', 'b'"),
        ("x.txt", b"Dear diary,\n", "Dear diary"),
        ("x.bin", b"\x00\x01\x02\x03", "00 01 02 03"),
        ("x.csv", b"id,body\n1,hello\n", "--map"),
        ("x.parquet", b"PAR1....", "--map"),
    ],
)
def test_an_unknown_format_says_what_was_seen_and_what_to_do(tmp_path, name, content, seen):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        delivered(path)
    assert seen in str(caught.value)
    assert (caught.value.exit_code, caught.value.code) == (3, "unknown_format")
    assert all(
        word in caught.value.advice for word in ("--from", "claude-code", "chatgpt", "messages", "--map")
    )


LINE = '{"text": "I row."}\n'


@pytest.mark.parametrize(
    ("name", "content", "seen", "advice"),
    [
        ("x.jsonl", LINE.encode("utf-16"), "it holds UTF-16 text", "iconv -f UTF-16 -t UTF-8"),
        ("x.jsonl", LINE.encode("utf-16-le"), "it holds UTF-16LE text", "iconv -f UTF-16LE -t UTF-8"),
        ("x.jsonl", LINE.encode("utf-16-be"), "it holds UTF-16BE text", "iconv -f UTF-16BE -t UTF-8"),
        ("x.jsonl", LINE.encode("utf-32"), "it holds UTF-32 text", "iconv -f UTF-32 -t UTF-8"),
        ("x.gz", b"\x1f\x8b\x08\x00", "a gzip-packed file", "gunzip -k"),
        ("x.db", b"SQLite format 3\x00", "an SQLite database", "as text or JSON"),
        ("x.pdf", b"%PDF-1.7", "a PDF", "as text or JSON"),
    ],
)
def test_a_file_that_is_no_text_of_ours_says_what_makes_it_readable(tmp_path, name, content, seen, advice):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        delivered(path)
    assert (caught.value.code, seen in str(caught.value)) == ("unknown_format", True)
    assert advice in caught.value.advice
    assert "--from" not in caught.value.advice


@pytest.mark.parametrize("given", ["messages", "openai", "memory-folder"])
def test_wide_text_is_told_whatever_format_is_named(tmp_path, given):
    path = tmp_path / "x.md"
    path.write_bytes(LINE.encode("utf-16-le"))
    with pytest.raises(InputError, match="UTF-16LE text") as caught:
        delivered(path, format=given)
    assert caught.value.advice == f"Save it as UTF-8: `iconv -f UTF-16LE -t UTF-8 {path} > NEW`."


@pytest.mark.parametrize("given", [None, "messages"])
def test_a_file_of_white_space_is_told_as_one_that_says_nothing(tmp_path, given):
    path = tmp_path / "blank.jsonl"
    path.write_bytes(b"  \n\n \n")
    with pytest.raises(InputError, match="holds nothing but white space: 0 records") as caught:
        delivered(path, format=given)
    assert (caught.value.code, caught.value.advice) == (
        "empty_file",
        "Export it again, or give another file.",
    )
    lines(tmp_path / "notes.jsonl", [{"text": "x"}])
    found = delivered(tmp_path, format=given)
    assert [(one.code, one.is_lost) for one in found.problems] == [("empty_file", False)]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[]", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("given", [None, "openai", "chatgpt"])
def test_a_file_without_a_record_is_an_input_error(tmp_path, content, given):
    path = tmp_path / "empty.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        delivered(path, format=given)
    assert caught.value.exit_code == 3


def test_an_empty_file_beside_others_is_noted(tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    lines(tmp_path / "notes.jsonl", [{"text": "x"}])
    found = delivered(tmp_path)
    assert [(p.code, p.is_lost) for p in found.problems] == [("empty_file", False)]


def test_an_empty_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError):
        delivered(tmp_path)


def test_an_unknown_data_file_beside_a_known_one_is_lost_loudly(tmp_path):
    lines(tmp_path / "notes.jsonl", [{"text": "x"}])
    document(tmp_path / "odd.json", {"planets": []})
    found = delivered(tmp_path)
    assert found.texts == ["x"]
    assert [(p.file, p.code, p.is_lost) for p in found.problems] == [
        (str(tmp_path / "odd.json"), "unknown_format", True)
    ]


def test_what_comes_along_with_an_export_is_no_fault(tmp_path):
    document(tmp_path / "conversations.json", [chat(1)])
    for name in ("user.json", "message_feedback.json", "shared_conversations.json"):
        document(tmp_path / name, [{"id": "x"}])
    (tmp_path / "chat.html").write_text("<html>")
    found = delivered(tmp_path)
    assert found.record_count == 1
    assert found.codes == ["skipped_files"]


def test_shards_are_one_export_in_their_order(tmp_path):
    for number in (0, 2, 10):
        document(tmp_path / f"conversations-{number:03}.json", [chat(number)])
    planned = plan_inputs([tmp_path])
    assert [[part.name for part in one.parts] for one in planned] == [
        ["conversations-000.json", "conversations-002.json", "conversations-010.json"]
    ]
    assert [block.conversation_key for block in delivered(tmp_path).blocks] == ["c0", "c2", "c10"]


def test_a_named_format_is_not_second_guessed(tmp_path):
    path = lines(tmp_path / "notes.jsonl", [{"id": "1", "text": "x"}])
    found = delivered(path, format="claude-code")
    assert [(block.role, block.text) for block in found.blocks] == [("record", "")]


def test_an_unknown_format_name_lists_the_known_ones(tmp_path):
    path = lines(tmp_path / "notes.jsonl", [{"text": "x"}])
    with pytest.raises(UsageError) as caught:
        delivered(path, format="carrier-pigeon")
    assert "longmemeval" in caught.value.advice


@pytest.mark.parametrize("options", [{"zone": "Mars/Base"}, {"trust": "blind"}])
def test_unknown_options_are_usage_errors(tmp_path, options):
    path = lines(tmp_path / "notes.jsonl", [{"text": "x"}])
    with pytest.raises(UsageError):
        delivered(path, **options)


def test_a_reader_of_another_package_joins_in(monkeypatch):
    entry = EntryPoint("pigeon", "amos.sources.messages:MessagesReader", registry.ENTRY_POINTS)
    taken = EntryPoint("messages", "amos.sources.locomo:LocomoReader", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda **_: [entry, taken])
    registry.readers.cache_clear()
    try:
        assert registry.reader_class("pigeon").name == "messages"
        assert registry.reader_class("messages").name == "messages"
    finally:
        registry.readers.cache_clear()


def test_all_formats_are_detected_by_their_content_alone(tmp_path):
    samples = {
        "claude-code": json.dumps(
            {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "x"}}
        ),
        "chatgpt": json.dumps([chat(1)]),
        "claude-ai": json.dumps([{"uuid": "c", "name": "", "chat_messages": []}]),
        "openai": json.dumps({"messages": [{"role": "user", "content": "x"}]}),
        "messages": json.dumps({"text": "x"}),
        "locomo": json.dumps([{"conversation": {"speaker_a": "A", "session_1": [{"dia_id": "D1:1"}]}}]),
        "dialogue-set": json.dumps({"doc_id": "d", "conv_id": "c", "turn": 0, "speaker": "A", "text": "x"}),
        "longmemeval": json.dumps([{"question_id": "q", "haystack_sessions": [], "haystack_dates": []}]),
        "mcp-memory": json.dumps({"type": "entity", "name": "x", "observations": []}),
    }
    for name, content in samples.items():
        (tmp_path / f"{name}.dat").write_text(content)
    assert {one.name.split("/")[1].removesuffix(".dat"): one.format for one in plan_inputs([tmp_path])} == {
        name: name for name in samples
    }


CHAT = json.dumps([{"uuid": "c", "name": "", "chat_messages": [{"uuid": "m", "text": "hello"}]}])
ROW = json.dumps({"id": "1", "text": "My boat is called Erna."})
SESSION = json.dumps(
    {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "x"}}
)
TALK = json.dumps([{"conversation": {"speaker_a": "A", "session_1": [{"dia_id": "D1:1"}]}}])
QUOTED = [CHAT, json.dumps([chat(1)]), ROW, SESSION, TALK, json.dumps({"messages": [{"role": "user"}]})]
AROUND = {
    "make.py": "import json\n\nSAMPLES = [\n{}\n]\nprint(json.dumps(SAMPLES))\n",
    "doc.py": '"""What a file looks like.\n{}\n"""\nimport json\n\nROWS = []\n',
    "README.md": "# Formats\n\nA file looks like this:\n\n```json\n{}\n```\n",
    "linked.md": "[the format](format.md) looks like this:\n\n{}\n",
    "chat.html": "<html><script>var shown = {};</script></html>\n",
    "server.log": "[2026-05-01 10:00:00] INFO request {}\n[2026-05-01 10:00:01] INFO done\n",
    "more.log": "2026-05-01T10:00:00Z started\n{}\n2026-05-01T10:00:09Z stopped\nbye\n",
    "page.js": "export const shown = {};\n",
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("quoted", QUOTED, ids=range(len(QUOTED)))
def test_a_file_that_merely_quotes_a_format_is_not_in_it(tmp_path, around, quoted):
    path = tmp_path / around
    path.write_text(AROUND[around].replace("{}", quoted))
    assert [one.format for one in detect([path])] == [None]


@pytest.mark.parametrize("first", ['{"id": "0", "te', 'at", "text": "torn"}', "[]", "null", "17"])
def test_a_torn_line_does_not_hide_the_format(tmp_path, first):
    path = lines(tmp_path / "notes.jsonl", [first, ROW, '{"id": "2", "te', ROW])
    assert [one.format for one in detect([path])] == ["messages"]


def test_a_torn_line_does_not_hide_an_export_in_lines(tmp_path):
    path = lines(tmp_path / "chats.jsonl", ['{"uuid": "b", "na', CHAT[1:-1]])
    assert [one.format for one in detect([path])] == ["claude-ai"]


@pytest.mark.parametrize(
    "content", [CHAT, json.dumps([chat(1)]), TALK, json.dumps(json.loads(TALK), indent=1)]
)
@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n "])
def test_the_first_record_may_be_longer_than_what_is_looked_at(tmp_path, content, before):
    path = tmp_path / "export.json"
    path.write_text(before + content.rstrip()[:-1] + ', {"more": "' + "x" * 70_000 + '"}]')
    assert detect([path])[0].format in {"claude-ai", "chatgpt", "locomo"}


def test_a_list_of_objects_is_called_one(tmp_path):
    path = document(tmp_path / "notes.json", [{"id": "1", "text": "x"}])
    (found,) = detect([path])
    assert (found.format, found.saw) == (None, "a JSON array of objects with the keys 'id', 'text'")
