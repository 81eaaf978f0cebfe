"""What a store holds about people: who was introduced, and the turns around a claim."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import cells
from amos.entities.resolve import WINDOW, Asked, Introduced, Person, Turn
from amos.entities.spoken import is_name, spoken_of
from amos.flow.digest_ids import entity_identities
from amos.flow.merges import Merged, merges_of
from amos.flow.referents_read import is_introducing, order_of
from amos.flow.versions import latest
from amos.identity import keyed_id, unkeyed_identity
from amos.journal.store import Snapshot
from amos.schemas.columns import ID
from amos.schemas.vocabulary import WITHDRAWN, Reason, SourceFlag, Trust

_TURN = ["source_id", "revision", "conversation_id", "turn", "block", "kind", "trust", "flags", "author_id",
         "author", "content"]  # fmt: skip
_SILENT = int(
    SourceFlag.OFF_THREAD
    | SourceFlag.HIDDEN
    | SourceFlag.SIDECHAIN
    | SourceFlag.MARKUP_ONLY
    | SourceFlag.INSTRUCTION_SHAPED
    | SourceFlag.NOT_A_MESSAGE
    | SourceFlag.WITHHELD
)
"""Flags of messages in which nobody is spoken of who may be meant later."""
Row = dict[str, Any]


@lru_cache(maxsize=1 << 12)
def name_key(key: bytes, owner: bytes, name: str) -> bytes:
    """Return the key of a folded name that an author (id) uses."""
    return keyed_id(key, "names", unkeyed_identity((owner, "name", name)))


@lru_cache(maxsize=1 << 12)
def role_key(key: bytes, owner: bytes, role: str) -> bytes:
    """Return the key of a role that an author (id) speaks of."""
    return keyed_id(key, "names", unkeyed_identity((owner, "role", role)))


class Turns:
    """Messages of some conversations by turn: which stand in the window before a claim."""

    def __init__(self, sources: pa.Table) -> None:
        """Sources: rows with the columns of `_TURN`."""
        flags = sources["flags"].to_numpy()
        is_speech = pc.and_(
            pc.equal(sources["kind"], "text"),
            pc.is_in(sources["trust"], value_set=pa.array([str(Trust.TRUSTED_USER), str(Trust.AGENT)])),
        ).to_numpy(zero_copy_only=False)
        self._rows = sources.select(_TURN).filter(pa.array(is_speech & ((flags & _SILENT) == 0)))
        self._places: dict[bytes, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def _of(self, conversation: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the turns of a conversation, ascending, and their rows."""
        known = self._places.get(conversation)
        if known is None:
            same = pc.equal(self._rows["conversation_id"], pa.scalar(conversation, ID))
            rows = np.flatnonzero(same.to_numpy(zero_copy_only=False))
            turns = self._rows["turn"].to_numpy()[rows]
            order = np.argsort(turns, kind="stable")
            known = self._places[conversation] = turns[order], rows[order]
        return known

    def before(self, asked: Asked) -> list[Turn]:
        """Return the messages in the window before a claim, in no particular order."""
        turns, rows = self._of(asked.conversation)
        first, after = np.searchsorted(turns, (asked.turn - WINDOW, asked.turn + 1))
        if first == after:
            return []
        found = self._rows.take(pa.array(rows[first:after])).to_pylist()
        return [
            _turn(row)
            for row in found
            if row["source_id"] != asked.source and (row["turn"], row["block"]) < (asked.turn, asked.block)
        ]


def _turn(row: Row) -> Turn:
    return Turn(
        source=row["source_id"],
        turn=row["turn"],
        block=row["block"],
        speaker=row["author_id"],
        called=row["author"],
        is_agent=row["trust"] == Trust.AGENT,
        text=row["content"],
    )


def window(asked: Asked, *parts: Turns) -> list[Turn]:
    """Return the messages before a claim in several parts of its conversation, each once, in order."""
    found = {turn.source: turn for part in parts for turn in part.before(asked)}
    return sorted(found.values(), key=lambda turn: (turn.turn, turn.block, turn.source))


class NothingTold:
    """Answers where nothing is stored."""

    def introduced(self, keys: Collection[bytes]) -> list[Introduced]:  # noqa: ARG002
        """Return nobody."""
        return []

    def named(self, keys: Collection[bytes]) -> set[bytes]:  # noqa: ARG002
        """Return no keys."""
        return set()

    def merged(self, ids: Collection[bytes]) -> dict[bytes, tuple[Person, bytes]]:  # noqa: ARG002
        """Return nobody."""
        return {}

    def turns(self, conversations: Collection[bytes]) -> Turns | None:  # noqa: ARG002
        """Return no turns."""
        return None


@dataclass(frozen=True, kw_only=True)
class Told:
    """Answers from one pinned version.

    unread, gone: sources whose claims count for nothing, and those that were never said.  lost: candidates
    that count for nothing.  revised: rows of sources that have other texts by now.  key: of the shard, by
    which merges are found.  joined: merges that are about to be recorded, None for those taken back.
    """

    snapshot: Snapshot
    unread: frozenset[bytes] = frozenset()
    gone: frozenset[bytes] = frozenset()
    lost: frozenset[bytes] = frozenset()
    revised: pa.Table | None = None
    key: bytes | None = None
    joined: Mapping[bytes, Merged | None] = field(default_factory=dict)

    def merged(self, ids: Collection[bytes]) -> dict[bytes, tuple[Person, bytes]]:
        """Return for those of some entities that are others whom they are, and the record that says so."""
        if self.key is None or not ids:
            return {}
        found = merges_of(self.snapshot, ids, self.key)
        for one, merged in self.joined.items():
            found.pop(one, None)
            if merged is not None and one in ids:
                found[one] = merges_of(self.snapshot, [merged.into], self.key).get(merged.into, merged)
        found = {one: merged for one, merged in found.items() if merged.record not in self.gone}
        if not found:
            return {}
        entities = self.entities({merged.into for merged in found.values()})
        identities = entity_identities(entities)
        called = {row["entity_id"]: row for row in entities.to_pylist()}
        return {
            one: (Person(identities[merged.into], called[merged.into]["kind"], called[merged.into]["name"]),
                  merged.record)
            for one, merged in found.items()
            if merged.into in called
        }  # fmt: skip

    def introduced(self, keys: Collection[bytes]) -> list[Introduced]:
        """Return who was introduced under some of the keys of names and roles."""
        if not keys or self.snapshot.row_count("mentions") == 0:
            return []
        rows = [row for row in self.mentions(keys) if _is_naming(row)]
        standing = self.standing({row["source_id"] for row in rows})
        rows = [row for row in rows if is_introducing(standing.get(row["candidate_id"], _NOBODY))]
        if not rows:
            return []
        ids = {one for row in rows for one in (row["referent_id"], row["owner_id"])}
        entities = self.entities(ids)
        identities = entity_identities(entities)
        called = {row["entity_id"]: row for row in entities.to_pylist()}
        found = []
        for row in rows:
            person = called.get(row["referent_id"])
            if person is not None and row["owner_id"] in identities:
                found.append(_introduced(row, person, identities, standing[row["candidate_id"]]))
        return found

    def named(self, keys: Collection[bytes]) -> set[bytes]:
        """Return those of some keys of names under which somebody was ever mentioned."""
        if not keys or self.snapshot.row_count("mentions") == 0:
            return set()
        wanted = pa.array(sorted(keys), ID)
        return set(cells(self.snapshot.lookup("mentions", "name_key", wanted, ["name_key"])["name_key"]))

    def mentions(self, keys: Collection[bytes]) -> list[Row]:
        """Return the current mentions under some of the keys."""
        wanted = pa.array(sorted(keys), ID)
        parts = [
            self.snapshot.lookup("mentions", column, wanted, ["mention_id"])
            for column in ("name_key", "role_key")
        ]
        return self.mentions_by_id(pa.concat_tables(parts)["mention_id"].combine_chunks().unique())

    def mentions_by_id(self, ids: pa.Array) -> list[Row]:
        """Return the current mentions of some ids."""
        return list(latest(self.snapshot.lookup("mentions", "mention_id", ids), "mentions").to_pylist())

    def standing(self, sources: Collection[bytes]) -> dict[bytes, Row]:
        """Return the current candidates of some sources by id; none whose place another reading took."""
        rows = latest(
            self.snapshot.lookup("candidates", "source_id", pa.array(sorted(sources), ID)), "candidates"
        )
        left = self.unread | self.gone
        return {
            row["candidate_id"]: row
            for row in rows.to_pylist()
            if row["gate"] != WITHDRAWN
            and row["source_id"] not in left
            and row["candidate_id"] not in self.lost
        }

    def entities(self, ids: Collection[bytes]) -> pa.Table:
        """Return the current entities of some ids, and whom they belong to."""
        rows = self.snapshot.lookup("entities", "entity_id", pa.array(sorted(ids), ID))
        owners = rows["owner_id"].drop_null().combine_chunks().cast(ID).unique()
        whole = pa.concat_tables([rows, self.snapshot.lookup("entities", "entity_id", owners)])
        return latest(whole, "entities")

    def turns(self, conversations: Collection[bytes]) -> Turns | None:
        """Return the stored messages of some conversations."""
        if self.snapshot.version == 0:
            return None
        wanted = pa.array(sorted(conversations), ID)
        rows = latest(self.snapshot.lookup("sources", "conversation_id", wanted, _TURN), "sources")
        if self.gone:
            rows = rows.filter(pc.invert(pc.is_in(rows["source_id"], value_set=pa.array(self.gone, ID))))
        if self.revised is not None and self.revised.num_rows:
            ids = self.revised["source_id"].combine_chunks()
            kept = rows.filter(pc.invert(pc.is_in(rows["source_id"], value_set=ids)))
            same = self.revised.filter(pc.is_in(ids, value_set=rows["source_id"].combine_chunks()))
            rows = pa.concat_tables([kept.select(_TURN), same.select(_TURN).cast(kept.select(_TURN).schema)])
        return Turns(rows)


_NOBODY: Row = {"gate": WITHDRAWN}


def _is_naming(row: Row) -> bool:
    """Tell whether a mention says how somebody is called, rather than only who is meant."""
    return row["name_key"] is not None and row["reason"] == Reason.NO_REFERENCE_TO_RESOLVE


def _introduced(row: Row, person: Row, identities: dict[bytes, bytes], candidate: Row) -> Introduced:
    spoken = spoken_of(person["kind"], person["name"])
    name = (spoken.name if spoken is not None else None) or person["name"]
    is_own = spoken is not None and spoken.kind == "name"
    return Introduced(
        owner=identities[row["owner_id"]],
        role=None if spoken is None else spoken.role,
        name=name,
        person=Person(identities[row["referent_id"]], person["kind"], person["name"]),
        order=order_of(candidate),
        conversation=row["conversation_id"],
        turn=row["turn"],
        source=row["source_id"],
        is_part=is_own and is_name(name),
    )


def turns_of(batch: pa.Table, stored: Turns | None) -> Sequence[Turns]:
    """Return the parts of conversations that a batch and the store hold."""
    return [Turns(batch), *([stored] if stored is not None else [])]
