"""What an export says of itself when it is done, and how the store remembers that it was made."""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any

from amos.clock import to_us
from amos.flow.backup import noted
from amos.identity import random_id
from amos.journal.store import Shard
from amos.schemas.catalog import CopyEntry


def noted_export(shard: Shard, path: Path, kind: str, now: datetime) -> bool:
    """Register an export before it is written; return False for a store that cannot be written."""
    entry = CopyEntry(random_id(), kind, to_us(now), shard.head, str(path.resolve()))
    return noted(shard.folder, entry)


def parquet_receipt(manifest: dict[str, Any], path: Path, *, is_noted: bool) -> dict[str, Any]:
    """Return the receipt of a Parquet export."""
    with (path / "manifest.json").open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    files = [*manifest["tables"].values(), *filter(None, [manifest["catalog"]])]
    return {
        "format": "parquet",
        "place": str(path),
        "rows": sum(facts["rows"] for facts in manifest["tables"].values()),
        "bytes": sum(facts["bytes"] for facts in files),
        "manifest_sha256": digest,
        "graph_version": manifest["graph_version"],
        "state_digest": manifest["state_digest"],
        "format_version": manifest["format_version"],
        "lossless": manifest["complete"],
        "keyed": isinstance(manifest["keys"], dict),
        "left_out": manifest["left_out"],
        "registered": is_noted,
    }
