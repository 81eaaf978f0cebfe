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


def test_compiled_digests_equal_hashlib_with_and_without_libcrypto():
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
