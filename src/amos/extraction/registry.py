"""Find extractors: the built-in rules and what other packages register as `amos.extractors`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol

import pyarrow as pa

from amos.errors import UsageError
from amos.extraction.grammar import load_grammar
from amos.extraction.propose import EXTRACTOR, Proposal, propose

GROUP = "amos.extractors"


class Extractor(Protocol):
    """Reads claims from a batch of texts; pure, so that a batch can be read again."""

    @property
    def name(self) -> str:
        """Name and version, `name@version`; raise the version when results change."""
        ...

    def propose(self, sources: pa.Table, *, is_compiled: bool) -> Proposal:
        """Return the claims of `sources` (SEGMENTABLE) and the notes for the rest."""
        ...


class RulesExtractor:
    """The built-in extractor: a token kernel driven by the shipped grammar."""

    name = EXTRACTOR

    def propose(self, sources: pa.Table, *, is_compiled: bool) -> Proposal:
        """Return the claims of `sources` (SEGMENTABLE) and the notes for the rest."""
        return propose(sources, load_grammar(), is_compiled=is_compiled)


def find_extractor(name: str = EXTRACTOR) -> Extractor:
    """Return the extractor called `name`.  Raises UsageError naming those that exist."""
    if name == EXTRACTOR:
        return RulesExtractor()
    registered = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name not in registered:
        known = ", ".join(sorted({EXTRACTOR, *registered}))
        raise UsageError(f"no extractor {name!r}; there are: {known}", path=name)
    found: Extractor = registered[name].load()()
    return found
