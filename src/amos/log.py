"""Logging set-up; every other module only asks for `logging.getLogger(__name__)`."""

from __future__ import annotations

import logging

_LEVELS = {-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}


def configure(verbosity: int) -> None:
    """Send log lines to standard error; `verbosity` is -1 (quiet), 0, 1 or more (debug)."""
    level = _LEVELS.get(verbosity, logging.DEBUG if verbosity > 0 else logging.ERROR)
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s", force=True)
