import json

from households import line, write_lines

FIELDS = [
    "id",
    "outcome",
    "action",
    "reasons",
    "memory_class",
    "type",
    "subject",
    "property",
    "value",
    "polarity",
    "modality",
    "span",
    "excerpt",
    "valid_from",
    "valid_until",
    "confidence",
    "targets",
    "extractor",
    "policy",
    "statement",
]


def lines_of(told):
    return [json.loads(text) for text in told.out.splitlines()]


def test_each_line_has_the_contracted_fields_in_order_and_no_store_is_made(amos, folder):
    path = write_lines(folder / "n.jsonl", line("p1", "My locker number is 12.", 1), line("p2", "Is it?", 2))
    told = amos("propose", path, "--from", "messages")
    assert told.code == 0
    claim, none = lines_of(told)
    assert list(claim) == FIELDS
    assert (claim["id"], claim["outcome"], claim["action"]) == ("p1", "commit", "add")
    assert claim["excerpt"].encode() == b"My locker number is 12."[slice(*claim["span"])]
    assert (claim["extractor"], claim["policy"]) == ("rules@2", "default@1")
    assert none["outcome"] == "ignore"
    assert none["span"] is none["statement"] is none["value"] is None
    assert none["reasons"]
    assert not (folder / "amos-store").exists()


def test_a_line_without_an_id_is_called_by_its_number(amos, folder):
    path = write_lines(
        folder / "n.jsonl", {"text": "My locker number is 12."}, {"text": "My bin number is 3."}
    )
    assert [one["id"] for one in lines_of(amos("propose", path, "--from", "messages"))] == ["1", "2"]


def test_lines_do_not_see_one_another(amos, folder):
    path = write_lines(
        folder / "n.jsonl", line("p1", "My locker number is 12.", 1), line("p2", "My locker number is 14.", 2)
    )
    assert [one["action"] for one in lines_of(amos("propose", path, "--from", "messages"))] == ["add", "add"]


def test_context_is_known_but_not_listed(amos, folder):
    told_before = {"context": ["My locker number is 12."]}
    path = write_lines(folder / "n.jsonl", line("p1", "My locker number is 14.", 1, **told_before))
    (only,) = lines_of(amos("propose", path, "--from", "messages"))
    assert (only["outcome"], only["action"]) == ("commit", "supersede")
    assert only["targets"] == ["User's locker number is 12."]


def test_a_bad_line_is_named_on_standard_error_and_gives_exit_3(amos, folder):
    path = write_lines(folder / "n.jsonl", line("p1", "My locker number is 12.", 1), "{torn")
    told = amos("propose", path, "--from", "messages")
    assert told.code == 3
    assert [one["id"] for one in lines_of(told)] == ["p1"]
    assert "n.jsonl:2" in told.err


def test_another_format_is_detected(amos):
    from amos.bundled import samples_folder

    found = lines_of(amos("propose", samples_folder() / "chatgpt"))
    assert len(found) > 50
    assert {one["outcome"] for one in found} >= {"ignore", "commit"}


def test_a_missing_file_is_exit_2(amos):
    told = amos("propose", "gone.jsonl")
    assert told.code == 2
    assert "gone.jsonl" in told.err


def test_notes_are_told_only_when_asked_for(amos, folder):
    (folder / "in").mkdir()
    write_lines(folder / "in" / "notes.jsonl", line("n1", "My kettle colour is blue.", 1))
    (folder / "in" / "chat.html").write_text("<html></html>")
    other = {"uuid": "c", "name": "", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hello."}]}
    (folder / "in" / "conversations.json").write_text(json.dumps([other]))
    told = amos("propose", "in")
    assert (told.code, told.err) == (0, "")
    assert "skipped_files" in amos("-v", "propose", "in").err


def test_an_earlier_extractor_is_named_in_its_lines_and_an_unknown_one_is_refused(amos, folder):
    path = write_lines(folder / "n.jsonl", line("p1", "My locker number is 12.", 1))
    (claim,) = lines_of(amos("propose", path, "--from", "messages", "--extractor", "rules@1"))
    assert claim["extractor"] == "rules@1"
    told = amos("propose", path, "--from", "messages", "--extractor", "guesses@9")
    assert told.code == 2
    assert "rules@1, rules@2" in told.err
