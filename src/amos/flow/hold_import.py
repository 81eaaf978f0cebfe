"""Place in one store the legal holds of another: they come along with an export.

A reference is that of the store that the hold was placed in; it is followed through the unkeyed identity of
what it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import to_us
from amos.evidence.capture import identify_sources
from amos.flow import outcome_names, review_names
from amos.flow.digest_ids import CLAIM, ENTITY, UnkeyedIds
from amos.flow.forget_holds import note_hold
from amos.flow.held_rows import HeldRows, all_rows, chosen_rows, stored_rows
from amos.flow.printed import shown_hold
from amos.flow.streaming import Held
from amos.identity import id_text, keyed_id, parse_ref, prefix_range, random_id
from amos.journal.events import EventNotice
from amos.journal.holds import hold_digest
from amos.journal.store import Shard, Snapshot
from amos.schemas.catalog import HoldEntry
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS

_SOURCE = ["source_id", "revision", "format", "delivery_key", "block"]
_CONVERSATION = ["conversation_id", "version", "format", "conversation_key"]
_RECORDS = pa.array([review_names.FORMAT, outcome_names.FORMAT])


class HeldWithHolds(Held, Protocol):
    """An export that tells of legal holds."""

    def holds(self) -> list[HoldEntry]:
        """Return the holds, released ones too."""


@dataclass(kw_only=True)
class RepeatingHolds:
    """Carries the standing holds of an export over to a shard that has its messages, as of now."""

    shard: Shard
    held: HeldWithHolds
    actor: str
    now: datetime
    placed: int = 0
    linked: int = 0
    refused: list[HoldEntry] = field(default_factory=list)

    def repeat(self) -> None:
        """Place those of the holds that are not known here; one that was released here stays released.

        One is refused where nothing here is what it protects, or more than the export is.
        """
        standing = [hold for hold in self.held.holds() if hold.released_us is None]
        if not standing:
            return
        known = {hold.hold_id for hold in self.shard.holds()}
        fresh = [hold for hold in standing if hold.hold_id not in known]
        self.linked = len(standing) - len(fresh)
        for hold, ref in self._refs(fresh):
            if ref is None:
                self.refused.append(hold)
            else:
                self._place(hold._replace(ref=ref, placed_us=to_us(self.now)))

    @property
    def told(self) -> dict[str, Any]:
        """How many were placed, known here, refused; `lost` are those that were refused, as printed."""
        counts = {"repeated": self.placed, "linked": self.linked, "refused": len(self.refused)}
        return {**counts, "lost": [shown_hold(hold) for hold in self.refused]}

    def _place(self, hold: HoldEntry) -> None:
        terms = hold_digest(hold, self.shard.key)
        said = {"hold": id_text("holds", hold.hold_id), "kind": hold.kind, "terms": terms}
        notice = EventNotice("hold_placed", said)
        note_hold(self.shard, notice, hold, actor=self.actor, run_id=random_id(), now=self.now)
        self.placed += 1

    def _refs(self, holds: Sequence[HoldEntry]) -> list[tuple[HoldEntry, str | None]]:
        """Return each hold with the reference here of what it protects, None where there is none."""
        with self.shard.pin() as snapshot:
            here = _refs_here(self.held, holds, self.shard.key)
            found: list[tuple[HoldEntry, str | None]] = []
            for hold in holds:
                if hold.kind == "scope":
                    found.append((hold, hold.ref))
                elif hold.kind == "all":
                    found.append((hold, "" if _is_all_of(snapshot, self.held, self.shard.key) else None))
                else:
                    ref = here.get((hold.kind, hold.ref))
                    found.append((hold, ref if ref and _stands(snapshot, hold.kind, ref) else None))
        return found


def _refs_here(held: Held, holds: Sequence[HoldEntry], key: bytes) -> dict[tuple[str, str], str]:
    """Return by table and reference there the reference here of what holds protect."""
    wanted: dict[str, dict[bytes, str]] = {}
    for hold in holds:
        if hold.kind in PRIMARY_KEYS:
            wanted.setdefault(hold.kind, {})[prefix_range(parse_ref(hold.ref)[1])[0]] = hold.ref
    if not wanted:
        return {}
    ids = {name: pa.array(sorted(wanted.get(name, ())), ID) for name in _NAMED}
    claims = chosen_rows(held, "atoms", ["version", "atom_id", *CLAIM], "atom_id", ids["atoms"])
    sources = chosen_rows(held, "sources", _SOURCE, "source_id", ids["sources"])
    talks = chosen_rows(held, "conversations", _CONVERSATION, "conversation_id", ids["conversations"])
    tables = {
        "atoms": claims.filter(pc.is_valid(claims["payload"])),  # withheld ones come without
        "candidates": stored_rows("candidates", ["candidate_id", "claim_id", *CLAIM]),
        "conversations": talks.filter(pc.invert(pc.is_in(talks["format"], value_set=_RECORDS))),
        "entities": all_rows(held, "entities", ENTITY),
        "sources": sources.filter(pc.invert(pc.is_in(sources["format"], value_set=_RECORDS))),
    }
    unkeyed = UnkeyedIds(HeldRows(tables))
    found = {}
    for table, refs in wanted.items():
        identities = _NAMED[table](unkeyed, ids[table]).to_pylist()
        for one, identity in zip(ids[table].to_pylist(), identities, strict=True):
            if identity is not None:
                found[table, refs[one]] = id_text(table, keyed_id(key, table, identity))
    return found


_NAMED = {
    "atoms": UnkeyedIds.claims,
    "conversations": UnkeyedIds.conversations,
    "entities": UnkeyedIds.entities,
    "sources": UnkeyedIds.sources,
}
"""What names the rows of a table whatever the key."""


def _stands(snapshot: Snapshot, table: str, ref: str) -> bool:
    identifier = pa.array([prefix_range(parse_ref(ref)[1])[0]], ID)
    key = PRIMARY_KEYS[table]
    return bool(snapshot.lookup(table, key, identifier, [key]).num_rows)


def _is_all_of(snapshot: Snapshot, held: Held, key: bytes) -> bool:
    """Return whether every source here is one of the export."""
    own = [rows["source_id"] for rows in snapshot.groups("sources", ["source_id"])]
    names = ["format", "delivery_key", "block"]
    raw = (rows.rename_columns(["format", "record_key", "block"]) for rows in held.groups("sources", names))
    theirs = [identify_sources(rows, key) for rows in raw]
    known = pa.concat_arrays([pa.array([], ID), *theirs])
    return all(pc.all(pc.is_in(ids, value_set=known)).as_py() is not False for ids in own)
