"""How the subject and the value of a claim are printed."""

from __future__ import annotations

from typing import Any


def subject_label(entity: dict[str, Any]) -> str:
    """Return the readable subject: `user` for the owner, else the name."""
    return "user" if entity["is_owner"] else str(entity["name"])


def shown_value(payload: dict[str, Any]) -> str | None:
    """Return the value as printed: the canonical form of typed values, else as written."""
    kind, canonical = payload["normal"]
    if kind in {"date", "time", "colour"} and "value" in payload:
        return str(canonical)
    value = payload.get("value")
    return None if value is None else str(value)
