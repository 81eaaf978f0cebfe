"""Reinforce what captured replies repeat: one journaled row per claim and reply, in one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.atoms.echoes import RULE, STEP_PPM, WINDOW, Echoes, effective_ppm, may_echo, whole_words, windows_of
from amos.atoms.statement import statements
from amos.clock import to_us
from amos.errors import BusyError, UsageError
from amos.flow.captured import Interaction
from amos.flow.claims import labels_of
from amos.flow.echoed import EXPOSURE, REINFORCEMENT, Echoed, echoes_of
from amos.flow.printed import shown_score, state_of
from amos.flow.references import find_rows
from amos.flow.sight import Sight, is_withheld
from amos.flow.versions import latest
from amos.identity import id_text, keyed_id
from amos.journal.store import EventRows, HeadMoved, Shard, Snapshot
from amos.schemas.buffers import column_arrays
from amos.schemas.columns import ID
from amos.schemas.labels import LABELLED
from amos.schemas.state import ECHOES
from amos.schemas.vocabulary import AtomType, MemoryClass

UNSALTED_ECHOES = pa.schema([field for field in ECHOES if field.name != "salt"])
TRIES = 4
_AROUND = 12
"""Characters that a statement puts around its subject, property and value, at most."""
_PLAIN = ("belief", "preference", "goal")
"""Types whose statements show their value."""
_LONGEST = 480
"""Bytes of evidence that are looked at: more than a window holds."""
_SCOPES = ("scope_project", "scope_user", "scope_agent")
_COLUMNS = [
    "atom_id", "type", "memory_class", "subject_id", "payload", "polarity", "lifecycle_state", "intervals",
    "confidence_ppm", "source_id", "spans", *_SCOPES,
]  # fmt: skip


class Memory(NamedTuple):
    """An atom as far as an echo of it matters."""

    atom_id: bytes
    confidence_ppm: int
    is_personal: bool
    is_event: bool
    lifecycle: str
    intervals: list[int]
    scope: dict[str, str | None]

    def is_for(self, interaction: Interaction, at_us: int) -> bool:
        """Tell whether it holds and belongs to the pool of `interaction`.

        That pool is what was said in its project, and what is personal and of no project.
        """
        project = self.scope["scope_project"]
        is_near = project == interaction.project if project else self.is_personal
        is_own = all(
            self.scope[name] in (None, held)
            for name, held in (("scope_user", interaction.user), ("scope_agent", interaction.agent))
        )
        is_active = state_of(self.lifecycle, self.intervals, at_us, is_event=self.is_event) == "active"
        return is_near and is_own and is_active


@dataclass(frozen=True, kw_only=True)
class Found:
    """An echo: which memory which reply repeats, and in what standing."""

    memory: Memory
    interaction: Interaction
    kind: str
    delta_ppm: int
    rule: str = RULE

    def row(self, key: bytes) -> dict[str, Any]:
        """Return the row that says so."""
        reply = self.interaction.cited_id
        return {
            "echo_id": keyed_id(key, "echoes", self.memory.atom_id + reply),
            "atom_id": self.memory.atom_id,
            "source_id": reply,
            "conversation_id": self.interaction.conversation_id,
            "kind": self.kind,
            "delta_ppm": self.delta_ppm if self.kind == REINFORCEMENT else 0,
            "referenced_at": self.interaction.event_time,
            "rule": self.rule,
        }


@dataclass(kw_only=True)
class Reinforcing:
    """One pass over captured interactions."""

    shard: Shard
    actor: str
    run_id: bytes
    now: Callable[[], datetime]

    def reinforce(self, interactions: Sequence[Interaction], *, dry_run: bool = False) -> dict[str, Any]:
        """Record what the replies repeat; return what each echo changed."""
        return self.record(lambda snapshot: find_echoes(snapshot, interactions, self.now()), dry_run=dry_run)

    def record(self, find: Callable[[Snapshot], Iterable[Found]], *, dry_run: bool = False) -> dict[str, Any]:
        """Commit what `find` finds on a pinned version; what is recorded already is only reported."""
        for _ in range(TRIES):
            with self.shard.pin() as snapshot:
                found = list(find(snapshot))
                held = _held(snapshot, found, self.shard.key)
                fresh = [one for one in found if one.row(self.shard.key)["echo_id"] not in held]
                told = told_changes(snapshot, found, held, self.shard.key)
                base = snapshot.version
            if dry_run or not fresh:
                return {"echoes": told, "written": 0 if dry_run else len(fresh), "dry_run": dry_run}
            rows = pa.Table.from_pylist([one.row(self.shard.key) for one in fresh], UNSALTED_ECHOES)
            try:
                self._commit(rows, base)
            except HeadMoved:
                continue
            return {"echoes": told, "written": len(fresh), "dry_run": False}
        raise BusyError(
            "the memory kept changing while replies were compared with it",
            advice="Run `amos capture reinforce` again.",
        )

    def _commit(self, rows: pa.Table, base: int) -> None:
        self.shard.commit(
            [EventRows("atom_reinforced", "echoes", rows)],
            operation="reinforce",
            actor=self.actor,
            run_id=self.run_id,
            now=self.now(),
            base=base,
            reads={
                ("atoms", "atom_id"): rows["atom_id"].combine_chunks(),
                ("echoes", "atom_id"): rows["atom_id"].combine_chunks(),
                ("sources", "source_id"): rows["source_id"].combine_chunks(),
            },
        )


def find_echoes(snapshot: Snapshot, interactions: Sequence[Interaction], now: datetime) -> Iterable[Found]:
    """Yield the echo of every memory that a reply repeats, reply by reply."""
    told = [one for one in interactions if one.replies]
    if not told:
        return
    memories = Pool(snapshot, told)
    said = _said_in(snapshot, told)
    echoes = memories.repeated_in(told)
    for interaction in told:
        at_us = to_us(interaction.event_time or now)
        for number in echoes.found_in(*interaction.replies):
            memory = memories.memory(number)
            if memory.is_for(interaction, at_us):
                was_there = (interaction.prompt_id, memory.atom_id) in said
                was_there = was_there or interaction.was_given(id_text("atoms", memory.atom_id))
                kind = EXPOSURE if was_there else REINFORCEMENT
                yield Found(memory=memory, interaction=interaction, kind=kind, delta_ppm=STEP_PPM)


def _said_in(snapshot: Snapshot, interactions: Sequence[Interaction]) -> set[tuple[bytes, bytes]]:
    """Return which prompts told which claims: who repeats what was just said has been given it."""
    ids = pa.array([one.prompt_id for one in interactions], ID)
    rows = snapshot.lookup("decisions", "source_id", ids, ["source_id", "atom_id"])
    return set(zip(rows["source_id"].to_pylist(), rows["atom_id"].to_pylist(), strict=True))


class Pool:
    """The memories that some interactions may repeat; only what is repeated is made a `Memory`."""

    def __init__(self, snapshot: Snapshot, interactions: Sequence[Interaction]) -> None:
        atoms = snapshot.current("atoms", _COLUMNS)
        projects = sorted({one.project for one in interactions if one.project})
        near = pc.or_kleene(
            pc.is_null(atoms["scope_project"]),
            pc.is_in(atoms["scope_project"], value_set=pa.array(projects, pa.string())),
        )
        self._snapshot = snapshot
        self._atoms = atoms.filter(pc.and_(near, pc.equal(atoms["lifecycle_state"], "active")))
        self._subjects = _subjects(snapshot, self._atoms)
        self._made: dict[int, Memory] = {}
        self._chosen = np.zeros(0, np.int64)

    def repeated_in(self, interactions: Sequence[Interaction]) -> Echoes:
        """Return what finds these memories in replies of `interactions`, and numbers them as `memory` does.

        Only memories that share a telling word with the replies are worded.
        """
        labels = labels_of(self._snapshot, self._subjects.values())
        subjects = [labels[one] for one in self._atoms["subject_id"].to_pylist()]
        excerpts = _excerpts(self._snapshot, self._atoms)
        named = pa.array([one.text for one in subjects], pa.string())
        forms = (_values(self._atoms, named), whole_words(excerpts))
        replies = [text for one in interactions for text in one.replies]
        self._chosen = np.flatnonzero(may_echo(forms, replies))
        rows = pa.array(self._chosen)
        kinds, payloads, signs = (
            self._atoms[name].take(rows).to_pylist() for name in ("type", "payload", "polarity")
        )
        said = statements(kinds, payloads, signs, [subjects[row] for row in self._chosen.tolist()])
        return Echoes(windows_of(*pair) for pair in zip(said, excerpts.take(rows).to_pylist(), strict=True))

    def memory(self, number: int) -> Memory:
        """Return one of the memories."""
        found = self._made.get(number)
        if found is None:
            (row,) = self._atoms.slice(int(self._chosen[number]), 1).to_pylist()
            found = self._made[number] = memory_of(row, self._subjects)
        return found


def _values(atoms: pa.Table, subjects: pa.Array) -> pa.Array:
    """Return per atom its value where its statement surely shows all of that in a window, else nothing."""
    payload = atoms["payload"].combine_chunks()
    found = pc.extract_regex(payload, r'"value":"(?P<value>[^"\\]*)"')
    value = pc.fill_null(pc.struct_field(found, "value"), "")
    held = pc.extract_regex(payload, r'"property":"(?P<held>[^"\\]*)"')
    around = pc.add(pc.utf8_length(pc.fill_null(pc.struct_field(held, "held"), "")), pc.utf8_length(subjects))
    is_shown = pc.less(pc.add(pc.utf8_length(value), around), WINDOW - _AROUND)
    is_plain = pc.is_in(atoms["type"].combine_chunks(), value_set=pa.array(_PLAIN))
    return pc.if_else(pc.and_(is_shown, is_plain), value, "")


def _excerpts(snapshot: Snapshot, atoms: pa.Table) -> pa.Array:
    """Return the words that each atom rests on first; nothing where they may not be seen."""
    ids = atoms["source_id"].combine_chunks()
    columns = ["source_id", "revision", "content", "flags"]
    rows = latest(snapshot.lookup("sources", "source_id", ids.unique(), columns), "sources")
    place = pc.index_in(ids, value_set=rows["source_id"].combine_chunks())
    text = column_arrays(rows["content"])
    assert text.offsets is not None
    spans = atoms["spans"].combine_chunks()
    is_cited = pc.greater(pc.list_value_length(spans), 1).to_numpy(zero_copy_only=False).astype(np.bool_)
    is_cited &= place.is_valid().to_numpy(zero_copy_only=False)
    which = np.flatnonzero(is_cited)
    source = place.take(pa.array(which)).to_numpy()
    shown = ~np.array([is_withheld(flags) for flags in rows["flags"].to_pylist()], np.bool_)[source]
    first = spans.take(pa.array(which))
    start, end = (pc.list_element(first, at).to_numpy() for at in (0, 1))
    origin, size = text.offsets[source], np.diff(text.offsets)[source]
    length = np.where(shown & (end <= size), np.minimum(end - start, _LONGEST), 0)
    lengths = np.zeros(len(ids), np.int64)
    lengths[which] = length
    starts = np.zeros(len(ids), np.int64)
    starts[which] = origin + start
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    at = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    raw = text.values[at].tobytes()
    cut = [raw[a:b].decode(errors="ignore") for a, b in pairwise(offsets.tolist())]
    return pa.array(cut, pa.string())


def _subjects(snapshot: Snapshot, atoms: pa.Table) -> dict[bytes, dict[str, Any]]:
    ids = atoms["subject_id"].combine_chunks().unique()
    rows = snapshot.lookup("entities", "entity_id", ids, LABELLED)
    ordered = rows.take(pa.array(np.argsort(rows["version"].to_numpy(), kind="stable")))
    return {row["entity_id"]: row for row in ordered.to_pylist()}


def memory_of(row: dict[str, Any], subjects: dict[bytes, dict[str, Any]]) -> Memory:
    """Return the atom of a row; personal is a preference, and all that is said of the owner."""
    return Memory(
        atom_id=row["atom_id"],
        confidence_ppm=row["confidence_ppm"],
        is_personal=row["type"] == AtomType.PREFERENCE or subjects[row["subject_id"]]["is_owner"],
        is_event=row["memory_class"] == MemoryClass.EPISODE,
        lifecycle=row["lifecycle_state"],
        intervals=row["intervals"],
        scope={name: row[name] for name in _SCOPES},
    )


def _held(snapshot: Snapshot, found: Sequence[Found], key: bytes) -> set[bytes]:
    if not found or snapshot.row_count("echoes") == 0:
        return set()
    ids = pa.array([one.row(key)["echo_id"] for one in found], ID)
    return set(snapshot.lookup("echoes", "echo_id", ids, ["echo_id"])["echo_id"].to_pylist())


def told_changes(
    snapshot: Snapshot, found: Sequence[Found], held: set[bytes], key: bytes
) -> list[dict[str, Any]]:
    """Return per echo whether it was applied, and the confidence before and after it."""
    before = echoes_of(snapshot, [one.memory.atom_id for one in found])
    told = []
    for one in found:
        state = before.setdefault(one.memory.atom_id, Echoed())
        row = one.row(key)
        old = effective_ppm(one.memory.confidence_ppm, state.reinforced_ppm)
        is_new = row["echo_id"] not in held
        if is_new:
            state.add(row)
        told.append(
            {
                "atom_id": id_text("atoms", one.memory.atom_id),
                "interaction": one.interaction.key,
                "kind": one.kind,
                "applied": is_new and one.kind == REINFORCEMENT,
                "old": shown_score(old),
                "new": shown_score(effective_ppm(one.memory.confidence_ppm, state.reinforced_ppm)),
            }
        )
    return told


def direct_echo(
    sight: Sight, ref: str, interaction: Interaction, delta_ppm: int
) -> tuple[Found | None, dict[str, Any] | None]:
    """Return the echo that a caller states, or why it is not applied: the atom is not active."""
    table, rows, _ = find_rows(sight, ref)
    if table != "atoms":
        raise UsageError(
            f"{ref!r} is no memory", path=ref, advice="Only what stands can be reinforced: see `amos list`."
        )
    if rows.num_rows == 0:
        raise UsageError(f"there is no {ref!r}", path=ref, advice="`amos list` shows what there is.")
    memory = memory_of(rows.to_pylist()[0], _subjects(sight.snapshot, rows))
    state = state_of(memory.lifecycle, memory.intervals, sight.now_us, is_event=memory.is_event)
    if state != "active":
        held = echoes_of(sight.snapshot, [memory.atom_id]).get(memory.atom_id, Echoed())
        now = shown_score(effective_ppm(memory.confidence_ppm, held.reinforced_ppm))
        return None, {"applied": False, "old": now, "new": now, "reason": f"the memory is {state}"}
    found = Found(
        memory=memory, interaction=interaction, kind=REINFORCEMENT, delta_ppm=delta_ppm, rule="direct"
    )
    return found, None
