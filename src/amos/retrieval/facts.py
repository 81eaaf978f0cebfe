"""What is known of claims beside their words: utility, salience, payload, edges; read only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from amos.retrieval.corpus import Corpus
from amos.retrieval.graph import I64, Edges, no_edges
from amos.retrieval.profile import MILLION

Payload = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts of the atom rows of one corpus, each read when it is first needed.

    standing: -> (rows, 2) utility and salience in millionths.  graph: -> active edges.  read: atom ids ->
    payloads by id.
    """

    standing: Callable[[], I64]
    graph: Callable[[], Edges]
    read: Callable[[Sequence[bytes]], Mapping[bytes, Payload]]

    @cached_property
    def utility(self) -> I64:
        """Return (rows,) utility in millionths."""
        return self._standing[:, 0]

    @cached_property
    def salience(self) -> I64:
        """Return (rows,) salience in millionths."""
        return self._standing[:, 1]

    @cached_property
    def _standing(self) -> I64:
        return self.standing()

    @cached_property
    def edges(self) -> Edges:
        """Return the active edges between claims."""
        return self.graph()


def plain_facts(corpus: Corpus) -> Facts:
    """Return facts of a corpus of which nothing is known but its words."""
    return Facts(
        standing=lambda: np.full((corpus.atoms.count, 2), MILLION // 2, np.int64),
        graph=no_edges,
        read=lambda _: {},
    )
