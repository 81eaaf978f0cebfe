"""Who is asking: the owner of the store's folder, anyone else nobody."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from amos.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Principal:
    """An authenticated caller of a store."""

    name: str
    is_owner: bool

    def require_owner(self, root: Path, operation: str) -> None:
        """Raise InputError unless the caller owns the store."""
        if not self.is_owner:
            raise InputError(
                f"{self.name} may not {operation} in {root}: the store belongs to another user",
                code="authorization_denied",
                path=str(root),
                advice="Run the command as the owner of the store's folder.",
            )


def principal_of(root: Path) -> Principal:
    """Return the caller as seen by the operating system: owner of the folder `root`, or nobody."""
    if not hasattr(os, "geteuid"):  # no owners to compare on this system
        return Principal(name="owner", is_owner=True)
    caller = os.geteuid()
    owner = root.stat().st_uid if root.exists() else caller
    return Principal(name=f"uid:{caller}", is_owner=caller == owner)
