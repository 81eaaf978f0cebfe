"""Captured interactions as they are stored: find them, list them, read one whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.errors import UsageError
from amos.flow.paging import Page, PageRequest, choose_page, event_times
from amos.flow.printed import shown_id, shown_time
from amos.flow.rekeying import is_keyed
from amos.flow.sight import Sight, is_withheld
from amos.flow.versions import latest
from amos.identity import keyed_id, source_identity
from amos.schemas.columns import ID
from amos.sources.capture import FORMAT, INTERACTION, LISTS, PROMPT, RESPONSE

SUMMARY_CHARS = 200
_LISTED = [
    "source_id", "revision", "format", "block", "delivery_key", "content", "flags", "event_time", "channel",
    "session", "conversation_id", "scope_project", "scope_user", "scope_agent", "extra",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """One captured interaction as it is stored; what may not be shown is None."""

    key: str
    prompt_id: bytes
    reply_id: bytes | None
    conversation_id: bytes
    event_time: datetime | None
    prompt: str | None
    response: str | None
    client: str | None
    session: str | None
    project: str | None
    user: str | None
    agent: str | None
    told: dict[str, Any] = field(default_factory=dict)

    @property
    def cited_id(self) -> bytes:
        """The source that an echo cites: the reply, or the prompt whose record holds its summary."""
        return self.prompt_id if self.reply_id is None else self.reply_id

    @property
    def summary(self) -> str | None:
        """The agent's own summary of its reply."""
        found = self.told.get("response_summary")
        return found if isinstance(found, str) and found else None

    @property
    def replies(self) -> list[str]:
        """What may repeat a memory: the reply and its summary."""
        return [text for text in (self.response, self.summary) if text]

    def was_given(self, ref: str) -> bool:
        """Tell whether the memory `ref` was in what the agent had been given for this turn."""
        given = self.told.get("memories_used")
        named = given if isinstance(given, list) else []
        return any(isinstance(one, str) and len(one) > _SHORTEST_REF and ref.startswith(one) for one in named)

    def row(self, *, is_whole: bool) -> dict[str, Any]:
        """Return what is printed: a summary, or everything."""
        row: dict[str, Any] = {
            "interaction_id": self.key,
            "created_at": shown_time(self.event_time),
            "project": self.project,
            "session": self.session,
            "client": self.client,
            "prompt": self.prompt if is_whole else _beginning(self.prompt),
            "response_summary": self.summary if is_whole else self.summary or _beginning(self.response),
            "response_chars": len(self.response or ""),
            **{f"{name}_count": len(self._listed(name)) for name in LISTS},
        }
        if is_whole:
            others = {name: value for name, value in self.told.items() if name not in _SHOWN}
            row |= {
                "response": self.response,
                **{name: self._listed(name) for name in LISTS},
                "user": self.user,
                "agent": self.agent,
                "prompt_id": shown_id("source_id", self.prompt_id),
                "response_id": shown_id("source_id", self.reply_id),
                "conversation_id": shown_id("conversation_id", self.conversation_id),
                "extra": others,
            }
        return row

    def _listed(self, name: str) -> list[Any]:
        found = self.told.get(name)
        return found if isinstance(found, list) else []


_SHORTEST_REF = len("atm_") + 3
_SHOWN = {"response_summary", *LISTS}


def _beginning(text: str | None) -> str | None:
    if text is None or len(text) <= SUMMARY_CHARS:
        return text
    return text[:SUMMARY_CHARS] + " …"


def prompt_ids(keys: Iterable[str], key: bytes) -> list[bytes]:
    """Return the source ids of the prompts of interactions."""
    return [keyed_id(key, "sources", source_identity(FORMAT, one, PROMPT)) for one in keys]


def stored_interactions(sight: Sight, ids: Sequence[bytes], key: bytes) -> list[Interaction]:
    """Return the interactions in sight whose prompts have these source ids, in their order."""
    prompts = _found(sight, "source_id", ids)
    names = {row["delivery_key"] for row in prompts.values()}
    plain = [keyed_id(key, "sources", source_identity(FORMAT, name, RESPONSE)) for name in names]
    talks = {row["conversation_id"] for row in prompts.values() if is_keyed(row["delivery_key"])}
    replies = _found(sight, "source_id", plain) | _found(sight, "conversation_id", talks)
    by_name = {row["delivery_key"]: row for row in replies.values() if row["block"] == RESPONSE}
    return [_interaction(prompts[one], by_name) for one in ids if one in prompts]


def _found(sight: Sight, column: str, ids: Collection[bytes]) -> dict[bytes, dict[str, Any]]:
    """Return the captured sources in sight of which an id is one of `ids`, by source id."""
    if not ids:
        return {}
    rows = latest(sight.snapshot.lookup("sources", column, pa.array(list(ids), ID)), "sources")
    rows = rows.filter(pc.equal(rows["format"], FORMAT))
    return {row["source_id"]: row for row in sight.seen("sources", rows).select(_LISTED).to_pylist()}


def _interaction(prompt: dict[str, Any], replies: dict[str, dict[str, Any]]) -> Interaction:
    reply = replies.get(prompt["delivery_key"])
    extra = msgspec.json.decode(prompt["extra"]) if prompt["extra"] else {}
    told = extra.get(INTERACTION)
    return Interaction(
        key=prompt["delivery_key"],
        prompt_id=prompt["source_id"],
        reply_id=None if reply is None else reply["source_id"],
        conversation_id=prompt["conversation_id"],
        event_time=prompt["event_time"],
        prompt=_text(prompt),
        response=None if reply is None else _text(reply),
        client=prompt["channel"],
        session=prompt["session"],
        project=prompt["scope_project"],
        user=prompt["scope_user"],
        agent=prompt["scope_agent"],
        told=told if isinstance(told, dict) and not is_withheld(prompt["flags"]) else {},
    )


def _text(row: dict[str, Any]) -> str | None:
    return None if is_withheld(row["flags"]) else str(row["content"])


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Which interactions are wanted.  limit: 0 for none at all, None for all of them."""

    client: str | None = None
    since_us: int | None = None
    until_us: int | None = None
    limit: int | None = 50
    cursor: str | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise UsageError(f"the limit must be at least 0, not {self.limit}")


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One page of interactions, newest first."""

    interactions: list[Interaction]
    is_truncated: bool = False
    cursor: str | None = None


def list_interactions(sight: Sight, chosen: Chosen, key: bytes) -> Listing:
    """Return the interactions in sight that are wanted, newest first; `since` is part of the span."""
    if chosen.limit == 0:
        return Listing(interactions=[])
    rows = sight.current("sources", ["source_id", "format", "block", "event_time", "channel"])
    is_wanted = pc.and_(pc.equal(rows["format"], FORMAT), pc.equal(rows["block"], PROMPT))
    if chosen.client is not None:
        is_wanted = pc.and_(is_wanted, pc.fill_null(pc.equal(rows["channel"], chosen.client), False))
    rows = rows.filter(is_wanted)
    page = _page(rows, chosen)
    ids = rows["source_id"].take(pa.array(page.rows)).to_pylist()
    return Listing(
        interactions=stored_interactions(sight, ids, key), is_truncated=page.is_truncated, cursor=page.cursor
    )


def _page(rows: pa.Table, chosen: Chosen) -> Page:
    request = PageRequest(
        limit=chosen.limit or max(1, rows.num_rows),
        cursor=chosen.cursor,
        since_us=chosen.since_us,
        until_us=chosen.until_us,
    )
    if rows.num_rows == 0:
        return Page(rows=np.zeros(0, np.int64), is_truncated=False, cursor=None)
    return choose_page("interactions", event_times(rows["event_time"]), rows["source_id"], request)


def one_interaction(sight: Sight, name: str, key: bytes) -> Interaction:
    """Return the interaction called `name`.  Raises UsageError when there is none in sight."""
    ids = _keyed_prompts(sight, name) if is_keyed(name) else []
    found = stored_interactions(sight, ids or prompt_ids([name], key), key)
    if not found:
        raise UsageError(
            f"no interaction is called {name!r}",
            path=name,
            advice="`amos capture list` shows the ids there are.",
        )
    return found[0]


def _keyed_prompts(sight: Sight, name: str) -> list[bytes]:
    """Return the prompt of the record that is stored under `name` in place of its own key."""
    rows = sight.current("sources", ["source_id", "format", "block", "delivery_key"])
    is_it = pc.and_(pc.equal(rows["delivery_key"], name), pc.equal(rows["block"], PROMPT))
    found: list[bytes] = rows.filter(pc.and_(is_it, pc.equal(rows["format"], FORMAT)))[
        "source_id"
    ].to_pylist()
    return found
