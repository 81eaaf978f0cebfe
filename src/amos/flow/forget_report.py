"""What goes with an act of forgetting, row by row, and what remains after it, why and until when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from amos.atoms.statement import statements
from amos.clock import as_text, to_us
from amos.flow.claims import subject_labels
from amos.flow.forget_plan import ErasurePlan
from amos.flow.forget_selection import ForgetRequest, current_rows
from amos.identity import id_text
from amos.journal.store import Snapshot
from amos.schemas.catalog import CopyEntry
from amos.schemas.columns import ID
from amos.schemas.cuts import marked
from amos.schemas.labels import NOBODY
from amos.schemas.state import PRIMARY_KEYS

SHOWN_ROWS = 10_000
"""Rows that a preview lists; all are counted."""
TEXT_CHARS = 200
"""Of a text that a preview shows."""
_TEXTS = {"sources": "content", "atoms": "payload", "entities": "name", "conversations": "title"}
_UNPRINTED = (
    "decisions", "edges", "lineage", "disputes", "echoes", "outcomes", "feedback", "mentions", "candidates",
)  # fmt: skip
_RESTORABLE = ("backup", "replaced store")
_RESTORED, _DELETED = "it is deleted, or restored: restoring forgets again", "it is deleted"
_ORDER = ("atoms", "sources", "conversations", "entities", *_UNPRINTED)


@dataclass(frozen=True, kw_only=True)
class Residue:
    """What an act of forgetting left behind.

    mentions: counts of claims and messages that name a subject, None for none.  said: how many messages hold
    the value of a claim, and the first such value.
    """

    request: ForgetRequest
    tombstones: int
    expired: int = 0
    commitments: int = 0
    kept_evidence: int = 0
    mentions: tuple[int, int] | None = None
    said: tuple[int, str] | None = None
    waiting_for: tuple[int, ...] = ()
    expires: datetime | None = None


def going(snapshot: Snapshot, plan: ErasurePlan) -> dict[str, Any]:
    """Return `goes`, the rows of which a version goes, and `goes_total`.

    fate: removed when nothing stays of the row, revised when it stays in another form.
    """
    total = 0
    rows: list[dict[str, Any]] = []
    renewed = {(group.table, one) for group in plan.rows
               for one in group.rows[PRIMARY_KEYS[group.table]].to_pylist()}  # fmt: skip
    for table in _ORDER:
        ids = sorted(set(plan.gone.places.get(table, {}).values()))
        total += len(ids)
        chosen = ids[: max(SHOWN_ROWS - len(rows), 0)]
        texts = shown_texts(snapshot, table, chosen)
        for one in chosen:
            fate = "revised" if (table, one) in renewed else "removed"
            rows.append({"table": table, "ref": id_text(table, one), "fate": fate, "text": texts.get(one)})
    return {"goes": rows, "goes_total": total}


def shown_texts(snapshot: Snapshot, table: str, ids: list[bytes]) -> dict[bytes, str | None]:
    """Return by id what people read of some current rows; rows of most tables have no text."""
    column = _TEXTS.get(table)
    if column is None or not ids:
        return {}
    key = PRIMARY_KEYS[table]
    rows = current_rows(snapshot, table, key, pa.array(ids, ID))
    said = _statements(snapshot, rows) if table == "atoms" else rows[column].to_pylist()
    texts = zip(rows[key].to_pylist(), said, strict=True)
    return {one: None if text is None else marked(text)[:TEXT_CHARS] for one, text in texts}


def _statements(snapshot: Snapshot, atoms: pa.Table) -> list[str]:
    names = subject_labels(snapshot, atoms["subject_id"].unique())
    kinds, payloads, signs = (atoms[name].to_pylist() for name in ("type", "payload", "polarity"))
    labels = [names.get(one, NOBODY) for one in atoms["subject_id"].to_pylist()]
    return statements(kinds, payloads, signs, labels)


def residual(copies: Iterable[CopyEntry], left: Residue) -> list[dict[str, Any]]:
    """Return what remains, why, and until when (null: for ever, or until somebody acts)."""
    until = as_text(to_us(left.expires)) if left.expires else None
    rows: list[tuple[str, str, str | None]] = []
    if left.waiting_for:
        pids = ", ".join(map(str, left.waiting_for)) or "unknown"
        rows.append(("files with the erased rows", f"readers or writers hold them: process {pids}",
                     "they end, and `amos forget` or any writing command runs again"))  # fmt: skip
    if left.tombstones:
        why = f"keyed digests keep it from coming back ({left.request.recreation})"
        rows.append((f"{left.tombstones} tombstones", why, until))
    if left.expired:
        why = "their time is over: what they barred may come back, and the journal keeps that they stood"
        rows.append((f"{left.expired} expired tombstones", why, None))
    if left.commitments:
        why = "salted digests without their salts keep the journal verifiable; they confirm no guess"
        rows.append((f"{left.commitments} commitments and keyed ids of erased rows", why, None))
    if left.mentions:
        claims, messages = left.mentions
        said = " and ".join(
            part
            for count, part in (
                (claims, f"{claims} claims about others that name it"),
                (messages, f"{messages} messages that name it beside them"),
            )
            if count
        )
        why = "they are not about it: listed as `mentions`; name them to forget them, claims with --mentions"
        rows.append((said, why, None))
    if left.said:
        held_by, value = left.said
        why = "they are no repetition that is recognised: listed as `still_said`; forget them by reference"
        holding = "1 message that still holds" if held_by == 1 else f"{held_by} messages that still hold"
        rows.append((f"{holding} “{value}”", why, None))
    if left.kept_evidence:
        why = "--keep-evidence was given: the words stand in these sources and can be found there"
        rows.append((f"the evidence in {left.kept_evidence} sources", why, None))
    if left.request.suppress:
        rows.append(("the suppressed rows", "they were hidden, not deleted: --suppress was given", None))
    else:
        why = "the file system reuses freed blocks in its own time; an encrypted disk covers them"
        rows.append(("freed blocks of the disk", why, None))
    newest = {(copy.kind, copy.place): copy for copy in sorted(copies, key=lambda one: one.made_us)}
    for copy in newest.values():
        why = f"this {copy.kind} was made on {as_text(copy.made_us)}, before the erasure"
        rows.append((f"{copy.kind} {copy.place}", why, _RESTORED if copy.kind in _RESTORABLE else _DELETED))
    return [dict(zip(("what", "why", "until"), row, strict=True)) for row in rows]
