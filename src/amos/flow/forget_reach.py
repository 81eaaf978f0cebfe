"""What a request to forget would reach: what its own author had said before, in the same scope."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.atoms.statement import statement_of
from amos.extraction.forget_requests import Request, find_requests
from amos.flow.claims import subject_labels
from amos.flow.versions import latest
from amos.identity import CLAIM_SCOPE
from amos.journal.store import Snapshot
from amos.kernels.wordings import wording_of
from amos.schemas.columns import ID
from amos.schemas.labels import NOBODY
from amos.schemas.vocabulary import WITHDRAWN

SAME_CLAIM, SAME_WORDS = "same_claim", "same_words"
"""Why a claim is reached: the request states it, or its words hold those of the request."""
TOLD_AGAIN = "told_again_since"
"""Why a claim is not reached although it fits: its author said it again after asking."""
_EMPTY_TEXT = """
    i im ive id ill me my mine we us our you your yours he she it its they them their his her a an the
    this that these those and or but not no of to in on at by for from with about as is am are was were
    be been being do does did done have has had having will would can could should what whatever which
    who whom whose where when how why everything anything all any some said say told tell mentioned
    wrote shared know knew remember stored saved kept fact note notes memory memories entry entries
    record records just once ever s t m re ve ll d ich du wir mein meine meinen meinem meiner unser
    unsere dein dass über zu von der die das den dem ein eine einen und auf bin ist sind war habe hast
    hat gesagt erzählt alles weißt wo wer wie je j tu nous mon ma mes notre nos ton ta tes que qu ce c à
    au aux de des la le les l un une et est suis ai dit sur dans propos tout sais où qui yo tú mi mis
    nuestro nuestra tus lo el los las una y en del al sobre es soy estoy dije te todo sabes dónde quién
"""
_EMPTY = frozenset(_EMPTY_TEXT.split())
_SHORTEST_STEM = 5
_ENDING = 2
_SOURCE = ["source_id", "revision", "content", "event_time", "conversation_id", "turn", *CLAIM_SCOPE]
_CLAIM = [
    "candidate_id", "version", "source_id", "spans", "type", "subject_id", "claim_id", "polarity", "payload",
    "gate",
]  # fmt: skip
Row = dict[str, Any]
Ranges = dict[bytes, list[tuple[int, int]]]


class Reached(NamedTuple):
    """One claim that fits a request: its id, what it says, and why it fits."""

    claim_id: bytes
    candidate_id: bytes
    statement: str
    how: str


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What the requests of one message reach.

    asked: their words.  ranges: where these stand, by source, in bytes.  kept: claims that fit and stay,
    since their author told them again.
    """

    asked: list[str]
    ranges: Ranges
    claims: list[Reached] = field(default_factory=list)
    kept: list[Reached] = field(default_factory=list)

    @property
    def ids(self) -> pa.Array:
        """The ids of the claims reached."""
        return pa.array([one.claim_id for one in self.claims], ID)


def reach_of(snapshot: Snapshot, source: Row) -> Reach:
    """Return what the requests in `source`, a current row of sources, reach at the snapshot's version.

    A claim is reached when the request itself states it, or when it holds all words of the request that say
    anything.  What others said, what was said in another scope, and what was said after the request stay out.
    """
    requests = find_requests(source["content"])
    ranges = {source["source_id"]: [(one.start, one.end) for one in requests]}
    asked = [one.words for one in requests]
    told = _told(snapshot, source)
    claims = told.pop(source["source_id"], (source, []))[1]
    earlier = [one for turn, found in told.values() if _is_before(turn, source) for one in found]
    later = {
        one["claim_id"]
        for turn, found in told.values()
        if not _is_before(turn, source)
        for one in found
        if not str(one["gate"]).startswith("ignore:")
    }
    earlier += [one for one in claims if one["spans"][0] < requests[0].start] if requests else []
    known = {one["claim_id"] for one in earlier}
    chosen: dict[bytes, tuple[Row, str]] = {}
    bags = {one["candidate_id"]: _bag(one) for one in earlier}
    for request in requests:
        stated = {one["claim_id"] for one in claims if request.start <= one["spans"][0] < request.end}
        exact = [one for one in earlier if one["claim_id"] in stated & known]
        fits = [(one, SAME_CLAIM) for one in exact] or [
            (one, SAME_WORDS) for one in earlier if _holds(bags[one["candidate_id"]], request)
        ]
        for one, how in fits:
            chosen.setdefault(one["claim_id"], (one, how))
    reached = sorted(
        (Reached(claim, row["candidate_id"], row["statement"], how) for claim, (row, how) in chosen.items()),
        key=lambda one: (one.how, one.statement, one.claim_id),
    )
    return Reach(
        asked=asked,
        ranges=ranges,
        claims=[one for one in reached if one.claim_id not in later],
        kept=[one._replace(how=TOLD_AGAIN) for one in reached if one.claim_id in later],
    )


def _told(snapshot: Snapshot, source: Row) -> dict[bytes, tuple[Row, list[Row]]]:
    """Return by source the messages of the same author and scope that hold claims, with these claims."""
    author = pa.array([source["author_id"]], ID)
    rows = latest(snapshot.lookup("sources", "author_id", author, _SOURCE), "sources")
    for name in CLAIM_SCOPE:
        same = pc.is_null(rows[name]) if source[name] is None else pc.equal(rows[name], source[name])
        rows = rows.filter(pc.fill_null(same, False))
    turns = {row["source_id"]: row for row in rows.to_pylist()}
    ids = pa.array(sorted(turns), ID)
    claims = latest(snapshot.lookup("candidates", "source_id", ids, _CLAIM), "candidates").to_pylist()
    names = subject_labels(snapshot, {row["subject_id"] for row in claims})
    found: dict[bytes, tuple[Row, list[Row]]] = {}
    for row in claims:
        if row["gate"] != WITHDRAWN:
            turn = turns[row["source_id"]]
            start, end = row["spans"][:2]
            row["said"] = turn["content"].encode()[start:end].decode(errors="ignore")
            row["statement"] = statement_of(
                row["type"], row["payload"], row["polarity"], names.get(row["subject_id"], NOBODY)
            )
            found.setdefault(row["source_id"], (turn, []))[1].append(row)
    return found


def _is_before(turn: Row, source: Row) -> bool:
    """Tell whether a message was said before another; of what has no known order, all was."""
    if turn["conversation_id"] == source["conversation_id"]:
        return bool(turn["turn"] < source["turn"])
    one, other = turn["event_time"], source["event_time"]
    return one is None or other is None or one <= other


def _bag(row: Row) -> dict[str, list[str]]:
    """Return the words of a claim by their first letter."""
    found: dict[str, list[str]] = defaultdict(list)
    for word in wording_of(f"{row['statement']} {row['said']}").words:
        found[word[0]].append(word)
    return found


def _holds(bag: dict[str, list[str]], request: Request) -> bool:
    """Tell whether a claim holds every word of a request that says anything."""
    words = [word for word in wording_of(request.words).words if word not in _EMPTY]
    return bool(words) and all(any(_is_same(word, other) for other in bag[word[0]]) for word in words)


def _is_same(word: str, other: str) -> bool:
    """Tell whether two words are one, apart from how a long one ends."""
    if word == other:
        return True
    stem = max(_SHORTEST_STEM, min(len(word), len(other)) - _ENDING)
    return min(len(word), len(other)) >= stem and word[:stem] == other[:stem]
