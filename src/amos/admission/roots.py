"""Independent roots of claims: which of their sources are copies, edits, quotes or echoes of one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.admission.cells import cells
from amos.admission.history import Encoded
from amos.schemas.vocabulary import Cue, SourceFlag, Trust

I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
Origins = Callable[[pa.Array, Sequence[str]], pa.Table]
"""Returns the current rows, with these columns, of the sources with these ids that are known."""

COPY_CHARACTERS = 80
"""Characters from which two equal texts are one text: shorter ones people say by themselves."""

_QUOTING = int(Cue.QUOTED | Cue.PASTED | Cue.CODE)
_PASSED_ON = int(SourceFlag.FORWARDED)
_ECHOING = (str(Trust.AGENT), str(Trust.TOOL))
_RECALLED = str(Trust.RECALL)
_ATTACHED = "attachment"
_OF_SOURCE = ("source_id", "content_digest", "flags", "revises", "kind")


def root_codes(encoded: Encoded, candidates: pa.Table, origins: Origins) -> tuple[I64, bool]:
    """Return per place of `encoded` a code of the root that it stands for, and whether any was joined.

    Where none was, every source is a root of its own, in any part of the histories as in the whole of them.

    Equal texts of COPY_CHARACTERS or more and the edits of one message are one root.  What a message quotes,
    pastes, forwards, attaches or recalls is no root beside others, nor is what an agent or a tool says again
    in a conversation in which it was said.  A source that `origins` does not know is a root of its own.
    """
    sources = candidates["source_id"].combine_chunks().dictionary_encode()
    code = sources.indices.to_numpy().astype(np.int64)[encoded.rows]
    supported = np.bincount(encoded.claim, minlength=1)[encoded.claim] > 1 if code.size else code > 0
    if not supported.any():
        return code, False
    wanted = sources.dictionary.take(pa.array(np.unique(code[supported])))
    known = origins(wanted, _OF_SOURCE)
    root = np.arange(len(sources.dictionary), dtype=np.int64)
    place = pc.index_in(known["source_id"], value_set=sources.dictionary).to_numpy().astype(np.int64)
    _join_copies(root, place, known, origins)
    _join_edits(root, place, known, origins)
    passed_on = np.zeros(root.size, np.bool_)
    passed_on[place] = (known["flags"].to_numpy() & _PASSED_ON != 0) | np.array(
        [one == _ATTACHED for one in cells(known["kind"])], np.bool_
    )
    is_derived = supported & (passed_on[code] | _derived(encoded, candidates))
    joined = _with_derived(root[code], encoded.claim, is_derived, encoded.claim_count)
    return joined, not np.array_equal(joined, code)


def root_codes_of(place: I64, encoded: Encoded, candidates: pa.Table, origins: Origins) -> I64:
    """Return the codes of the roots as if there were only the rows at `place`; aligned with `encoded`."""
    part = replace(
        encoded,
        rows=encoded.rows[place],
        claim=encoded.claim[place],
        conversation=encoded.conversation[place],
    )
    codes = np.zeros(encoded.rows.size, np.int64)
    codes[place] = root_codes(part, candidates, origins)[0]
    return codes


def _join_copies(root: I64, place: I64, known: pa.Table, origins: Origins) -> None:
    """Give sources of one long text one root."""
    digests = known["content_digest"].combine_chunks().dictionary_encode().indices.to_numpy()
    shared = np.flatnonzero(np.bincount(digests)[digests] > 1) if digests.size else digests
    if not shared.size:
        return
    _, first, which = np.unique(digests[shared], return_index=True, return_inverse=True)
    first = shared[first]
    ids = known["source_id"].combine_chunks().take(pa.array(first))
    texts = origins(ids, ("source_id", "content"))  # one of each: equal digests are of equal texts
    lengths = pc.utf8_length(texts["content"]).take(pc.index_in(ids, value_set=texts["source_id"]))
    is_long = pc.fill_null(pc.greater_equal(lengths, COPY_CHARACTERS), False).to_numpy()[which]
    root[place[shared[is_long]]] = place[first[which[is_long]]]


def _join_edits(root: I64, place: I64, known: pa.Table, origins: Origins) -> None:
    """Give all edits of one message, and the message itself, one root; it need not be at hand."""
    if known["revises"].null_count == known.num_rows:
        return
    link = _revised(known)
    missing = set(link.values()) - {*known["source_id"].to_pylist()}
    while missing:
        older = origins(pa.array(sorted(missing), known.schema.field("source_id").type), _OF_SOURCE)
        found = _revised(older)
        link |= found
        missing = set(found.values()) - {*link, *older["source_id"].to_pylist()}
    root_of: dict[bytes, int] = {}
    ids = known["source_id"].to_pylist()
    for at, source in sorted(zip(place.tolist(), ids, strict=True), key=lambda pair: pair[1] in link):
        end, seen = source, {source}  # a message comes before its edits: theirs is its root
        while (before := link.get(end)) is not None and before not in seen:
            end = before
            seen.add(end)
        root[at] = root_of.setdefault(end, root[at])


def _revised(known: pa.Table) -> dict[bytes, bytes]:
    """Return which source each edit among the rows revises."""
    pairs = zip(known["source_id"].to_pylist(), known["revises"].to_pylist(), strict=True)
    return {source: before for source, before in pairs if before is not None}


def _derived(encoded: Encoded, candidates: pa.Table) -> Mask:
    """Tell which places only repeat: quotes, recalled text, and echoes in one conversation."""
    rows = pa.array(encoded.rows)
    trust = np.array(cells(candidates["trust"].take(rows)))
    is_derived = (candidates["cues"].take(rows).to_numpy() & _QUOTING != 0) | (trust == _RECALLED)
    echoes = np.flatnonzero(np.isin(trust, _ECHOING))
    if echoes.size:
        talks = int(encoded.conversation.max()) + 1
        told = encoded.claim * talks + encoded.conversation
        _, first, which = np.unique(told, return_index=True, return_inverse=True)
        is_derived[echoes] |= first[which[echoes]] < echoes
    return np.asarray(is_derived, np.bool_)


def _with_derived(root: I64, claim: I64, is_derived: Mask, claims: int) -> I64:
    """Return the roots, where what is derived stands for another root of its claim, or all of it for one."""
    stands_for = np.full(claims, -1, np.int64)
    for chosen in (np.flatnonzero(is_derived), np.flatnonzero(~is_derived)):
        stands_for[claim[chosen[::-1]]] = root[chosen[::-1]]  # of several the first is written last
    return np.where(is_derived, stands_for[claim], root)
