"""Tell what Amos itself wrote from transcripts: each has another command that reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from amos.schemas.state import TABLES
from amos.sources.reader import Sample

EXPORT_KIND, BACKUP_KIND = "amos-export", "amos-backup"
"""What the manifest of a Parquet export, and that of a backup, call themselves."""

_PAGE_HEADS = (b"\n\n## What holds\n", b"\n\n## What held\n")
_PAGE_FOOT = b"\n## Sources\n"


class OwnFile(NamedTuple):
    """What a file of ours is, and the command that reads it: of the file, or of the folder it stands in."""

    what: str
    advice: str
    is_folder: bool = False

    def advice_for(self, path: Path) -> str:
        """Return the advice with the path that the command takes."""
        return self.advice.replace("{}", str(path.parent if self.is_folder else path))


LINES = OwnFile("an export of Amos as JSON lines", "Bring it in with `amos import {}`.")
_TABLES = OwnFile("part of a Parquet export of Amos", "Bring it in with `amos import {}`.", is_folder=True)
_JOURNAL = OwnFile(
    "a journal of Amos, which is for checking and cannot be read back",
    "Check it with `python -I check_export.py {}`; take memory along with `amos export parquet`.",
)
_PAGES = OwnFile(
    "a page of `amos export markdown`, which is for people and cannot be read back",
    "Take memory along with `amos export parquet` and `amos import`.",
)
_BACKUP = OwnFile("a backup of Amos", "Make a store of it: `amos restore {} DESTINATION`.", is_folder=True)


def own_file(sample: Sample) -> OwnFile | None:
    """Return what a file is that Amos wrote and `amos ingest` does not read, None for any other."""
    if sample.name == "manifest.json" and _kind(sample.head) == EXPORT_KIND:
        return _TABLES
    if sample.name == "backup.json" and _kind(sample.head) == BACKUP_KIND:
        return _BACKUP
    if sample.name.endswith(".md") and _PAGE_FOOT in sample.head:
        return _PAGES if any(head in sample.head for head in _PAGE_HEADS) else None
    first = sample.objects[0] if sample.objects else {}
    if "amos_journal" in first:
        return _JOURNAL
    return LINES if first.get("table") in TABLES and len(first) > 1 else None


def _kind(head: bytes) -> object:
    try:
        found = json.loads(head)
    except ValueError:
        return None
    return found.get("kind") if isinstance(found, dict) else None
