"""The call behind what became of an action, found by what its answer names."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.look import TEXT_CHARS, Row
from amos.flow.printed import shown_id
from amos.flow.sight import Sight, is_withheld
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.vocabulary import AtomType, Role

_OF_ACTION = ("action_ref", "agent", "tool", "status", "sign", "detail")


def action_of(sight: Sight, row: Row) -> Row | None:
    """Return what a claim (atom or candidate) says of an action, and the call itself where it is in sight.

    None for other claims.  The call is the one that the tool's answer names, by its id or its record; nothing
    else makes one, however near it stands.
    """
    fields = msgspec.json.decode(row["payload"])
    if row["type"] != AtomType.ACTION_OUTCOME or "action_ref" not in fields:
        return None
    told = {name: fields.get(name) for name in _OF_ACTION}
    call = _call_of(sight, row["source_id"], fields["applicability"])
    is_shown = call is not None and not is_withheld(call["flags"])
    return {
        **told,
        "source_id": None if call is None else shown_id("source_id", call["source_id"]),
        "text": call["content"][:TEXT_CHARS] if call is not None and is_shown else None,
    }


def _call_of(sight: Sight, answer: bytes, action: dict[str, str]) -> dict[str, Any] | None:
    """Return the source that holds the call which the source `answer` answers."""
    talks = sight.snapshot.lookup("sources", "source_id", pa.array([answer], ID), ["conversation_id"])
    found = sight.snapshot.lookup("sources", "conversation_id", talks["conversation_id"])
    rows = latest(found, "sources")
    said = pc.equal(rows["role"], str(Role.ASSISTANT))
    rows = sight.seen("sources", rows.filter(said))
    for row in rows.sort_by("source_id").to_pylist():
        if "record" in action:
            if row["delivery_key"] == action["record"]:
                return dict(row)
        elif row["kind"] == "tool_use" and _id_of(row["extra"]) == action["call"]:
            return dict(row)
    return None


def _id_of(extra: str | None) -> Any:
    return msgspec.json.decode(extra).get("id") if extra else None
