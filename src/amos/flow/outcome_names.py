"""How the records of outcomes are named: a format, a conversation per packet, a keyed digest of the words."""

from __future__ import annotations

import hashlib
import hmac

from amos.identity import id_text
from amos.journal.events import canonical_json

FORMAT = "outcome"
"""Format of the sources that outcomes are recorded as."""
_PURPOSE = b"amos/1/outcome\x00"


def said_digest(key: bytes, said: object) -> bytes:
    """Return the keyed digest of what was said of a packet: without the key it confirms no guess."""
    return hmac.digest(key, _PURPOSE + canonical_json(said).encode(), hashlib.sha256)


def record_key(packet_id: bytes, said: bytes) -> str:
    """Return the delivery key of the record of an outcome."""
    return f"{id_text('packets', packet_id)}@{said.hex()}"


def unkeyed_key(delivery_key: str) -> str:
    """Return a delivery key of such a record without its keyed part."""
    return delivery_key.partition("@")[0]
