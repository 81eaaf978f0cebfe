"""Legal holds and classes of retention: what may be hidden but not deleted, and who is told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import as_text, to_us
from amos.errors import EngineError, InputError, UsageError
from amos.flow.forget_plan import ErasurePlan
from amos.flow.forget_selection import ForgetRequest, Selected, current_rows, find_one, is_code, select
from amos.flow.printed import shown_hold
from amos.identity import id_text, parse_ref, prefix_range, random_id
from amos.journal.events import EventNotice
from amos.journal.holds import hold_digest
from amos.journal.requests import CareLog
from amos.journal.store import Shard, Snapshot
from amos.schemas.catalog import HoldEntry
from amos.schemas.columns import ID, SCOPE_NAMES

PROTECTED_CLASSES = ("compliance",)
"""Retention classes whose atoms are kept whoever asks."""

_KINDS = ("atoms", "sources", "conversations", "entities")
Row = dict[str, Any]


def holds_against(
    snapshot: Snapshot, holds: Iterable[HoldEntry], selected: Selected, plan: ErasurePlan
) -> list[Row]:
    """Return what stands against the plan: holds that protect something of it, and retention classes."""
    touched = {table: set(places.values()) for table, places in plan.gone.places.items()}
    found: list[Row] = [
        {"hold": id_text("holds", hold.hold_id), "kind": hold.kind, "reason": hold.reason}
        for hold in holds
        if hold.released_us is None and _protects(snapshot, hold, touched)
    ]
    wanted = pa.array(sorted({*touched.get("atoms", ()), *selected.claims.to_pylist()}), ID)
    atoms = current_rows(snapshot, "atoms", "atom_id", wanted)
    kept = pc.is_in(atoms["retention_class"], value_set=pa.array(PROTECTED_CLASSES))
    classes = atoms.filter(kept)["retention_class"].unique().to_pylist()
    return [*found, *({"hold": None, "kind": "retention_class", "reason": name} for name in classes)]


def _protects(snapshot: Snapshot, hold: HoldEntry, touched: dict[str, set[bytes]]) -> bool:
    """Return whether a row that goes, or loses words, is under the hold."""
    if hold.kind == "all":
        return any(touched.values())
    try:
        held = select(snapshot, _request_of(hold), {})
    except EngineError:  # what was held is not stored any more
        return False
    sources = set(held.sources.to_pylist())
    claims = set(held.claims.to_pylist())
    if sources & touched.get("sources", set()) or claims & touched.get("atoms", set()):
        return True
    gone = pa.array(sorted(touched.get("candidates", ())), ID)
    rows = snapshot.lookup("candidates", "candidate_id", gone, ["source_id", "claim_id"])
    return bool(
        sources.intersection(rows["source_id"].to_pylist())
        or claims.intersection(rows["claim_id"].to_pylist())
    )


def _request_of(hold: HoldEntry) -> ForgetRequest:
    if hold.kind == "scope":
        name, _, value = hold.ref.partition("=")
        return ForgetRequest(scope={name: value}, is_all=True)
    return ForgetRequest(refs=(hold.ref,))


def refuse_held(shard: Shard, held: list[Row], *, actor: str, run_id: bytes, now: datetime) -> None:
    """Journal the refusal and raise InputError when something stands against an erasure."""
    if not held:
        return
    reasons = sorted({str(row["kind"]) for row in held})
    said = {"command": "forget", "reason": "retention_policy_denied", "against": reasons}
    shard.reject(said, actor=actor, run_id=run_id, now=now)
    names = ", ".join(str(row["hold"] or f"retention class {row['reason']}") for row in held)
    raise InputError(
        f"it may not be deleted: {names}",
        code="retention_policy_denied",
        advice="Hide it with --suppress, or release the hold: `amos hold list`.",
    )


def note_hold(
    shard: Shard,
    notice: EventNotice,
    entry: HoldEntry | None,
    *,
    actor: str,
    run_id: bytes,
    now: datetime,
) -> int:
    """Commit what an event says of a hold, and the hold itself where there is one; return the version."""

    def write_down(care: CareLog, _version: int) -> None:
        if entry is not None:
            care.put_hold(entry)

    return shard.commit(
        [],
        base=shard.head,
        reads={},
        operation=notice.event_type,
        actor=actor,
        run_id=run_id,
        now=now,
        notices=[notice],
        also=write_down,
    )


def place_hold(
    shard: Shard, ref: str | None, scope: dict[str, str], reason: str, *, actor: str, now: datetime
) -> Row:
    """Protect a row, a scope or the whole shard from deletion; return the hold.

    Raises UsageError when both or a row that cannot be held is named.
    """
    if not is_code(reason):
        raise UsageError("--reason takes a short code such as case_112, no text")
    kind, name = _held_thing(shard, ref, scope)
    entry = HoldEntry(random_id(), kind, name, reason, to_us(now), None)
    said = {
        "hold": id_text("holds", entry.hold_id),
        "kind": kind,
        "terms": hold_digest(entry, shard.key),
    }
    notice = EventNotice("hold_placed", said)
    note_hold(shard, notice, entry, actor=actor, run_id=random_id(), now=now)
    return shown_hold(entry)


def _held_thing(shard: Shard, ref: str | None, scope: dict[str, str]) -> tuple[str, str]:
    if len(scope) + (ref is not None) > 1:
        raise UsageError("a hold protects one thing", advice="Place one hold for each reference or scope.")
    if scope:
        ((name, value),) = scope.items()
        assert name in SCOPE_NAMES
        return "scope", f"{name}={value}"
    if ref is None:
        return "all", ""
    with shard.pin() as snapshot:
        table, identifier = find_one(snapshot, ref)
    if table not in _KINDS:
        raise UsageError(f"{ref} is of {table}: holds protect {', '.join(_KINDS)}", path=ref)
    return table, id_text(table, identifier)


def release_hold(shard: Shard, ref: str, *, actor: str, now: datetime) -> Row:
    """End a hold; return it.  Raises UsageError when no standing hold is called so.

    One that events tell of and the catalog has lost is ended as well.
    """
    table, body = parse_ref(ref)
    low, high = prefix_range(body)
    found = [one for one in shard.holds() if table == "holds" and low <= one.hold_id <= high]
    if not found and table == "holds" and (lost := _lost_hold(shard, ref)) is not None:
        note_hold(shard, lost, None, actor=actor, run_id=random_id(), now=now)
        end = {"reason": "", "placed_at": None, "released_at": as_text(to_us(now))}
        return {"hold_id": lost.payload["hold"], "kind": lost.payload["kind"], "ref": "", **end}
    if len(found) != 1 or found[0].released_us is not None:
        raise UsageError(f"no standing hold is called {ref}", path=ref, advice="See `amos hold list`.")
    entry = found[0]._replace(released_us=to_us(now))
    notice = EventNotice("hold_released", {"hold": id_text("holds", entry.hold_id), "kind": entry.kind})
    note_hold(shard, notice, entry, actor=actor, run_id=random_id(), now=now)
    return shown_hold(entry)


def _lost_hold(shard: Shard, ref: str) -> EventNotice | None:
    """Return the event that ends a hold of which the journal alone tells, None when no such one stands."""
    with shard.pin() as snapshot:
        events = snapshot.table("events", ["event_type", "payload"])
    kinds = pa.array(["hold_placed", "hold_released"])
    events = events.filter(pc.is_in(events["event_type"], value_set=kinds))
    said: dict[str, Row] = {}
    for event in map(json.loads, events["payload"].to_pylist()):
        is_end = said.pop(event["hold"], None) is not None
        if not is_end:
            said[event["hold"]] = event
    found = [one for name, one in said.items() if name.startswith(ref.lower())]
    terms = {"hold": found[0]["hold"], "kind": found[0]["kind"]} if len(found) == 1 else None
    return None if terms is None else EventNotice("hold_released", terms)
