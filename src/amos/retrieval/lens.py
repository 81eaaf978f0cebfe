"""Look at candidates through what a caller wishes: further components, neighbours in the graph, gates.

Words find candidates first (`candidates`).  Here activation brings in what is linked to them, attention moves
them within the bounds of its weights, and wishes about payloads leave some out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from amos.errors import UsageError
from amos.identity import read_id
from amos.retrieval import agency
from amos.retrieval.candidates import (
    DIRECT_CUE_MATCH,
    DISPUTED,
    Scored,
    atoms_as_they_stand,
    bare,
    keep,
    merged_candidates,
    score_of,
    turns_as_they_stand,
)
from amos.retrieval.cues import Cue
from amos.retrieval.facts import Facts
from amos.retrieval.graph import Arcs, arcs_between, spread_activation
from amos.retrieval.placing import Places
from amos.retrieval.profile import MILLION, Profile
from amos.retrieval.reach import holds_any, share_held
from amos.retrieval.rows import LIFECYCLES, text_hash
from amos.retrieval.similarity import WordVectors, word_vectors
from amos.retrieval.view import View
from amos.retrieval.wishes import COUNTER_WORDS, Wishes
from amos.schemas.ranked import SIGNALS

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Reader = Callable[[Sequence[str]], list[Cue]]
"""Texts -> their terms."""

AT = {name: number for number, name in enumerate(SIGNALS)}
"""Columns of `Scored.signals`."""
WEAK = ("overgeneralized", "underspecified", "low_utility", "confounding", "incoherent", "orphaned")
"""Health statuses that lower what is shown all the same."""
_GOALS = ("goal", "commitment")
_AGAINST = ("limitation", "self_assessment", "action_outcome")
_COUNTER_OF_TYPE, _COUNTER_OF_WORD = 600_000, 500_000
_FAMILIAR_DEGREE = 5
_EXCLUDED_FROM = 600_000
"""Share of the words of an exclusion from which a question is excluded."""


def needs_lens(view: View, profile: Profile, wishes: Wishes, facts: Facts | None) -> bool:
    """Return whether further components can be other than nothing for this profile, view and caller."""
    if not wishes.is_plain or profile.weighs_signals:
        return True
    if view.kept(("holds what is weak",), lambda: bool(_is_weak(view).any())):
        return True
    rule = profile.activation
    return rule is not None and facts is not None and any(map(rule.weight, facts.edges.relations))


def _is_weak(view: View) -> Mask:
    """Return (atom rows,) what may be shown although its state lowers it."""
    rows = view.corpus.atoms.rows
    weak = np.array(
        [text_hash(name) for name in (*WEAK, "stale", "redundant", "privacy_sensitive")], np.uint64
    )
    is_archived = rows["lifecycle"] == LIFECYCLES.index("archived")
    found: Mask = (view.reasons == 0) & (np.isin(rows["health"], weak) | is_archived)
    return found


@dataclass(frozen=True, kw_only=True)
class Lens:
    """One question of one caller over one view.  read: turns further texts into terms."""

    view: View
    profile: Profile
    wishes: Wishes
    facts: Facts
    cues: Sequence[Cue]
    read: Reader

    def seen(self, turns: Scored, atoms: Scored) -> tuple[Scored, Scored]:
        """Return the candidates with everything that is linked to them, and all their components."""
        turns, atoms = self._brought(turns, atoms)
        return self._with_turn_signals(turns), self._with_atom_signals(atoms)

    def _brought(self, turns: Scored, atoms: Scored) -> tuple[Scored, Scored]:
        """Return the candidates with those that activation brings, or all where nothing is asked."""
        linked = self.activation[self.view.atoms.row] > 0
        if not self.cues:
            linked |= self.eligible[self.view.atoms.row]
            shown = self.focus_of(self.view.turns) > 0
            if self.view.wanted.types and "turn" in self.view.wanted.types:
                shown[:] = True
            turns = self._more(turns, self.view.turns, shown, turns_as_they_stand)
        return turns, self._more(atoms, self.view.atoms, linked, atoms_as_they_stand)

    def _more(self, known: Scored, places: Places, wanted: Mask, standing: Any) -> Scored:
        fresh = wanted.copy()
        fresh[known.place] = False
        place = np.flatnonzero(fresh)
        if not len(place):
            return known
        return merged_candidates(known, standing(self.view, self.cues, bare(places, place), self.profile))

    @cached_property
    def eligible(self) -> Mask:
        """Return (atom rows,) claims that may be shown: activation passes through no others."""
        seen = np.zeros(self.view.corpus.atoms.count, bool)
        seen[self.view.atoms.row] = True
        return seen & (self.view.reasons == 0)

    @cached_property
    def arcs(self) -> Arcs | None:
        """Return the ways between eligible claims, None where edges do not count."""
        if self.profile.activation is None or not self.facts.edges.count:
            return None
        return arcs_between(self.facts.edges, self.eligible, self.profile.activation)

    @cached_property
    def activation(self) -> I64:
        """Return (atom rows,) what arrives over edges."""
        return self._spread[0]

    @cached_property
    def _spread(self) -> tuple[I64, I64]:
        nothing = np.zeros(self.view.corpus.atoms.count, np.int64)
        rule = self.profile.activation
        if self.arcs is None or rule is None:
            return nothing, nothing
        places = self.view.atoms
        seed = np.maximum(self._direct(places), self.focus_of(places))
        similar = self.similar(places)
        seed = np.maximum(seed, np.where(similar >= rule.seed, similar, 0))
        seeds = nothing.copy()
        np.maximum.at(seeds, places.row, seed)
        seeds[~self.eligible] = 0
        return spread_activation(self.arcs, seeds, rule)

    def _direct(self, places: Places) -> I64:
        """Return (places,) the share of the words of the best cue that stand there."""
        best = np.zeros(places.count, np.int64)
        for cue in self.cues:
            best = np.maximum(best, share_held(places, [cue]))
        return best

    def focus_of(self, places: Places) -> I64:
        """Return (places,) how far they are what attention is on."""
        return share_held(places, self._focus)

    @cached_property
    def _focus(self) -> list[Cue]:
        return self.read(self.wishes.focus)

    def similar(self, places: Places) -> I64:
        """Return (places,) the cosine with the best cue; nothing where the profile does not weigh it."""
        best = np.zeros(places.count, np.int64)
        if not self.profile.weights.semantic_similarity or not self.cues:
            return best
        vectors = _vectors(self.view, places)
        for cue in self.cues:
            best = np.maximum(best, vectors.similarity(cue))
        return best

    def _of_texts(self, places: Places, place: I64, signals: I64) -> None:
        """Fill in what the words of a text decide."""
        signals[:, AT["semantic_similarity"]] = self.similar(places)[place]
        signals[:, AT["attention_focus"]] = self.focus_of(places)[place]
        held_back = share_held(places, self.read(self.wishes.suppress))
        signals[:, AT["attention_suppression_penalty"]] = held_back[place]
        if self.wishes.needs_counterevidence:
            speaks = holds_any(places, self.read(COUNTER_WORDS))[place]
            signals[:, AT["attention_counterevidence"]] = speaks * _COUNTER_OF_WORD

    def _with_turn_signals(self, turns: Scored) -> Scored:
        signals = np.zeros((len(turns.place), len(SIGNALS)), np.int64)
        self._of_texts(self.view.turns, turns.place, signals)
        signals[:, AT["utility"]] = signals[:, AT["salience"]] = MILLION // 2
        signals[:, AT["attention_type_boost"]] = MILLION * ("turn" in self.wishes.boosts)
        if "turn" in self.wishes.held_back:
            signals[:, AT["attention_suppression_penalty"]] = MILLION
        return self._scored(turns, signals)

    def _with_atom_signals(self, atoms: Scored) -> Scored:
        signals = np.zeros((len(atoms.place), len(SIGNALS)), np.int64)
        self._of_texts(self.view.atoms, atoms.place, signals)
        row = atoms.row
        signals[:, AT["edge_activation"]] = self.activation[row]
        signals[:, AT["inhibition_penalty"]] = self._spread[1][row]
        if self.profile.weights.utility or self.profile.weights.salience:
            signals[:, AT["utility"]] = self.facts.utility[row]
            signals[:, AT["salience"]] = self.facts.salience[row]
        self._of_types(atoms, signals)
        self._of_states(atoms, signals)
        if self.wishes.novelty:
            signals[:, AT["attention_novelty"]] = self._novelty(row)
        if self.wishes.is_about_acts:
            self._of_acts(atoms, signals)
        if self.wishes.is_about_skills:
            signals[:, AT["exclusion_penalty"]] = self._excluded(atoms)
        return self._scored(atoms, signals)

    def _scored(self, scored: Scored, signals: I64) -> Scored:
        score = score_of(scored.components, self.profile, signals)
        return replace(scored, signals=signals, score=score)

    def _of_types(self, atoms: Scored, signals: I64) -> None:
        """Fill in what counts for some types alone, and only where it has to do with the question."""
        relevant = np.maximum(atoms.components[:, DIRECT_CUE_MATCH], signals[:, AT["attention_focus"]])
        relevant = np.maximum(relevant, signals[:, AT["edge_activation"]] // 2)
        signals[:, AT["goal_relevance"]] = np.where(self._is_of(atoms, _GOALS), relevant, 0)
        is_procedure = self._is_of(atoms, ("procedure",))
        signals[:, AT["procedural_applicability"]] = np.where(is_procedure, relevant, 0)
        signals[:, AT["attention_type_boost"]] = self._is_of(atoms, tuple(self.wishes.boosts)) * MILLION
        held_back = self._is_of(atoms, tuple(self.wishes.held_back))
        column = AT["attention_suppression_penalty"]
        signals[:, column] = np.where(held_back, MILLION, signals[:, column])
        if self.wishes.needs_counterevidence:
            column = AT["attention_counterevidence"]
            by_type = self._is_of(atoms, _AGAINST) * _COUNTER_OF_TYPE
            signals[:, column] = np.maximum(signals[:, column], by_type)
            signals[:, column] = np.maximum(signals[:, column], atoms.components[:, DISPUTED])

    def _is_of(self, atoms: Scored, types: Sequence[str]) -> Mask:
        wanted = np.array([text_hash(kind) for kind in types], np.uint64)
        found: Mask = np.isin(self.view.corpus.atoms.rows["type"][atoms.row], wanted)
        return found

    def _of_states(self, atoms: Scored, signals: I64) -> None:
        rows, row = self.view.corpus.atoms.rows, atoms.row
        health = rows["health"][row]

        def is_one(*names: str) -> Mask:
            found: Mask = np.isin(health, np.array([text_hash(name) for name in names], np.uint64))
            return found

        is_archived = rows["lifecycle"][row] == LIFECYCLES.index("archived")
        signals[:, AT["staleness_penalty"]] = (is_one("stale") | is_archived) * MILLION
        signals[:, AT["redundancy_penalty"]] = is_one("redundant") * MILLION
        signals[:, AT["health_penalty"]] = is_one(*WEAK) * MILLION
        signals[:, AT["access_penalty"]] = is_one("privacy_sensitive") * MILLION

    def _novelty(self, row: I64) -> I64:
        degree = np.zeros(len(row), np.int64) if self.arcs is None else self.arcs.degree[row]
        unfamiliar = MILLION - np.minimum(degree, _FAMILIAR_DEGREE) * MILLION // _FAMILIAR_DEGREE
        novelty: I64 = self.wishes.novelty * unfamiliar // MILLION
        return novelty

    def _of_acts(self, atoms: Scored, signals: I64) -> None:
        """Fill in whose doing each claim is, and what it keeps silent about."""
        payloads, subject = self._payloads(atoms), self.wishes.subject
        confidence = self.view.corpus.atoms.rows["confidence"][atoms.row]
        fails = [agency.is_failure(one) or agency.is_blocked(one) for one in payloads]
        for at, (payload, sure) in enumerate(zip(payloads, confidence.tolist(), strict=True)):
            against = agency.counterevidence_of(payload)
            silent = MILLION - MILLION * self._in_sight(against) // len(against) if against else 0
            told = {
                "agency_match": agency.agency_match(payload, subject),
                "attribution_confidence": agency.attribution_confidence(payload, subject, sure),
                "correction_learning_relevance": agency.learning(payload),
                "over_attribution_penalty": agency.over_attribution(payload, subject),
                "omitted_counterevidence_penalty": silent,
                "ignored_failure_penalty": MILLION * (agency.is_success(payload) and not any(fails)),
            }
            for name, value in told.items():
                signals[at, AT[name]] = value

    def _excluded(self, atoms: Scored) -> I64:
        """Return one where the question has most words of something that a claim says it is not for."""
        asked = {value for cue in self.cues for term in cue.terms for value in term.hashes}
        found = np.zeros(len(atoms.row), np.int64)
        for at, payload in enumerate(self._payloads(atoms)):
            for phrase in agency.not_for(payload):
                terms = [term for cue in self.read((phrase,)) for term in cue.terms if term.is_required]
                held = sum(any(value in asked for value in term.hashes) for term in terms)
                if terms and held * MILLION >= _EXCLUDED_FROM * len(terms):
                    found[at] = MILLION
        return found

    def _in_sight(self, refs: Sequence[str]) -> int:
        """Return how many references name an eligible claim."""
        named = np.array([_raw(ref) for ref in refs], "S16")
        return int(np.isin(named, self.view.corpus.atoms.rows["id"][self.eligible]).sum())

    def _payloads(self, atoms: Scored) -> list[Mapping[str, Any]]:
        ids = self.view.corpus.atoms.rows["id"][atoms.row]
        raw = [ids[at : at + 1].tobytes() for at in range(len(ids))]
        found = self.facts.read(raw)
        return [found.get(one, {}) for one in raw]

    def gated(self, turns: Scored, atoms: Scored) -> tuple[Scored, Scored, dict[str, int]]:
        """Return what wishes about payloads leave, and how many claims were left out, by reason.

        A turn goes with the claims that it makes when all of them go.
        """
        if not self.wishes.reads_payloads or not len(atoms.row):
            return turns, atoms, {}
        reasons = np.array([self._gate(one) for one in self._payloads(atoms)])
        out = (reasons != "") & (self.view.reasons[atoms.row] == 0)
        counts = {str(name): int((reasons[out] == name).sum()) for name in np.unique(reasons[out])}
        turn, at_atom = self.view.corpus.turns_of(atoms.row)
        made = np.bincount(turn, minlength=self.view.corpus.turns.count)
        gone = np.bincount(turn[out[at_atom]], minlength=self.view.corpus.turns.count)
        is_gone = (made > 0) & (made == gone)
        return keep(turns, ~is_gone[turns.row]), keep(atoms, ~out), counts

    def serving(self, atoms: Scored) -> list[Mask]:
        """Return per guardrail wished for which atom rows serve it."""
        if not self.wishes.guards:
            return []
        disputed = atoms.components[:, DISPUTED] > 0
        kinds = self.view.corpus.atoms.rows["type"][atoms.row]
        is_limit = kinds == np.uint64(text_hash("limitation"))
        masks = {name: np.zeros(self.view.corpus.atoms.count, bool) for name in self.wishes.guards}
        for at, payload in enumerate(self._payloads(atoms)):
            kind = "limitation" if is_limit[at] else ""
            served = agency.guardrails_of(kind, payload, is_disputed=bool(disputed[at]))
            for name in served.intersection(masks):
                masks[name][atoms.row[at]] = True
        return list(masks.values())

    def _gate(self, payload: Mapping[str, Any]) -> str:
        wishes = self.wishes
        if wishes.shown and not agency.has_values(payload, wishes.shown):
            return "payload_filtered"
        attribution = agency.attribution_of(payload, wishes.subject)
        if wishes.attributions and attribution not in wishes.attributions:
            return "different_agent" if attribution == "other_agent" else "attribution_not_requested"
        if wishes.guards and wishes.subject and attribution == "other_agent":
            return "bias_guardrail_suppressed"
        if wishes.denied and agency.names_any(payload, wishes.denied):
            return "capability_unavailable"
        return ""


def _raw(ref: str) -> bytes:
    """Return the id that a payload names; nothing where it is no reference."""
    try:
        return read_id(ref)[1]
    except UsageError:
        return b""


def _vectors(view: View, places: Places) -> WordVectors:
    """Return the vectors of a view's places; made once per view."""
    known = view.vectors
    name = "atoms" if places is view.atoms else "turns"
    if name not in known:
        known[name] = word_vectors(places)
    return known[name]
