"""Show where a ranked item comes from: the excerpt of its turn, with a reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from amos.retrieval.cues import Cue, surface_terms
from amos.retrieval.excerpts import Wanted, char_span, cut_excerpt, matches_in
from amos.retrieval.rows import latest
from amos.schemas.cuts import marked
from amos.schemas.labels import OWNER_NAME
from amos.schemas.ranked import EVIDENCE

_SHOWN_WORDS = "source_id revision content kind event_time author is_owner trust locator"
SHOWN_COLUMNS = tuple(_SHOWN_WORDS.split())


def wanted_terms(cues: Iterable[Cue]) -> frozenset[str]:
    """Return the terms that an excerpt marks: those of the questions, as they were mended."""
    read = list(cues)
    mended = {text for cue in read for term in cue.terms for text in term.texts}
    return surface_terms(cue.text for cue in read) | mended


def cut_evidence(
    ranked: pa.Table,
    sources: pa.Table,
    atoms: pa.Table,
    wanted: frozenset[str],
    captions: Mapping[bytes, list[bytes]],
) -> pa.Table:
    """Return EVIDENCE for every ranked item whose source is among `sources`.

    ranked: RANKED.  sources: SHOWN_COLUMNS, any versions.  atoms: atom_id, version, source_id, spans.
    captions: per source the captions of its message; one is cited where it holds a wanted word.
    """
    claims = {row["atom_id"]: row for row in latest(atoms, "atom_id", "version").to_pylist()}
    marked = Wanted(wanted)
    texts = {
        row["source_id"]: _Text(row, marked) for row in latest(sources, "source_id", "revision").to_pylist()
    }
    rows = []
    for item in ranked.select(["rank", "atom_id", "source_id"]).to_pylist():
        text = texts.get(item["source_id"])
        if text is None:
            continue
        claim = claims.get(item["atom_id"])
        spans = claim["spans"] if claim and claim["source_id"] == item["source_id"] else []
        rows.append(text.evidence(item["rank"], spans))
        attached = (texts[caption] for caption in captions.get(item["source_id"], ()) if caption in texts)
        cited = (caption.evidence(item["rank"], []) for caption in attached)
        rows += [row for row in cited if row["matches"]]
    return pa.Table.from_pylist(rows, schema=EVIDENCE)


class _Text:
    """One source to cut from; searched once, however many claims cite it."""

    def __init__(self, source: dict[str, Any], wanted: Wanted) -> None:
        self._source = source
        self._content = str(source["content"])
        self._matches = matches_in(self._content, wanted)

    def evidence(self, rank: int, spans: list[int]) -> dict[str, object]:
        """Return the EVIDENCE row of the item at `rank`; spans: where this source states its claim."""
        source = self._source
        focus = char_span(self._content, spans[0], spans[1]) if spans else None
        cut = cut_excerpt(self._content, self._matches, focus)
        return {
            "rank": rank,
            "source_id": source["source_id"],
            "kind": source["kind"],
            "start": cut.start,
            "end": cut.end,
            "excerpt": marked(cut.text),
            "spans": spans,
            "matches": [edge for span in cut.matches for edge in span],
            "event_time": source["event_time"],
            "author": OWNER_NAME if source["is_owner"] else source["author"],
            "trust": source["trust"],
            "locator": source["locator"],
        }
