"""What an act of forgetting is about: claims by reference or subject, sources by everything else."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.errors import UsageError
from amos.flow.claims import labels_of
from amos.flow.instants import instant_us
from amos.flow.versions import latest
from amos.identity import id_text, parse_ref, prefix_range
from amos.journal.store import Snapshot
from amos.schemas.columns import ID
from amos.schemas.labels import LABELLED
from amos.schemas.state import PRIMARY_KEYS

TOO_WIDE, AMBIGUOUS = "selection_too_wide", "selection_ambiguous"
"""Codes of selections that name something, and are refused all the same."""

LONGEST_CODE = 64
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class ForgetRequest:
    """What shall be forgotten, and on which terms.

    refs: printed references, all of which go.  The other selectors narrow one another; those of scope
    mean rows of exactly this value.  since, until: event time, half-open.  mentions: claims about others
    that name a subject go too.
    """

    refs: tuple[str, ...] = ()
    subject: str | None = None
    source: str | None = None
    conversation: str | None = None
    scope: Mapping[str, str] = field(default_factory=dict)
    since: str | None = None
    until: str | None = None
    run: str | None = None
    is_all: bool = False
    keep_evidence: bool = False
    recreation: str = "forbid"
    expires: str | None = None
    suppress: bool = False
    mentions: bool = False
    reason: str = "user_request"

    @property
    def has_filter(self) -> bool:
        """Whether sources are chosen by what they have in common."""
        return any((self.source, self.conversation, self.scope, self.since, self.until, self.run))

    @property
    def names_something(self) -> bool:
        """Whether anything is chosen at all."""
        return bool(self.refs or self.subject or self.has_filter or self.is_all)


@dataclass(frozen=True, kw_only=True)
class Selected:
    """Ids that shall go: claims (which are atoms) and whole sources; and how they were named.

    named: kind and reference of every selector, for the ledger: no content.  subjects: entities named.
    expired: candidates that go because nobody decided on them in time; their words stay in the messages.
    passages: byte ranges of further sources that are cut beside the evidence of the claims, by source.
    """

    claims: pa.Array
    sources: pa.Array
    named: tuple[tuple[str, str], ...]
    subjects: tuple[bytes, ...] = ()
    expired: pa.Array = field(default_factory=lambda: pa.array([], ID))
    passages: Mapping[bytes, list[tuple[int, int]]] = field(default_factory=dict)


def select(snapshot: Snapshot, request: ForgetRequest, runs: Mapping[bytes, list[int]]) -> Selected:
    """Return what `request` names at the snapshot's version.

    runs: graph versions committed by each run.  Raises UsageError when nothing is named, when a name
    stands for several things, and when everything would go without having been asked for.
    """
    if request.subject and request.has_filter and set(_filters(request)) != {"scope"}:
        raise UsageError(
            "--subject cannot be combined with a selection of sources",
            advice="Forget the subject, or the sources, or both one after the other.",
        )
    if not request.names_something:
        raise UsageError(
            "nothing is named", advice="Give a reference or a selector: see `amos forget --help`."
        )
    claims: list[pa.Array] = []
    sources: list[pa.Array] = []
    named: list[tuple[str, str]] = []
    subjects: list[bytes] = []
    for ref in request.refs:
        chosen = _by_ref(snapshot, ref, runs)
        claims.append(chosen.claims)
        sources.append(chosen.sources)
        named += chosen.named
        subjects += chosen.subjects
    if request.subject:
        entity = _entity(snapshot, request.subject)
        subjects.append(entity)
        claims.append(_claims_about(snapshot, [entity], request.scope))
        named.append(("subject", id_text("entities", entity)))
        _require_asked(request, "claims", len(claims[-1]), _distinct_claims(snapshot))
    elif request.has_filter or (request.is_all and not request.refs):
        found, by = _filtered(snapshot, request, runs)
        sources.append(found)
        named += by
        _require_asked(request, "sources", len(found), snapshot.current("sources", ["source_id"]).num_rows)
    return Selected(claims=_joined(claims), sources=_with_edits(snapshot, _joined(sources)),
                    named=tuple(named), subjects=tuple(subjects))  # fmt: skip


def _filters(request: ForgetRequest) -> list[str]:
    names = ("source", "conversation", "scope", "since", "until", "run")
    return [name for name in names if getattr(request, name)]


def _require_asked(request: ForgetRequest, what: str, found: int, total: int) -> None:
    if found == total and total > 1 and not request.is_all:
        raise UsageError(
            f"the selection matches all {total} {what} of the store",
            code=TOO_WIDE,
            advice="Look with --dry-run --all, and give --all when everything shall go.",
        )


def _distinct_claims(snapshot: Snapshot) -> int:
    rows = snapshot.table("candidates", ["claim_id"])
    return int(pc.count_distinct(rows["claim_id"]).as_py())


def _joined(parts: list[pa.Array]) -> pa.Array:
    return pa.concat_arrays(parts).unique() if parts else pa.array([], ID)


def find_one(snapshot: Snapshot, ref: str) -> tuple[str, bytes]:
    """Return table and id of the one row that `ref` names.  Raises UsageError otherwise."""
    table, body = parse_ref(ref)
    if table not in PRIMARY_KEYS:
        raise UsageError(f"{ref!r} is no row of a table", path=ref, advice="Use `amos list` for references.")
    ids = snapshot.find(table, *prefix_range(body))[PRIMARY_KEYS[table]].to_pylist()
    if not ids:
        raise UsageError(f"nothing is called {ref}", path=ref, advice="Use `amos list` for references.")
    if len(ids) > 1:
        names = ", ".join(id_text(table, one) for one in ids[:_SHOWN])
        raise UsageError(f"{ref!r} stands for {len(ids)} rows: {names}", path=ref, code=AMBIGUOUS,
                         advice="Give more characters of the reference.")  # fmt: skip
    return table, ids[0]


def _by_ref(snapshot: Snapshot, ref: str, runs: Mapping[bytes, list[int]]) -> Selected:
    none = pa.array([], ID)
    table, _ = parse_ref(ref)
    if table == "runs":
        return Selected(claims=none, sources=_of_run(snapshot, ref, runs), named=(("run", ref),))
    table, identifier = find_one(snapshot, ref)
    named = ((table, id_text(table, identifier)),)
    one = pa.array([identifier], ID)
    if table == "atoms":
        return Selected(claims=one, sources=none, named=named)
    if table == "candidates":
        held = snapshot.lookup(table, "candidate_id", one, ["claim_id"])
        return Selected(claims=held["claim_id"].combine_chunks(), sources=none, named=named)
    if table == "entities":
        about = _claims_about(snapshot, [identifier], {})
        return Selected(claims=about, sources=none, named=named, subjects=(identifier,))
    if table == "sources":
        return Selected(claims=none, sources=one, named=named)
    if table == "conversations":
        held = snapshot.lookup("sources", "conversation_id", one, ["source_id"])
        return Selected(claims=none, sources=held["source_id"].combine_chunks(), named=named)
    raise UsageError(
        f"{ref} is of {table}, which cannot be forgotten by itself",
        path=ref,
        advice="Give an atom, a candidate, an entity, a source, a conversation or a run.",
    )


def _entity(snapshot: Snapshot, subject: str) -> bytes:
    """Return the id of the one entity of a reference or name."""
    if subject.lower().startswith("ent_"):
        return find_one(snapshot, subject)[1]
    wanted = " ".join(subject.split()).casefold()
    rows = snapshot.current("entities", LABELLED).to_pylist()
    labels = labels_of(snapshot, rows)
    found = [
        row["entity_id"]
        for row in rows
        if wanted == labels[row["entity_id"]].text.casefold()
        or (row["is_owner"] and wanted == row["name"].casefold())
    ]
    if not found:
        raise UsageError(f"no subject is called {subject!r}", advice="`amos list` prints subjects.")
    if len(found) > 1:
        names = ", ".join(id_text("entities", one) for one in found[:_SHOWN])
        raise UsageError(
            f"{len(found)} subjects are called {subject!r}: {names}{' …' if len(found) > _SHOWN else ''}",
            code=AMBIGUOUS,
            advice="Name the ones to forget by reference; `amos show REF` tells them apart.",
        )
    return bytes(found[0])


def _claims_about(snapshot: Snapshot, entities: list[bytes], scope: Mapping[str, str]) -> pa.Array:
    """Return the claims about entities, by whatever name: also about the one whom such a name means."""
    columns = ["claim_id", *(f"scope_{name}" for name in scope)]
    said = _said_as(snapshot, entities)
    about = sorted({*entities, *_meant(said)})
    rows = pa.concat_tables(
        [
            snapshot.lookup("candidates", "subject_id", pa.array(about, ID), columns),
            snapshot.lookup("candidates", "candidate_id", said["candidate_id"].combine_chunks(), columns),
        ]
    )
    for name, value in scope.items():
        rows = rows.filter(pc.fill_null(pc.equal(rows[f"scope_{name}"], value), False))
    return rows["claim_id"].combine_chunks().unique()


def people_meant(snapshot: Snapshot, entities: Collection[bytes]) -> set[bytes]:
    """Return entities (ids) and the one whom each of them as a name means."""
    return {*entities, *_meant(_said_as(snapshot, sorted(entities)))}


def _meant(said: pa.Table) -> set[bytes]:
    """Return whom mentions mean where that is one and the same for all of them."""
    meant = set(said["referent_id"].drop_null().to_pylist())
    return meant if len(meant) == 1 else set()


def _said_as(snapshot: Snapshot, entities: list[bytes]) -> pa.Table:
    """Return the current mentions whose words name one of the entities."""
    wanted = pa.array(entities, ID)
    found = snapshot.lookup("mentions", "subject_id", wanted, ["mention_id"])["mention_id"].combine_chunks()
    rows = latest(snapshot.lookup("mentions", "mention_id", found.unique()), "mentions")
    return rows.filter(pc.is_in(rows["subject_id"], value_set=wanted))


def _filtered(
    snapshot: Snapshot, request: ForgetRequest, runs: Mapping[bytes, list[int]]
) -> tuple[pa.Array, list[tuple[str, str]]]:
    scopes = [f"scope_{name}" for name in request.scope]
    rows = snapshot.current("sources", ["source_id", "conversation_id", "event_time", *scopes])
    keep = np.ones(rows.num_rows, np.bool_)
    named: list[tuple[str, str]] = [] if request.has_filter else [("all", "")]
    for column, ref in (("source_id", request.source), ("conversation_id", request.conversation)):
        if ref:
            table, identifier = find_one(snapshot, ref)
            if PRIMARY_KEYS[table] != column:
                raise UsageError(f"{ref} is of {table}", path=ref, advice="Give it without the option.")
            keep &= _same(rows[column], identifier)
            named.append((table, id_text(table, identifier)))
    for name, value in request.scope.items():
        keep &= _same(rows[f"scope_{name}"], value)
        named.append(("scope", name))
    keep &= _in_time(rows["event_time"], request, named)
    if request.run:
        ids = _of_run(snapshot, request.run, runs)
        keep &= pc.is_in(rows["source_id"], value_set=ids).to_numpy(zero_copy_only=False)
        named.append(("run", request.run))
    return rows["source_id"].filter(pa.array(keep)).combine_chunks(), named


def _same(column: pa.ChunkedArray, value: Any) -> np.ndarray:
    equal = pc.equal(column, pa.scalar(value, column.type))
    found: np.ndarray = pc.fill_null(equal, False).to_numpy(zero_copy_only=False)
    return found


def _in_time(column: pa.ChunkedArray, request: ForgetRequest, named: list[tuple[str, str]]) -> np.ndarray:
    times = column.cast(pa.int64())
    keep = np.ones(len(column), np.bool_)
    for name, text, compare in (
        ("since", request.since, pc.greater_equal),
        ("until", request.until, pc.less),
    ):
        if text:
            bound = compare(times, instant_us(text, f"--{name}"))
            keep &= pc.fill_null(bound, False).to_numpy(zero_copy_only=False)
            named.append((name, text))
    return keep


def _of_run(snapshot: Snapshot, ref: str, runs: Mapping[bytes, list[int]]) -> pa.Array:
    """Return the sources that a run captured first."""
    table, body = parse_ref(ref)
    low, high = prefix_range(body)
    found = [run for run in runs if low <= run <= high] if table == "runs" else []
    if len(found) != 1:
        told = "is no run that committed something" if not found else f"stands for {len(found)} runs"
        raise UsageError(f"{ref!r} {told}", path=ref, advice="`amos report ingest` lists runs.")
    rows = snapshot.table("sources", ["source_id", "revision", "graph_version"])
    is_own = pc.is_in(rows["graph_version"], value_set=pa.array(runs[found[0]], pa.int64()))
    first = pc.equal(rows["revision"], 1)
    return rows.filter(pc.and_(is_own, first))["source_id"].combine_chunks()


def _with_edits(snapshot: Snapshot, sources: pa.Array) -> pa.Array:
    """Return the sources with all that they revise and that revises them: one message, told again."""
    if len(sources) == 0:
        return sources
    links = snapshot.table("sources", ["source_id", "revises"])
    links = links.filter(pc.is_valid(links["revises"]))
    chosen = set(sources.to_pylist())
    near: dict[bytes, set[bytes]] = {}
    for one, other in zip(links["source_id"].to_pylist(), links["revises"].to_pylist(), strict=True):
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    waiting = [source for source in chosen if source in near]
    while waiting:
        for other in near.get(waiting.pop(), ()):
            if other not in chosen:
                chosen.add(other)
                waiting.append(other)
    return pa.array(sorted(chosen), ID)


def asked_in_ledger(request: ForgetRequest, selected: Selected) -> str:
    """Return what the ledger keeps of a request: references and terms, no content."""
    return json.dumps(
        {
            "named": [list(one) for one in selected.named],
            "keep_evidence": request.keep_evidence,
            "mentions": request.mentions,
            "recreation": request.recreation,
            "expires": request.expires,
            "reason": request.reason,
        },
        sort_keys=True,
    )


def is_code(reason: str) -> bool:
    """Return whether a reason is a short code: it is kept in the journal, where no text may stand."""
    return len(reason) <= LONGEST_CODE and reason.replace("_", "").isalnum()


def expiry_of(request: ForgetRequest, now: datetime) -> datetime | None:
    """Return when the tombstones stop to hold, None for never.  Raises UsageError for a past time."""
    from amos.clock import from_us, to_us

    if request.expires is None:
        return None
    until = instant_us(request.expires, "--expires")
    if until <= to_us(now):
        raise UsageError(f"--expires {request.expires} is not in the future")
    return from_us(until)


def current_rows(snapshot: Snapshot, table: str, column: str, ids: pa.Array) -> pa.Table:
    """Return the current rows of `table` whose id `column` is among `ids`."""
    return latest(snapshot.lookup(table, column, ids), table)
