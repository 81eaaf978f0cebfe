"""Repeat in one store the outcomes that another one recorded: they come along with an export.

Ids of items are those of the store that recorded; they are followed through the unkeyed identities of what
they name.  Edges learn by those that stand here.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import to_us
from amos.flow.digest_ids import CLAIM, ENTITY, UnkeyedIds
from amos.flow.held_rows import HeldRows, all_rows, chosen_rows
from amos.flow.outcome_members import Item, Members
from amos.flow.outcome_rows import Act, Fact, fresh_acts, made_act, outcome_rows, stored_items
from amos.flow.outcome_told import Told
from amos.flow.prepare import Rules
from amos.flow.review_import import Repeating
from amos.flow.sight import Sight
from amos.flow.streaming import Held
from amos.identity import keyed_id
from amos.journal.rows import committed
from amos.journal.store import HeadMoved, Shard
from amos.schemas.columns import ID, SCOPE_NAMES
from amos.schemas.vocabulary import FeedbackKind

_PART = 512
_TRIES = 3
_SOURCE = ["source_id", "revision", "format", "delivery_key", "block"]
_RECORD = [
    "source_id", "revision", "content", "author", "extra", "ingest_time",
    *(f"scope_{name}" for name in SCOPE_NAMES),
]  # fmt: skip
Row = dict[str, Any]


@dataclass(kw_only=True)
class RepeatingOutcomes:
    """Carries the outcomes of an export over to a shard that has its messages."""

    shard: Shard
    held: Held
    rules: Rules
    actor: str
    run_id: bytes
    now: datetime
    counts: Counter[str] = field(default_factory=Counter)
    _told: _Told | None = None

    def read(self) -> list[tuple[int, Row]]:
        """Return every outcome with the moment at which the other store accepted it, in their order."""
        outcomes = all_rows(self.held, "outcomes", committed("outcomes").names)
        if not outcomes.num_rows:
            return []
        told = self._told = _Told(self.held, outcomes, self.shard.key)
        ordered = outcomes.sort_by([("recorded_at", "ascending"), ("outcome_id", "ascending")])
        return sorted(((told.moment(row), row) for row in ordered.to_pylist()), key=lambda one: one[0])

    def repeat(self, outcomes: list[Row]) -> None:
        """Record those of the outcomes that are not recorded here.

        One is refused where its record is not in the export, or may not be stored here.
        """
        assert self._told is not None
        for start in range(0, len(outcomes), _PART):
            self.counts.update(self._part(outcomes[start : start + _PART], self._told))

    @property
    def told(self) -> dict[str, int]:
        """How many were repeated, known here, refused."""
        return {name: self.counts[name] for name in ("repeated", "linked", "refused")}

    def _part(self, outcomes: list[Row], told: _Told) -> Counter[str]:
        for attempt in range(_TRIES):
            try:
                return self._once(outcomes, told)
            except HeadMoved:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("the last try returns or raises")

    def _once(self, outcomes: list[Row], told: _Told) -> Counter[str]:
        with self.shard.pin() as snapshot:
            sight = Sight(snapshot=snapshot, now=self.now)
            known = [one for one in outcomes if one["source_id"] in told.records]
            members = [told.members(one) for one in known]
            visible = stored_items(sight, members)
            acts = [told.act(one, held, visible) for one, held in zip(known, members, strict=True)]
            fresh = fresh_acts(snapshot, acts)
            rows = outcome_rows(
                snapshot, list(fresh.values()), rules=self.rules, key=self.shard.key, now=self.now
            )
            if rows.groups:
                self.shard.commit(
                    rows.groups, base=snapshot.version, reads=rows.reads, operation="import",
                    actor=self.actor, run_id=self.run_id, now=self.now, texts=self.rules.texts,
                )  # fmt: skip
        refused = len(rows.refused) + len(outcomes) - len(known)
        repeated = len(fresh) - len(rows.refused)
        return Counter(repeated=repeated, linked=len(known) - len(fresh), refused=refused)


def repeat_in_order(reviews: Repeating, outcomes: RepeatingOutcomes) -> None:
    """Repeat decisions of people and outcomes of packets in the order in which they were recorded.

    An outcome may be about a claim that a person let in, a decision about one that outcomes questioned.
    """
    steps: list[tuple[int, bool, Any]] = [(record.at_us, False, record) for record in reviews.read()]
    steps += [(moment, True, row) for moment, row in outcomes.read()]
    steps.sort(key=lambda step: step[:2])
    for is_outcome, group in groupby(steps, key=lambda step: step[1]):
        told = [step[2] for step in group]
        if is_outcome:
            outcomes.repeat(told)
        else:
            reviews.repeat(told)


class _Told:
    """What an export tells of outcomes, with the ids that items have here."""

    def __init__(self, held: Held, outcomes: pa.Table, key: bytes) -> None:
        self._key = key
        self.records = {
            row["source_id"]: row
            for row in chosen_rows(
                held, "sources", _RECORD, "source_id", outcomes["source_id"].combine_chunks().cast(ID)
            ).to_pylist()
        }
        columns = ["outcome_id", "atom_id", "turn_id", "kind", "rank", "score_ppm"]
        feedback = all_rows(held, "feedback", columns)
        feedback = feedback.filter(pc.greater(feedback["rank"], 0))
        self._here = _ids_here(held, feedback, key)
        self._feedback: dict[bytes, list[Row]] = {}
        for row in feedback.to_pylist():
            self._feedback.setdefault(row["outcome_id"], []).append(row)

    def moment(self, outcome: Row) -> int:
        """Return when the other store accepted an outcome, in microseconds; what is unknown comes last."""
        record = self.records.get(outcome["source_id"])
        return 2**62 if record is None else to_us(record["ingest_time"])

    def members(self, outcome: Row) -> Members:
        """Return the packet of an outcome with the items that have an id here."""
        items = []
        for row in self._feedback.get(outcome["outcome_id"], ()):
            table = "atoms" if row["atom_id"] else "sources"
            here = self._here.get((table, row["atom_id"] or row["turn_id"]))
            if here is not None:
                items.append(Item(table, here, row["rank"], row["score_ppm"]))
        return Members(
            packet_id=outcome["packet_id"], version=outcome["packet_version"],
            processor=outcome["processor"], profile=outcome["profile"], membership=outcome["membership"],
            items=tuple(sorted(items, key=lambda item: item.rank)),
        )  # fmt: skip

    def act(self, outcome: Row, members: Members, visible: dict[bytes, Row]) -> Act:
        """Return the outcome as it is recorded here."""
        record = self.records[outcome["source_id"]]
        kinds = {row["rank"]: row["kind"] for row in self._feedback.get(outcome["outcome_id"], ())}
        facts = [
            Fact(item, FeedbackKind(kinds[item.rank]), visible[item.identifier])
            for item in members.items
            if item.identifier in visible
        ]
        missing = json.loads(record["extra"])["missing_capabilities"] if record["extra"] else []
        told = Told(
            packet=members.ref, labels=tuple(outcome["labels"]), used=(), corrected=(), unhelpful=(),
            use_status=outcome["use_status"], missing_capabilities=tuple(missing), note=record["content"],
            at_us=to_us(outcome["recorded_at"]),
        )  # fmt: skip
        return made_act(
            self._key, members, told, facts, at_us=to_us(outcome["recorded_at"]),
            actor=record["author"] or "unknown",
            scope={name: record[f"scope_{name}"] for name in SCOPE_NAMES},
        )  # fmt: skip


def _ids_here(held: Held, feedback: pa.Table, key: bytes) -> dict[tuple[str, bytes], bytes]:
    """Return the ids here of the claims and turns that feedback names, by table and their ids there."""
    atoms, turns = (
        feedback[name].combine_chunks().drop_null().unique().cast(ID) for name in ("atom_id", "turn_id")
    )
    claims = chosen_rows(held, "atoms", ["version", "atom_id", *CLAIM], "atom_id", atoms)
    claims = claims.filter(pc.is_valid(claims["payload"]))  # withheld ones come without
    tables = {
        "atoms": claims,
        "candidates": chosen_rows(held, "candidates", ["claim_id", *CLAIM], "claim_id", pa.array([], ID)),
        "entities": all_rows(held, "entities", ENTITY),
        "sources": chosen_rows(held, "sources", _SOURCE, "source_id", turns),
    }
    ids = UnkeyedIds(HeldRows(tables))
    named = (("atoms", atoms, ids.claims(atoms)), ("sources", turns, ids.sources(turns)))
    return {
        (table, one): keyed_id(key, table, identity)
        for table, known, identities in named
        for one, identity in zip(known.to_pylist(), identities.to_pylist(), strict=True)
        if identity is not None
    }
