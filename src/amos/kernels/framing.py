"""Parts of an identity as bytes: presence, length and content, so that no two parts can merge."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from amos.kernels.canonical import Column

Array = npt.NDArray[Any]

Part = Column | bytes | str | int | None


def octet_view(octets: Array) -> memoryview:
    """Return the bytes of a uint8 array without a copy."""
    return memoryview(np.ascontiguousarray(octets))  # type: ignore[arg-type]


def framed(value: bytes | str | int | None) -> bytes:
    """Return one part as it enters an identity: presence, length and bytes."""
    if value is None:
        return b"\x00"
    raw = value if isinstance(value, bytes) else str(value).encode()
    return b"\x01" + len(raw).to_bytes(4, "little") + raw


def part_cells(part: Part, count: int) -> list[bytes]:
    """Return the framed bytes of one part for each row."""
    if part is None or isinstance(part, bytes | str | int):
        return [framed(part)] * count
    if part.kind == "int":
        cells = [framed(value) for value in part.values.tolist()]
    elif part.kind == "bytes":
        assert part.offsets is not None
        view, cuts = octet_view(part.values), part.offsets.tolist()
        cells = [
            b"\x01" + (after - first).to_bytes(4, "little") + view[first:after]
            for first, after in pairwise(cuts)
        ]
    else:
        raise TypeError(f"a column of kind {part.kind} is no part of an identity")
    if part.valid is not None:
        cells = [cell if held else b"\x00" for cell, held in zip(cells, part.valid.tolist(), strict=True)]
    return cells
