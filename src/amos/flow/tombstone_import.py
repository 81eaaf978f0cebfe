"""Let the bans of an export stand in a store: those that its key made, for no other key can apply them."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.tombstones import UNSALTED_TOMBSTONES, tombstone_id
from amos.flow.standing import standing_bans
from amos.flow.streaming import Held
from amos.flow.versions import latest
from amos.journal.store import Shard


class Bans(NamedTuple):
    """Tombstones of an export.  lacking: rows that a store can take and does not have.

    foreign: how many bans stand there under another key.  base: the version of the store.
    """

    lacking: pa.Table
    foreign: int
    base: int


def read_bans(held: Held, shard: Shard, now_us: int) -> Bans:
    """Return the tombstones of an export as a shard sees them: its key tells which are its own."""
    names = UNSALTED_TOMBSTONES.names
    parts = [rows.cast(UNSALTED_TOMBSTONES) for rows in held.groups("tombstones", names)]
    rows = pa.concat_tables([UNSALTED_TOMBSTONES.empty_table(), *parts])
    cells = zip(*(rows[name].to_pylist() for name in ("tombstone_id", "kind", "digest")), strict=True)
    own = pa.array([one == tombstone_id(kind, digest, shard.key) for one, kind, digest in cells], pa.bool_())
    with shard.pin() as snapshot:
        base = snapshot.version
        ours = snapshot.table("tombstones", ["tombstone_id", "version"])
    known = set(zip(ours["tombstone_id"].to_pylist(), ours["version"].to_pylist(), strict=True))
    found = zip(rows["tombstone_id"].to_pylist(), rows["version"].to_pylist(), strict=True)
    fresh = pa.array([one not in known for one in found], pa.bool_())
    foreign = latest(rows.filter(pc.invert(own)), "tombstones")
    return Bans(rows.filter(pc.and_(own, fresh)), standing_bans(foreign, now_us), base)
