"""Copy runs of bytes in compiled loops, by addresses: much cheaper than two views per run, or byte by byte.

Imported only for large batches: it imports numba.
"""

from __future__ import annotations

import os
from typing import Any

from amos.kernels.compiled import cache_folder

os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder()))

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from amos.kernels.compiled import compiled


@intrinsic  # type: ignore[untyped-decorator]
def _copy(_context: Any, target: Any, source: Any, size: Any) -> Any:
    """Copy `size` bytes between addresses; the runs do not overlap."""
    signature = types.void(target, source, size)

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        octet = ir.IntType(8).as_pointer()
        ends = [builder.inttoptr(value, octet) for value in values[:2]]
        cgutils.raw_memcpy(builder, ends[0], ends[1], values[2], 1)
        return context.get_dummy_value()

    return signature, generate


def _write_column(out: Any, at: Any, held: Any, counts: Any, starts: Any, stops: Any, octets: Any) -> None:
    is_counted = counts.shape[0] > 0
    target, source = np.int64(out.ctypes.data), np.int64(octets.ctypes.data)
    for i in range(at.shape[0]):
        place = at[i]
        if held[i]:
            size = stops[i] - starts[i]
            out[place] = 1
            place += 1
            if is_counted:
                count = np.int64(counts[i])
                for k in range(4):
                    out[place + k] = (count >> (8 * k)) & 255
                place += 4
            _copy(target + place, source + starts[i], size)
            at[i] = place + size
        else:
            out[place] = 0
            at[i] = place + 1


def write_column(out: Any, at: Any, held: Any, counts: Any, starts: Any, stops: Any, octets: Any) -> None:
    """Write the cells of one column, behind `counts` where there are any; moves `at` behind each cell.

    Checks nothing: `out` must have room, and the runs must lie in `octets`.
    """
    compiled(_write_column)(out, at, held, counts, starts, stops, octets)


def _copy_runs(out: Any, targets: Any, octets: Any, starts: Any, sizes: Any) -> None:
    target, source = np.int64(out.ctypes.data), np.int64(octets.ctypes.data)
    for i in range(starts.shape[0]):
        if sizes[i] > 0:
            _copy(target + targets[i], source + starts[i], sizes[i])


def copy_runs(out: Any, targets: Any, octets: Any, starts: Any, sizes: Any) -> None:
    """Copy `octets[starts[i] : starts[i] + sizes[i]]` to `out[targets[i] :]` for every i; checks nothing."""
    compiled(_copy_runs)(out, targets, octets, starts, sizes)
