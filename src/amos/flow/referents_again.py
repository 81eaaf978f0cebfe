"""Resolve stored claims again when what arrives names somebody, or stands in the window before them.

The claim as it was resolved before is withdrawn, the other one takes its place, and the row of `mentions`
gets its next version: what was known when stays readable.  What a person decided is left as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.referred import AMBIGUOUS_GATE
from amos.admission.tombstones import Graves
from amos.entities.resolve import WINDOW, Introduced, Owner, Person
from amos.entities.spoken import Spoken, fold_name, role_label, spoken_of
from amos.evidence.capture import CAPTURED
from amos.flow.referents import (
    UNSALTED_ENTITIES,
    UNSALTED_MENTIONS,
    Decided,
    Referents,
    mention_table,
    no_mentions,
    people_of,
)
from amos.flow.referents_read import Read, naming_of, read_claim
from amos.flow.referents_told import Told, name_key, role_key
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.choosing import empty
from amos.schemas.columns import ID
from amos.schemas.vocabulary import WITHDRAWN, Cue, Outcome, Trust

_APPROVED = int(Cue.APPROVED)
_UNSAID = ("version", "mention_id")
Row = dict[str, Any]


class Again(NamedTuple):
    """What resolving stored claims again changes: rows without salts.

    fresh, replaced: candidates that are new, and next versions of stored ones.
    """

    fresh: pa.Table
    replaced: pa.Table
    mentions: pa.Table
    entities: pa.Table


def nothing_again() -> Again:
    """Return that nothing changes."""
    none = empty(UNSALTED_CANDIDATES)
    return Again(none, none, no_mentions(), empty(UNSALTED_ENTITIES))


class _Held(NamedTuple):
    """A stored claim, the row of `mentions` that it has, and the claim as it was read."""

    row: Row
    mention: Row | None
    read: Read


@dataclass(frozen=True, kw_only=True)
class Rechecking:
    """Finds and resolves the stored claims that a batch touches.

    moved: next versions of stored candidates that the same commit writes, by id.  with_approved: a person
    asks for it, so that what a reviewer let in follows, too.
    """

    snapshot: Snapshot
    referents: Referents
    graves: Graves
    moved: dict[bytes, Row]
    with_approved: bool = False

    @property
    def told(self) -> Told:
        """What the store tells."""
        told = self.referents.told
        assert isinstance(told, Told)
        return told

    def after(
        self, introduced: Sequence[tuple[Owner, Introduced]], sources: pa.Table, talks: Collection[bytes]
    ) -> Again:
        """Return what a batch changes: who got a name in it, its sources, and those of its talks stored."""
        if self.snapshot.version == 0 or not (introduced or talks):
            return nothing_again()
        ids = self.in_windows(sources, talks) | self._called(introduced)
        return self.resolved(ids, [one for _, one in introduced], sources)

    def resolved(self, ids: set[bytes], introduced: Sequence[Introduced], sources: pa.Table) -> Again:
        """Return what resolving the stored candidates `ids` again changes."""
        held = self._held(ids)
        if not held:
            return nothing_again()
        decided = self.referents.decide([one.read for one in held], introduced, sources)
        final = self.referents.final(decided)
        return self._changes(held, decided, final)

    def _called(self, introduced: Sequence[tuple[Owner, Introduced]]) -> set[bytes]:
        """Return the stored claims about somebody called by a name or role that was just given."""
        subjects, keys = set(), set()
        for owner, one in introduced:
            folded = fold_name(one.name)
            word = next(word for word in one.name.split() if word.casefold() == folded)
            subjects.add(self.referents.entity_id(owner.person("person", word)))
            keys.add(name_key(self.referents.key, owner.entity_id, folded))
            if one.role is not None:
                subjects.add(self.referents.entity_id(_bare(owner, one.role)))
                keys.add(role_key(self.referents.key, owner.entity_id, one.role))
        if not keys:
            return set()
        named = {row["candidate_id"] for row in self.told.mentions(keys)}
        about = self.snapshot.lookup(
            "candidates", "subject_id", pa.array(sorted(subjects), ID), ["candidate_id"]
        )
        return named | set(about["candidate_id"].to_pylist())

    def named_by(self, candidates: Collection[bytes]) -> set[bytes]:
        """Return the stored claims about somebody who is called by what some candidates say."""
        wanted = pa.array(sorted(candidates), ID)
        rows = self.snapshot.lookup("mentions", "candidate_id", wanted, ["name_key", "role_key"])
        keys = {key for name in rows.column_names for key in rows[name].drop_null().to_pylist()}
        return {row["candidate_id"] for row in self.told.mentions(keys)} if keys else set()

    def about(self, entities: Collection[bytes]) -> set[bytes]:
        """Return the stored claims about some entities (ids), read as about them, or that may mean them."""
        wanted = pa.array(sorted(entities), ID)
        found = self.snapshot.lookup("candidates", "subject_id", wanted, ["candidate_id"])
        ids = set(found["candidate_id"].to_pylist())
        keys: set[bytes] = set()
        for column in ("subject_id", "referent_id"):
            rows = self.snapshot.lookup("mentions", column, wanted, ["candidate_id", "name_key", "role_key"])
            ids |= set(rows["candidate_id"].to_pylist())
            for name in ("name_key", "role_key"):
                keys |= set(rows[name].drop_null().to_pylist())
        return ids | {row["candidate_id"] for row in self.told.mentions(keys)} if keys else ids

    def in_windows(self, sources: pa.Table, talks: Collection[bytes]) -> set[bytes]:
        """Return the stored claims about a pronoun in whose window one of the sources stands."""
        if not talks or self.snapshot.row_count("mentions") == 0:
            return set()
        wanted = pa.array(sorted(talks), ID)
        columns = ["conversation_id", "turn", "mention_id", "version", "candidate_id"]
        rows = latest(self.snapshot.lookup("mentions", "conversation_id", wanted, columns), "mentions")
        turns: dict[bytes, list[int]] = {}
        fresh = sources.filter(pc.is_in(sources["conversation_id"], value_set=wanted))
        for talk, turn in zip(*(fresh[name].to_pylist() for name in columns[:2]), strict=True):
            turns.setdefault(talk, []).append(turn)
        return {
            row["candidate_id"]
            for row in rows.to_pylist()
            if any(0 <= row["turn"] - turn <= WINDOW for turn in turns.get(row["conversation_id"], ()))
        }

    def _held(self, ids: set[bytes]) -> list[_Held]:
        """Return the stored claims of some ids that stand, and that no person has decided."""
        if not ids:
            return []
        wanted = pa.array(sorted(ids), ID)
        rows = latest(self.snapshot.lookup("candidates", "candidate_id", wanted), "candidates").to_pylist()
        rows = [self.moved.get(row["candidate_id"], row) for row in rows]
        rows = [
            {name: row[name] for name in UNSALTED_CANDIDATES.names}
            for row in rows
            if is_free(row, self.with_approved)
        ]
        if not rows:
            return []
        found = latest(self.snapshot.lookup("mentions", "candidate_id", wanted), "mentions").to_pylist()
        mentions = {
            row["candidate_id"]: row for row in self.told.mentions_by_id(
                pa.array([row["mention_id"] for row in found], ID))
        }  # fmt: skip
        return self._as_read(rows, mentions)

    def _as_read(self, rows: Sequence[Row], mentions: dict[bytes, Row]) -> list[_Held]:
        subjects = {row["candidate_id"]: mentions.get(row["candidate_id"], row)["subject_id"] for row in rows}
        named = {*subjects.values(), *(row["subject_id"] for row in rows)}
        entities = {row["entity_id"]: row for row in self.told.entities(named).to_pylist()}
        sources = {row["source_id"]: row for row in self._sources({row["source_id"] for row in rows})}
        found = []
        for row in rows:
            own, entity = entities[row["subject_id"]], entities[subjects[row["candidate_id"]]]
            source, spoken = sources[row["source_id"]], spoken_of(own["kind"], own["name"])
            if own["kind"] == "author" or naming_of(row, source, spoken) is not None:
                continue  # it says how somebody is called
            if spoken_of(entity["kind"], entity["name"]) is None:
                continue
            read = read_claim(row, source, entity["kind"], entity["name"])
            found.append(_Held(row, mentions.get(row["candidate_id"]), self._before(read)))
        return found

    def _sources(self, ids: Collection[bytes]) -> list[Row]:
        wanted = pa.array(sorted(ids), ID)
        rows = self.snapshot.lookup("sources", "source_id", wanted, CAPTURED.names)
        return list(latest(rows, "sources").to_pylist())

    def _before(self, read: Read) -> Read:
        """Return the claim as it was before anybody was resolved."""
        gate = read.row["gate"]
        if read.asked.spoken.kind == "pronoun":
            gate = AMBIGUOUS_GATE
        elif gate == AMBIGUOUS_GATE:
            gate = None
        row = self.referents.about([(read, read.person, gate)]).to_pylist()[0]
        return read._replace(row=row)

    def _changes(self, held: Sequence[_Held], decided: Sequence[Decided], final: Sequence[Row]) -> Again:
        fresh, replaced, mentions = [], [], []
        known = self._stored({row["candidate_id"] for row in final})
        kept = []
        for one, decision, row in zip(held, decided, final, strict=True):
            if self.graves.claim(row["claim_id"]) is not None and row["claim_id"] != one.row["claim_id"]:
                continue  # it would say again what was forgotten
            kept.append(decision)
            mentions += self._next_mention(one, decision, row)
            if row["candidate_id"] == one.row["candidate_id"]:
                if row["gate"] != one.row["gate"]:
                    replaced.append(self._next(one.row, gate=row["gate"]))
                continue
            unapproved = {**one.row, "cues": one.row["cues"] & ~_APPROVED}
            replaced.append(self._next(unapproved, gate=WITHDRAWN))
            earlier = known.get(row["candidate_id"])
            if earlier is None:
                fresh.append(row)
            else:
                replaced.append({**row, "version": earlier["version"] + 1})
        people = people_of(kept)
        return Again(
            fresh=_candidates(fresh),
            replaced=_candidates(replaced),
            mentions=mention_table(mentions),
            entities=pa.Table.from_pylist(
                [{**row, "entity_id": self.referents.id_of(one)} for one, row in people.items()],
                schema=UNSALTED_ENTITIES,
            ),
        )

    def _next(self, row: Row, *, gate: str | None) -> Row:
        """Return the next version of a stored candidate behind another gate."""
        is_moved = row["candidate_id"] in self.moved  # which is that version already
        return {**row, "gate": gate, "version": row["version"] + (0 if is_moved else 1)}

    def _next_mention(self, one: _Held, decision: Decided, row: Row) -> list[Row]:
        told = self.referents.mention_row(decision, row["candidate_id"])
        if told is None:
            if one.mention is None:
                return []
            told = self.referents.empty_row(decision, row["candidate_id"])
        if one.mention is None:
            return [told]
        if all(told[name] == one.mention[name] for name in UNSALTED_MENTIONS.names if name not in _UNSAID):
            return []
        return [{**told, "version": one.mention["version"] + 1}]

    def _stored(self, ids: Collection[bytes]) -> dict[bytes, Row]:
        wanted = pa.array(sorted(ids), ID)
        rows = latest(
            self.snapshot.lookup("candidates", "candidate_id", wanted, ["candidate_id", "version"]),
            "candidates",
        )
        return {row["candidate_id"]: row for row in rows.to_pylist()}


def _bare(owner: Owner, role: str) -> Person:
    return owner.person("thing", role_label(Spoken("role", role=role)))


def _candidates(rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=UNSALTED_CANDIDATES)


def is_free(row: Row, with_approved: bool) -> bool:
    """Tell whether a stored claim may be resolved anew: it stands, and nobody decided on it."""
    gate = row["gate"]
    is_open = gate is None or gate.startswith(f"{Outcome.QUARANTINE}:")
    return is_open and row["trust"] == Trust.TRUSTED_USER and (with_approved or not row["cues"] & _APPROVED)
