"""Compile the kernels before anybody waits for them."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path

from amos.clock import utc_now
from amos.flow.ingest import Run
from amos.flow.recall import Recall
from amos.flow.rules import default_rules
from amos.identity import random_id
from amos.journal.store import Shard
from amos.journal.verify import verify_shard
from amos.packets.request import PacketRequest
from amos.retrieval.visibility import OWNER
from amos.sources.reading import read_batches

_MESSAGES = 5_000
"""Messages of which every loop of an ingest is long enough to be compiled."""


def warm_kernels() -> None:
    """Read made-up messages into a throw-away store, verify it and ask it, with every kernel compiled."""
    rules = dataclasses.replace(default_rules(size=0), is_compiled=True)
    with tempfile.TemporaryDirectory(prefix="amos-warm-") as folder:
        path = Path(folder) / "messages.jsonl"
        path.write_text("".join(map(_line, range(_MESSAGES))), encoding="utf-8")
        with Shard.create(Path(folder) / "store", now=utc_now()) as shard:
            run = Run(shard=shard, rules=rules, actor="warm", run_id=random_id(), now=utc_now)
            run.ingest(read_batches([path], format="messages"))
            verify_shard(shard)
            with Recall(shard, OWNER) as recall:
                recall.retriever.is_compiled = True
                recall.rank(PacketRequest(cues=("which jars does my shelf hold",)), 5, now=utc_now())


def _line(number: int) -> str:
    text = f"My shelf {number} holds {number * 3} jars. I like pickle number {number}. Which one is open?"
    return json.dumps({"id": str(number), "text": text, "conversation": "warm", "role": "user"}) + "\n"
