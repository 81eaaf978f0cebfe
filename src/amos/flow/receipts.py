"""What an export says of itself when it is done."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any


def parquet_receipt(manifest: dict[str, Any], draft: Path, place: Path) -> dict[str, Any]:
    """Return the receipt of a Parquet export that is whole at `draft` and goes to `place`."""
    with (draft / "manifest.json").open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    files = [*manifest["tables"].values(), *filter(None, [manifest["catalog"]])]
    return {
        "format": "parquet",
        "place": str(place),
        "rows": sum(facts["rows"] for facts in manifest["tables"].values()),
        "bytes": sum(facts["bytes"] for facts in files),
        "manifest_sha256": digest,
        "graph_version": manifest["graph_version"],
        "state_digest": manifest["state_digest"],
        "format_version": manifest["format_version"],
        "lossless": manifest["complete"],
        "keyed": isinstance(manifest["keys"], dict),
        "tombstones": manifest["tombstones"],
        "left_out": manifest["left_out"],
    }
