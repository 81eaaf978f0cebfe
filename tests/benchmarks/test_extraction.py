"""Segment, screen and propose, then decide, on turns of a chat: rates per core, against a plain loop.

One thread, CPU time, batches as ingest makes them.  The loop beside it cuts sentences and tries a
handful of regular expressions on each, as a small rule extractor would; both run in this process, in
turn.  `AMOS_BENCH_TURNS` sets the size (40,000 by default).
"""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.settle import settle
from amos.evidence.capture import digest_deliveries, identify_sources
from amos.extraction.registry import find_extractor
from amos.extraction.screen import screen
from amos.flow.current import NothingStored
from amos.flow.prepare import Rules, prepare
from amos.flow.proposing import KEY
from amos.flow.rules import default_policy
from amos.schemas.columns import ID
from amos.sources.block import Block
from amos.sources.reading import raw_table
from benchmarks.recording import Figure, record_figure
from benchmarks.workload import dialogue
from claims_read import sources

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when a screen first asks for polars
pytestmark = pytest.mark.benchmark

TURNS = int(os.environ.get("AMOS_BENCH_TURNS", "40000"))
BATCH = 4_096
ROUNDS = 5
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SENTENCE = re.compile(r"(?<=[.!?])\s+")
PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bmy ([\w ]{1,40}?) (?:is|are) ([^.!?,;]{1,60})",
        r"\bi (?:really )?(?:like|love|enjoy|prefer) ([^.!?,;]{1,60})",
        r"\bi (?:hate|dislike|avoid|can't stand) ([^.!?,;]{1,60})",
        r"\bi (?:live|moved|work) (?:in|to|at|for) ([^.!?,;]{1,40})",
        r"\bi (?:don't|do not|never) (\w+) ([^.!?,;]{1,40})",
        r"\bi (?:want|hope|plan) to ([^.!?,;]{1,60})",
        r"\bi (?:promised?|will|'ll) ([^.!?,;]{1,60})",
        r"\b(\w+)'s ([\w ]{1,30}?) is ([^.!?,;]{1,60})",
    )
]


def plain_loop(texts):
    """Return how many matches a plain loop finds: sentence by sentence, pattern by pattern."""
    found = 0
    for text in texts:
        for sentence in SENTENCE.split(text):
            found += sum(pattern.search(sentence) is not None for pattern in PATTERNS)
    return found


def batches(items):
    """Return the items in batches as ingest makes them."""
    return [items[start : start + BATCH] for start in range(0, len(items), BATCH)]


def block(number, text):
    """Return one turn as a reader would give it."""
    return Block(
        format="messages", record_key=f"m{number}", conversation_key=f"c{number // 40}", text=text,
        turn=number % 40, locator=f"chat#{number}", event_us=1_767_427_200_000_000 + number * 60_000_000,
        zone="Z",
    )  # fmt: skip


def least(works, rounds=ROUNDS):
    """Return per work the least CPU seconds over some rounds, in which they take turns."""
    seconds = [[] for _ in works]
    for _ in range(rounds):
        for work, took in zip(works, seconds, strict=True):
            began = time.process_time()
            work()
            took.append(time.process_time() - began)
    return [min(took) for took in seconds]


def decided(raws, rules):
    """Return how many candidates the batches hold, once each of them is decided."""
    count = 0
    for raw in raws:
        envelope = (identify_sources(raw, KEY), digest_deliveries(raw, KEY), pa.nulls(raw.num_rows, ID))
        prepared = prepare(raw, envelope, rules=rules, key=KEY, now=NOW)
        nothing = UNSALTED_CANDIDATES.empty_table()
        settle(
            prepared.candidates,
            nothing,
            NothingStored(),
            replaced=nothing,
            key=KEY,
            policy=rules.policy,
            now=NOW,
        )
        count += prepared.candidates.num_rows
    return count


def test_turns_of_a_chat_are_read_and_decided_at_speed():
    texts = dialogue(TURNS)
    tables = [sources(part) for part in batches(texts)]
    raws = [raw_table(part) for part in batches([block(n, text) for n, text in enumerate(texts)])]
    extractor = find_extractor()
    policy, kept = default_policy()
    rules = Rules(extractor=extractor, policy=policy, is_compiled=True, texts=kept)

    def read():
        return sum(
            screen(table).num_rows * 0 + extractor.propose(table, is_compiled=True).claims.num_rows
            for table in tables
        )

    assert read() > TURNS // 40
    assert decided(raws, rules) > TURNS // 40
    assert plain_loop(texts) > TURNS // 40
    reading, deciding, looping = least([read, lambda: decided(raws, rules), lambda: plain_loop(texts)])
    for name, work, seconds, goal in (
        ("extraction_read", "segment, screen and propose", reading, "at least 50,000"),
        ("extraction_decided", "segment, screen, propose and decide", deciding, "at least 30,000"),
    ):
        record_figure(
            name,
            Figure(
                work=f"{work}: {TURNS:,} turns of a chat, one thread, per CPU second",
                value=TURNS / seconds,
                unit="messages/s",
                goal=goal,
                cpu_seconds=seconds,
                peer=f"a loop that tries {len(PATTERNS)} regular expressions a sentence",
                peer_value=TURNS / looping,
                ratio=looping / seconds,
            ),
        )
