"""`propose`: what an extractor would make of texts, each in an empty store of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.candidates import UNSALTED_CANDIDATES
from amos.admission.settle import settle
from amos.atoms.statement import statement_of
from amos.clock import as_text, to_us
from amos.evidence.capture import digest_deliveries, identify_sources
from amos.flow.claims import shown_value
from amos.flow.current import NothingStored
from amos.flow.prepare import Prepared, Rules, prepare
from amos.schemas.columns import ID
from amos.schemas.labels import LABELLED, Label, label_of
from amos.schemas.vocabulary import Reason
from amos.sources.block import Block
from amos.sources.reading import raw_table

KEY = bytes(32)
"""No store, so no secret: ids never leave the call."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Texts of one line: its own blocks last, earlier texts before them."""

    id: str
    blocks: list[Block]
    own_count: int
    refusals: tuple[str, ...] = ()


def propose_lines(
    proposals: Iterable[Proposal], *, rules: Rules, now: datetime, batch_size: int = 2_000
) -> Iterator[dict[str, Any]]:
    """Yield the output lines of every proposal, in order; each one sees an empty store."""
    waiting: list[Proposal] = []
    for proposal in proposals:
        waiting.append(proposal)
        if len(waiting) >= batch_size:
            yield from _propose_batch(waiting, rules, now)
            waiting = []
    if waiting:
        yield from _propose_batch(waiting, rules, now)


def _propose_batch(proposals: list[Proposal], rules: Rules, now: datetime) -> Iterator[dict[str, Any]]:
    blocks, own, ids = [], [], []
    for number, proposal in enumerate(proposals):
        alone = [_apart(block, number) for block in proposal.blocks]
        first_own = len(alone) - proposal.own_count
        blocks.extend(alone)
        own.extend([place >= first_own for place in range(len(alone))])
        ids.extend([proposal.id] * len(alone))
    for proposal in proposals:
        if proposal.refusals and not proposal.own_count:
            yield refused_line(proposal, rules)
    if not blocks:
        return
    raw = raw_table(blocks)
    prepared = prepare(
        raw,
        (identify_sources(raw, KEY), digest_deliveries(raw, KEY), pa.nulls(raw.num_rows, ID)),
        rules=rules,
        key=KEY,
        now=now,
    )
    settled = settle(
        prepared.candidates,
        UNSALTED_CANDIDATES.empty_table(),
        NothingStored(prepared.sources),
        replaced=UNSALTED_CANDIDATES.empty_table(),
        key=KEY,
        policy=rules.policy,
        now=now,
    )
    decisions = pa.concat_tables([settled.decisions, prepared.source_decisions])
    yield from _lines(prepared, decisions, own, ids)


def _apart(block: Block, number: int) -> Block:
    """Return the block as if it were alone in the world: own record, talk and user."""
    return msgspec.structs.replace(
        block,
        record_key=f"{number}\x1f{block.record_key}",
        conversation_key=f"{number}\x1f{block.conversation_key}",
        scope_task=f"{number}\x1f{block.scope_task or ''}",
    )


def _lines(
    prepared: Prepared, decisions: pa.Table, own: list[bool], ids: list[str]
) -> Iterator[dict[str, Any]]:
    entities = {row["entity_id"]: row for row in prepared.entities.select(LABELLED).to_pylist()}
    names = {one: label_of(row, entities.get(row["owner_id"])) for one, row in entities.items()}
    candidates = {row["candidate_id"]: row for row in prepared.candidates.to_pylist()}
    statements = {
        row["claim_id"]: statement_of(row["type"], row["payload"], row["polarity"], names[row["subject_id"]])
        for row in candidates.values()
    }
    place_of = {source: row for row, source in enumerate(prepared.sources["source_id"].to_pylist())}
    contents = prepared.sources["content"]
    ordered = sorted(
        decisions.to_pylist(), key=lambda row: _place(row, candidates.get(row["candidate_id"]), place_of)
    )
    for decision in ordered:
        place = place_of[decision["source_id"]]
        if not own[place]:
            continue
        candidate = candidates.get(decision["candidate_id"])
        line = claim_line(ids[place], decision, candidate, names, statements)
        if candidate is not None:
            start, end = candidate["spans"][:2]
            line["excerpt"] = contents[place].as_py().encode()[start:end].decode(errors="replace")
        yield line


def _place(decision: dict[str, Any], candidate: dict[str, Any] | None, place_of: dict[bytes, int]) -> Any:
    spans = candidate["spans"][:2] if candidate is not None else [-1, -1]
    return place_of[decision["source_id"]], spans, candidate["pattern"] if candidate is not None else ""


def claim_line(
    identifier: str,
    decision: dict[str, Any],
    candidate: dict[str, Any] | None,
    names: dict[bytes, Label],
    statements: dict[bytes, str],
) -> dict[str, Any]:
    """Return one output line; claim fields are null where no candidate exists."""
    line: dict[str, Any] = {
        "id": identifier,
        "outcome": decision["outcome"],
        "action": decision["action"],
        "reasons": decision["reasons"],
        "memory_class": "non_memory",
        "type": None,
        "subject": None,
        "property": None,
        "value": None,
        "polarity": None,
        "modality": decision["modality"],
        "span": None,
        "excerpt": None,
        "valid_from": None,
        "valid_until": None,
        "confidence": None,
        "targets": [statements[target] for target in decision["targets"] if target in statements],
        "extractor": decision["extractor"],
        "policy": decision["policy"],
        "statement": None,
    }
    if candidate is None:
        return line
    payload = msgspec.json.decode(candidate["payload"])
    line.update(
        memory_class=candidate["memory_class"],
        type=candidate["type"],
        subject=names[candidate["subject_id"]].text,
        property=payload.get("property"),
        value=shown_value(payload),
        polarity=candidate["polarity"],
        modality=candidate["modality"],
        span=list(candidate["spans"][:2]),
        valid_from=_instant(candidate["valid_from"]),
        valid_until=_instant(candidate["valid_until"]),
        confidence=candidate["extraction_confidence"],
        statement=statements[candidate["claim_id"]],
    )
    return line


def refused_line(proposal: Proposal, rules: Rules) -> dict[str, Any]:
    """Return the output line of an input line that is not readable as a message."""
    known = [code for code in proposal.refusals if code in set(Reason)]
    decision = {
        "outcome": "reject",
        "action": "reject",
        "reasons": known or [str(Reason.SCHEMA_INVALID)],
        "modality": "none",
        "targets": [],
        "extractor": rules.extractor.name,
        "policy": rules.policy.label,
    }
    return claim_line(proposal.id, decision, None, {}, {})


def _instant(value: datetime | None) -> str | None:
    return None if value is None else as_text(to_us(value))


def count_outcomes(decisions: pa.Table) -> dict[str, int]:
    """Return how many decisions fell each way."""
    counts = pc.value_counts(decisions["outcome"])
    return {row["values"]: row["counts"] for row in counts.to_pylist()}
