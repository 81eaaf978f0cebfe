"""The words that state a claim where it was said: a claim is found by them as by its own sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from amos.retrieval.visibility import NEVER_SHOWN
from amos.retrieval.words import segment
from amos.schemas.columns import SCOPE_NAMES

LABELS_FILE = resources.files("amos.retrieval") / "labels.toml"
_SCOPES = tuple(f"scope_{name}" for name in SCOPE_NAMES)
TEXT_COLUMNS = ("source_id", "revision", "content", "flags", "role", "kind", *_SCOPES)
MOST_STATINGS = 16
"""Places per claim whose words are taken; a claim repeated for ever stays small."""


class Stating(NamedTuple):
    """One place that states a claim: byte ranges of a source, start and end in turn."""

    claim_id: bytes
    source_id: bytes
    spans: list[int]


class _Source(NamedTuple):
    content: bytes | None
    scope: tuple[str | None, ...]


def searchable_texts(sources: pa.Table) -> Iterator[str | None]:
    """Yield the text of each source; None where it must not be found by anyone."""
    barred = pc.or_(
        pc.not_equal(pc.bit_wise_and(sources["flags"], int(NEVER_SHOWN)), 0),
        pc.or_(
            pc.is_in(sources["role"], pa.array(["system", "record"])),
            pc.is_in(sources["kind"], pa.array(["thinking", "record"])),
        ),
    )
    for content, is_barred in zip(sources["content"], barred, strict=True):
        yield None if is_barred.as_py() else content.as_py()


def cited_texts(atoms: pa.Table, statings: Iterable[Stating], sources: pa.Table) -> list[str]:
    """Return per atom the words that state it: at its first evidence, then where it was repeated.

    atoms: atom_id, source_id, spans.  statings: in any order.  sources: TEXT_COLUMNS, one version each.
    A repetition counts only in the scope of the first evidence: what one scope says must not make a
    claim findable in another.
    """
    known = _sources(sources)
    repeated: dict[bytes, list[Stating]] = {}
    for stating in sorted(statings):
        repeated.setdefault(stating.claim_id, []).append(stating)
    texts = []
    for atom_id, source_id, spans in zip(*(atoms[n].to_pylist() for n in _ATOM_COLUMNS), strict=True):
        first = known.get(source_id)
        places = [Stating(atom_id, source_id, spans), *repeated.get(atom_id, ())[:MOST_STATINGS]]
        texts.append(" ".join(_cut(known[p.source_id], p.spans) for p in places if _fits(known, p, first)))
    return texts


_ATOM_COLUMNS = ("atom_id", "source_id", "spans")


def _sources(sources: pa.Table) -> dict[bytes, _Source]:
    ids = sources["source_id"].to_pylist()
    scopes = zip(*(sources[name].to_pylist() for name in _SCOPES), strict=True)
    texts = (None if text is None else text.encode() for text in searchable_texts(sources))
    rows = zip(ids, texts, scopes, strict=True)
    return {source_id: _Source(content, scope) for source_id, content, scope in rows}


def _fits(known: dict[bytes, _Source], place: Stating, first: _Source | None) -> bool:
    source = known.get(place.source_id)
    return source is not None and first is not None and source.scope == first.scope


def _cut(source: _Source, spans: list[int]) -> str:
    if source.content is None:
        return ""
    cuts = zip(spans[::2], spans[1::2], strict=True)
    return " ".join(source.content[start:end].decode(errors="ignore") for start, end in cuts)


def search_text(statement: str, payload: str, cited: str = "") -> str:
    """Return the text by which a claim is found: its statement, then whatever new words come with it.

    payload: its values are searched, its keys are not.  cited: the words that state the claim.
    """
    values = msgspec.json.decode(payload)
    values.pop("normal", None)  # kind and canonical form of the value, for equality only
    if values.pop("action_ref", None) is not None:
        values.pop("applicability", None)  # ids of a call and its talk, which nobody asks by
    known = {token.casefold() for token in segment(statement)}
    label = property_labels().get(str(values.get("property")), "")
    words = [token for text in (*_texts_in(values), label, cited) for token in segment(text)]
    fresh = dict.fromkeys(token for token in words if token.casefold() not in known)
    return " ".join([statement, *fresh])


@lru_cache(maxsize=1)
def property_labels() -> dict[str, str]:
    """Return the words by which each canonical property is also asked for."""
    return msgspec.toml.decode(LABELS_FILE.read_bytes(), type=dict[str, str])


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(inner)
