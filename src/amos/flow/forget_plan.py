"""Plan an erasure on one pinned version: every row that goes, every row that takes a new form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.decision_rows import decision_ids
from amos.admission.policy import Policy
from amos.admission.tombstones import Forbidden, Graves
from amos.evidence.capture import CAPTURED
from amos.flow.current import SnapshotRows
from amos.flow.forget_beside import drop_echoes, drop_feedback
from amos.flow.forget_cuts import Passage, Ranges, covered, cut_sources, find_copies, passages_of
from amos.flow.forget_lost import Lost, among, merged
from amos.flow.forget_people import Unmeant, drop_mentions, nameless_entities, unmeant
from amos.flow.forget_remains import (
    changed_conversations,
    moved_candidates,
    source_refusals,
    unnamed_entities,
)
from amos.flow.forget_reviews import missing_reviews, with_reworded, without_notes
from amos.flow.forget_selection import Selected, current_rows, people_meant
from amos.flow.forget_settle import Gone, Left, resettle
from amos.flow.forget_statements import statement_passages
from amos.flow.held import held_decisions
from amos.flow.merges import records_about
from amos.flow.ordering import next_version
from amos.flow.rekeying import (
    chained_talks,
    names_talk,
    recited,
    rekeyed_sources,
    rekeyed_talks,
)
from amos.flow.tombstoned import read_graves, scopes_of
from amos.flow.versions import latest
from amos.journal.store import EventRows, Snapshot
from amos.kernels.wordings import wording_of
from amos.schemas.columns import ID
from amos.schemas.state import PRIMARY_KEYS

SHORTEST_MESSAGE = 6
"""Words of the shortest whole message that may not be repeated: shorter ones anybody says."""

_PLACE = ["graph_version", "row_number"]


@dataclass(frozen=True, kw_only=True)
class ErasurePlan:
    """What an erasure appends and takes away, decided on one version.

    sources: those that go whole, with what reviewers wrote about them.  vanished: claims without support.
    removed: ids per table of which nothing stays.  revised: sources that lose bytes and stay.
    kept_evidence: sources whose words stay although their claims go.
    """

    rows: list[EventRows]
    gone: Gone
    sources: pa.Array
    vanished: set[bytes]
    forbidden: Forbidden
    removed: dict[str, int]
    revised: int
    kept_evidence: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing stored is touched."""
        return not any(self.gone.places.values()) and not self.rows


def plan_erasure(
    snapshot: Snapshot, selected: Selected, *, keep_evidence: bool, key: bytes, policy: Policy, now: datetime
) -> ErasurePlan:
    """Return what goes with the selected claims and sources, and what stays in another form."""
    planner = _Planner(snapshot=snapshot, selected=selected, key=key, policy=policy, now=now)
    return planner.plan(keep_evidence=keep_evidence)


@dataclass(kw_only=True)
class _Planner:
    snapshot: Snapshot
    selected: Selected
    key: bytes
    policy: Policy
    now: datetime

    def plan(self, *, keep_evidence: bool) -> ErasurePlan:
        gone = Gone()
        sources = self.snapshot.lookup("sources", "source_id", self.selected.sources)
        lost = self._claimed(keep_evidence=keep_evidence)
        conversations = changed_conversations(self.snapshot, sources, lost.passages, gone, self.key)
        lost, conversations = self._rekeyed(lost, sources, conversations, gone)
        more = missing_reviews(
            self.snapshot, lost.candidates["candidate_id"].combine_chunks(), self.selected.sources, self.key
        )
        more = pa.concat_arrays([more, self._missing_merges()]).unique()
        if len(more):
            return self._with_sources(more).plan(keep_evidence=keep_evidence)
        again = self._unmeant(lost, sources)
        mentions = drop_mentions(self.snapshot, self.selected.sources, lost.candidates, again, gone)
        lost = replace(lost, candidates=pa.concat_tables([lost.candidates, again.lost]))
        gone.add_table("sources", sources)
        gone.add_table("sources", self._revisions(lost.revised["source_id"]))
        gone.add_table("candidates", lost.candidates)
        left, moved = self._left(lost, sources, gone, again.made)
        settled = resettle(self.snapshot, left, gone, key=self.key, policy=self.policy, now=self.now)
        self._drop_decisions(left, again.made, gone)
        refusals = source_refusals(
            self.snapshot,
            lost.emptied(self.snapshot),
            gone,
            key=self.key,
            policy=self.policy,
            is_expiry=len(self.selected.expired) > 0,
        )
        drop_echoes(self.snapshot, settled.vanished, self.selected.sources, gone)
        drop_feedback(self.snapshot, settled.vanished, self.selected.sources, gone)
        going, staying = nameless_entities(self.snapshot, mentions, again)
        staying |= set(again.made["subject_id"].to_pylist())
        unnamed = unnamed_entities(self.snapshot, sources, lost.candidates, going=going, staying=staying)
        gone.add_table("entities", unnamed)
        held = held_decisions(self.snapshot, again.made, key=self.key, policy=self.policy, now=self.now)
        rows = {**settled.rows, "sources": lost.revised, "candidates": moved, "conversations": conversations,
                "entities": SnapshotRows(self.snapshot).absent("entities", again.entities),
                "mentions": again.mentions}  # fmt: skip
        rows["decisions"] = pa.concat_tables([settled.rows["decisions"], held, refusals])
        return ErasurePlan(
            rows=_events(rows),
            gone=gone,
            sources=self.selected.sources,
            vanished=settled.vanished,
            forbidden=self._forbidden(settled.vanished, lost, sources),
            removed=_removed(self.snapshot, gone, rows),
            revised=len(lost.cut_sources),
            kept_evidence=len(lost.evidence) if keep_evidence else 0,
        )

    def _unmeant(self, lost: Lost, sources: pa.Table) -> Unmeant:
        """Return whom the claims that stay mean without what goes."""
        graves = read_graves(self.snapshot, self.key, self.now)
        return unmeant(
            self.snapshot, sources, lost.candidates, lost.revised,
            key=self.key, policy=self.policy, graves=graves,
        )  # fmt: skip

    def _missing_merges(self) -> pa.Array:
        """Return the records that join somebody who goes with another, or part them."""
        if not self.selected.subjects:
            return pa.array([], ID)
        found = records_about(self.snapshot, people_meant(self.snapshot, self.selected.subjects))
        return found.filter(pc.invert(pc.is_in(found, value_set=self.selected.sources.cast(ID))))

    def _with_sources(self, more: pa.Array) -> _Planner:
        sources = pa.concat_arrays([self.selected.sources.cast(ID), more])
        return replace(self, selected=replace(self.selected, sources=sources))

    def _revisions(self, ids: pa.ChunkedArray) -> pa.Table:
        return self.snapshot.lookup("sources", "source_id", ids.combine_chunks(), ["source_id", *_PLACE])

    def _claimed(self, *, keep_evidence: bool) -> Lost:
        """Return the candidates that go, all versions, and the sources that lose bytes to that."""
        lookup = self.snapshot.lookup
        of_sources = lookup("candidates", "source_id", self.selected.sources)
        of_claims = lookup("candidates", "claim_id", self.selected.claims)
        of_claims = with_reworded(self.snapshot, of_claims, self.selected.claims)
        in_kept = pc.invert(pc.is_in(of_claims["source_id"], value_set=self.selected.sources))
        of_claims = of_claims.filter(in_kept)
        expired = lookup("candidates", "candidate_id", self.selected.expired)
        evidence = of_claims["source_id"].combine_chunks().unique()
        cited = current_rows(self.snapshot, "sources", "source_id", evidence)
        contents = dict(zip(cited["source_id"].to_pylist(), cited["content"].to_pylist(), strict=True))
        passages = [*passages_of(of_claims, contents), *statement_passages(self.snapshot, of_claims)]
        lost = Lost(
            candidates=pa.concat_tables([of_sources, of_claims, expired]),
            evidence=pa.concat_arrays([evidence, expired["source_id"].combine_chunks()]).unique(),
            passages=passages,
        )
        if keep_evidence or not len(self.selected.claims):
            return lost
        return self._cut(lost, of_claims)

    def _cut(self, lost: Lost, of_claims: pa.Table) -> Lost:
        """Return what goes when evidence and copies of its words are cut."""
        graves = Graves.for_passages(lost.passages, self.key)
        copies = find_copies(self.snapshot, graves)
        further = pa.array(sorted(self.selected.passages), ID)
        touched = pa.concat_arrays([lost.evidence, copies, further]).unique()
        touched = touched.filter(pc.invert(pc.is_in(touched, value_set=self.selected.sources)))
        ranges: Ranges = {source: list(parts) for source, parts in self.selected.passages.items()}
        columns = (of_claims[name].to_pylist() for name in ("source_id", "spans"))
        for source, spans in zip(*columns, strict=True):
            ranges.setdefault(source, []).extend(zip(spans[::2], spans[1::2], strict=True))
        rows = current_rows(self.snapshot, "sources", "source_id", touched)
        revised, cut = cut_sources(rows, ranges, graves)
        others = self.snapshot.lookup("candidates", "source_id", revised["source_id"].combine_chunks())
        others = others.filter(pc.invert(among(others, lost.candidates)))
        bare = others.filter(covered(others, cut, lost.passages))
        bare = others.filter(among(others, bare))  # all versions of a candidate go together
        return Lost(
            candidates=pa.concat_tables([lost.candidates, bare]),
            evidence=lost.evidence,
            passages=lost.passages,
            revised=revised,
        )

    def _rekeyed(
        self, lost: Lost, sources: pa.Table, conversations: pa.Table, gone: Gone
    ) -> tuple[Lost, pa.Table]:
        """Return what goes and changes when keys that cover a lost text are replaced by keyed ones."""
        columns = ["conversation_id", "delivery_key"]
        talks = chained_talks(pa.concat_tables([sources.select(columns), lost.revised.select(columns)]))
        stored = self.snapshot.lookup("conversations", "conversation_id", talks)
        at = pc.is_in(conversations["conversation_id"], value_set=talks)
        rows = latest(pa.concat_tables([stored.select(conversations.schema.names), conversations.filter(at)]),
                      "conversations")  # fmt: skip
        kept = current_rows(self.snapshot, "sources", "conversation_id", talks).select(CAPTURED.names)
        kept = kept.filter(pc.invert(pc.is_in(kept["source_id"], value_set=self.selected.sources)))
        rows = rows.filter(
            pc.is_in(rows["conversation_id"], value_set=kept["conversation_id"].combine_chunks())
        )
        if rows.num_rows == 0:
            return lost, conversations
        gone.add_table("conversations", stored)
        rows, names = rekeyed_talks(rows, self.key)
        cut = pc.is_in(lost.revised["conversation_id"], value_set=talks)
        fresh = pc.invert(pc.is_in(kept["source_id"], value_set=lost.revised["source_id"].combine_chunks()))
        again = next_version(kept.filter(fresh), "revision").cast(CAPTURED)
        revised, renewed = rekeyed_sources(
            pa.concat_tables([lost.revised.filter(cut), again]), names, self.key
        )
        others = self.snapshot.lookup("candidates", "source_id", revised["source_id"].combine_chunks())
        others = others.filter(pc.invert(among(others, lost.candidates)))
        bound = others.filter(pa.array(names_talk(others)))
        bound = others.filter(among(others, bound))
        lost = Lost(
            candidates=pa.concat_tables([lost.candidates, bound]),
            evidence=pa.concat_arrays([lost.evidence, bound["source_id"].combine_chunks()]).unique(),
            passages=lost.passages,
            revised=pa.concat_tables([lost.revised.filter(pc.invert(cut)), revised]),
            cut=lost.cut_sources,
            renewed=renewed,
        )
        return lost, pa.concat_tables([conversations.filter(pc.invert(at)), rows])

    def _left(self, lost: Lost, sources: pa.Table, gone: Gone, made: pa.Table) -> tuple[Left, pa.Table]:
        """Return what stays of the touched histories, and the candidates that take a new form.

        made: those that mean somebody else from now on.
        """
        moved = moved_candidates(self.snapshot, sources, lost.candidates)
        recited = self._recited(lost)
        moved, recited = (part.filter(pc.invert(among(part, made))) for part in (moved, recited))
        changed = pa.concat_tables([merged(moved, recited), made])
        gone.add_table("candidates", self._versions(changed["candidate_id"]))
        histories = pa.concat_tables([lost.candidates.select(["history_id"]), changed.select(["history_id"])])
        ids = histories["history_id"].combine_chunks().unique()
        found = latest(self.snapshot.lookup("candidates", "history_id", ids), "candidates")
        claims = pa.concat_arrays(
            [rows.combine_chunks().cast(ID) for rows in (found["claim_id"], made["claim_id"])]
            + [self.selected.claims.cast(ID)]
        ).unique()
        stays = found.filter(pc.invert(among(found, lost.candidates)))
        stays = stays.filter(pc.invert(among(stays, changed)))
        stays = stays.select(UNSALTED_CANDIDATES.names).cast(UNSALTED_CANDIDATES)
        is_expired = pc.is_in(lost.candidates["candidate_id"], value_set=self.selected.expired)
        no_evidence = lost.candidates.filter(pc.invert(is_expired))
        cited = zip(no_evidence["source_id"].to_pylist(), no_evidence["spans"].to_pylist(), strict=True)
        left = Left(
            candidates=pa.concat_tables([stays, changed]),
            claims=claims,
            histories=ids,
            lost={(source, tuple(spans)) for source, spans in cited},
            stale=set(lost.revised["source_id"].to_pylist()),
            decisions=set(decision_ids(lost.candidates["candidate_id"], self.key).to_pylist()),
        )
        return left, changed

    def _versions(self, ids: pa.ChunkedArray) -> pa.Table:
        columns = ["candidate_id", *_PLACE]
        return self.snapshot.lookup("candidates", "candidate_id", ids.combine_chunks(), columns)

    def _recited(self, lost: Lost) -> pa.Table:
        """Return the candidates that stay of revised sources, citing the new revision."""
        ids = lost.revised["source_id"].combine_chunks()
        held = latest(self.snapshot.lookup("candidates", "source_id", ids), "candidates")
        held = held.filter(pc.invert(among(held, lost.candidates)))
        held = held.select(UNSALTED_CANDIDATES.names).cast(UNSALTED_CANDIDATES)
        if held.num_rows == 0:
            return held
        revision = lost.revised["revision"].take(pc.index_in(held["source_id"], value_set=ids))
        place = held.schema.get_field_index("source_revision")
        return next_version(recited(held.set_column(place, held.schema.field(place), revision), lost.renewed))

    def _drop_decisions(self, left: Left, made: pa.Table, gone: Gone) -> None:
        """Take away the decisions on what goes: on its candidates, and on its sources.

        made: candidates that mean somebody else from now on; those that wait may name what went.
        """
        columns = ["decision_id", *_PLACE]
        waiting = made.filter(pc.is_valid(made["gate"]))["candidate_id"]
        ids = pa.array(sorted({*left.decisions, *decision_ids(waiting, self.key).to_pylist()}), ID)
        gone.add_table("decisions", self.snapshot.lookup("decisions", "decision_id", ids, columns))
        of_sources = self.snapshot.lookup("decisions", "source_id", self.selected.sources, columns)
        gone.add_table("decisions", of_sources)

    def _forbidden(self, vanished: set[bytes], lost: Lost, sources: pa.Table) -> Forbidden:
        """Return what may not return: the claims that vanish, the sources, and their words."""
        of_sources = pc.is_in(lost.candidates["source_id"], value_set=self.selected.sources)
        told = set(lost.candidates.filter(of_sources)["claim_id"].to_pylist())
        # what only lost its evidence to a cut next to it was not asked to go: it may be told again
        claims = pa.array(sorted({*(vanished & told), *self.selected.claims.to_pylist()}), ID)
        current = latest(sources, "sources")
        contents = dict(zip(current["source_id"].to_pylist(), current["content"].to_pylist(), strict=True))
        of_claims = lost.candidates.filter(pc.is_in(lost.candidates["claim_id"], value_set=claims))
        survives = lost.candidates.filter(pc.invert(pc.is_in(lost.candidates["claim_id"], value_set=claims)))
        kept = set(survives["source_id"].to_pylist())
        told_again = [*passages_of(of_claims, contents), *statement_passages(self.snapshot, of_claims)]
        passages: dict[Passage, None] = dict.fromkeys([*lost.passages, *told_again])
        for source, text, scope in zip(*_spoken(without_notes(current)), strict=True):
            words = tuple(wording_of(text).words)
            if len(words) >= SHORTEST_MESSAGE and source not in kept:
                passages[words, scope] = None
        return Forbidden(claims.to_pylist(), self.selected.sources.to_pylist(), list(passages))


def _spoken(sources: pa.Table) -> tuple[list[bytes], list[str], list[tuple[str | None, ...]]]:
    return sources["source_id"].to_pylist(), sources["content"].to_pylist(), scopes_of(sources)


_EVENTS = {
    "sources": "source_revised",
    "conversations": "source_revised",
    "entities": "dictionary_updated",
    "candidates": "candidate_proposed",
    "mentions": "dictionary_updated",
    "decisions": "candidate_decided",
    "atoms": "atom_updated",
    "edges": "edge_committed",
    "lineage": "candidate_decided",
    "disputes": "dispute_opened",
}
_RETIRING = {"edges": ("lifecycle_state", "archived", "edge_retired"),
             "disputes": ("status", "closed", "dispute_closed")}  # fmt: skip


def _events(rows: dict[str, pa.Table]) -> list[EventRows]:
    """Return the rows by the event that brings them, in the journal's order."""
    found = []
    for table, event in _EVENTS.items():
        part = rows[table]
        if table in _RETIRING:
            column, value, retiring = _RETIRING[table]
            ends = pc.equal(part[column], value)
            found.append(EventRows(event, table, part.filter(pc.invert(ends))))
            found.append(EventRows(retiring, table, part.filter(ends)))
        else:
            found.append(EventRows(event, table, part))
    return [group for group in found if group.rows.num_rows]


def _removed(snapshot: Snapshot, gone: Gone, rows: dict[str, pa.Table]) -> dict[str, int]:
    """Return per table how many ids keep no row and get no new one."""
    counts = {}
    for table, places in gone.places.items():
        key = PRIMARY_KEYS[table]
        held = snapshot.lookup(table, key, pa.array(list(set(places.values())), ID), [key, *_PLACE])
        columns = (held[name].to_pylist() for name in (key, *_PLACE))
        stays = {one for one, version, row in zip(*columns, strict=True) if (version, row) not in places}
        ids = set(places.values()) - stays
        if table in rows:
            ids -= set(rows[table][key].to_pylist())
        if ids:
            counts[table] = len(ids)
    return counts
