"""Resolve whom claims are about: who is meant by "she", "my sister" and "Ana" in a batch of candidates.

What is read stays as it is; a resolved claim is a candidate about somebody else, and a row of `mentions`
says who was considered, with which scores, by which rule.  The answer is a function of what was said, so
that one batch and many give the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from amos.admission.candidate_ids import source_identities
from amos.admission.candidates import UNSALTED_CANDIDATES, Built, first_of_each
from amos.admission.policy import Policy
from amos.admission.referred import AMBIGUOUS_GATE, Subject, about, gate_when_known
from amos.entities.choice import RULE, Choice
from amos.entities.heard import heard_in
from amos.entities.resolve import LONGEST, UNOWNED, Answer, Introduced, Known, Owner, Person, Turn, answer
from amos.entities.spoken import fold_name
from amos.flow.referents_read import (
    Batch,
    Naming,
    Read,
    bare_names,
    introduced_by,
    plain_person,
    read_batch,
)
from amos.flow.referents_told import NothingTold, Told, Turns, name_key, role_key, turns_of, window
from amos.identity import CLAIM_SCOPE, keyed_id
from amos.schemas.choosing import empty
from amos.schemas.state import ENTITIES, MENTIONS
from amos.schemas.vocabulary import Reason

UNSALTED_MENTIONS = pa.schema([one for one in MENTIONS if one.name != "salt"])
UNSALTED_ENTITIES = pa.schema([one for one in ENTITIES if one.name != "salt"])
_MILLION = 1_000_000
Row = dict[str, Any]


class Decided(NamedTuple):
    """What became of a claim: who is meant, behind which gate, and how that was found.

    is_trivial: its words mean nobody but the one they name.
    """

    read: Read
    person: Person
    gate: str | None
    answer: Answer
    is_trivial: bool


@dataclass(frozen=True, kw_only=True)
class Referred:
    """A batch with everybody resolved.

    candidates, entities, mentions: rows without salts.  introduced: who got a name in it, with their owner.
    """

    candidates: pa.Table
    entities: pa.Table
    mentions: pa.Table
    introduced: Sequence[tuple[Owner, Introduced]] = field(default=())


@dataclass(frozen=True, kw_only=True)
class Referents:
    """Resolves against what is told elsewhere.  key: of the shard."""

    key: bytes
    policy: Policy
    told: Told | NothingTold = field(default_factory=NothingTold)

    def resolve(self, built: Built, sources: pa.Table) -> Referred:
        """Return the candidates of a batch about those whom they mean.  sources: CAPTURED, of the batch."""
        names = bare_names(built.entities)
        batch = self.read(built, sources, but=names)
        unknown = self._unknown(names, introduced_in(batch))
        if len(unknown) < len(names):
            batch = self.read(built, sources, but=unknown)
        return self.settled(built, batch, sources, introduced_in(batch))

    def read(self, built: Built, sources: pa.Table, *, but: Collection[bytes] = ()) -> Batch:
        """Return the claims of a batch whose subject may be somebody known, and those that name somebody.

        but: entities whose claims are left out.
        """
        batch = read_batch(built.candidates, built.entities, sources, but=but)
        return batch._replace(reads=self._plain(batch.reads))

    def _unknown(
        self, names: Mapping[bytes, tuple[bytes, str]], introduced: Iterable[tuple[Owner, Introduced]]
    ) -> set[bytes]:
        """Return those of the bare names that were given to nobody else, here or in what is told."""
        here = {(owner.entity_id, fold_name(one.name)) for owner, one in introduced}
        keys = {one: name_key(self.key, *named) for one, named in names.items() if named not in here}
        told = self.told.named(set(keys.values()))
        unknown = {one for one, key in keys.items() if key not in told}
        return unknown.difference(self.told.merged(unknown))

    def settled(
        self,
        built: Built,
        batch: Batch,
        sources: pa.Table,
        introduced: Sequence[tuple[Owner, Introduced]],
    ) -> Referred:
        """Return a batch that was read about those whom it means; introduced: who is, in it and beside it."""
        if not batch.reads and not batch.namings:
            return Referred(candidates=built.candidates, entities=built.entities, mentions=no_mentions())
        decided = self.decide(batch.reads, [one for _, one in introduced], sources)
        final = self.final(decided)
        mentions = [*self._rows(decided, final), *map(self._naming_row, batch.namings)]
        candidates = _replaced(built.candidates, batch.places, final)
        return Referred(
            candidates=candidates,
            entities=self._entities(built.entities, candidates, mentions, _people(batch, decided)),
            mentions=mention_table(mentions),
            introduced=introduced_in(batch),
        )

    def _plain(self, reads: Sequence[Read]) -> list[Read]:
        """Return the claims with roles called by the name of their relation: "my mom" is "my mother"."""
        people = [plain_person(read) for read in reads]
        renamed = [place for place, read in enumerate(reads) if people[place] != read.person]
        found = list(reads)
        if renamed:
            changes = [(reads[place], people[place], reads[place].row["gate"]) for place in renamed]
            for place, row in zip(renamed, self.about(changes).to_pylist(), strict=True):
                found[place] = reads[place]._replace(row=row, person=people[place])
        return found

    def decide(
        self, reads: Sequence[Read], introduced: Iterable[Introduced], sources: pa.Table
    ) -> list[Decided]:
        """Return who is meant by each claim; introduced, sources: what the batch at hand says."""
        windows = self._windows(reads, sources)
        keys = {key for read in reads for key in self._keys(read, windows.get(id(read), ()))}
        told = [*introduced, *self.told.introduced(keys)]
        joined = self.told.merged({self.entity_id(one.person) for one in told})
        known = Known(one._replace(person=self._joined(one.person, joined)) for one in told)
        decided = [
            self._decided(read, answer(read.asked, known, windows.get(id(read), ()))) for read in reads
        ]
        joined = self.told.merged({self.entity_id(one.person) for one in decided})
        return [self._as_merged(one, joined) for one in decided] if joined else decided

    def _joined(self, person: Person, joined: Mapping[bytes, tuple[Person, bytes]]) -> Person:
        merged = joined.get(self.entity_id(person))
        return person if merged is None else merged[0]

    def _as_merged(self, one: Decided, joined: Mapping[bytes, tuple[Person, bytes]]) -> Decided:
        """Return a decision about the entity that a person declared the one who is meant to be."""
        merged = joined.get(self.entity_id(one.person))
        if merged is None or one.answer.is_ambiguous:
            return one
        person, record = merged
        found = one.answer
        if not found.choice.referents or one.is_trivial:
            choice = Choice((person.identity,), (_MILLION, 0), 0, is_ambiguous=False)
            spoken = one.read.asked.spoken
            found = Answer(
                person,
                choice,
                (person,),
                (),
                Reason.RESOLVED_FROM_ELIGIBLE_MEMORY,
                spoken.role,
                spoken.folded,
            )
        found = found._replace(person=person, evidence=(*found.evidence, record))
        return one._replace(person=person, answer=found)

    def _windows(self, reads: Sequence[Read], sources: pa.Table) -> dict[int, list[Turn]]:
        pronouns = [read for read in reads if read.asked.spoken.kind == "pronoun"]
        if not pronouns:
            return {}
        stored = self.told.turns({read.asked.conversation for read in pronouns})
        parts: Sequence[Turns] = turns_of(sources, stored)
        return {id(read): window(read.asked, *parts) for read in pronouns}

    def _keys(self, read: Read, turns: Sequence[Turn]) -> set[bytes]:
        """Return the keys under which the names and roles around a claim may have been introduced."""
        owner, spoken = read.asked.owner.entity_id, read.asked.spoken
        names, roles = {spoken.folded}, {spoken.role}
        if spoken.kind == "pronoun":
            texts = [*(turn.text for turn in turns), read.asked.text]
            heard = [one for text in texts for one in heard_in(text[-LONGEST:])]
            names = {fold_name(one.name) for one in heard if one.name}
            roles = {one.role for one in heard}
        found = {name_key(self.key, owner, name) for name in names if name}
        return found | {role_key(self.key, owner, role) for role in roles if role}

    def _decided(self, read: Read, found: Answer) -> Decided:
        is_pronoun = read.asked.spoken.kind == "pronoun"
        gate = read.row["gate"]
        if found.is_ambiguous:
            gate = gate or AMBIGUOUS_GATE
        elif is_pronoun and found.person is not None and gate == AMBIGUOUS_GATE:
            gate = gate_when_known(read.row, self.policy)
        is_trivial = not is_pronoun and set(found.choice.referents) <= {read.person.identity}
        return Decided(read, found.person or read.person, gate, found, is_trivial)

    def final(self, decided: Sequence[Decided]) -> list[Row]:
        """Return the candidate (no salt, first version) that each claim is now."""
        rows = [{**one.read.row, "gate": one.gate} for one in decided]
        moved = [
            place for place, one in enumerate(decided) if one.person.identity != one.read.person.identity
        ]
        if moved:
            changes = [(decided[place].read, decided[place].person, decided[place].gate) for place in moved]
            for place, row in zip(moved, self.about(changes).to_pylist(), strict=True):
                rows[place] = row
        return rows

    def about(self, changes: Sequence[tuple[Read, Person, str | None]]) -> pa.Table:
        """Return the candidates of claims that are about somebody else, behind other gates."""
        rows = [{**read.row, "gate": gate} for read, _, gate in changes]
        subjects = [Subject(person.identity, self.entity_id(person)) for _, person, _ in changes]
        names = ("format", "delivery_key", "block")
        said_in = {name: [read.source[name] for read, _, _ in changes] for name in names}
        return about(rows, subjects, source_identities(pa.table(said_in)), key=self.key)

    def mention_row(self, one: Decided, candidate: bytes) -> Row | None:
        """Return the row of `mentions` of a claim, None where its words name nobody and mean nobody else.

        candidate: id of the claim as it is now.
        """
        read, found = one.read, one.answer
        naming = introduced_by(read)
        is_naming = naming is not None and one.is_trivial
        if one.is_trivial and not is_naming and one.person == read.person:
            return None
        owner, spoken = read.asked.owner.entity_id, read.asked.spoken
        role, name = (spoken.role, spoken.folded) if is_naming else (found.role, found.name)
        is_known = is_naming or found.person is not None
        return {
            **self._place(read.row, owner),
            "candidate_id": candidate,
            "subject_id": self.entity_id(read.person),
            "name_key": None if name is None else name_key(self.key, owner, name),
            "role_key": None if role is None else role_key(self.key, owner, role),
            "referent_id": self.entity_id(read.person if is_naming else one.person) if is_known else None,
            "referents": [] if is_naming else [self.id_of(person) for person in found.choice.referents],
            "scores_ppm": [] if is_naming else list(found.choice.scores_ppm),
            "evidence": [] if is_naming else list(found.evidence),
            "reason": str(Reason.NO_REFERENCE_TO_RESOLVE if is_naming else found.reason),
        }

    def empty_row(self, one: Decided, candidate: bytes) -> Row:
        """Return the row of a claim that meant somebody else once, and now means whom it names."""
        return {
            **self._place(one.read.row, one.read.asked.owner.entity_id),
            "candidate_id": candidate,
            "subject_id": self.entity_id(one.read.person),
            **dict.fromkeys(("name_key", "role_key", "referent_id")),
            **{name: [] for name in ("referents", "scores_ppm", "evidence")},
            "reason": str(Reason.NO_REFERENCE_TO_RESOLVE),
        }

    def _naming_row(self, naming: Naming) -> Row:
        """Return the row of a claim that says how somebody is called."""
        owner, told = naming.owner.entity_id, naming.introduced
        return {
            **self._place(naming.row, owner),
            "candidate_id": naming.row["candidate_id"],
            "subject_id": self.entity_id(naming.bare),
            "name_key": name_key(self.key, owner, fold_name(told.name)),
            "role_key": role_key(self.key, owner, told.role or ""),
            "referent_id": self.entity_id(told.person),
            **{name: [] for name in ("referents", "scores_ppm", "evidence")},
            "reason": str(Reason.NO_REFERENCE_TO_RESOLVE),
        }

    def _place(self, row: Row, owner: bytes) -> Row:
        """Return what rows of `mentions` say of where a claim stands; row: the claim as it was read."""
        return {
            "mention_id": keyed_id(self.key, "mentions", row["candidate_id"]),
            "version": 1,
            **{name: row[name] for name in ("source_id", "conversation_id", "turn")},
            "spans": row["spans"][:2],
            "owner_id": owner,
            "rule": RULE,
        }

    def _rows(self, decided: Sequence[Decided], final: Sequence[Row]) -> list[Row]:
        rows = [self.mention_row(one, row["candidate_id"]) for one, row in zip(decided, final, strict=True)]
        return [row for row in rows if row is not None]

    def entity_id(self, person: Person) -> bytes:
        """Return the id of somebody's entity."""
        return self.id_of(person.identity)

    def id_of(self, identity: bytes) -> bytes:
        """Return the id of the entity of an unkeyed identity."""
        return keyed_id(self.key, "entities", identity)

    def _entities(
        self, held: pa.Table, candidates: pa.Table, mentions: Sequence[Row], people: Mapping[bytes, Row]
    ) -> pa.Table:
        """Return the entities that candidates or mentions name: those of the batch first."""
        named = set(candidates["subject_id"].to_pylist())
        for mention in mentions:
            named |= {mention["subject_id"], mention["referent_id"], *mention["referents"]}
        known = {row["entity_id"]: row for row in held.to_pylist()}
        more = {self.id_of(identity): row for identity, row in people.items()}
        rows = [row for one, row in known.items() if one in named]
        rows += [{**row, "entity_id": one} for one, row in more.items() if one in named and one not in known]
        return pa.Table.from_pylist(rows, schema=UNSALTED_ENTITIES)


def no_mentions() -> pa.Table:
    """Return an empty table of mentions, without salt."""
    return empty(UNSALTED_MENTIONS)


def mention_table(rows: Sequence[Row]) -> pa.Table:
    """Return mention `rows` as a table, each id once."""
    distinct = {row["mention_id"]: row for row in rows}
    return pa.Table.from_pylist(list(distinct.values()), schema=UNSALTED_MENTIONS)


def entity_row(person: Person, owner: Owner) -> Row:
    """Return the row of somebody's entity, first version, without its id and salt."""
    return {
        "version": 1,
        "kind": person.kind,
        "name": person.name,
        "owner_id": None if person.kind == UNOWNED else owner.entity_id,
        "is_owner": False,
        "scope_session": None,
        **dict(zip(CLAIM_SCOPE, owner.scope, strict=True)),
    }


def people_of(decided: Iterable[Decided]) -> dict[bytes, Row]:
    """Return by unkeyed identity the entities of everybody whom claims name or may mean."""
    return {
        person.identity: entity_row(person, one.read.asked.owner)
        for one in decided
        for person in (one.read.person, one.person, *one.answer.people)
    }


def _people(batch: Batch, decided: Iterable[Decided]) -> dict[bytes, Row]:
    people = people_of(decided)
    for naming in batch.namings:
        for person in (naming.bare, naming.introduced.person):
            people[person.identity] = entity_row(person, naming.owner)
    return people


def introduced_in(batch: Batch) -> list[tuple[Owner, Introduced]]:
    """Return who gets a name in a batch, with the author who gives it."""
    found = [(read.asked.owner, introduced_by(read)) for read in batch.reads]
    named = [(owner, one) for owner, one in found if one is not None]
    return [*named, *((naming.owner, naming.introduced) for naming in batch.namings)]


def _replaced(candidates: pa.Table, places: Sequence[int], rows: Sequence[Row]) -> pa.Table:
    """Return `candidates` with other rows at `places` where they differ: in their gate, or their id."""
    told = candidates.select(["candidate_id", "gate"]).take(pa.array(places, pa.int64())).to_pylist()
    others = [
        (place, row)
        for place, row, was in zip(places, rows, told, strict=True)
        if any(row[name] != value for name, value in was.items())
    ]
    if not others:
        return candidates
    made = pa.Table.from_pylist([row for _, row in others], schema=UNSALTED_CANDIDATES)
    whole = pa.concat_tables([candidates, made])
    chosen = list(range(candidates.num_rows))
    for number, (place, _) in enumerate(others):
        chosen[place] = candidates.num_rows + number
    return first_of_each(whole.take(pa.array(chosen)).combine_chunks())
