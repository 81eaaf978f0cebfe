"""The knowledge graph of the MCP memory server: bad lines reported, the rest loaded."""

import pytest

from delivered import delivered, lines


def entity(name="Inn", *observations, **fields):
    return {
        "type": "entity",
        "name": name,
        "entityType": "place",
        "observations": list(observations),
    } | fields


def read(tmp_path, *rows):
    return delivered(lines(tmp_path / "memory.jsonl", rows), format="mcp-memory")


def test_observations_are_blocks_of_their_entity(tmp_path):
    found = read(tmp_path, entity("Inn", "Sleeps six", "Has a stove", "Sleeps six"))
    assert [(b.text, b.conversation_key, b.trust, b.is_owner) for b in found.blocks] == [
        ("Sleeps six", "Inn", "agent", False),
        ("Has a stove", "Inn", "agent", False),
    ]


def test_an_observation_keeps_its_key_when_others_come_and_go(tmp_path):
    first = read(tmp_path, entity("Inn", "Sleeps six", "Has a stove")).keys
    later = read(tmp_path, entity("Inn", "Closed in May", "Has a stove")).keys
    assert first[1] == later[1]
    assert first[0] not in later


def test_a_relation_is_the_sentence_of_its_words(tmp_path):
    rows = [
        {"type": "relation", "from": "Inn", "to": "Pass", "relationType": "lies on"},
        {"type": "relation", "from_id": "Inn", "to_id": "Pass", "relation_type": "lies on"},
    ]
    found = read(tmp_path, *rows)
    assert found.texts == ["Inn lies on Pass"] * 2
    assert len(set(found.keys)) == 1


def test_two_objects_on_one_line_are_reported_and_the_rest_loads(tmp_path):
    found = read(
        tmp_path, entity("Inn", "a"), '{"type":"relation"}{"type":"entity"}', entity("Pier", None, "b"), ""
    )
    assert found.texts == ["a", "b"]
    assert [(p.record, p.code) for p in found.problems] == [(2, "invalid_json")]


@pytest.mark.parametrize("name", ["entityName", "id"])
def test_other_names_of_the_entity_are_understood(tmp_path, name):
    row = {"type": "entity", name: "Pier", "observations": ["x"]}
    assert read(tmp_path, row).blocks[0].conversation_key == "Pier"


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({"type": "entity", "observations": ["x"]}, "missing_id"),
        ({"type": "relation", "from": "a", "to": "b"}, "missing_id"),
        ({"type": "memo"}, "unknown_content"),
        ({}, "unknown_content"),
    ],
)
def test_a_line_that_says_too_little_is_lost(tmp_path, row, code):
    assert read(tmp_path, entity("Inn", "a"), row).lost == [(2, code)]


@pytest.mark.parametrize("observations", [[], None, "x", [7]])
def test_an_entity_gives_at_least_one_block(tmp_path, observations):
    found = read(tmp_path, entity(observations=observations))
    assert found.texts == (["x"] if observations == "x" else [""])
