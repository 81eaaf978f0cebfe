"""What several named speakers say of themselves stays apart, over every example line of the grammar."""

import functools
import re

from amos.extraction.grammar import load_grammar
from proposed import proposed, proposed_in_turn
from remembered import remembered, told

SPEAKERS = ("Ann", "Bob")
KEPT = ("property", "value", "polarity", "outcome", "action", "reasons")


@functools.cache
def examples():
    """Return the distinct example texts of the grammar, with the claims of an author without a name."""
    texts = list(dict.fromkeys(one.text for pattern in load_grammar().patterns for one in pattern.examples))
    return [(text, claims(lines)) for text, lines in zip(texts, proposed(*texts), strict=True)]


def claims(lines):
    """Return the lines that are claims."""
    return [line for line in lines if line["span"] is not None]


def is_authors(line):
    """Tell whether a claim is about its author, about something of theirs, or what something did to them."""
    is_own = line["subject"] == "user" or line["subject"].startswith("user's ")
    return is_own or line["property"] == "outcome"


def as_told_by(name, line):
    """Return a claim of an author without a name as somebody of that name makes it."""
    kept = {key: line[key] for key in KEPT}
    if line["property"] == "outcome":
        return {**kept, "subject": f"{line['subject']} ({name})"}
    return {
        **kept,
        "subject": name + line["subject"].removeprefix("user"),
        "statement": renamed(line["statement"], name),
        "targets": [re.sub("^User", name, one) for one in line["targets"]],
    }


def renamed(statement, name):
    """Return a statement about the user as one about `name`, its words in one case.

    One that names nobody begins with who says it.
    """
    is_named = statement.startswith("User")
    return (re.sub("^User", name, statement) if is_named else f"{name}: {statement}").casefold()


def are_of_speakers(line):
    """Tell whether a claim has a subject that is called by the name of a speaker."""
    return any(name in line["subject"] for name in SPEAKERS)


def test_two_speakers_make_the_claims_of_one_each_under_their_own_name():
    authors = [(text, own) for text, lines in examples() if (own := list(filter(is_authors, lines)))]
    spoken = proposed_in_turn(*(text for text, _ in authors), speakers=SPEAKERS)
    differing = []
    for (text, plain), lines in zip(authors, spoken, strict=True):
        wanted = [as_told_by(name, line) for name in SPEAKERS for line in plain]
        found = [{**line, "statement": line["statement"].casefold()} for line in claims(lines)]
        found = list(filter(are_of_speakers, found))
        if len(found) != len(wanted) or any(
            line[key] != want[key] for line, want in zip(found, wanted, strict=True) for key in want
        ):
            differing.append((text, found, wanted))
    assert differing == []


def test_every_claim_of_an_author_names_its_speaker():
    texts = [text for text, lines in examples() if any(map(is_authors, lines))]
    nameless = [
        (text, line["statement"])
        for text, lines in zip(texts, proposed_in_turn(*texts, speakers=SPEAKERS), strict=True)
        for line in claims(lines)
        if are_of_speakers(line) and not any(line["statement"].startswith(name) for name in SPEAKERS)
    ]
    assert nameless == []


def test_no_slot_of_a_speaker_is_another_speakers():
    lines = [
        told(f"{place}-{name}", text, author=name, conversation=f"talk {place}", turn=turn)
        for place, (text, _) in enumerate(examples())
        for turn, name in enumerate(SPEAKERS)
    ]
    with remembered(*lines) as memory:
        author = {row["source_id"]: row["author"] for row in memory.rows("sources")}
        kinds = {row["entity_id"]: row["kind"] for row in memory.rows("entities")}
        slots = {name: set() for name in SPEAKERS}
        for row in memory.rows("candidates"):
            if kinds[row["subject_id"]] != "other" or '"property":"outcome"' in row["payload"]:
                slots[author[row["source_id"]]].add(row["slot_id"])
        assert memory.store.verify().problems == []
    assert len(slots["Ann"]) == len(slots["Bob"]) > 200
    assert slots["Ann"].isdisjoint(slots["Bob"])


def test_a_speaker_without_a_name_is_called_user_beside_one_who_has_a_name():
    with remembered(
        told("a", "My puppy is called Rolf."), told("b", "My puppy is called Max.", author="Bob")
    ) as memory:
        assert memory.said() == ["Bob's puppy's name is Max.", "User's puppy's name is Rolf."]
