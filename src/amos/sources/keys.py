"""Record keys: made of a format's own ids, or chained digests where it has none."""

from __future__ import annotations

from collections.abc import Iterable

from amos.identity import unkeyed_identity

_KEY_CHARS = 32


def join_key(*parts: str) -> str:
    """Return `parts` joined by slashes; a slash inside a part is escaped, so no two lists meet."""
    key = "/".join(parts)
    if "%" not in key and key.count("/") == len(parts) - 1:
        return key
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def digest_key(parts: Iterable[str | bytes | int | None]) -> str:
    """Return 32 hex characters of the digest of `parts`."""
    return unkeyed_identity(parts).hex()[:_KEY_CHARS]


def chain_key(previous: str, role: str, text: str) -> str:
    """Return the key of a message that follows `previous` in a format without ids."""
    return digest_key(("amos/chain/1", previous, role, text))


def chain_seed(*declared: str | None) -> str:
    """Return where a chain starts: a digest of the declared user and session metadata."""
    return digest_key(("amos/seed/1", *declared))
