"""Who is believed about what an operation owns: the tool that the policy registers, and it alone."""

import json

import pytest

from amos.admission.policy import default_policy_text
from amos.errors import InputError, SchemaError
from amos.flow.review_cases import QueueFilter
from households import call
from remembered import remembered, told
from strategies import write_lines

ONCALL = "The billing service's owner is {}."


@pytest.fixture
def policy(tmp_path):
    text = default_policy_text().replace(
        "[authority.registered]", '[authority.registered]\npager = ["owner"]', 1
    )
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    return tmp_path / "policy.toml"


def said_by(author, name, day=1, **fields):
    return told(f"m{day}", ONCALL.format(name), day, turn=day, author=author, **fields)


def pager(name, day=1):
    return said_by("pager", name, day, role="tool")


def hear(memory, policy, *lines):
    path = write_lines(memory.folder / f"part-{lines[0]['id']}.jsonl", lines)
    memory.read(path, format="messages", policy=policy)


def test_a_persons_word_on_what_an_operation_owns_waits(policy):
    with remembered() as memory:
        hear(memory, policy, said_by("Dana", "Omar"))
        assert memory.decided() == [("m1", "quarantine", "operational_authority_required")]


def test_the_registered_tool_is_believed(policy):
    with remembered() as memory:
        hear(memory, policy, pager("Omar"))
        assert memory.decided() == [("m1", "commit", "new_fact_for_slot")]


@pytest.mark.parametrize("line", [said_by("chat", "Omar", role="tool"), said_by("pager", "Omar")])
def test_neither_another_tool_nor_a_person_of_its_name_is(policy, line):
    with remembered() as memory:
        hear(memory, policy, line)
        assert [outcome for _, outcome, _ in memory.decided()] == ["quarantine"]


def test_a_tool_is_believed_about_its_own_properties_alone(policy):
    with remembered() as memory:
        hear(memory, policy, told("m1", "The billing service's quota is 40.", author="pager", role="tool"))
        assert [outcome for _, outcome, _ in memory.decided()] == ["quarantine"]


def test_a_later_word_of_the_tool_replaces_its_earlier_one(policy):
    with remembered() as memory:
        hear(memory, policy, pager("Omar", 1), pager("Lia", 2))
        assert [row["value"] for row in memory.listed(state="active")] == ["Lia"]


def test_an_approved_word_of_a_person_does_not_replace_the_authority(policy):
    with remembered() as memory:
        hear(memory, policy, pager("Omar", 1), said_by("Dana", "Kim", 2))
        memory.store.decide("approve", wanted=QueueFilter(kinds=("claim",)))
        assert len(memory.rows("disputes")) == 1
        hear(memory, policy, pager("Lia", 3))
        assert [row["value"] for row in memory.listed(state="active")] == ["Lia"]


def test_the_default_policy_registers_nobody():
    with remembered(pager("Omar")) as memory:
        assert memory.decided() == [("m1", "quarantine", "untrusted_source_requires_review")]


def test_the_command_line_takes_a_policy(tmp_path, policy):
    talk = write_lines(tmp_path / "talk.jsonl", [pager("Omar")])
    own = ("ingest", talk, "--from", "messages", "--policy", policy)
    assert call("-q", "-s", tmp_path / "mem", *own).code == 0
    assert "owner is Omar" in call("-s", tmp_path / "mem", "list").out
    told_of = call("propose", talk, "--from", "messages", "--policy", policy).out.splitlines()
    assert [json.loads(line)["outcome"] for line in told_of] == ["commit"]


def test_a_policy_that_cannot_be_read_says_what_is_wrong(tmp_path):
    with remembered() as memory:
        line = write_lines(memory.folder / "one.jsonl", [pager("Omar")])
        with pytest.raises(InputError, match="cannot be read"):
            memory.read(line, format="messages", policy=tmp_path / "none.toml")
        (tmp_path / "odd.toml").write_text("name = 3\n", encoding="utf-8")
        with pytest.raises(SchemaError):
            memory.read(line, format="messages", policy=tmp_path / "odd.toml")


def test_what_the_policy_does_not_name_is_nobodys_to_own(tmp_path):
    text = default_policy_text().replace('"owner", ', "", 1)
    (tmp_path / "free.toml").write_text(text, encoding="utf-8")
    with remembered() as memory:
        hear(memory, tmp_path / "free.toml", said_by("Dana", "Omar"))
        assert [outcome for _, outcome, _ in memory.decided()] == ["commit"]
