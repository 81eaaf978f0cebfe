"""Wrap an erasure key so that only a secret opens it: what an export may carry."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from amos.errors import InputError

_COST = {"n": 1 << 15, "r": 8, "p": 1}
_MEMORY = 1 << 26
_KEY_BYTES = 32


def wrap_key(key: bytes, secret: bytes, salt: bytes) -> dict[str, Any]:
    """Return `key` hidden under `secret`, as it stands in a manifest.

    salt: 32 fresh random bytes.  scrypt makes a pad and a check key of secret and salt; each salt is used
    once, so that the pad is too.
    """
    pad, check = _derived(secret, salt)
    hidden = bytes(one ^ other for one, other in zip(key, pad, strict=True))
    return {
        "wrapped": hidden.hex(),
        "salt": salt.hex(),
        "check": hmac.digest(check, hidden, "sha256").hex(),
        "scrypt": dict(_COST),
    }


def unwrap_key(wrapped: dict[str, Any], secret: bytes) -> bytes:
    """Return the key.  Raises InputError when the secret is not the one, or the wrapping is damaged."""
    try:
        hidden, salt, stated = (bytes.fromhex(wrapped[name]) for name in ("wrapped", "salt", "check"))
    except (KeyError, TypeError, ValueError) as cause:
        raise InputError("the export's key cannot be read: its manifest is damaged") from cause
    if wrapped.get("scrypt") != _COST or len(hidden) != _KEY_BYTES or len(salt) != _KEY_BYTES:
        raise InputError("the export's key is wrapped in a way that this version does not know")
    pad, check = _derived(secret, salt)
    if not hmac.compare_digest(hmac.digest(check, hidden, "sha256"), stated):
        raise InputError(
            "the secret does not open the export's key",
            code="authorization_denied",
            advice="Give the passphrase or the file that the export was made with.",
        )
    return bytes(one ^ other for one, other in zip(hidden, pad, strict=True))


def _derived(secret: bytes, salt: bytes) -> tuple[bytes, bytes]:
    made = hashlib.scrypt(secret, salt=salt, maxmem=_MEMORY, dklen=2 * _KEY_BYTES, **_COST)
    return made[:_KEY_BYTES], made[_KEY_BYTES:]
