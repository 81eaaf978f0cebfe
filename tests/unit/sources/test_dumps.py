"""Dumps of memory products: what a model wrote down is an agent's note, what people said is theirs."""

import json

import pytest

from amos.schemas.vocabulary import SourceFlag
from delivered import delivered, document, lines

MEMORY = {
    "id": "m1",
    "memory": "Likes rye bread",
    "user_id": "ana",
    "created_at": "2026-02-01T08:00:00-07:00",
}


@pytest.mark.parametrize("wrap", ["results", "memories", None, "lines"])
def test_memories_are_found_however_they_are_wrapped(tmp_path, wrap):
    path = tmp_path / "m.json"
    if wrap == "lines":
        lines(path, [MEMORY])
    else:
        document(path, [MEMORY] if wrap is None else {wrap: [MEMORY]})
    (block,) = delivered(path).blocks
    assert (block.format, block.record_key, block.text) == ("mem0", "m1", "Likes rye bread")
    assert (block.role, block.trust, block.is_owner, block.scope_user) == ("assistant", "agent", False, "ana")
    assert (block.zone, block.event_us) == ("-07:00", 1_769_958_000_000_000)


def test_a_memory_keeps_its_key_when_it_is_scored_or_moved(tmp_path):
    bare = {"memory": "Likes rye bread", "user_id": "ana"}
    first = delivered(document(tmp_path / "a.json", {"results": [bare]})).keys
    later = delivered(
        document(tmp_path / "b.json", {"results": [{"memory": "x", "user_id": "b"}, {**bare, "score": 0.4}]})
    ).keys
    assert first[0] in later


def test_what_amos_exported_comes_back_as_recall(tmp_path):
    (block,) = delivered(document(tmp_path / "m.json", {"results": [{**MEMORY, "id": "atm_7f3k2q"}]})).blocks
    assert block.trust == "recall"


def agent(*messages, **fields):
    return {
        "agents": [
            {
                "name": "helper",
                "agent_type": "memgpt_agent",
                "id": "agent-0",
                "messages": list(messages),
                **fields,
            }
        ]
    }


def said(role, text, **fields):
    return {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "created_at": "2026-01-05T10:00:00+00:00",
        **fields,
    }


@pytest.mark.parametrize("kind", ["heartbeat", "login", "system_alert"])
def test_an_event_in_the_users_name_is_not_the_users(tmp_path, kind):
    event = json.dumps({"type": kind, "message": "I like tea.", "time": "10:00"})
    (block,) = delivered(document(tmp_path / "a.af", agent(said("user", event)))).blocks
    assert (block.role, block.trust, block.is_owner) == ("system", "recall", False)


def test_a_wrapped_message_of_the_user_is_unwrapped(tmp_path):
    wrapped = json.dumps({"type": "user_message", "message": "I like tea.", "time": "10:00"})
    (block,) = delivered(document(tmp_path / "a.af", agent(said("user", wrapped)))).blocks
    assert (block.role, block.trust, block.text) == ("user", "trusted_user", "I like tea.")


def test_numbers_of_a_file_are_no_ids(tmp_path):
    first = delivered(document(tmp_path / "a.af", agent(said("user", "I row.", id="message-0")))).keys
    later = delivered(
        document(
            tmp_path / "b.af",
            agent(said("user", "Hello.", id="message-0"), said("user", "I row.", id="message-1")),
        )
    ).keys
    assert first[0] == later[1]
    own = said("user", "I row.", id="message-1b2c-44")
    assert delivered(document(tmp_path / "c.af", agent(own))).blocks[0].record_key == "helper/message-1b2c-44"


def test_an_agent_speaks_through_its_tool_and_thinks_beside_it(tmp_path):
    call = {"id": "k", "function": {"name": "send_message", "arguments": '{"message": "Hello!"}'}}
    found = delivered(document(tmp_path / "a.af", agent(said("assistant", "They row.", tool_calls=[call]))))
    assert [(block.kind, block.text) for block in found.blocks] == [
        ("thinking", "They row."),
        ("text", "Hello!"),
    ]


def test_blocks_that_agents_share_are_notes_of_each(tmp_path):
    file = agent(said("user", "I row."), block_ids=["block-0"])
    file["blocks"] = [{"id": "block-0", "label": "human", "value": "Rows."}]
    note = delivered(document(tmp_path / "a.af", file)).blocks[1]
    assert (note.text, note.trust, note.conversation_title) == ("Rows.", "agent", "human")


def test_an_agent_without_anything_is_reported(tmp_path):
    file = agent(said("user", "I row."))
    file["agents"].append({"name": "empty", "agent_type": "memgpt_agent"})
    assert delivered(document(tmp_path / "a.af", file)).lost == [(1, "wrong_type")]


EDGE = {"uuid": "f", "source_node_uuid": "a", "target_node_uuid": "b", "fact": "Ana rows", "name": "ROWS"}


@pytest.mark.parametrize(
    "dump",
    [
        {"episodes": [], "entities": [], "facts": [EDGE]},
        {"nodes": [], "edges": [EDGE]},
        {"entity_edges": [EDGE], "group_id": "g"},
    ],
    ids=range(3),
)
def test_facts_are_found_under_every_name(tmp_path, dump):
    (block,) = delivered(document(tmp_path / "g.json", dump)).blocks
    assert (block.format, block.record_key, block.text, block.trust) == ("zep", "fact/f", "Ana rows", "agent")


def test_facts_one_per_line_are_read(tmp_path):
    assert delivered(lines(tmp_path / "g.jsonl", [EDGE, {**EDGE, "uuid": "h"}])).record_count == 2


def test_a_fact_has_the_time_since_when_it_holds_and_keeps_its_end(tmp_path):
    times = {"valid_at": "2026-01-01T00:00:00+01:00", "invalid_at": "2026-02-01T00:00:00Z"}
    edge = {**EDGE, **times, "created_at": "2026-03-01T00:00:00Z"}
    (block,) = delivered(document(tmp_path / "g.json", {"edges": [edge], "nodes": []})).blocks
    assert (block.event_us, block.zone) == (1_767_222_000_000_000, "+01:00")
    assert json.loads(block.extra)["invalid_at"] == "2026-02-01T00:00:00Z"


def test_an_episode_that_names_no_speaker_is_nobodys_word(tmp_path):
    dump = {"episodes": [{"uuid": "e", "content": "Ana: I row."}], "edges": [EDGE]}
    block = delivered(document(tmp_path / "g.json", dump)).blocks[0]
    assert (block.role, block.trust) == ("tool", "tool")


def test_a_changed_summary_stands_beside_the_old_one(tmp_path):
    keys = []
    for number, text in enumerate(["Rows.", "Rows and sails."]):
        dump = {"nodes": [{"uuid": "n", "name": "Ana", "summary": text}], "edges": [EDGE]}
        keys.append(delivered(document(tmp_path / f"{number}.json", dump)).keys[0])
    assert keys[0] != keys[1]


def test_messages_of_a_session_have_the_standing_of_their_speakers(tmp_path):
    told = [("Ana", "user"), ("user", "user"), ("bot", "assistant"), ("x", "norole")]
    messages = [
        {"uuid": str(number), "role": role, "role_type": kind, "content": "I row."}
        for number, (role, kind) in enumerate(told)
    ]
    found = delivered(document(tmp_path / "s.json", {"session_id": "s", "messages": messages}))
    assert [(block.trust, block.is_owner) for block in found.blocks] == [
        ("trusted_user", False),
        ("trusted_user", True),
        ("agent", False),
        ("tool", False),
    ]
    assert not any(block.flags & SourceFlag.NO_STABLE_ID for block in found.blocks)
