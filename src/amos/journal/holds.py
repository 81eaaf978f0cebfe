"""What the event that places a hold says of it: enough to notice another one, nothing to guess from."""

from __future__ import annotations

import hmac

from amos.journal.events import canonical_json
from amos.schemas.catalog import HoldEntry


def hold_digest(entry: HoldEntry, key: bytes) -> str:
    """Return a keyed digest, in hex, of what a hold protects, why and since when."""
    parts = [entry.hold_id.hex(), entry.kind, entry.ref, entry.reason, entry.placed_us]
    return hmac.digest(key, b"amos/hold/1" + canonical_json(parts).encode(), "sha256").hex()
