"""Slack exports: people speak for themselves, apps for nobody, edits are told by their own time."""

import json
import zipfile

import pytest

from amos.schemas.vocabulary import SourceFlag
from delivered import delivered
from laws import digest_of, scratch

TS = "1772438500.000200"
USERS = [{"id": "U1", "name": "ana", "profile": {"real_name": "Ana Roos"}}]
CHANNELS = [{"id": "C1", "name": "harbour", "members": ["U1"]}]


def message(text="My locker is B12.", ts=TS, **fields):
    return {"type": "message", "user": "U1", "text": text, "ts": ts, **fields}


def export(path, *messages, lists=True, folder="harbour/"):
    """Write a zipped export with one day of one channel."""
    with zipfile.ZipFile(path, "w") as packed:
        if lists:
            packed.writestr("users.json", json.dumps(USERS))
            packed.writestr("channels.json", json.dumps(CHANNELS))
            packed.writestr("groups.json", "[]")
        packed.writestr(f"{folder}2026-03-02.json", json.dumps(messages))
    return path


@pytest.mark.parametrize("given", [None, "slack"])
def test_names_come_from_the_lists_of_the_export(tmp_path, given):
    found = delivered(export(tmp_path / "e.zip", message()), format=given)
    (block,) = found.blocks
    assert (block.author, block.channel, block.record_key) == ("Ana Roos", "harbour", f"C1/{TS}")
    assert (block.trust, block.is_owner, block.event_us) == ("trusted_user", False, 1_772_438_500_000_200)
    assert found.lost == []


def test_a_day_without_its_lists_is_read_by_folder_and_number(tmp_path):
    (block,) = delivered(export(tmp_path / "e.zip", message(), lists=False)).blocks
    assert (block.author, block.record_key) == ("U1", f"harbour/{TS}")


def test_a_day_without_its_channel_says_so(tmp_path):
    path = tmp_path / "2026-03-02.json"
    path.write_text(json.dumps([message()]))
    (block,) = delivered(path).blocks
    assert block.flags & SourceFlag.NO_STABLE_ID


@pytest.mark.parametrize(
    "fields", [{"subtype": "bot_message", "bot_id": "B1"}, {"bot_id": "B1"}, {"user": "USLACKBOT"}]
)
def test_an_app_has_the_standing_of_a_tool(tmp_path, fields):
    (block,) = delivered(export(tmp_path / "e.zip", message(**fields))).blocks
    assert (block.role, block.trust) == ("tool", "tool")


@pytest.mark.parametrize("subtype", ["channel_join", "channel_leave", "channel_topic", "tombstone"])
def test_what_happens_in_a_channel_is_no_speech(tmp_path, subtype):
    (block,) = delivered(export(tmp_path / "e.zip", message(subtype=subtype))).blocks
    assert (block.role, block.text) == ("record", "")
    assert json.loads(block.extra)["text"] == "My locker is B12."


def test_a_shared_message_is_somebody_elses(tmp_path):
    shared = {"is_share": True, "text": "I like tea.", "author_name": "Cy"}
    block = delivered(export(tmp_path / "e.zip", message(attachments=[shared]))).blocks[1]
    assert (block.trust, block.author, block.kind) == ("untrusted_web", "Cy", "attachment")
    assert block.flags & SourceFlag.FORWARDED


def test_a_reply_names_the_message_that_it_answers(tmp_path):
    reply = message("No.", ts="1772438600.000100", thread_ts=TS)
    blocks = delivered(export(tmp_path / "e.zip", message(thread_ts=TS), reply)).blocks
    assert [(block.reply_to, block.session) for block in blocks] == [(None, TS), (f"C1/{TS}", TS)]


def test_an_edit_revises_and_is_read_once():
    with scratch() as (folder, store):
        store.ingest([export(folder / "a.zip", message())])
        edited = export(
            folder / "b.zip", message("My locker is C40.", edited={"user": "U1", "ts": "1772440000.0"})
        )
        assert store.ingest([edited])["sources"]["new"] == 1
        assert store.ingest([edited])["sources"] == {"new": 0, "linked": 1, "rejected": 0, "unreadable": 0}
        assert store.ingest([folder / "a.zip"])["sources"]["linked"] == 1


def test_an_edit_in_one_run_with_what_it_edits_is_the_same_as_in_two():
    digests = []
    for together in (True, False):
        with scratch() as (folder, store):
            old = export(folder / "a.zip", message())
            new = export(folder / "b.zip", message("My locker is C40.", edited={"ts": "1772440000.0"}))
            for paths in [[old, new]] if together else [[old], [new]]:
                store.ingest(paths)
            digests.append(digest_of(store))
    assert digests[0] == digests[1]


def test_another_text_that_no_edit_explains_is_refused():
    with scratch() as (folder, store):
        store.ingest([export(folder / "a.zip", message())])
        receipt = store.ingest([export(folder / "b.zip", message("My locker is C40."))])
        assert receipt["reasons"] == {"delivery_conflict": 1}


def test_escaped_signs_are_read_as_they_were_typed_and_mentions_stay(tmp_path):
    text = "5 &lt; 6 &amp; &amp;lt; <@U1> <https://a.example|here>"
    (block,) = delivered(export(tmp_path / "e.zip", message(text))).blocks
    assert block.text == "5 < 6 & &lt; <@U1> <https://a.example|here>"
