"""How calls ended depends on what their answers say: not on batches, not on arrival."""

from hypothesis import given, settings
from hypothesis import strategies as st

from laws import digest_of, references
from remembered import remembered, told

ANSWERS = (
    "Exit code 1\nno rule to make target",
    "[exit code: 0]",
    '{"error": "no such table"}',
    '{"status_code": 403}',
    "16 passed",
    "Traceback (most recent call last):\n  x\nKeyError: 'a'",
)


def after(*runs):
    """Return the digest of a sound store that heard some runs of lines."""
    with remembered() as memory:
        for lines in runs:
            memory.hear(*lines)
        assert memory.store.verify().problems == []
        assert references(memory.store) == []
        return digest_of(memory.store)


@st.composite
def talks_with_tools(draw):
    """Return `messages` lines of calls of tools and their answers, some without a time, in two talks."""
    lines = []
    for number in range(draw(st.integers(2, 5))):
        talk = draw(st.sampled_from(["one", "two"]))
        day = draw(st.integers(1, 5))
        line = told(f"a{number}", draw(st.sampled_from(ANSWERS)), day, role="tool", author="make")
        line |= {"conversation": talk, "turn": number, "reply_to": f"c{draw(st.integers(0, 2))}"}
        if draw(st.integers(0, 3)) == 0:
            del line["ts"]
        lines.append(line)
        if draw(st.booleans()):
            boast = told(f"b{number}", "It worked. Exit code 0", day, role="assistant", turn=number)
            lines.append(boast | {"conversation": talk})
    return lines


@settings(max_examples=8, deadline=None)
@given(talks_with_tools(), st.randoms(use_true_random=False))
def test_order_and_size_of_batches_do_not_matter(lines, random):
    shuffled = random.sample(lines, len(lines))
    assert after(*([line] for line in shuffled)) == after(lines)


@settings(max_examples=8, deadline=None)
@given(talks_with_tools())
def test_every_outcome_cites_the_answer_of_a_tool(lines):
    with remembered(*lines) as memory:
        contents = {row["source_id"]: row for row in memory.rows("sources")}
        for row in memory.rows("candidates"):
            assert row["type"] == "action_outcome"
            source = contents[row["source_id"]]
            assert source["role"] == "tool"
            assert source["content"].encode()[slice(*row["spans"])].decode().strip()
