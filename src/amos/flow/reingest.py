"""Bring the sources of an export into a store through the ordinary door: read, screened, decided anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.reviewed import REVIEWER
from amos.evidence.capture import identify_sources
from amos.extraction.grammar import GRAMMARS
from amos.flow import outcome_names
from amos.flow.review_names import FORMAT
from amos.flow.streaming import Held, newest_rows
from amos.flow.versions import latest
from amos.journal.store import Shard
from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.findings import FINDINGS
from amos.schemas.raw import RAW
from amos.schemas.vocabulary import Outcome, Reason, SourceFlag
from amos.sources.block import Batch

BATCH_ROWS = 8_192
_REPEATED = pa.array([FORMAT, outcome_names.FORMAT])
"""Formats of records that are repeated once their cases are there: see review_import, outcome_import."""
_AS_THEY_ARE = (
    "format", "block", "kind", "role", "trust", "author", "is_owner", "channel", "zone", "is_zone_assumed",
    "session", "turn", "reply_to", *(f"scope_{name}" for name in SCOPE_NAMES), "may_retain", "purposes",
    "locator", "extra",
)  # fmt: skip
_MADE_HERE = {
    str(reason)
    for reason in (
        Reason.UNAUTHORIZED_SCOPE,
        Reason.DELIVERY_CONFLICT,
        Reason.TOMBSTONED,
        Reason.REJECTED_BY_REVIEWER,
    )
}
"""Reasons of refused sources that a new decision finds by itself, or that are of this store alone.

What people decided is repeated after the sources came in.
"""

SOURCE_COLUMNS = [
    "source_id", "revision", "delivery_key", "content", "content_digest", "event_time", "event_text",
    "conversation_id", "flags", "revises", *_AS_THEY_ARE,
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the sources of an export need beside their own rows.

    talks: key and title by conversation id.  cuts: reasons for which a text was cut before it was
    stored, by format, delivery key and block.  kept: ids of the sources that are there.
    """

    talks: Mapping[bytes, tuple[str, str | None]]
    kept: pa.Array
    cuts: dict[tuple[str, str, int], list[str]] = field(default_factory=dict)

    def findings(self, raw: pa.Table) -> pa.Table:
        """Return the cuts that were made in the rows of `raw` before they came here."""
        rows = []
        keys = zip(*(raw[name].to_pylist() for name in ("format", "record_key", "block")), strict=True)
        for row, key in enumerate(keys):
            for number, reason in enumerate(self.cuts.get(key, ())):
                rows.append(
                    {"source_row": row, "field": "content", "start": 0, "end": 0,
                     "rule": f"earlier_{number:02d}", "action": "cut", "reason": reason}
                )  # fmt: skip
        return pa.Table.from_pylist(rows, FINDINGS) if rows else FINDINGS.empty_table()


def read_told(held: Held) -> Told:
    """Return what stands beside the sources of an export."""
    talks = {}
    for rows in held.groups("conversations", ["conversation_id", "conversation_key", "title", "version"]):
        for row in rows.to_pylist():  # in commit order: the last version stays
            talks[row["conversation_id"]] = (row["conversation_key"], row["title"])
    ids = [rows["source_id"].combine_chunks() for rows in held.groups("sources", ["source_id"])]
    told = Told(talks=talks, kept=pa.concat_arrays(ids) if ids else pa.array([], pa.binary(16)))
    reasons = _cut_reasons(held)
    if reasons:
        names = ["source_id", "format", "delivery_key", "block"]
        for rows in held.groups("sources", names):
            for row in rows.to_pylist():
                if row["source_id"] in reasons:
                    key = (row["format"], row["delivery_key"], row["block"])
                    told.cuts[key] = reasons[row["source_id"]]
    return told


def _cut_reasons(held: Held) -> dict[bytes, list[str]]:
    """Return the reasons of refused sources, newest decision first of all, by source id."""
    found: dict[bytes, tuple[int, str, list[str]]] = {}
    columns = ["source_id", "candidate_id", "outcome", "reasons", "version"]
    for rows in held.groups("decisions", columns):
        of_sources = rows.filter(pc.is_null(rows["candidate_id"]))
        for row in of_sources.to_pylist():
            if row["version"] >= found.get(row["source_id"], (0,))[0]:
                found[row["source_id"]] = (row["version"], row["outcome"], row["reasons"])
    return {
        source: reasons
        for source, (_, outcome, reasons) in found.items()
        if outcome == Outcome.REJECT and not _MADE_HERE.intersection(reasons)
    }


def raw_rows(sources: pa.Table, told: Told) -> pa.Table:
    """Return stored sources as a reader would yield them.  Edits go back to the key that they revise."""
    is_edit = edits_among(sources, told)
    event_us = sources["event_time"].cast(pa.int64())
    keys = [
        key.rpartition("@")[0] if edited else key
        for key, edited in zip(sources["delivery_key"].to_pylist(), is_edit.tolist(), strict=True)
    ]
    edited = pa.array(is_edit)
    flags = sources["flags"].to_numpy().copy()
    flags[is_edit] &= ~int(SourceFlag.EDITED)
    talks = [told.talks.get(talk, (talk.hex(), None)) for talk in sources["conversation_id"].to_pylist()]
    columns: dict[str, Any] = {
        **{name: sources[name] for name in _AS_THEY_ARE},
        "record_key": pa.array(keys, pa.string()),
        "text": sources["content"],
        "event_us": event_us,
        "event_text": sources["event_text"],
        "conversation_key": pa.array([key for key, _ in talks], pa.string()),
        "conversation_title": pa.array([title for _, title in talks], pa.string()),
        "flags": pa.array(flags, pa.int32()),
        "revised_us": pc.if_else(edited, event_us, pa.scalar(None, pa.int64())),
    }
    return pa.table([columns[name] for name in RAW.names], names=RAW.names).cast(RAW).combine_chunks()


def edits_among(sources: pa.Table, told: Told) -> np.ndarray:
    """Return which rows are edits of a source that is in the export too."""
    known = pc.is_in(sources["revises"], value_set=told.kept)
    held = pc.and_(pc.is_valid(sources["revises"]), known)
    found: np.ndarray = held.to_numpy(zero_copy_only=False)
    return found


@dataclass(kw_only=True)
class Reading:
    """The sources of an export as batches for one shard; what the shard has already is only counted."""

    shard: Shard
    held: Held
    told: Told
    label: str
    linked: int = 0

    def batches(self) -> Iterator[Batch]:
        """Yield what is new: messages first, then the edits that revise them."""
        yield from self._batches(lambda is_edit: ~is_edit)
        yield from self._batches(lambda is_edit: is_edit)

    def _batches(self, choose: Callable[[np.ndarray], np.ndarray]) -> Iterator[Batch]:
        for sources in _in_pieces(newest_rows(self.held, "sources", SOURCE_COLUMNS)):
            is_told = pc.is_in(sources["format"], value_set=_REPEATED)
            sources = sources.filter(pc.invert(is_told))
            chosen = sources.filter(pa.array(choose(edits_among(sources, self.told))))
            fresh = chosen.filter(pa.array(self._is_new(chosen)))
            self.linked += _records(chosen) - _records(fresh)
            if fresh.num_rows:
                raw = raw_rows(fresh, self.told)
                yield Batch(
                    blocks=[], problems=[], record_count=_records(fresh), format=self.label,
                    bytes_read=pc.sum(pc.binary_length(raw["text"])).as_py(), tables=[raw],
                )  # fmt: skip

    def _is_new(self, sources: pa.Table) -> np.ndarray:
        """Return which sources the shard does not have, or has with another text that nobody cut."""
        named = sources.rename_columns(
            ["record_key" if name == "delivery_key" else name for name in sources.column_names]
        )
        ids = identify_sources(named, self.shard.key)
        with self.shard.pin() as snapshot:
            columns = ["source_id", "revision", "content_digest", "flags"]
            rows = latest(snapshot.lookup("sources", "source_id", ids, columns), "sources")
        texts = zip(rows["content_digest"].to_pylist(), rows["flags"].to_pylist(), strict=True)
        stored = dict(zip(rows["source_id"].to_pylist(), texts, strict=True))
        cells = zip(
            ids.to_pylist(), sources["content_digest"].to_pylist(), sources["flags"].to_pylist(), strict=True
        )
        return np.array([_is_other(stored.get(one), digest, flags) for one, digest, flags in cells], np.bool_)


def _is_other(stored: tuple[bytes, int] | None, digest: bytes, flags: int) -> bool:
    if stored is None:
        return True
    is_cut = bool((stored[1] | flags) & SourceFlag.CUT)
    return stored[0] != digest and not is_cut


def _records(sources: pa.Table) -> int:
    return int(pc.count_distinct(sources["locator"]).as_py()) if sources.num_rows else 0


def _in_pieces(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    for part in parts:
        for start in range(0, part.num_rows, BATCH_ROWS):
            yield part.slice(start, BATCH_ROWS).combine_chunks()


def extractor_of(held: Held) -> str | None:
    """Return the shipped extractor that read everything in an export, None where several did, or another."""
    names: set[str] = set()
    for rows in newest_rows(held, "decisions", ["extractor"]):
        names.update(rows["extractor"].unique().to_pylist())
    names.discard(REVIEWER)
    (only,) = names if len(names) == 1 else (None,)
    return only if only in GRAMMARS else None


def undecidable(held: Held, *, reviews_refused: int, outcomes_refused: int) -> dict[str, int]:
    """Return what of an export no new decision over its sources can arrive at, with its rows."""
    cut = refused = 0
    for rows in held.groups("sources", ["revision"]):
        cut += pc.sum(pc.greater(rows["revision"], 1)).as_py() or 0
    for rows in held.groups("decisions", ["reasons"]):
        firsts = pc.list_element(
            rows.filter(pc.greater(pc.list_value_length(rows["reasons"]), 0))["reasons"], 0
        )
        refused += pc.sum(pc.equal(firsts, str(Reason.DELIVERY_CONFLICT))).as_py() or 0
    found = {
        "sources cut by an erasure": cut,
        "refused deliveries": refused,
        "decisions of a reviewer": reviews_refused,
        "outcomes of packets": outcomes_refused,
    }
    return {name: count for name, count in found.items() if count}


def export_name(path: Path) -> str:
    """Return the word under which a receipt counts what came from an export."""
    return f"amos:{path.name}"
