"""What `propose` makes of single texts, without a file and without a store."""

import io
import json

import msgspec

from amos.clock import utc_now
from amos.flow.proposing import Proposal, propose_lines
from amos.flow.rules import default_rules
from amos.sources.reading import read_stream_alone

MORNING = "2026-03-02T08:00:00Z"
WRITTEN = ("commit", "link")


def proposals_of(*texts, ts=MORNING, **fields):
    """Return texts as `propose` takes them, each called by its place; fields: those of a `messages` line."""
    rows = [{"id": str(place), "text": text, "ts": ts, **fields} for place, text in enumerate(texts)]
    stream = io.BytesIO("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
    return [
        Proposal(id=one.id, blocks=one.blocks, own_count=1) for one in read_stream_alone(stream, name="told")
    ]


def proposed(*texts, **fields):
    """Return the output lines of each text, one list per text."""
    found = [[] for _ in texts]
    for line in propose_lines(proposals_of(*texts, **fields), rules=default_rules(size=0), now=utc_now()):
        found[int(line["id"])].append(line)
    return found


def proposed_in_turn(*texts, speakers):
    """Return the output lines of each text as all `speakers` say it, one after another in one talk."""
    talks = []
    for place, text in enumerate(texts):
        told = [proposals_of(text, author=name, conversation="talk")[0].blocks for name in speakers]
        blocks = [block for turn, (block,) in enumerate(told) for block in (_said_in_turn(block, turn),)]
        talks.append(Proposal(id=str(place), blocks=blocks, own_count=len(blocks)))
    found = [[] for _ in texts]
    for line in propose_lines(talks, rules=default_rules(size=0), now=utc_now()):
        found[int(line["id"])].append(line)
    return found


def _said_in_turn(block, turn):
    return msgspec.structs.replace(block, record_key=f"{block.record_key}/{turn}", turn=turn)


def lines_of(text, **fields):
    """Return the output lines of one text."""
    return proposed(text, **fields)[0]


def claims_in(text, **fields):
    """Return the claims of one text, whatever became of them."""
    return [line for line in lines_of(text, **fields) if line["span"] is not None]


def only_claim_in(text, **fields):
    """Return the single claim of a text."""
    found = claims_in(text, **fields)
    assert len(found) == 1, found
    return found[0]


def written_in(text, **fields):
    """Return the claims of one text that were committed or linked."""
    return [line for line in lines_of(text, **fields) if line["outcome"] in WRITTEN]


def decided_of(text, **fields):
    """Return (outcome, first reason) of every line of one text."""
    return [(line["outcome"], line["reasons"][0]) for line in lines_of(text, **fields)]
