"""Read kept sources again with another extractor: what it would make of them.

Nothing is stored: a shadow run is computed when it is asked for, looked at and applied, since the same
sources, extractor and policy give the same rows.  So no second copy of anybody's words lies about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES, Builder, Built
from amos.admission.comparison import UNSALTED
from amos.admission.tombstones import Graves
from amos.clock import to_us
from amos.entities.resolve import Introduced, Owner
from amos.flow.ordering import KnownTimes
from amos.flow.paging import UNKNOWN_US, event_times
from amos.flow.prepare import UNSALTED_ENTITIES, Rules, read_claims, source_decisions
from amos.flow.referents import UNSALTED_MENTIONS, Referents, introduced_in
from amos.flow.referents_read import Batch
from amos.flow.referents_told import Told
from amos.flow.returning import cite_reread
from amos.flow.review_names import FORMAT as REVIEW
from amos.flow.sight import Sight
from amos.flow.tombstoned import hold_candidates, read_graves
from amos.flow.versions import latest
from amos.journal.store import Snapshot
from amos.schemas.columns import ID
from amos.schemas.findings import FINDINGS
from amos.schemas.state import SOURCES
from amos.schemas.vocabulary import UNSEEN, Reason, SourceFlag

BATCH = 4_096
"""Sources whose texts are held at once."""

_STORED = [name for name in SOURCES.names if name != "salt"]
_HELD = f"quarantine:{Reason.TOMBSTONED}"
_TURN_COLUMNS = ["conversation_id", "turn", "event_time"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Span:
    """Sources by event time, in microseconds: `since` <= time < `until`; None leaves an end open."""

    since_us: int | None = None
    until_us: int | None = None


@dataclass(frozen=True, kw_only=True)
class Shadow:
    """What an extractor makes of `sources` (ids), without salts.

    extractor: its name.  decisions: on plain sources without a candidate.  plain: ids of the sources whose
    decision depends on the extractor alone; a screen decided the others.  refused: candidates that a
    tombstone keeps out.  mentions: whom the candidates are about, and why.
    """

    extractor: str
    sources: pa.Array
    candidates: pa.Table
    decisions: pa.Table
    entities: pa.Table
    plain: pa.Array
    refused: pa.Table
    mentions: pa.Table


class _Proposed(NamedTuple):
    """What an extractor read in a batch of sources (ids), before it is told whom it is about."""

    ids: pa.Array
    built: Built
    notes: pa.Table
    batch: Batch


def choose_sources(sight: Sight, span: Span) -> pa.Array:
    """Return the ids of the sources in sight whose event time lies in `span`; sorted.

    A source of unknown time is chosen only where no end is given.
    """
    rows = sight.current("sources", ["source_id", "event_time", "format"])
    rows = rows.filter(pc.not_equal(rows["format"], REVIEW))  # what reviewers wrote is decided by them
    times = event_times(rows["event_time"])
    chosen = np.ones(len(times), np.bool_)
    if span.since_us is not None or span.until_us is not None:
        chosen &= times != UNKNOWN_US
    if span.since_us is not None:
        chosen &= times >= span.since_us
    if span.until_us is not None:
        chosen &= times < span.until_us
    ids = rows["source_id"].filter(pa.array(chosen)).to_pylist()
    return pa.array(sorted(ids), ID)


def read_shadow(
    snapshot: Snapshot,
    sources: pa.Array,
    *,
    rules: Rules,
    key: bytes,
    now: datetime,
    progress: Progress | None = None,
) -> Shadow:
    """Return what the extractor of `rules` makes of the stored `sources` (ids)."""
    graves = read_graves(snapshot, key, now)
    told = Told(snapshot=snapshot, key=key, unread=frozenset(sources.to_pylist()))
    referents = Referents(key=key, policy=rules.policy, told=told)
    proposed = []
    for place in range(0, len(sources), BATCH):
        batch = sources.slice(place, BATCH)
        proposed.append(_propose_batch(snapshot, batch, referents, rules=rules, key=key))
        if progress is not None:
            progress(place + len(batch), len(sources))
    introduced = [pair for one in proposed for pair in introduced_in(one.batch)]
    parts = [
        _settle_batch(snapshot, one, introduced, referents, graves, rules=rules, now=now) for one in proposed
    ]
    candidates = _joined([part.candidates for part in parts], UNSALTED_CANDIDATES)
    return Shadow(
        extractor=rules.extractor.name,
        sources=sources,
        candidates=_with_order_times(snapshot, candidates),
        decisions=_joined([part.decisions for part in parts], UNSALTED["decisions"]),
        entities=_joined([part.entities for part in parts], UNSALTED_ENTITIES),
        plain=pa.concat_arrays([pa.array([], ID), *(part.plain for part in parts)]),
        refused=_joined([part.refused for part in parts], UNSALTED_CANDIDATES),
        mentions=_joined([part.mentions for part in parts], UNSALTED_MENTIONS),
    )


def _joined(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *tables]).combine_chunks()


def _rows(snapshot: Snapshot, ids: pa.Array) -> pa.Table:
    held = latest(snapshot.lookup("sources", "source_id", ids, _STORED), "sources")
    return held.take(pc.index_in(ids, value_set=held["source_id"].combine_chunks()))


def _propose_batch(
    snapshot: Snapshot, ids: pa.Array, referents: Referents, *, rules: Rules, key: bytes
) -> _Proposed:
    rows = _rows(snapshot, ids)
    claims, notes = read_claims(rows, rules)
    builder = Builder(key=key, policy=rules.policy, extractor=rules.extractor.name)
    built = builder.build(claims, rows, _conversation_keys(snapshot, rows))
    return _Proposed(ids, built, notes, referents.read(built, rows))


def _settle_batch(
    snapshot: Snapshot,
    proposed: _Proposed,
    introduced: Sequence[tuple[Owner, Introduced]],
    referents: Referents,
    graves: Graves,
    *,
    rules: Rules,
    now: datetime,
) -> Shadow:
    """Return what is made of a batch; introduced: who is in any batch of the run."""
    ids, built, notes, batch = proposed
    rows, key = _rows(snapshot, ids), referents.key
    referred = referents.settled(built, batch, rows, introduced)
    built = Built(referred.candidates, referred.entities)
    candidates, refused = _without_forgotten(hold_candidates(built.candidates, rows), graves)
    plain = _plain(rows)
    decided = source_decisions(
        rows, built._replace(candidates=candidates), notes, FINDINGS.empty_table(),
        rules=rules, key=key, now=now,
    )  # fmt: skip
    candidates, decided = cite_reread(candidates, decided, rows, graves.over)
    return Shadow(
        extractor=rules.extractor.name,
        sources=ids,
        candidates=candidates,
        decisions=decided.filter(pc.is_in(decided["source_id"], value_set=plain)),
        entities=built.entities,
        plain=plain,
        refused=refused,
        mentions=referred.mentions,
    )


def _conversation_keys(snapshot: Snapshot, rows: pa.Table) -> pa.Array:
    """Return the conversation key of each source row."""
    ids = rows["conversation_id"].combine_chunks()
    names = ["conversation_id", "version", "conversation_key"]
    held = latest(snapshot.lookup("conversations", "conversation_id", ids.unique(), names), "conversations")
    places = pc.index_in(ids, value_set=held["conversation_id"].combine_chunks())
    return held["conversation_key"].combine_chunks().take(places)


def _plain(rows: pa.Table) -> pa.Array:
    """Return the ids of sources that nothing was cut from or withheld of: extraction alone decides them."""
    flags = rows["flags"].to_numpy()
    retained = rows["may_retain"].to_numpy(zero_copy_only=False)
    is_plain = retained & ((flags & (SourceFlag.CUT | UNSEEN)) == 0)
    return rows["source_id"].combine_chunks().filter(pa.array(is_plain))


def _without_forgotten(candidates: pa.Table, graves: Graves) -> tuple[pa.Table, pa.Table]:
    """Return the candidates that may stand, those for a reviewer gated, and those that may not return."""
    if graves.is_empty or candidates.num_rows == 0:
        return candidates, candidates.slice(0, 0)
    gates: list[str | None] = candidates["gate"].to_pylist()
    stays = np.ones(candidates.num_rows, np.bool_)
    columns = (candidates[name].to_pylist() for name in ("claim_id", "event_time"))
    for row, (claim, at) in enumerate(zip(*columns, strict=True)):
        rule = graves.claim(claim)
        verdict = None if rule is None else rule.verdict(None if at is None else to_us(at))
        stays[row] = verdict != "cut"
        if verdict == "hold" and gates[row] is None:
            gates[row] = _HELD
    place = candidates.schema.get_field_index("gate")
    field = candidates.schema.field("gate")
    candidates = candidates.set_column(place, field, pa.array(gates, field.type))
    return candidates.filter(pa.array(stays)), candidates.filter(pa.array(~stays))


def _with_order_times(snapshot: Snapshot, candidates: pa.Table) -> pa.Table:
    """Return the candidates with the order times of their untimed turns."""
    untimed = candidates.filter(pc.is_null(candidates["event_time"]))["conversation_id"]
    if not len(untimed):
        return candidates
    talks = untimed.combine_chunks().unique()
    turns = latest(
        snapshot.lookup("sources", "conversation_id", talks, ["source_id", "revision", *_TURN_COLUMNS]),
        "sources",
    )
    return KnownTimes(turns).applied(candidates)[0]
