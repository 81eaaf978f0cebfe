"""The plain format of lines: identity, order, standing, scope and what odd values cost."""

import json

import pytest

from amos.schemas.vocabulary import SourceFlag
from amos.sources.reading import read_alone
from delivered import delivered, lines


def read(tmp_path, *rows, **options):
    return delivered(lines(tmp_path / "notes.jsonl", rows), format="messages", **options)


def one(tmp_path, **row):
    found = read(tmp_path, {"text": "x", **row})
    assert len(found.blocks) == 1, found.problems
    return found.blocks[0]


@pytest.mark.parametrize(
    ("row", "role", "trust"),
    [
        ({}, "user", "trusted_user"),
        ({"role": "user"}, "user", "trusted_user"),
        ({"role": "human"}, "user", "trusted_user"),
        ({"role": "assistant"}, "assistant", "agent"),
        ({"role": "Model"}, "assistant", "agent"),
        ({"role": "tool"}, "tool", "tool"),
        ({"role": "system"}, "system", "recall"),
        ({"role": "developer"}, "system", "recall"),
        ({"source": "user"}, "user", "trusted_user"),
        ({"source": "tool"}, "tool", "tool"),
        ({"source": "web"}, "tool", "untrusted_web"),
        ({"role": "tool", "source": "web"}, "tool", "untrusted_web"),
        ({"role": "user", "source": "web"}, "user", "untrusted_web"),
        ({"role": "assistant", "source": "user"}, "assistant", "agent"),
        ({"trust": "agent"}, "assistant", "agent"),
        ({"trust": "untrusted_web"}, "tool", "untrusted_web"),
        ({"trust": "recall"}, "tool", "recall"),
        ({"trust": "trusted_user"}, "user", "trusted_user"),
        ({"role": "user", "trust": "recall"}, "user", "recall"),
        ({"role": "parrot"}, "tool", "tool"),
    ],
)
def test_role_and_trust_follow_the_words_of_the_line(tmp_path, row, role, trust):
    block = one(tmp_path, **row)
    assert (block.role, block.trust) == (role, trust)


def test_an_unknown_role_is_reported(tmp_path):
    assert read(tmp_path, {"text": "x", "role": "parrot"}).codes == ["unknown_role"]


@pytest.mark.parametrize(
    ("row", "author", "is_owner"),
    [
        ({}, "user", True),
        ({"author": "Lea"}, "Lea", False),
        ({"author": "Lea", "scope": {"user": "Lea"}}, "Lea", True),
        ({"author": "Lea", "scope": {"user": "Tom"}}, "Lea", False),
        ({"scope": {"user": "Tom"}}, "user", True),
        ({"role": "assistant"}, "assistant", False),
        ({"role": "assistant", "author": "planner"}, "planner", False),
    ],
)
def test_a_named_author_owns_the_line_where_the_scope_names_them(tmp_path, row, author, is_owner):
    block = one(tmp_path, **row)
    assert (block.author, block.is_owner) == (author, is_owner)


def test_keys_come_from_conversation_and_id(tmp_path):
    found = read(
        tmp_path,
        {"id": "1", "text": "a"},
        {"id": 1, "conversation": "c", "text": "b"},
        {"id": "1", "conversation": "c/d", "text": "c", "reply_to": "0"},
        {"id": "d/1", "conversation": "c", "text": "d"},
    )
    assert [block.record_key for block in found.blocks] == ["1", "c/1", "c%2Fd/1", "c/d%2F1"]
    assert found.blocks[2].reply_to == "c%2Fd/0"


def test_turns_count_per_conversation_and_follow_a_given_turn(tmp_path):
    rows = [("a", None), ("b", None), ("a", None), ("a", 7), ("a", None), ("b", None)]
    found = read(
        tmp_path,
        *({"id": str(i), "conversation": c, "turn": t, "text": "x"} for i, (c, t) in enumerate(rows)),
    )
    assert [block.turn for block in found.blocks] == [0, 0, 1, 7, 8, 1]


def test_lines_without_ids_chain_so_that_a_longer_copy_adds_only_its_end(tmp_path):
    texts = ["one", "two", "two", "three"]
    short = delivered(lines(tmp_path / "short.jsonl", [{"text": text} for text in texts[:3]]))
    long = delivered(lines(tmp_path / "other name.jsonl", [{"text": text} for text in texts]))
    assert long.keys[:3] == short.keys
    assert len(set(long.keys)) == 4
    assert {block.conversation_key for block in long.blocks} == {long.blocks[0].record_key}
    assert all(block.flags & SourceFlag.NO_STABLE_ID for block in long.blocks)


def test_a_fork_without_ids_shares_its_beginning_only(tmp_path):
    left = delivered(lines(tmp_path / "l.jsonl", [{"text": t} for t in ("one", "left", "end")]))
    right = delivered(lines(tmp_path / "r.jsonl", [{"text": t} for t in ("one", "right", "end")]))
    assert [a == b for a, b in zip(left.keys, right.keys, strict=True)] == [True, False, False]


def test_declared_metadata_keeps_chains_apart_and_makes_them_stable(tmp_path):
    found = read(
        tmp_path,
        {"text": "hello", "scope": {"user": "a"}},
        {"text": "hello", "scope": {"user": "b"}},
        {"text": "hello", "conversation": "c"},
    )
    assert len(set(found.keys)) == 3
    assert all(block.flags == 0 for block in found.blocks)


def test_scope_permission_and_purposes_are_the_line_s_own(tmp_path):
    block = one(
        tmp_path,
        scope={
            "project": "p",
            "user": "u",
            "agent": "a",
            "session": "s",
            "task": "t",
            "tool_environment": "e",
        },
        retain=False,
        purposes=["billing"],
    )
    scopes = [
        getattr(block, f"scope_{name}")
        for name in ("project", "user", "agent", "session", "task", "tool_environment")
    ]
    assert scopes == ["p", "u", "a", "s", "t", "e"]
    assert (block.may_retain, block.purposes) == (False, ("billing",))


def test_each_line_carries_its_own_project(tmp_path):
    found = read(
        tmp_path,
        *({"id": p, "session": "s", "text": "x", "scope": {"project": p}} for p in ("alpha", "beta")),
    )
    assert [block.scope_project for block in found.blocks] == ["alpha", "beta"]


@pytest.mark.parametrize("shard", [("acme", "default"), ("acme", "lab")])
def test_a_line_of_another_tenant_is_refused(tmp_path, shard):
    rows = [
        {"text": "here", "scope": {"tenant": "acme"}},
        {"text": "there", "scope": {"tenant": "other"}},
        {"text": "lab", "scope": {"workspace": "lab"}},
        {"text": "anywhere"},
    ]
    found = read(tmp_path, *rows, shard=shard)
    assert found.texts == (["here", "lab", "anywhere"] if shard[1] == "lab" else ["here", "anywhere"])
    assert {code for _, code in found.lost} == {"tenant_boundary"}


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"text": ["x"]}, "wrong_type"),
        ({"text": 5}, "wrong_type"),
        ({"text": "x", "trust": "full"}, "schema_invalid"),
        ({"text": "x", "trust": 1}, "schema_invalid"),
        ({"text": "x", "source": "mail"}, "schema_invalid"),
        ({"text": "x", "role": {}}, "schema_invalid"),
        ({"text": "x", "scope": "me"}, "schema_invalid"),
        ({"text": "x", "scope": {"user": 5}}, "schema_invalid"),
        ({"text": "x", "retain": "no"}, "schema_invalid"),
        ({"text": "x", "purposes": "all"}, "schema_invalid"),
        ({"text": "x", "context": ["y"]}, "schema_invalid"),
        ([1], "wrong_type"),
        (None, "wrong_type"),
        ('{"text":"x"', "invalid_json"),
        ("[" * 20, "invalid_json"),
        ("{" + '"a":{' * 300 + '"b":1' + "}" * 301, "too_deep"),
    ],
)
def test_a_bad_line_is_lost_with_its_number_and_the_rest_is_read(tmp_path, row, code):
    found = read(
        tmp_path, {"text": "before"}, row if isinstance(row, str) else json.dumps(row), {"text": "after"}
    )
    assert found.texts == ["before", "after"]
    assert found.lost == [(2, code)]


@pytest.mark.parametrize(
    ("row", "codes", "flags", "extra"),
    [
        ({"text": None, "id": "i"}, [], 0, None),
        ({"id": "i"}, [], 0, None),
        ({"text": "x", "id": "i", "ts": "soonish"}, ["time_invalid"], SourceFlag.TIME_INVALID, None),
        ({"text": "x", "id": "i", "ts": [1]}, ["time_invalid"], 0, {"ts": [1]}),
        ({"text": "x", "id": "i", "turn": -3}, ["wrong_type"], 0, {"turn": -3}),
        ({"text": "x", "id": "i", "author": {"n": 1}}, ["wrong_type"], 0, {"author": {"n": 1}}),
        ({"text": "x", "id": "i", "mood": {"b": 1, "a": [2]}}, [], 0, {"mood": {"a": [2], "b": 1}}),
        ({"text": "x", "id": "i", "scope": {"planet": "mars"}}, [], 0, {"scope": {"planet": "mars"}}),
        ('{"id":"i","text":"a\\ud800"}', ["surrogate_replaced"], SourceFlag.SURROGATE_REPLACED, None),
        ('{"id":"i","text":"x","n":NaN}', ["not_finite"], 0, {"n": "NaN"}),
        ('{"id":"i","text":"x","text":"y"}', ["duplicate_key"], 0, None),
        ('{"id":"i","ts":1,"text":"x","ts":1767600000}', ["duplicate_key"], 0, None),
        ('{"id":"i", "text" :"x","text":"y"}', ["duplicate_key"], 0, None),
    ],
)
def test_an_odd_line_is_read_and_says_what_is_odd(tmp_path, row, codes, flags, extra):
    found = read(tmp_path, row)
    assert (found.codes, found.blocks[0].flags, len(found.blocks)) == (codes, flags, 1)
    assert found.blocks[0].extra == (
        None if extra is None else json.dumps(extra, separators=(",", ":"), sort_keys=True)
    )


def test_content_is_accepted_where_text_is_absent(tmp_path):
    assert one(tmp_path, text=None, content="spoken").text == "spoken"


def test_the_last_line_may_be_half_written(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"id":"1","text":"whole"}\n{"id":"2","te')
    found = delivered(path)
    assert (found.texts, found.lost) == (["whole"], [(2, "truncated")])


def test_any_text_is_content_byte_for_byte(tmp_path):
    text = (
        '\\_ "quoted" \u2028 \x00 \U0001f469\u200d\U0001f373 cafe\u0301 \u05d0\u0644 {"text":"x"}\r\n\ttail '
    )
    assert one(tmp_path, text=text).text == text


def test_times_keep_instant_text_and_zone(tmp_path):
    block = one(tmp_path, ts="2025-07-24T19:30:00-07:00")
    assert (block.event_us, block.event_text, block.zone) == (
        1_753_410_600_000_000,
        "2025-07-24T19:30:00-07:00",
        "-07:00",
    )
    naive = read(tmp_path, {"text": "x", "ts": "2025-07-24 19:30"}, zone="America/Los_Angeles").blocks[0]
    assert (naive.event_us, naive.zone, naive.is_zone_assumed) == (
        block.event_us,
        "America/Los_Angeles",
        False,
    )


def test_a_long_message_is_one_block(tmp_path):
    text = "The meeting went on. " * 50_000
    assert one(tmp_path, text=text).text == text


def test_alone_each_line_has_its_context_before_it_and_nothing_else(tmp_path):
    rows = [
        {
            "id": "a",
            "text": "now",
            "context": ["first", "second"],
            "ts": "2026-01-01T00:00:00Z",
            "author": "Lea",
        },
        {"text": "no id"},
        "broken",
        {"id": "a", "text": "again"},
    ]
    found = list(read_alone([lines(tmp_path / "in.jsonl", rows)]))
    assert [(m.line, m.id, [(b.turn, b.text) for b in m.blocks]) for m in found] == [
        (1, "a", [(0, "first"), (1, "second"), (2, "now")]),
        (2, "2", [(0, "no id")]),
        (3, "3", []),
        (4, "a", [(0, "again")]),
    ]
    first = found[0].blocks
    assert len({(b.conversation_key, b.author, b.event_us) for b in first}) == 1
    assert len({b.record_key for b in first}) == 3
    assert found[2].problems[0].code == "invalid_json"
