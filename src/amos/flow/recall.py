"""Answer from memory: pin a version, rank, cut evidence, pack; nothing is written."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from amos.atoms.statement import statements
from amos.clock import as_text, to_us, utc_now
from amos.errors import UsageError
from amos.flow.ahead import Ahead
from amos.flow.asked import (
    attention_trace,
    claims_with,
    guarding_claims,
    row_filter,
    unmet,
    wishes_of,
)
from amos.flow.claims import subject_labels
from amos.flow.echoed import reinforced_atoms
from amos.flow.learned import LowUtility, lessons_of, with_low_utility
from amos.identity import id_text
from amos.journal.store import Shard, Snapshot
from amos.packets.build import Built, build_packet
from amos.packets.packet import Packet
from amos.packets.processors import slots_of
from amos.packets.recalled import Recalled
from amos.packets.request import PacketRequest, check_request
from amos.packets.store import read_pressure
from amos.retrieval.evidence import SHOWN_COLUMNS, cut_evidence, wanted_terms
from amos.retrieval.profile import find_profile
from amos.retrieval.ranking import Ranking
from amos.retrieval.retriever import Retriever
from amos.retrieval.rows import id_array, ids_of, latest
from amos.retrieval.store import open_index, refresh_index
from amos.retrieval.view import View
from amos.retrieval.visibility import Reader, RowFilter
from amos.schemas.columns import ID, SCOPE_NAMES
from amos.schemas.labels import LABELLED, owners_named
from amos.schemas.ranked import CLAIM_CARDS, CONFLICTS
from amos.schemas.state import ENDED_UNKNOWN, OPEN_FROM, OPEN_UNTIL

_CARD_WORDS = """
atom_id version type polarity subject_id payload slot_id lifecycle_state health_status
confidence_ppm evidence_count root_count intervals source_id spans utility_ppm salience_ppm graph_version
"""
_CARD_COLUMNS = (*_CARD_WORDS.split(), *(f"scope_{name}" for name in SCOPE_NAMES))
_DISPUTE_COLUMNS = ("dispute_id", "version", "slot_id", "sides", "since", "reason", "status")
_SPARE_ITEMS = 16
"""Ranked beyond the items allowed, so that small ones can take the place of large ones."""
_DEEPEST = 2_048
"""Where so many were ranked, no more are, however many of them say the same; the rest is counted."""


@dataclass(frozen=True, kw_only=True)
class SearchPage:
    """Rows of a search, best first.  cursor: continues after them, null at the end."""

    rows: list[dict[str, Any]]
    total: int
    cursor: str | None
    empty_reason: str | None


class Recall:
    """Reads one pinned version for one reader; make one per command and close it."""

    def __init__(self, shard: Shard, reader: Reader, *, snapshot: Snapshot | None = None) -> None:
        """Read `snapshot`, the newest state where none is given; it is closed with this."""
        self._reader = reader
        self._shard = shard
        self.pressure: str = read_pressure(shard.folder)
        self.wished_version = 0
        self._by_profile: dict[str, Retriever] = {}
        self.snapshot: Snapshot = shard.pin() if snapshot is None else snapshot
        version = self.snapshot.version
        self._rows = Ahead(self.snapshot)
        self._ranked: dict[int, tuple[PacketRequest, Ranking]] = {}
        self._is_erased_since = any(entry.graph_version > version for entry in shard.erasures())
        now = utc_now()
        self._low_utility = LowUtility(self.snapshot, now)
        self._lessons = lessons_of(self.snapshot, now)
        try:
            self.retriever: Retriever = open_index(
                shard,
                self.snapshot,
                statements,
                reinforced_atoms(self.snapshot),
                self._low_utility,
                self._lessons,
            )
        except BaseException:
            self.snapshot.close()
            raise

    def __enter__(self) -> Recall:
        return self

    def __exit__(self, *_: object) -> None:
        self.snapshot.close()

    def expect(self, questions: int) -> None:
        """Prepare for so many questions: their answers are the same, they come faster."""
        self.retriever.expect(questions)

    def look_ahead(self, asked: Sequence[tuple[PacketRequest, datetime]]) -> None:
        """Rank requests that come next and read their rows at once; their packets are the same without."""
        self._ranked = {}
        for request, now in asked:
            check_request(request)
            depth = request.allowance.items + _SPARE_ITEMS
            self._ranked[id(request)] = request, self._rank(request, self.filter(request, now), depth)
        rankings = [ranking for _, ranking in self._ranked.values()]
        claims = [one for ranking in rankings for one in ranking.items["atom_id"].drop_null().to_pylist()]
        atoms = self._rows.read("atoms", "atom_id", claims, _CARD_COLUMNS)
        subjects = set(atoms["subject_id"].to_pylist())
        named = self._rows.read("entities", "entity_id", sorted(subjects), LABELLED)
        if owners := owners_named(named.to_pylist()):
            self._rows.read("entities", "entity_id", sorted(subjects | owners), LABELLED)
        self._rows.read("disputes", "slot_id", atoms["slot_id"].to_pylist(), _DISPUTE_COLUMNS)
        sources = [one for ranking in rankings for one in _shown_sources(ranking)]
        self._rows.read("sources", "source_id", sources, SHOWN_COLUMNS)

    def rank(self, request: PacketRequest, k: int, *, now: datetime) -> Ranking:
        """Return the best `k` items for a request, which no budget has cut yet."""
        check_request(request)
        return self._rank(request, self.filter(request, now), k)

    def filter(self, request: PacketRequest, now: datetime, *, now_us: int | None = None) -> RowFilter:
        """Return which rows a request may see and wants."""
        only = claims_with(self.snapshot, request.payload_filter)
        return row_filter(request, self._reader, now, now_us=now_us, only=only)

    def retriever_for(self, request: PacketRequest) -> Retriever:
        """Return what ranks by the profile of a request: the one it names, else that of its mode."""
        named = request.profile or request.mode.profile
        if named is None:
            return self.retriever
        if named not in self._by_profile:
            self._by_profile[named] = self.retriever.with_profile(find_profile(named))
        return self._by_profile[named]

    def packet(self, request: PacketRequest, *, packet_id: bytes, now: datetime) -> Packet:
        """Return one packet.  Raises UsageError when the request makes no sense."""
        return self.build(request, packet_id=packet_id, now=now).packet

    def build(self, request: PacketRequest, *, packet_id: bytes, now: datetime) -> Built:
        """Return one packet with what was folded.  Raises UsageError when the request makes no sense."""
        check_request(request)
        wanted = self.filter(request, now)
        most = request.allowance.items
        depth = most + _SPARE_ITEMS
        _, ranked = self._ranked.pop(id(request), (request, None))
        while True:
            ranking = ranked or self._rank(request, wanted, depth)
            ranked = None
            recalled = self._recalled(request, wanted, ranking)
            built = build_packet(request, recalled, packet_id=packet_id, now=now)
            shown = len(built.packet.items)
            is_used_up = shown + len(built.redundant) == ranking.items.num_rows < ranking.total
            if not is_used_up or shown >= most or depth >= _DEEPEST:
                return built
            depth *= 4  # what was ranked says too often the same

    def _rank(self, request: PacketRequest, wanted: RowFilter, depth: int) -> Ranking:
        reserved = [slot.types for slot in slots_of(request.processor).values()]
        retriever = self.retriever_for(request)
        return retriever.rank(request.asked, wanted, depth, reserved, wishes_of(request))

    def _recalled(self, request: PacketRequest, wanted: RowFilter, ranking: Ranking) -> Recalled:
        claims, conflicts = self._claims(ranking, request, wanted)
        cards = self._cards(claims, wanted)
        wishes, profile = wishes_of(request), self.retriever_for(request).profile
        return Recalled(
            items=ranking.items,
            evidence=self._evidence(ranking, request, wanted, claims),
            claims=cards,
            conflicts=conflicts,
            sample=ranking.sample,
            omitted=ranking.omitted | unmet(ranking, wishes),
            empty_reason=ranking.empty_reason,
            total=ranking.total,
            is_withheld=ranking.is_withheld,
            profile=ranking.profile,
            profile_digest=profile.digest,
            graph_version=self.snapshot.version or None,
            degradation=ranking.degradation,
            is_erased_since=self._is_erased_since,
            is_behind=self.snapshot.version < self.wished_version,
            pressure=self.pressure,
            trace=attention_trace(request, ranking, wishes, profile),
            guarding=guarding_claims(ranking, cards, wishes.guards),
        )

    def _cards(self, claims: pa.Table, wanted: RowFilter) -> pa.Table:
        """Return CLAIM_CARDS of claims, with what outcomes in sight made of them."""
        cards = claim_cards(claims, self._rows, wanted.instant_us)
        accepted = self._shard.accepted_at(set(claims["graph_version"].to_pylist()))
        moved = self._lessons.standings(wanted.scope)
        rows = []
        for card, version in zip(cards.to_pylist(), claims["graph_version"].to_pylist(), strict=True):
            utility, salience = moved.get(card["atom_id"], (card["utility_ppm"], card["salience_ppm"]))
            learned = {"utility_ppm": utility, "salience_ppm": salience}
            rows.append({**card, **learned, "updated_at": accepted.get(version)})
        return pa.Table.from_pylist(rows, schema=CLAIM_CARDS)

    def search(
        self, text: str, request: PacketRequest, *, limit: int, cursor: str | None, now: datetime
    ) -> SearchPage:
        """Return up to `limit` rows for a text, from the cursor on.

        request: scope and options; its cues and budget are not used.
        """
        if limit <= 0:
            raise UsageError(f"the limit must be at least 1, not {limit}")
        start, instant_us = read_cursor(cursor, self.snapshot.version, text, to_us(now))
        wanted = self.filter(request, now, now_us=instant_us)
        ranking = self.retriever_for(request).rank((text,), wanted, start + limit, wishes=wishes_of(request))
        asked = msgspec.structs.replace(request, cues=(text,))
        rows = list(self._search_rows(ranking, asked, wanted, start))
        more = ranking.total > start + len(rows)
        mark = write_cursor(start + len(rows), self.snapshot.version, text, instant_us) if more else None
        return SearchPage(rows=rows, total=ranking.total, cursor=mark, empty_reason=ranking.empty_reason)

    def _search_rows(
        self, ranking: Ranking, request: PacketRequest, wanted: RowFilter, start: int
    ) -> Iterator[dict[str, Any]]:
        claims, _ = self._claims(ranking, request, wanted)
        cards = claim_cards(claims, self._rows, wanted.instant_us).to_pylist()
        said = {card["atom_id"]: card for card in cards}
        cut = self._evidence(ranking, request, wanted, claims).to_pylist()
        shown = {row["rank"]: row for row in reversed(cut)}  # the item's own turn comes first
        for item in ranking.items.slice(start).to_pylist():
            evidence, card = shown.get(item["rank"]), said.get(item["atom_id"])
            yield _search_row(item, evidence, card)

    def _claims(
        self, ranking: Ranking, request: PacketRequest, wanted: RowFilter
    ) -> tuple[pa.Table, pa.Table]:
        """Return the current atoms of a ranking and of the other sides of their disputes."""
        atoms = self._current_atoms(ranking.items["atom_id"].drop_null(), wanted)
        conflicts = self._conflicts(atoms, self.retriever_for(request).view(wanted))
        missing = np.setdiff1d(ids_of(conflicts["atom_id"]), ids_of(atoms["atom_id"]))
        if len(missing):
            atoms = pa.concat_tables([atoms, self._current_atoms(id_array(missing), wanted)])
        return atoms, conflicts

    def _current_atoms(self, ids: Any, wanted: RowFilter) -> pa.Table:
        rows = latest(self._rows.lookup("atoms", "atom_id", ids, _CARD_COLUMNS), "atom_id", "version")
        return with_low_utility(rows, self._low_utility(wanted.scope))

    def _conflicts(self, atoms: pa.Table, view: View) -> pa.Table:
        if not atoms.num_rows:
            return CONFLICTS.empty_table()
        found = self._rows.lookup("disputes", "slot_id", atoms["slot_id"], _DISPUTE_COLUMNS)
        rows = []
        for dispute in latest(found, "dispute_id", "version").to_pylist():
            sides = sorted(dispute["sides"])
            seen = view.sees_atoms(np.array(sides, "S16"))
            if dispute["status"] == "open":
                rows += [
                    {**{name: dispute.get(name) for name in CONFLICTS.names}, "atom_id": side}
                    for side, is_seen in zip(sides, seen.tolist(), strict=True)
                    if is_seen
                ]
        return pa.Table.from_pylist(rows, schema=CONFLICTS)

    def _evidence(
        self, ranking: Ranking, request: PacketRequest, wanted: RowFilter, claims: pa.Table
    ) -> pa.Table:
        retriever = self.retriever_for(request)
        ids = ranking.items["source_id"].drop_null().unique().to_pylist()
        attached = retriever.view(wanted).captions
        captions = {source: attached[source] for source in ids if source in attached}
        needed = pa.array([*ids, *(caption for each in captions.values() for caption in each)], ID)
        sources = self._rows.lookup("sources", "source_id", needed, SHOWN_COLUMNS)
        terms = wanted_terms(retriever.read_cues(request.asked, wanted))
        return cut_evidence(ranking.items, sources, claims, terms, captions)


def _shown_sources(ranking: Ranking) -> Iterator[bytes]:
    """Yield the turns that are or show items, each followed by the captions attached to it."""
    captions = ranking.view.captions
    for source in ranking.items["source_id"].drop_null().to_pylist():
        yield source
        yield from captions.get(source, ())


def refresh(shard: Shard, *, at_least: int) -> bool:
    """Store the index of the newest version when `at_least` rows are missing from the stored one."""
    return refresh_index(shard, statements, at_least=at_least)


def claim_cards(atoms: pa.Table, snapshot: Snapshot | Ahead, instant_us: int) -> pa.Table:
    """Return CLAIM_CARDS of atoms, one per row, with the interval that holds at the instant."""
    names = subject_labels(snapshot, atoms["subject_id"].unique())
    rows = []
    subjects = [names[subject] for subject in atoms["subject_id"].to_pylist()]
    kinds, payloads, signs = (atoms[name].to_pylist() for name in ("type", "payload", "polarity"))
    said = statements(kinds, payloads, signs, subjects)
    for row, subject, statement in zip(atoms.to_pylist(), subjects, said, strict=True):
        start, end = interval_at(row["intervals"], instant_us)
        card = {
            **row,
            "subject": subject.text,
            "statement": statement,
            "valid_from": start,
            "valid_until": end,
        }
        rows.append({name: card.get(name) for name in CLAIM_CARDS.names})
    return pa.Table.from_pylist(rows, schema=CLAIM_CARDS)


def interval_at(intervals: Sequence[int], instant_us: int) -> tuple[int | None, int | None]:
    """Return the interval that holds at the instant, else the last one; open ends are None."""
    pairs = list(zip(intervals[::2], intervals[1::2], strict=True))
    if not pairs:
        return None, None
    holding = [pair for pair in pairs if pair[0] <= instant_us < pair[1]]
    start, end = (holding or pairs)[-1]
    return None if start <= OPEN_FROM else start, None if end >= OPEN_UNTIL or end == ENDED_UNKNOWN else end


def _search_row(
    item: dict[str, Any], evidence: dict[str, Any] | None, card: dict[str, Any] | None
) -> dict[str, Any]:
    cut = evidence or {}
    moment = cut.get("event_time")
    return {
        "rank": item["rank"],
        "item_kind": item["item_kind"],
        "atom_id": id_text("atoms", item["atom_id"]) if item["atom_id"] else None,
        "source_id": id_text("sources", item["source_id"]) if item["source_id"] else None,
        "score": item["score_ppm"] / 1_000_000,
        "statement": card["statement"] if card else cut.get("excerpt"),
        "excerpt": cut.get("excerpt"),
        "start": cut.get("start"),
        "end": cut.get("end"),
        "matches": [list(pair) for pair in _pairs(cut.get("matches", []))],
        "event_time": as_text(to_us(moment)) if moment else None,
        "author": cut.get("author"),
        "is_superseded": item["is_superseded"],
    }


def _pairs(flat: list[int]) -> Iterable[tuple[int, int]]:
    return zip(flat[::2], flat[1::2], strict=True)


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_cursor(start: int, version: int, text: str, instant_us: int) -> str:
    """Return an opaque cursor: place, graph version, question and instant."""
    raw = msgspec.json.encode([start, version, _mark(text), instant_us])
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def cursor_version(cursor: str) -> int:
    """Return the graph version a cursor belongs to.  Raises UsageError when it is none of ours."""
    return _cursor_parts(cursor)[1]


def _cursor_parts(cursor: str) -> tuple[int, int, str, int]:
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return msgspec.json.decode(raw, type=tuple[int, int, str, int])
    except (ValueError, msgspec.DecodeError) as cause:
        raise UsageError("the cursor is not one that a search gave", advice="Search again.") from cause


def read_cursor(cursor: str | None, version: int, text: str, now_us: int) -> tuple[int, int]:
    """Return the place to go on from and the instant of the first page.

    Raises UsageError when the cursor belongs to another question or graph version.
    """
    if cursor is None:
        return 0, now_us
    start, made_at, mark, instant_us = _cursor_parts(cursor)
    if mark != _mark(text) or made_at != version or start < 0:
        raise UsageError("the cursor belongs to another search", advice="Search again without `--cursor`.")
    return start, instant_us
