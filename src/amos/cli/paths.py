"""Paths on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class GivenPath(click.Path):
    """A path; an empty text, which an unset shell variable leaves, is none and never the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; fails on an empty text."""
        if value == "":
            self.fail("an empty path: is a shell variable unset?", param, ctx)
        return super().convert(value, param, ctx)


class OutputPath(GivenPath):
    """A file to write; the folder that it goes to must be there.  `-` is standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; fails where its folder is none."""
        found = super().convert(value, param, ctx)
        if value != "-" and not Path(found).absolute().parent.is_dir():
            self.fail(f"{found}: there is no folder {Path(found).parent}", param, ctx)
        return found
