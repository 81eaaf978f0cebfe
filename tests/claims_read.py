"""Run the rules extractor on plain texts and look at what it found."""

import functools

import pyarrow as pa

from amos.extraction.grammar import load_grammar
from amos.extraction.propose import propose
from amos.schemas.claims import SEGMENTABLE

SATURDAY = 1_767_427_200_000_000  # 2026-01-03T08:00:00Z
_ROLES = {"agent": "assistant", "tool": "tool", "untrusted_web": "tool", "recall": "system"}


def sources(texts, *, trust="trusted_user", at=SATURDAY, kind="text", role=None, flags=0):
    """Return a SEGMENTABLE table of `texts`; each setting may be one value or one per text."""
    count = len(texts)

    def spread(value):
        return list(value) if isinstance(value, list) else [value] * count

    trusts = spread(trust)
    roles = spread(role) if role else [_ROLES.get(name, "user") for name in trusts]
    time = SEGMENTABLE.field("event_time").type
    return pa.table(
        [
            pa.array(texts, pa.string()),
            pa.array(roles, pa.string()),
            pa.array(spread(kind), pa.string()),
            pa.array(trusts, pa.string()),
            pa.array(spread(at), pa.int64()).cast(pa.timestamp("us")).cast(time),
            pa.array(["+00:00"] * count, pa.string()),
            pa.array(spread(flags), pa.int32()),
        ],
        schema=SEGMENTABLE,
    )


def claims_of(text, **settings):
    """Return the claims of one text as dicts."""
    return propose(sources([text], **settings), load_grammar(), is_compiled=False).claims.to_pylist()


def only_claim(text, **settings):
    """Return the single claim of a text."""
    found = claims_of(text, **settings)
    assert len(found) == 1, found
    return found[0]


def note_of(text, **settings):
    """Return the note of a text that yields no claim."""
    proposal = propose(sources([text], **settings), load_grammar(), is_compiled=False)
    assert proposal.claims.num_rows == 0, proposal.claims.to_pylist()
    return proposal.notes.to_pylist()[0]


def excerpt(text, claim):
    """Return the bytes that a claim cites, as text."""
    return text.encode()[claim["start"] : claim["end"]].decode()


@functools.cache
def examples_read():
    """Return (pattern, example, claims) for every example line of the grammar, read in one batch."""
    grammar = load_grammar()
    lines = [(pattern, example) for pattern in grammar.patterns for example in pattern.examples]
    table = sources([example.text for _, example in lines])
    found = [[] for _ in lines]
    for claim in propose(table, grammar, is_compiled=False).claims.to_pylist():
        found[claim["source_row"]].append(claim)
    return [(pattern, example, claims) for (pattern, example), claims in zip(lines, found, strict=True)]
