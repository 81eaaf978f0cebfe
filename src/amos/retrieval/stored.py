"""An index as named arrays: what goes into the file and how it comes back."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import Stemmer

from amos.retrieval.cited import LABELS_FILE
from amos.retrieval.container import Container, IndexDamageError, StoredArray, StoredColumns, pack_arrays
from amos.retrieval.corpus import Space
from amos.retrieval.language import LISTS_FILE
from amos.retrieval.marks import MARKS_FILE
from amos.retrieval.postings import Postings
from amos.retrieval.rows import Rows
from amos.retrieval.words import ENCODER, ENCODER_VERSION

Array = npt.NDArray[Any]
LAYOUT = 3
_LARGE = ("docs", "counts", "names")
_SMALL = ("hashes", "starts", "lengths", "name_starts")


@dataclass(frozen=True, kw_only=True)
class Base:
    """A stored index: turns, claims, supports and holders up to one graph version.

    source_digest: pins the commit it was built from, hex.
    """

    turns: Space
    atoms: Space
    supports: Rows
    holders: dict[int, str]
    graph_version: int
    source_digest: str


def encoder_id() -> str:
    """Return the encoder with everything its terms depend on: code, Unicode, stemmer, word lists."""
    lists = LISTS_FILE.read_bytes() + LABELS_FILE.read_bytes() + MARKS_FILE.read_bytes()
    return (
        f"{ENCODER}@{ENCODER_VERSION} unicode {unicodedata.unidata_version} "
        f"snowball {Stemmer.version()} lists {hashlib.sha256(lists).hexdigest()[:12]}"
    )


def pack_base(base: Base) -> bytes:
    """Return the index file of `base`."""
    arrays: dict[str, Array] = {}
    for kind, space in (("turns", base.turns), ("atoms", base.atoms)):
        arrays |= {f"{kind}.rows.{name}": values for name, values in space.rows.items()}
        arrays |= {f"{kind}.row": space.row, f"{kind}.passage": space.passage, f"{kind}.marks": space.marks}
        parts = {name: np.asarray(getattr(space.postings, name)) for name in (*_SMALL, *_LARGE)}
        arrays |= {f"{kind}.postings.{name}": values for name, values in parts.items()}
    arrays |= {f"supports.{name}": values for name, values in base.supports.items()}
    names = [name.encode() for name in base.holders.values()]
    arrays["holders.hash"] = np.array(list(base.holders), np.uint64)
    arrays["holders.starts"] = np.cumsum([0, *(len(name) for name in names)]).astype(np.int64)
    arrays["holders.names"] = np.frombuffer(b"".join(names), np.uint8)
    about = {
        "layout": LAYOUT,
        "encoder": encoder_id(),
        "quantisation": "none",
        "graph_version": base.graph_version,
        "source_digest": base.source_digest,
    }
    return pack_arrays(about, arrays)


def read_base(buffer: memoryview) -> Base | None:
    """Return the index in `buffer`, None when another encoder or layout wrote it.

    Raises IndexDamageError when the bytes are not those that were written.
    """
    container = Container(buffer)
    about: Mapping[str, Any] = container.about
    if about.get("layout") != LAYOUT or about.get("encoder") != encoder_id():
        return None
    return Base(
        turns=_space(container, "turns"),
        atoms=_space(container, "atoms"),
        supports=StoredColumns(container, "supports."),
        holders=_holders(container),
        graph_version=int(about["graph_version"]),
        source_digest=str(about["source_digest"]),
    )


def _space(container: Container, kind: str) -> Space:
    small: dict[str, Any] = {name: container.array(f"{kind}.postings.{name}") for name in _SMALL}
    large: dict[str, Any] = {name: StoredArray(container, f"{kind}.postings.{name}") for name in _LARGE}
    return Space(
        rows=StoredColumns(container, f"{kind}.rows."),
        row=container.array(f"{kind}.row"),
        passage=container.array(f"{kind}.passage"),
        marks=container.array(f"{kind}.marks"),
        postings=Postings(**small, **large),
    )


def _holders(container: Container) -> dict[int, str]:
    starts = container.array("holders.starts").tolist()
    names = container.array("holders.names").tobytes()
    if starts and starts[-1] != len(names):
        raise IndexDamageError("the names do not fit their offsets")
    hashes = container.array("holders.hash").tolist()
    pairs = zip(hashes, starts[:-1], starts[1:], strict=True)
    return {value: names[low:high].decode() for value, low, high in pairs}
