"""The admission policy of a store: which one decides, since when, and who said so.

A policy that is chosen is a record among the sources, with its text as content, so that it is journaled,
verified and moved like everything that somebody decided.  The newest one decides, for every command.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from amos.admission.policy import Policy, policy_text, read_policy
from amos.clock import to_us
from amos.errors import BusyError, SchemaError
from amos.evidence.capture import digest_deliveries, identify_sources
from amos.extraction.registry import Extractor
from amos.flow.plan import Arrived, plan_batch
from amos.flow.prepare import Rules
from amos.flow.printed import shown_id, shown_time
from amos.flow.rules import ChosenRules, Told, default_policy, default_rules
from amos.identity import keyed_id, random_id, source_identity
from amos.journal.store import HeadMoved, Shard, Snapshot
from amos.schemas.catalog import text_digest
from amos.schemas.columns import ID
from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block
from amos.sources.decoding import extra_json
from amos.sources.raw_rows import batch_table

FORMAT = "amos-policy"
_TALK = "policy"
TRIES = 4
_AT_ONCE = 16
"""Records that are looked up together; a store rarely has more."""
_READ = ["source_id", "delivery_key", "revision", "content", "event_time"]
Row = dict[str, Any]


def policy_of(shard: Shard) -> Policy:
    """Return the policy that decides in a shard: the one chosen last, else the one that ships with Amos."""
    return _told(shard)[0]


def rules_of(shard: Shard, *, size: int = 0, extractor: str | Extractor | None = None) -> Rules:
    """Return what a run over a shard decides by; size, extractor: see `default_rules`."""
    return default_rules(size=size, extractor=extractor, told=_told(shard))


def rules_chosen(shard: Shard, chosen: ChosenRules, *, size: int, actor: str, now: datetime) -> Rules:
    """Return what a run decides by where somebody chose; a policy among it decides from now on."""
    policy = chosen.get("policy")
    if policy is not None:
        choose_policy(shard, policy, actor=actor, now=now)
    return rules_of(shard, size=size, extractor=chosen.get("extractor"))


def shown_policy(shard: Shard) -> Row:
    """Return name, digest and text of the policy that decides in a shard, and the record that chose it."""
    with shard.pin() as snapshot:
        record = _newest(snapshot, shard.key)
    text = policy_text(None) if record is None else record["content"]
    return {
        "policy": read_policy(text).label,
        "sha256": text_digest(text).hex(),
        "source_id": None if record is None else shown_id("source_id", record["source_id"]),
        "since": None if record is None else shown_time(record["event_time"]),
        "text": text,
    }


def choose_policy(shard: Shard, path: str | Path, *, actor: str, now: datetime) -> bool:
    """Let the policy in a TOML file decide from now on; return whether that changed anything.

    What was decided stays; reading again (`amos reprocess`) decides by the new one.
    Raises InputError and SchemaError for a policy that cannot be read.
    """
    text = policy_text(path)
    told = _parsed(text)
    for _ in range(TRIES):
        with shard.pin() as snapshot:
            newest = _newest(snapshot, shard.key)
            if text == (policy_text(None) if newest is None else newest["content"]):
                return False
            number = 1 if newest is None else int(newest["delivery_key"]) + 1
            batch = _arrived(_record(text, number, actor, now), shard.key)
            rules = default_rules(size=0, told=told)
            plan = plan_batch(snapshot, batch, rules=rules, key=shard.key, now=now)
            base = snapshot.version
        if plan.cut_bytes:
            raise SchemaError(
                "the policy holds what must not be kept", path=str(path), advice="Leave secrets out of it."
            )
        try:
            shard.commit(
                plan.rows, operation="choose_policy", actor=actor, run_id=random_id(), now=now, base=base,
                reads=plan.reads, texts=rules.texts,
            )  # fmt: skip
        except HeadMoved:
            continue
        return True
    raise BusyError("the memory kept changing while its policy was chosen", advice="Choose it again.")


def _arrived(batch: Batch, key: bytes) -> Arrived:
    raw = batch_table(batch)
    return Arrived(
        raw=raw,
        source_ids=identify_sources(raw, key),
        delivered=digest_deliveries(raw, key),
        screened=None,
    )


def _record(text: str, number: int, actor: str, now: datetime) -> Batch:
    """Return the record that chooses a policy, the `number`th of its store."""
    digest = text_digest(text).hex()
    block = Block(
        format=FORMAT,
        record_key=str(number),
        conversation_key=_TALK,
        text=text,
        turn=number,
        locator="",
        kind="record",
        role="record",
        trust="recall",
        author=actor,
        is_owner=False,
        event_us=to_us(now),
        zone="Z",
        flags=int(SourceFlag.NOT_A_MESSAGE),
        extra=extra_json({"policy": read_policy(text).label, "sha256": digest}),
    )
    return Batch(blocks=[block], problems=[], record_count=1, format=FORMAT)


def _newest(snapshot: Snapshot, key: bytes) -> Row | None:
    """Return the record of the policy that was chosen last, None where none was."""
    newest: Row | None = None
    first = 1
    while True:
        rows = snapshot.lookup("sources", "source_id", _records(key, first), _READ).to_pylist()
        for row in rows:
            place = (int(row["delivery_key"]), row["revision"])
            if newest is None or place > (int(newest["delivery_key"]), newest["revision"]):
                newest = row
        if len({row["source_id"] for row in rows}) < _AT_ONCE:
            return newest
        first += _AT_ONCE


@lru_cache(maxsize=8)
def _records(key: bytes, first: int) -> pa.Array:
    """Return the ids of the records that are looked up together, from the `first`th on."""
    numbers = range(first, first + _AT_ONCE)
    return pa.array(
        [keyed_id(key, "sources", source_identity(FORMAT, str(number), 0)) for number in numbers], ID
    )


def _told(shard: Shard) -> Told:
    with shard.pin() as snapshot:
        newest = _newest(snapshot, shard.key)
    return default_policy() if newest is None else _parsed(newest["content"])


@lru_cache(maxsize=8)
def _parsed(text: str) -> Told:
    return read_policy(text), {text_digest(text): ("policy", text)}
