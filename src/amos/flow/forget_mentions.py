"""Find what names a subject elsewhere: claims about others, and messages of which no such claim was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.flow.forget_cuts import SCOPES
from amos.flow.forget_report import SHOWN_ROWS, shown_texts
from amos.flow.forget_selection import Selected, current_rows
from amos.flow.versions import latest
from amos.identity import id_text
from amos.journal.store import Snapshot
from amos.kernels.wordings import wording_of
from amos.schemas.columns import ID

_OWN_NAMES = ("user", "")
Words = tuple[str, ...]
Places = list[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Mentions:
    """What names the subjects although it is not about them.

    claims: ids of claims.  bare: candidates of those among them that are no atom.  sources: ids of messages
    that name a subject outside of the evidence of all these claims.  included: whether the claims go too.
    """

    claims: pa.Array = field(default_factory=lambda: pa.array([], ID))
    bare: pa.Array = field(default_factory=lambda: pa.array([], ID))
    sources: pa.Array = field(default_factory=lambda: pa.array([], ID))
    included: bool = False

    def added_to(self, selected: Selected) -> Selected:
        """Return the selection with these claims."""
        return replace(selected, claims=pa.concat_arrays([selected.claims, self.claims]).unique())


def find_mentions(snapshot: Snapshot, selected: Selected, *, included: bool) -> Mentions:
    """Return what names the selected subjects elsewhere; nothing where none was selected.

    A name is found as a run of whole words, whatever its case, spacing or Unicode form, in the scopes of the
    subjects alone: the same name in another scope is somebody else's.
    """
    subjects = current_rows(snapshot, "entities", "entity_id", pa.array(selected.subjects, ID))
    names = _names(subjects)
    if not names:
        return Mentions(included=included)
    named = dict(_named_sources(snapshot, names, subjects, selected.sources))
    ids = pa.array(sorted(named), ID)
    told = latest(snapshot.lookup("candidates", "source_id", ids), "candidates")
    own = set(selected.claims.to_pylist())
    found: dict[bytes, bytes] = {}
    columns = (told[name].to_pylist() for name in ("candidate_id", "claim_id", "source_id", "spans"))
    for candidate, claim, source, spans in zip(*columns, strict=True):
        places = list(zip(spans[::2], spans[1::2], strict=True))
        if claim in own or _meet(places, named[source]):
            named[source] = _outside(named[source], places)
            if claim not in own:
                found[claim] = candidate
    found.update(_about_namesakes(snapshot, names, subjects, own))
    claims = pa.array(sorted(found), ID)
    held = snapshot.lookup("atoms", "atom_id", claims, ["atom_id"])["atom_id"].to_pylist()
    bare = sorted(found[claim] for claim in found.keys() - set(held))
    return Mentions(
        claims=claims,
        bare=pa.array(bare, ID),
        sources=pa.array(sorted(one for one, places in named.items() if places), ID),
        included=included,
    )


def _names(subjects: pa.Table) -> set[Words]:
    """Return the names of the subjects as words: of `sister Anna` what is written like a name."""
    found = set()
    for name in subjects["name"].to_pylist():
        parts = name.split()
        proper = [part for part in parts if part[:1].isupper()] or parts
        if name.casefold() not in _OWN_NAMES and (words := tuple(wording_of(" ".join(proper)).words)):
            found.add(words)
    return found


def _named_sources(
    snapshot: Snapshot, names: set[Words], subjects: pa.Table, without: pa.Array
) -> Iterator[tuple[bytes, Places]]:
    """Yield the current messages that hold a name, each with the bytes where it stands."""
    likely = []
    for rows in snapshot.tables("sources", ["source_id", "content", *SCOPES]):
        near = _near(rows, subjects)
        texts = folded_texts(near["content"])
        for words in names:
            hit = pc.match_substring(texts, max(words, key=len))
            likely.append(near.filter(hit)["source_id"].combine_chunks())
    ids = pa.concat_arrays(likely).unique() if likely else pa.array([], ID)
    ids = ids.filter(pc.invert(pc.is_in(ids, value_set=without)))
    rows = current_rows(snapshot, "sources", "source_id", ids)
    for source, text in zip(rows["source_id"].to_pylist(), rows["content"].to_pylist(), strict=True):
        if places := _places(text, names):
            yield source, places


def _near(rows: pa.Table, subjects: pa.Table) -> pa.Table:
    """Return the rows of the scopes of the subjects."""
    kept: pa.ChunkedArray | pa.Array = pa.nulls(rows.num_rows, pa.bool_()).fill_null(False)
    for scope in set(zip(*(subjects[name].to_pylist() for name in SCOPES), strict=True)):
        same: pa.ChunkedArray | pa.Array = pa.nulls(rows.num_rows, pa.bool_()).fill_null(True)
        for name, value in zip(SCOPES, scope, strict=True):
            column = rows[name]
            is_same = pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, value), False)
            same = pc.and_(same, is_same)
        kept = pc.or_(kept, same)
    return rows.filter(kept)


def folded_texts(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts in the form of words, as far as looking for a part of them needs it."""
    if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
        return pc.utf8_lower(texts)
    texts = pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC"))
    for written, folded in (("ß", "ss"), ("ς", "σ")):
        texts = pc.replace_substring(texts, written, folded)
    return texts


def _places(text: str, names: set[Words]) -> Places:
    """Return the byte ranges of `text` in which one of the names stands."""
    said = wording_of(text)
    return [
        (said.starts[at], said.ends[at + len(words) - 1])
        for words in names
        for at in range(len(said.words) - len(words) + 1)
        if tuple(said.words[at : at + len(words)]) == words
    ]


def _meet(spans: Places, places: Places) -> bool:
    return any(start < last and first < end for start, end in spans for first, last in places)


def _outside(places: Places, spans: Places) -> Places:
    return [(first, last) for first, last in places if not _meet(spans, [(first, last)])]


def _about_namesakes(
    snapshot: Snapshot, names: set[Words], subjects: pa.Table, own: set[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """Yield claims, each with a candidate, about other entities in whose names a name stands."""
    rows = _near(snapshot.current("entities", ["entity_id", "name", *SCOPES]), subjects)
    known = set(subjects["entity_id"].to_pylist())
    others = [
        entity
        for entity, name in zip(rows["entity_id"].to_pylist(), rows["name"].to_pylist(), strict=True)
        if entity not in known and _places(name, names)
    ]
    columns = ["claim_id", "candidate_id"]
    told = snapshot.lookup("candidates", "subject_id", pa.array(others, ID), columns)
    for claim, candidate in zip(told["claim_id"].to_pylist(), told["candidate_id"].to_pylist(), strict=True):
        if claim not in own:
            yield claim, candidate


def shown_mentions(snapshot: Snapshot, mentions: Mentions) -> dict[str, Any]:
    """Return `mentions`, what names a subject and stays, and `mentions_total`."""
    rows: list[dict[str, Any]] = []
    parts: Mapping[str, pa.Array] = {
        "atoms": mentions.claims,
        "candidates": mentions.bare,
        "sources": mentions.sources,
    }
    total = 0
    for table, ids in parts.items():
        if mentions.included and table != "sources":
            continue
        texts = shown_texts(snapshot, table, ids.to_pylist())
        kept = [one for one in ids.to_pylist() if table != "atoms" or one in texts]
        total += len(kept)
        rows += [{"table": table, "ref": id_text(table, one), "text": texts.get(one)} for one in kept]
    return {"mentions": rows[:SHOWN_ROWS], "mentions_total": total}


def counted_mentions(told: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return how many claims and messages of `shown_mentions` name a subject and stay, None for none."""
    messages = sum(row["table"] == "sources" for row in told["mentions"])
    return (told["mentions_total"] - messages, messages) if told["mentions_total"] else None
