"""Repeat in one store what people decided in another: their records come along with an export.

The references in a record are those of the store that it was made in; they are followed through the
unkeyed identities of what they name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import to_us
from amos.errors import EngineError
from amos.flow.digest_ids import CANDIDATE, ENTITY, UnkeyedIds
from amos.flow.forget_reach import reach_of
from amos.flow.held_rows import HeldRows, all_rows, chosen_rows
from amos.flow.prepare import Rules
from amos.flow.review_cases import Case, find_case
from amos.flow.review_checks import Check
from amos.flow.review_names import FORMAT, RECORD, WORDING
from amos.flow.review_plan import Act, plan_review
from amos.flow.review_words import Words, records_of
from amos.flow.sight import Sight
from amos.flow.streaming import Held, newest_rows
from amos.identity import id_text, keyed_id, parse_ref, prefix_range, source_identity
from amos.journal.store import Shard
from amos.schemas.columns import ID

_SOURCE = ["source_id", "format", "delivery_key", "block", "content", "author", "event_time", "turn", "extra"]
_TRIES = 3
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One decision as another store recorded it.  ref: what it was about, as that store calls it."""

    ref: str
    moment: str
    at_us: int
    turn: int
    actor: str
    kept: Row
    note: str
    wording: str | None

    @property
    def words(self) -> Words:
        """What the reviewer wrote."""
        if self.wording is None:
            return Words(note=self.note)
        return Words(note=self.note, **{str(self.kept.get("wording", "value")): self.wording})


@dataclass(kw_only=True)
class Repeating:
    """Carries the decisions of an export over to a shard that has its messages."""

    shard: Shard
    held: Held
    rules: Rules
    actor: str
    run_id: bytes
    now: datetime
    counts: Counter[str] = field(default_factory=Counter)
    _own: set[bytes] = field(default_factory=set)
    _names: dict[str, str] = field(default_factory=dict)
    _worded: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read(self) -> list[Record]:
        """Return every decision of the export, in the order in which they were made."""
        sources = all_rows(self.held, "sources", _SOURCE)
        records = sorted(_records(sources), key=lambda one: (one.at_us, one.turn, one.ref))
        if records:
            self._names = _identities(self.held, sources, records)
            self._worded = _worded(self.held, sources)
        return records

    def repeat(self, records: list[Record]) -> None:
        """Repeat those of the decisions that are not recorded here.

        One is refused where its case is not there, or waits no longer.
        """
        while records:
            records = self._round(records)

    @property
    def told(self) -> dict[str, int]:
        """How many were repeated, known here, refused."""
        return {name: self.counts[name] for name in ("repeated", "linked", "refused")}

    def _round(self, records: list[Record]) -> list[Record]:
        """Repeat the first decision on each case; return those that come after."""
        first: list[Record] = []
        later: list[Record] = []
        seen: set[str] = set()
        for record in records:
            (later if record.ref in seen else first).append(record)
            seen.add(record.ref)
        unknown: list[Record] = []
        for attempt in range(_TRIES):
            try:
                unknown = self._commit(first)
                break
            except EngineError:
                if attempt == _TRIES - 1:
                    raise
        if len(unknown) == len(first):  # nothing new came in that they could be about
            self.counts["refused"] += len(unknown) + len(later)
            return []
        return [*unknown, *later]

    def _commit(self, records: list[Record]) -> list[Record]:
        """Commit decisions on different cases together; return those whose case is not there yet."""
        unknown, told = [], Counter[str]()
        with self.shard.pin() as snapshot:
            sight = Sight(snapshot=snapshot, now=self.now)
            acts = []
            for record in records:
                case = self._case(sight, record.ref)
                if case is None:
                    unknown.append(record)
                    continue
                known = records_of(snapshot, [(case.table, case.identifier)], self.shard.key)[case.identifier]
                if any(_is_same(row, record) for row in known):
                    told["linked"] += 1
                elif self._is_refused(sight, case, record):
                    told["refused"] += 1
                else:
                    acts.append(self._act(case, record, known))
            if acts:
                plan = plan_review(snapshot, acts, rules=self.rules, key=self.shard.key, now=self.now)
                self.shard.commit(
                    plan.rows,
                    base=snapshot.version,
                    reads=plan.reads,
                    operation="import",
                    actor=self.actor,
                    run_id=self.run_id,
                    now=self.now,
                    texts=self.rules.texts,
                )
                self._own |= set(plan.decisions)
        self.counts += told + Counter(repeated=len(acts))
        return unknown

    def _is_refused(self, sight: Sight, case: Case, record: Record) -> bool:
        """Tell whether a decision may not be repeated; one on a decision that came along may."""
        verdict = str(record.kept.get("decision"))
        if case.kind == "forget" and verdict == "approve" and reach_of(sight.snapshot, case.row).claims:
            return True  # what was forgotten there is still here: that takes a person here
        check = Check(sight=sight, key=self.shard.key, verdict=verdict, is_repeated=True)
        if case.identifier in self._own:
            return check.unfit(case, check.source_of(case)) is not None
        return bool(check.refused([case]))

    def _act(self, case: Case, record: Record, known: list[Row]) -> Act:
        return Act(
            case=case,
            verdict=str(record.kept["decision"]),
            words=record.words,
            turn=max((row["turn"] for row in known), default=-1) + 1,
            actor=record.actor,
            at_us=record.at_us,
            until_us=record.kept.get("until_us"),
        )

    def _case(self, sight: Sight, ref: str) -> Case | None:
        """Return what a reference of the other store names here, None when it is not there."""
        here = self._here(sight, ref)
        if here is None:
            return None
        try:
            return find_case(sight, here)
        except EngineError:
            return None

    def _here(self, sight: Sight, ref: str) -> str | None:
        """Return the reference here of a reference there."""
        worded = self._worded.get(ref)
        if worded is not None:
            about, moment = worded
            case = self._here(sight, about)
            if case is None:
                return None
            identity = source_identity(FORMAT, f"{case}@{moment}", WORDING)
            source = pa.array([keyed_id(self.shard.key, "sources", identity)], ID)
            found = sight.snapshot.lookup("candidates", "source_id", source, ["candidate_id"])
            return id_text("candidates", found[0][0].as_py()) if found.num_rows else None
        name = self._names.get(ref)
        if name is None:
            return None
        table = "candidates" if ref.startswith("can_") else "sources"
        return id_text(table, keyed_id(self.shard.key, table, bytes.fromhex(name)))


def _records(sources: pa.Table) -> Iterator[Record]:
    if sources.num_rows == 0:
        return
    rows = sources.filter(pc.equal(sources["format"], FORMAT)).to_pylist()
    wordings = {row["delivery_key"]: row["content"] for row in rows if row["block"] == WORDING}
    for row in rows:
        if row["block"] == RECORD:
            ref, _, moment = row["delivery_key"].partition("@")
            yield Record(
                ref=ref,
                moment=moment,
                at_us=to_us(row["event_time"]),
                turn=row["turn"],
                actor=row["author"] or "unknown",
                kept=json.loads(row["extra"] or "{}"),
                note=row["content"],
                wording=wordings.get(row["delivery_key"]),
            )


def _identities(held: Held, sources: pa.Table, records: Iterable[Record]) -> dict[str, str]:
    """Return the hex identity of each candidate and message that was decided on, by its reference there."""
    named = {"candidates": set[bytes](), "sources": set[bytes]()}
    for record in records:
        table, body = parse_ref(record.ref)
        if table in named:
            named[table].add(prefix_range(body)[0])
    wanted = {table: pa.array(sorted(ids), ID) for table, ids in named.items()}
    candidates = chosen_rows(
        held, "candidates", ["version", *CANDIDATE], "candidate_id", wanted["candidates"]
    )
    candidates = candidates.filter(pc.is_valid(candidates["payload"]))  # withheld ones come without
    cited = pa.concat_arrays([wanted["sources"], candidates["source_id"].combine_chunks().cast(ID)])
    plain = sources.filter(pc.not_equal(sources["format"], FORMAT))
    plain = plain.filter(pc.is_in(plain["source_id"], value_set=cited))
    entities = all_rows(held, "entities", ENTITY)
    ids = UnkeyedIds(HeldRows({"candidates": candidates, "sources": plain, "entities": entities}))
    own = candidates.filter(pc.is_in(candidates["source_id"], value_set=plain["source_id"].combine_chunks()))
    told = [("candidates", own["candidate_id"], ids.candidates(own))] if own.num_rows else []
    told.append(("sources", plain["source_id"], ids.sources(plain["source_id"].combine_chunks().cast(ID))))
    return {
        id_text(table, one): name.hex()
        for table, known, names in told
        for one, name in zip(known.to_pylist(), names.to_pylist(), strict=True)
    }


def _worded(held: Held, sources: pa.Table) -> dict[str, tuple[str, str]]:
    """Return by reference of a reworded claim what it was made of: the reference reviewed, and the moment."""
    rows = sources.filter(pc.and_(pc.equal(sources["format"], FORMAT), pc.equal(sources["block"], WORDING)))
    keys = dict(zip(rows["source_id"].to_pylist(), rows["delivery_key"].to_pylist(), strict=True))
    found = {}
    for part in newest_rows(held, "candidates", ["candidate_id", "source_id"]):
        for row in part.to_pylist():
            if row["source_id"] in keys:
                ref, _, moment = keys[row["source_id"]].partition("@")
                found[id_text("candidates", row["candidate_id"])] = (ref, moment)
    return found


def _is_same(row: Row, record: Record) -> bool:
    at = to_us(row["event_time"])
    return row["block"] == RECORD and at == record.at_us and row["author"] == record.actor
