"""Spread activation over typed edges: a sparse frontier, signed weights, no more by degree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amos.retrieval.profile import MILLION, Activation

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Edges:
    """Active edges between claims, as atom rows.

    source, target: (m,).  relation: (m,) number in `relations`.  factor: (m,) what outcomes taught of the
    edge, in millionths.
    """

    source: I64
    target: I64
    relation: I64
    relations: tuple[str, ...]
    factor: I64

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.source)


def no_edges() -> Edges:
    """Return a graph without an edge."""
    none = np.zeros(0, np.int64)
    return Edges(source=none, target=none, relation=none, relations=(), factor=none)


@dataclass(frozen=True, kw_only=True)
class Arcs:
    """Edges between eligible claims as ways to go, both directions, by where they begin.

    starts: (n + 1,) first arc of each row.  target, edge, share: (a,) where an arc leads, the edge that it
    follows, and how much of an activation arrives, in signed millionths.  degree: (n,) edges of each row.
    """

    starts: I64
    target: I64
    edge: I64
    share: I64
    degree: I64


def arcs_between(edges: Edges, eligible: Mask, rule: Activation) -> Arcs:
    """Return the ways along edges whose two ends are eligible; an edge to itself leads nowhere.

    Several edges between two claims count as the strongest of them, so that no path goes back and forth.
    What leaves a claim is divided by the root of its edges: a hub gives each neighbour little.
    """
    inside = eligible[edges.source] & eligible[edges.target] & (edges.source != edges.target)
    kept = np.flatnonzero(inside)
    weights = np.array([rule.weight(name) for name in edges.relations] or [0], np.int64)
    weight = weights[edges.relation[kept]] * edges.factor[kept] // MILLION
    kept, weight = _strongest(edges, kept, weight, len(eligible))
    source, target = edges.source[kept], edges.target[kept]
    degree = np.bincount(source, minlength=len(eligible)) + np.bincount(target, minlength=len(eligible))
    forward = _divided(weight, degree[source])
    backward = _divided(weight * rule.reverse // MILLION, degree[target])
    begin = np.concatenate([source, target])
    order = np.argsort(begin, kind="stable")
    starts = np.searchsorted(begin[order], np.arange(len(eligible) + 1))
    return Arcs(
        starts=starts.astype(np.int64),
        target=np.concatenate([target, source])[order],
        edge=np.concatenate([kept, kept])[order],
        share=np.concatenate([forward, backward])[order],
        degree=degree.astype(np.int64),
    )


def _strongest(edges: Edges, kept: I64, weight: I64, count: int) -> tuple[I64, I64]:
    """Return one edge for each pair of claims: the one of the greatest weight, either way, then the first."""
    low = np.minimum(edges.source[kept], edges.target[kept])
    high = np.maximum(edges.source[kept], edges.target[kept])
    pair = low * count + high
    order = np.lexsort((kept, -np.abs(weight), pair))
    is_first = np.ones(len(order), bool)
    is_first[1:] = pair[order][1:] != pair[order][:-1]
    chosen = np.sort(order[is_first])
    return kept[chosen], weight[chosen]


def _divided(weight: I64, degree: I64) -> I64:
    shared: I64 = np.trunc(weight / np.sqrt(np.maximum(degree, 1))).astype(np.int64)
    return shared


def spread_activation(arcs: Arcs, seeds: I64, rule: Activation) -> tuple[I64, I64]:
    """Return what arrives at each claim over its best path, and over its worst: activation and inhibition.

    seeds: (n,) 0 … 1,000,000.  A path has up to `rule.hops` edges, none of them twice; from the second on
    each loses to `rule.decay`.  What falls below `rule.threshold` ends there, and so does what inhibits.
    Both results are the greatest over all paths, never a sum, so that a claim gains nothing by degree.
    """
    best, worst = np.zeros(len(seeds), np.int64), np.zeros(len(seeds), np.int64)
    node = np.flatnonzero(seeds >= max(rule.threshold, 1))
    value, via = seeds[node], np.full(len(node), -1, np.int64)
    for hop in range(rule.hops):
        state, arc = _leaving(arcs, node)
        fresh = arcs.edge[arc] != via[state]
        state, arc = state[fresh], arc[fresh]
        arrived = _passed(value[state], arcs.share[arc])
        if hop:
            arrived = _passed(arrived, rule.decay)
        target, edge = arcs.target[arc], arcs.edge[arc]
        np.maximum.at(worst, target[arrived < 0], -arrived[arrived < 0])
        onward = arrived >= max(rule.threshold, 1)
        target, edge, arrived = target[onward], edge[onward], arrived[onward]
        np.maximum.at(best, target, arrived)
        kept = _two_best(target, edge, arrived)
        node, via, value = target[kept], edge[kept], arrived[kept]
    return np.minimum(best, MILLION), np.minimum(worst, MILLION)


def _passed(value: I64, share: I64 | int) -> I64:
    """Return the products in millionths, cut towards nothing."""
    product = value * share
    passed: I64 = np.where(product < 0, -(-product // MILLION), product // MILLION)
    return passed


def _leaving(arcs: Arcs, node: I64) -> tuple[I64, I64]:
    """Return every arc that leaves the given rows, each with the position of its row in `node`."""
    low, high = arcs.starts[node], arcs.starts[node + 1]
    width = high - low
    state = np.repeat(np.arange(len(node)), width)
    within = np.arange(len(state)) - np.repeat(np.cumsum(width) - width, width)
    return state, low[state] + within


def _two_best(target: I64, edge: I64, value: I64) -> I64:
    """Return per row the position of its best arrival, and of the best one over another edge."""
    order = np.lexsort((edge, -value, target))
    first = _firsts(target[order])
    best = order[first]
    owner = np.cumsum(first) - 1
    other = order[edge[order] != edge[best][owner]]
    return np.concatenate([best, other[_firsts(target[other])]])


def _firsts(values: I64) -> Mask:
    is_first = np.ones(len(values), bool)
    is_first[1:] = values[1:] != values[:-1]
    return is_first


def known_factor(learned: Mapping[bytes, int], ids: list[bytes]) -> I64:
    """Return per edge id what outcomes taught of it, in millionths; an edge without any counts in full."""
    return np.array([learned.get(one, MILLION) for one in ids], np.int64)
