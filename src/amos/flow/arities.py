"""How many values a property has: one answer per property, whatever wording or extractor told it.

The claims of one value of a property are one claim.  Were its history decided as the only value here and as
one of several there, what stands would depend on which wording came first.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import pyarrow as pa

from amos.admission.cells import cells
from amos.admission.values import fold_property
from amos.extraction.grammar import load_grammar
from amos.schemas.choosing import with_column


def arity_of(held: str | None, otherwise: str) -> str:
    """Return `single`, `set` or `per_scope` for a property: as the grammar says where it names it."""
    return otherwise if held is None else _named().get(_folded(held), otherwise)


def with_arities(claims: pa.Table) -> pa.Table:
    """Return CLAIMS with the arity of each by its property."""
    told = cells(claims["arity"])
    arities: list[Any] = list(map(arity_of, cells(claims["property"]), told))
    if arities == told:
        return claims
    return with_column(claims, "arity", pa.array(arities, claims.schema.field("arity").type))


@cache
def _named() -> dict[str, str]:
    """Return the arity of every property that a pattern of the current grammar names; they agree."""
    return {
        fold_property(meaning.property): meaning.arity
        for meaning in load_grammar().meanings
        if meaning.property and not meaning.property.startswith("@")
    }


_folded = lru_cache(maxsize=1 << 14)(fold_property)
