"""The index of a shard: read the stored part, add what came later, keep it up to date."""

from __future__ import annotations

import hashlib
import logging
import mmap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from amos.freed import give_back
from amos.identity import plain_name
from amos.retrieval.cited import TEXT_COLUMNS, Stating, cited_texts, search_text, searchable_texts
from amos.retrieval.container import IndexDamageError
from amos.retrieval.corpus import (
    Corpus,
    Space,
    build_space,
    current_supports,
    lowered,
    merged,
    raised,
    stacked,
)
from amos.retrieval.facts import Facts
from amos.retrieval.ranking import Ranking
from amos.retrieval.retriever import Retriever
from amos.retrieval.rows import (
    ATOM_COLUMNS,
    DECISION_COLUMNS,
    SOURCE_COLUMNS,
    Rows,
    atom_rows,
    latest,
    row_count,
    support_rows,
    text_hash,
    turn_rows,
)
from amos.retrieval.stored import Base, pack_base, read_base
from amos.retrieval.stored_facts import NO_LESSONS, Lessons, stored_facts
from amos.retrieval.visibility import RowFilter
from amos.retrieval.wishes import NO_WISHES, Wishes
from amos.schemas.labels import LABELLED, Label, label_of, owners_named
from amos.storage.files import draft_folder, place_file
from amos.storage.places import place

_LOG = logging.getLogger(__name__)
_NOTHING: Mapping[bytes, int] = MappingProxyType({})

LowUtility = Callable[[Mapping[str, str]], frozenset[bytes]]
"""Scope -> ids of the claims that count as of low utility for callers of that scope."""


def no_low_utility(scope: Mapping[str, str]) -> frozenset[bytes]:  # noqa: ARG001 - fits LowUtility
    """Return that no claim counts as of low utility."""
    return frozenset()


REFRESH_ROWS = 2_048
"""From this many rows on it pays to store what a reader would have to add."""

Statements = Callable[[Iterable[str], Iterable[str], Iterable[str], Iterable[Label]], list[str]]
"""(types, payloads, polarities, subjects) -> one sentence per claim."""


class Snapshot(Protocol):
    """What the index reads from a pinned graph version."""

    version: int

    def table(self, name: str, columns: Sequence[str] | None = None, *, since: int = 0) -> pa.Table:
        """Return all row versions after `since`."""

    def lookup(self, name: str, column: str, keys: Any, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the row versions whose id column is among `keys`."""


class Shard(Protocol):
    """Where the index of a shard lies."""

    folder: Path

    def pin(self, version: int | None = None) -> Any:
        """Return a snapshot."""


class _Tail(NamedTuple):
    """Rows after a graph version, ready to be searched."""

    turns: Space
    atoms: Space
    supports: Rows
    holders: dict[int, str]

    @property
    def rows(self) -> int:
        return row_count(self.turns.rows) + row_count(self.atoms.rows) + row_count(self.supports)


def index_path(shard: Shard) -> Path:
    """Return the index file of a shard."""
    return place(shard.folder, "derived", "words", "base.idx")


def open_index(
    shard: Shard,
    snapshot: Snapshot,
    statements: Statements,
    reinforced: Mapping[bytes, int] = _NOTHING,
    low_utility: LowUtility = no_low_utility,
    lessons: Lessons = NO_LESSONS,
) -> Retriever:
    """Return a retriever over exactly the rows of `snapshot`, however far the stored index lags.

    reinforced: what echoes add to the confidence of claims, in parts per million, by atom id.
    low_utility: tells which claims outcomes made so for the caller.  lessons: what else outcomes taught.
    A missing, foreign or damaged index is replaced in memory; damage is disclosed.
    """
    try:
        base = _load(shard, snapshot)
        corpus = _corpus(base, snapshot, statements, ())
    except IndexDamageError as damage:
        corpus = _without_base(snapshot, statements, damage)
    return StoredRetriever(corpus, snapshot, statements, (reinforced, low_utility, lessons))


class StoredRetriever(Retriever):
    """A retriever that falls back to the tables when a stored block turns out to be damaged."""

    def __init__(
        self,
        corpus: Corpus,
        snapshot: Snapshot,
        statements: Statements,
        learned: tuple[Mapping[bytes, int], LowUtility, Lessons],
    ) -> None:
        super().__init__(corpus)
        self._snapshot = snapshot
        self._statements = statements
        self._reinforced, self._low_utility, self._lessons = learned
        self._facts_key: tuple[object, ...] = ()
        self._learned: dict[tuple[bool, frozenset[bytes]], Corpus] = {}
        self._learned_of = corpus

    def _corpus_of(self, wanted: RowFilter) -> Corpus:
        """Return the corpus with what echoes and outcomes add.

        A narrowed caller is told of no echo elsewhere, and of no outcome elsewhere.
        """
        low = self._low_utility(wanted.scope)
        key = (bool(self._reinforced) and not wanted.scope, low)
        if not any(key):
            return self.corpus
        if self._learned_of is not self.corpus:
            self._learned, self._learned_of = {}, self.corpus
        if key not in self._learned:
            corpus = raised(self.corpus, self._reinforced) if key[0] else self.corpus
            self._learned[key] = lowered(corpus, low)
        return self._learned[key]

    def rank(
        self,
        cues: Sequence[str],
        wanted: RowFilter,
        k: int,
        reserved: Sequence[Sequence[str]] = (),
        wishes: Wishes = NO_WISHES,
    ) -> Ranking:
        """Return the best `k` items; damage met on the way costs time, not answers."""
        try:
            return super().rank(cues, wanted, k, reserved, wishes)
        except IndexDamageError as damage:
            self.replace_corpus(_without_base(self._snapshot, self._statements, damage))
            return super().rank(cues, wanted, k, reserved, wishes)

    def facts(self, wanted: RowFilter) -> Facts:
        """Return what the tables say of claims, with what outcomes in the caller's sight taught."""
        corpus = self.view(wanted).corpus
        key = (id(corpus), tuple(sorted(wanted.scope.items())))
        if key != self._facts_key:
            self._facts = stored_facts(corpus, self._snapshot, self._lessons, wanted.scope)
            self._facts_key = key
        return self._facts


def _without_base(snapshot: Snapshot, statements: Statements, damage: Exception) -> Corpus:
    _LOG.warning("the stored index is damaged and was not used", extra={"cause": str(damage)})
    return _corpus(None, snapshot, statements, (f"index_rebuilt_in_memory: {damage}",))


def index_version(shard: Shard) -> int | None:
    """Return the graph version up to which the stored index reaches, None when none can be used."""
    with shard.pin() as snapshot:
        try:
            base = _load(shard, snapshot)
        except IndexDamageError:
            return None
        return None if base is None else base.graph_version


def refresh_index(shard: Shard, statements: Statements, *, at_least: int = 1) -> bool:
    """Store an index of the newest graph version when `at_least` rows are missing from the stored one.

    Returns whether a file was written.  Raises what the disk raises; readers never depend on it.
    """
    with shard.pin() as snapshot:
        if sum(snapshot.row_count(name) for name in ("sources", "atoms", "decisions")) < at_least:
            return False
        try:
            base = _load(shard, snapshot)
            written = _merged(base, _tail(base, snapshot, statements), snapshot, at_least)
        except IndexDamageError:
            written = _merged(None, _tail(None, snapshot, statements), snapshot, at_least)
        if written is None:
            return False
        give_back()
        path = index_path(shard)
        path.parent.mkdir(parents=True, exist_ok=True)
        # still pinned: an erasure meanwhile waits, and then removes this file with its words
        place_file(path, pack_base(written), drafts=draft_folder(shard.folder))
    return True


def _merged(base: Base | None, tail: _Tail, snapshot: Snapshot, at_least: int) -> Base | None:
    if tail.rows < at_least:
        return None
    parts = ([base.turns] if base else [], [base.atoms] if base else [], [base.supports] if base else [])
    return Base(
        turns=merged([*parts[0], tail.turns]),
        atoms=merged([*parts[1], tail.atoms]),
        supports=current_supports([*parts[2], tail.supports]),
        holders={**(base.holders if base else {}), **tail.holders},
        graph_version=snapshot.version,
        source_digest=_commit_digest(snapshot, snapshot.version),
    )


def _read(shard: Shard) -> Base | None:
    try:
        with index_path(shard).open("rb") as stream:
            buffer = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # absent, unreadable or empty: the tables answer alone
        return None
    return read_base(buffer)


def _load(shard: Shard, snapshot: Snapshot) -> Base | None:
    """Return the stored index if it is a beginning of `snapshot`, else None."""
    base = _read(shard)
    if base is None or base.graph_version > snapshot.version:
        return None
    # a restored or replaced shard may have another commit under the same number
    if base.source_digest != _commit_digest(snapshot, base.graph_version):
        return None
    # rows that were erased since would still be found in it
    later = snapshot.table("events", ["event_type"], since=base.graph_version)["event_type"]
    return None if pc.any(pc.equal(later, "erased")).as_py() else base


def _commit_digest(snapshot: Snapshot, version: int) -> str:
    """Return a digest of the events of one commit."""
    events = snapshot.table("events", ["checksum", "graph_version"], since=version - 1)
    sums = events.filter(pc.equal(events["graph_version"], version))["checksum"].to_pylist()
    return hashlib.sha256(b"".join(sums)).hexdigest()


def _corpus(
    base: Base | None, snapshot: Snapshot, statements: Statements, degradation: tuple[str, ...]
) -> Corpus:
    tail = _tail(base, snapshot, statements)
    before = [base] if base else []
    return Corpus(
        turns=stacked([*(part.turns for part in before), tail.turns]),
        atoms=stacked([*(part.atoms for part in before), tail.atoms]),
        supports=current_supports([*(part.supports for part in before), tail.supports]),
        holders={**(base.holders if base else {}), **tail.holders},
        graph_version=snapshot.version or None,
        degradation=degradation,
    )


def _tail(base: Base | None, snapshot: Snapshot, statements: Statements) -> _Tail:
    since = base.graph_version if base else 0
    sources = latest(
        snapshot.table("sources", [*SOURCE_COLUMNS, "content"], since=since), "source_id", "revision"
    )
    decisions = latest(snapshot.table("decisions", DECISION_COLUMNS, since=since), "decision_id", "version")
    atoms, holders = _atoms(snapshot, since, statements, sources)
    if sources.num_rows >= REFRESH_ROWS:
        give_back()
    authors = [plain_name(name) for name in sources["author"].unique().drop_null().to_pylist()]
    holders |= {text_hash(name): name for name in authors}
    return _Tail(
        turns=build_space(turn_rows(sources), searchable_texts(sources)),
        atoms=atoms,
        supports=support_rows(decisions),
        holders=holders,
    )


def _atoms(
    snapshot: Snapshot, since: int, statements: Statements, sources: pa.Table
) -> tuple[Space, dict[int, str]]:
    atoms = latest(snapshot.table("atoms", ATOM_COLUMNS, since=since), "atom_id", "version")
    subjects = atoms["subject_id"].to_pylist()
    known = _entities(snapshot, atoms["subject_id"].unique())
    known = _entities(snapshot, pa.array(sorted(owners_named(known.values())), pa.binary(16))) | known
    labels = {one: label_of(row, known.get(row["owner_id"])) for one, row in known.items()}
    called = [labels[subject] for subject in subjects]
    owners = [bool(known[subject]["is_owner"]) for subject in subjects]
    names = [label.speaker or label.text for label in called]  # whom a question about it must name
    kinds, payloads, signs = (atoms[name].to_pylist() for name in ("type", "payload", "polarity"))
    said = statements(kinds, payloads, signs, called)
    cited = _cited(snapshot, atoms, sources)
    texts = [search_text(*parts) for parts in zip(said, payloads, cited, strict=True)]
    rows = atom_rows(atoms, said, names, owners)
    return build_space(rows, texts), {text_hash(name): name for name in names}


def _entities(snapshot: Snapshot, ids: pa.Array) -> dict[bytes, dict[str, Any]]:
    rows = latest(snapshot.lookup("entities", "entity_id", ids, LABELLED), "entity_id", "version")
    return {row["entity_id"]: row for row in rows.to_pylist()}


def _cited(snapshot: Snapshot, atoms: pa.Table, sources: pa.Table) -> list[str]:
    """Return per atom the words that state it, whenever they were stored."""
    statings = _statings(snapshot, atoms)
    needed = {*atoms["source_id"].to_pylist(), *(stating.source_id for stating in statings)}
    wanted = pa.array(sorted(needed), pa.binary(16))
    fresh = sources.select(TEXT_COLUMNS).filter(pc.is_in(sources["source_id"], value_set=wanted))
    absent = wanted.filter(pc.invert(pc.is_in(wanted, value_set=fresh["source_id"].combine_chunks())))
    older = latest(
        snapshot.lookup("sources", "source_id", absent, list(TEXT_COLUMNS)), "source_id", "revision"
    )
    return cited_texts(atoms, statings, pa.concat_tables([fresh, older]))


def _statings(snapshot: Snapshot, atoms: pa.Table) -> list[Stating]:
    """Return the places of the candidates that were committed as, or linked to, these atoms."""
    columns = ["decision_id", "version", "candidate_id", "outcome"]
    found = snapshot.lookup("decisions", "atom_id", atoms["atom_id"], columns)
    decided = latest(found, "decision_id", "version")
    held = decided.filter(pc.is_in(decided["outcome"], pa.array(["commit", "link"])))
    candidates = snapshot.lookup(
        "candidates",
        "candidate_id",
        held["candidate_id"].drop_null(),
        ["candidate_id", "version", "claim_id", "source_id", "spans"],
    )
    rows = latest(candidates, "candidate_id", "version")
    return [
        Stating(*row)
        for row in zip(*(rows[n].to_pylist() for n in ("claim_id", "source_id", "spans")), strict=True)
    ]
