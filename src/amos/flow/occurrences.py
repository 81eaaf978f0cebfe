"""Occurrences as they are told: who takes part, what comes before and after, which call an outcome is of.

All of it is derived from claims and messages when it is asked for; nothing is stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from amos.atoms.occurrences import OCCURRING, Occurrence, follower_in, next_after, participants_of
from amos.clock import as_text, to_us
from amos.evidence.windows import Turn, Window, episode_windows
from amos.flow.look import TEXT_CHARS, Row, atom_rows
from amos.flow.printed import shown_id
from amos.flow.sight import Sight, is_withheld
from amos.flow.versions import latest
from amos.schemas.columns import ID
from amos.schemas.cuts import marked
from amos.schemas.state import ENDED_UNKNOWN, OPEN_FROM, OPEN_UNTIL
from amos.schemas.vocabulary import AtomType, Role, SourceFlag

_ELSEWHERE = int(SourceFlag.OFF_THREAD | SourceFlag.HIDDEN | SourceFlag.NOT_A_MESSAGE)
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
        "text": marked(call["content"])[:TEXT_CHARS] if call is not None and is_shown else None,
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


def occurrence_of(sight: Sight, row: Row, label: str) -> Row | None:
    """Return what is told around an atom that happened, None for one that held.

    label: its readable subject.  Order is what is known of times; `followed_by` is what the same talk tells
    next within the same window, and says nothing of order or cause.
    """
    if row["type"] not in OCCURRING:
        return None
    talk = _told_in_talk_of(sight, row["source_id"])
    others = {found["atom_id"]: found for found in talk.atoms}
    own = _occurrence(row)
    after = next_after(own, map(_occurrence, talk.atoms))
    follower = follower_in([*others], row["atom_id"]) if row["atom_id"] in others else None
    if follower is not None and not _share_window(talk, row, others[follower]):
        follower = None
    named = {found.key for found in after} | ({follower} if follower else set())
    said = _printed(sight, [others[key] for key in sorted(named)])
    fields = msgspec.json.decode(row["payload"])
    return {
        "participants": [one._asdict() for one in participants_of(row["type"], fields, label)],
        "precedes": [said[found.key] for found in after],
        "followed_by": None if follower is None else said[follower],
    }


def conversation_windows(sight: Sight, conversation: bytes) -> list[Row]:
    """Return the episode windows of a conversation, by the turns of it that are in sight."""
    rows = _turns(sight, conversation)
    return [_shown_window(window) for window in episode_windows(map(_turn, rows))]


class _Talk(NamedTuple):
    """atoms: occurrences first told in one conversation, in order of telling.  turns: number by source."""

    atoms: list[Row]
    turns: dict[bytes, int]
    windows: list[Window]


def _turns(sight: Sight, conversation: bytes) -> list[Row]:
    found = sight.snapshot.lookup("sources", "conversation_id", pa.array([conversation], ID))
    rows = sight.seen("sources", latest(found, "sources"))
    return [row for row in rows.to_pylist() if not row["flags"] & _ELSEWHERE]


def _turn(row: Row) -> Turn:
    return Turn(row["turn"], row["session"], None if row["event_time"] is None else to_us(row["event_time"]))


def _told_in_talk_of(sight: Sight, source: bytes) -> _Talk:
    held = sight.snapshot.lookup("sources", "source_id", pa.array([source], ID), ["conversation_id"])
    rows = _turns(sight, held["conversation_id"][0].as_py())
    turns = {row["source_id"]: row["turn"] for row in rows}
    places = {row["source_id"]: (row["turn"], row["block"], row["source_id"]) for row in rows}
    found = sight.snapshot.lookup("atoms", "source_id", pa.array(sorted(turns), ID))
    atoms = sight.seen("atoms", latest(found, "atoms"))
    atoms = atoms.filter(pc.is_in(atoms["type"], value_set=pa.array(OCCURRING)))
    told = [row for row in atoms.to_pylist() if row["source_id"] in turns and row["intervals"]]
    told.sort(key=lambda row: (places[row["source_id"]], row["spans"], row["atom_id"]))
    return _Talk(told, turns, episode_windows(map(_turn, rows)))


def _share_window(talk: _Talk, one: Row, other: Row) -> bool:
    first, last = sorted(talk.turns[row["source_id"]] for row in (one, other))
    return any(window.first <= first and last <= window.last for window in talk.windows)


def _occurrence(row: Row) -> Occurrence:
    """Return when an atom happened; what a tool did happened in the moment of its answer."""
    if row["type"] == AtomType.ACTION_OUTCOME:
        moment = None if row["observed_at"] is None else to_us(row["observed_at"])
        return Occurrence(row["atom_id"], moment, moment)
    start, end = row["intervals"][:2]
    return Occurrence(
        row["atom_id"],
        None if start in (OPEN_FROM, ENDED_UNKNOWN) else start,
        None if end in (OPEN_UNTIL, ENDED_UNKNOWN) else end,
    )


def _printed(sight: Sight, rows: list[Row]) -> dict[bytes, Row]:
    """Return reference and statement of atoms by id."""
    ids = [row["atom_id"] for row in rows]
    if not ids:
        return {}
    held = latest(sight.snapshot.lookup("atoms", "atom_id", pa.array(ids, ID)), "atoms")
    shown = {row["atom_id"]: row["statement"] for row in atom_rows(sight, held)}
    texts = {one: shown_id("atom_id", one) for one in ids}
    return {one: {"atom_id": texts[one], "statement": shown[texts[one]]} for one in ids}


def _shown_window(window: Window) -> Row:
    return {
        "turns": [window.first, window.last],
        "started_at": as_text(window.started_us),
        "ended_at": as_text(window.ended_us),
        "opened_by": window.opened_by,
        "doubtful": [
            {"turn": doubt.turn, "silence_seconds": doubt.gap_us // 1_000_000} for doubt in window.doubts
        ],
    }
