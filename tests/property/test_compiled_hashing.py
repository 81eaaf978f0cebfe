"""Compiled hashing against hashlib, in a process of its own so that others stay without a compiler."""

import subprocess
import sys

COMPILED = """
import hashlib, numpy as np
from amos.kernels import bulk_hashing, sha256
rows = [b"", b"a" * 55, b"b" * 64, bytes(200)] * 3
offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
octets = np.frombuffer(b"".join(rows), np.uint8)
expected = b"".join(hashlib.sha256(b"lead" + row).digest() for row in rows)
assert bulk_hashing.sha256_rows(octets, offsets, b"lead").tobytes() == expected
assert sha256.hash_rows(np.frombuffer(b"lead", np.uint8), octets, offsets).tobytes() == expected
"""

ENCODED = """
import numba, pyarrow as pa
from amos.kernels.canonical import encode_rows, row_bytes
from amos.schemas.buffers import column_arrays
count = 400
columns = {
    "int": [None if i % 7 == 0 else i - 200 for i in range(count)],
    "text": [None if i % 5 == 0 else "é" * (i % 90) for i in range(count)],
    "ints": [list(range(i % 4)) for i in range(count)],
    "texts": [None if i % 3 == 0 else ["x" * (i % 3)] * (i % 5) for i in range(count)],
    "id": [bytes([i % 256]) * 16 for i in range(count)],
}
kinds = [pa.int64(), pa.string(), pa.list_(pa.int64()), pa.list_(pa.string()), pa.binary(16)]
arrays = [column_arrays(pa.array(c, k)) for c, k in zip(columns.values(), kinds)]
raw = lambda v: v.encode() if isinstance(v, str) else [raw(i) for i in v] if isinstance(v, list) else v
expected = [row_bytes([raw(v) for v in row]) for row in zip(*columns.values())]
buffer, offsets = encode_rows(arrays, count)
assert [buffer[a:b].tobytes() for a, b in zip(offsets, offsets[1:])] == expected
"""


def test_compiled_rows_equal_the_definition_for_every_kind_of_column():
    done = subprocess.run([sys.executable, "-c", ENCODED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_compiled_digests_equal_hashlib_with_and_without_libcrypto():
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
