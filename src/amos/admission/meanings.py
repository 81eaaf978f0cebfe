"""What claims mean apart from who is meant: conditions, bounds, normalised values, stored payloads."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import cells, mask
from amos.admission.values import NormalValue, fold_property, normalise_value
from amos.admission.values_dates import read_date
from amos.schemas.vocabulary import AtomType, MemoryClass

Mask = NDArray[np.bool_]
_MEANT_BY = (
    "value", "value_kind", "payload", "arity", "property", "time_text", "time_precision",
)  # fmt: skip


class Bounds(NamedTuple):
    """Per claim whether its validity has a bound, and its conditions as canonical JSON or None."""

    is_bounded: Mask
    applicability: list[str | None]


class Meanings(NamedTuple):
    """Per claim its folded property, its normalised value and its payload."""

    holder_property: tuple[str | None, ...]
    kind: tuple[str, ...]
    canonical: tuple[str, ...]
    payload: tuple[str, ...]


def bounds_of(claims: pa.Table, cited: pa.Table) -> Bounds:
    """Return the bounds of `claims`; what holds for now without a known time is bound to its talk.

    So is what became of an action: the ids of calls are those of a talk.

    cited: the source of each claim, with `conversation_key`.
    """
    is_bounded = np.zeros(claims.num_rows, np.bool_)
    applicability = cells(claims["applicability"])
    memory_class = np.array(cells(claims["memory_class"]))
    is_episode = memory_class == MemoryClass.EPISODE
    if is_episode.any():
        precision = pc.fill_null(claims["time_precision"], "unresolved")
        is_bounded |= is_episode & mask(pc.not_equal(precision, "unresolved"))
    is_passing = memory_class == MemoryClass.TEMPORARY_STATE
    if is_passing.any():
        has_end = mask(claims["valid_until"].is_valid())
        is_bounded |= is_passing & (has_end | mask(cited["event_time"].is_null()))
        _bind(np.flatnonzero(is_passing & ~has_end), cited, applicability)
    is_action = mask(pc.equal(claims["type"], str(AtomType.ACTION_OUTCOME)))
    if is_action.any():
        _bind(np.flatnonzero(is_action & mask(claims["applicability"].is_valid())), cited, applicability)
    return Bounds(is_bounded, applicability)


def _bind(rows: NDArray[np.int64], cited: pa.Table, applicability: list[str | None]) -> None:
    """Bind the claims at `rows` to the talks that they were made in."""
    for row, talk in zip(rows.tolist(), _talks(cited.take(pa.array(rows))), strict=True):
        applicability[row] = _bound_to(talk, applicability[row])


def _talks(cited: pa.Table) -> list[str]:
    columns = (cells(cited[name]) for name in ("format", "conversation_key"))
    return [f"{source_format}:{key}" for source_format, key in zip(*columns, strict=True)]


def _bound_to(talk: str, applicability: str | None) -> str:
    conditions = msgspec.json.decode(applicability) if applicability else {}
    conditions["conversation"] = talk
    return canonical_json(conditions)


def meanings_of(claims: pa.Table, applicability: list[str | None]) -> Meanings:
    """Return what each of `claims` (one row at least) says; claims in equal words are read once."""
    columns = (cells(claims[name]) for name in _MEANT_BY)
    return Meanings(*zip(*map(cache(_meaning), *columns, applicability), strict=True))


def _meaning(
    value: str | None,
    value_kind: str,
    payload: str | None,
    arity: str,
    held: str | None,
    time_text: str | None,
    time_precision: str | None,
    applicability: str | None,
) -> tuple[str | None, str, str, str]:
    """Return folded property, kind and canonical form of the value, and the payload to store."""
    fields = msgspec.json.decode(payload) if payload else {}
    day = fields.get("date")  # what "Friday" means by the clock of its source
    if isinstance(day, str) and read_date(day) == day:
        normal = NormalValue("date", day)
    else:
        normal = _normalised(fields.get("claim", "") if value is None else value, value_kind)
    fields["arity"] = arity
    fields["normal"] = [normal.kind, normal.canonical]
    if held is not None:
        fields["property"] = held
    if value is not None:
        fields["value"] = value
    if applicability:
        fields["applicability"] = msgspec.json.decode(applicability)
    if time_text:
        fields["time"] = {"text": time_text, "precision": time_precision}
    folded = None if held is None else fold_property(held)
    return folded, normal.kind, normal.canonical, canonical_json(fields)


@lru_cache(maxsize=1 << 16)
def _normalised(text: str, kind: str) -> NormalValue:
    return normalise_value(text, kind)


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys and no spaces: the bytes that are stored and hashed."""
    return msgspec.json.encode(value, order="sorted").decode()
