"""What a packet request asks of retrieval: which rows, in the light of what, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from amos.clock import to_us
from amos.identity import id_text
from amos.journal.store import Snapshot
from amos.packets.context import AttentionContext, TaskContext
from amos.packets.request import PacketRequest
from amos.retrieval.agency import guardrails_of, has_values
from amos.retrieval.profile import MILLION, Profile
from amos.retrieval.ranking import Ranking
from amos.retrieval.rows import latest
from amos.retrieval.visibility import Reader, RowFilter
from amos.retrieval.wishes import Wishes
from amos.schemas.ranked import SIGNALS

ATTENTION_POLICY = "attention@1"
_CAREFUL = ("cautious", "high_risk", "critical")
_DANGEROUS = ("high_risk", "critical")
_HORIZON_DAYS = {"immediate": 7, "short": 30, "long": 365}
_ATTENTIVE = tuple(name for name in SIGNALS if name.startswith("attention_"))
_TOLD = 8
"""Items that the trace of attention names."""


def row_filter(
    request: PacketRequest,
    reader: Reader,
    now: datetime,
    *,
    now_us: int | None = None,
    only: frozenset[bytes] | None = None,
) -> RowFilter:
    """Return what a request may see and wants to see.  only: the claims that its payload filter leaves."""
    is_historical = request.purpose == "historical"
    return RowFilter(
        reader=reader,
        now_us=to_us(now) if now_us is None else now_us,
        scope=request.scope_asked,
        as_of_us=request.as_of_us,
        include_superseded=request.include_superseded or is_historical,
        include_untrusted=request.include_untrusted,
        include_archived=request.include_archived or is_historical,
        include_low_health=request.include_low_health,
        include_stale=is_historical,
        include_incoherent=request.include_low_health and request.processor.repairs,
        include_private=request.processor.has_private and request.mode.has_private,
        include_contradicted=request.allowance.has_conflicts,
        is_high_impact=request.processor.is_high_impact or _risk(request) in _DANGEROUS,
        types=request.requested_memory_types or request.mode.types,
        excluded_types=request.mode.excluded,
        only=only,
        has_claims_alone=bool(request.result_payload_filter),
    )


def _risk(request: PacketRequest) -> str:
    """Return the posture asked for: that of attention, else that of the situation."""
    attention, task = request.attention_context, request.task_context
    if attention is not None and attention.risk_posture != "normal":
        return attention.risk_posture
    return task.risk_level if task is not None else "normal"


def claims_with(snapshot: Snapshot, wanted: Mapping[str, Any]) -> frozenset[bytes] | None:
    """Return the ids of the claims whose payload has the wanted values, None where nothing is wanted."""
    if not wanted:
        return None
    rows = latest(snapshot.table("atoms", ["atom_id", "version", "payload"]), "atom_id", "version")
    pairs = zip(rows["atom_id"].to_pylist(), rows["payload"].to_pylist(), strict=True)
    return frozenset(one for one, payload in pairs if has_values(msgspec.json.decode(payload), wanted))


def wishes_of(request: PacketRequest) -> Wishes:
    """Return what a request wants beside the words of its question."""
    attention = request.attention_context or AttentionContext()
    task = request.task_context or TaskContext()
    is_asked = bool(request.cues)
    focus = (*attention.focus, *(task.texts if is_asked else ()))
    horizon = attention.time_horizon or task.time_horizon
    return Wishes(
        focus=tuple(dict.fromkeys(focus)),
        suppress=attention.suppress_terms,
        boosts=frozenset(attention.boost_memory_types + request.mode.boosts),
        held_back=frozenset(attention.suppress_memory_types),
        needs_counterevidence=(
            attention.counterevidence_required
            or task.counterevidence_required
            or _risk(request) in _CAREFUL
            or request.purpose == "deliberation"
        ),
        novelty=round(attention.novelty_preference * MILLION),
        recency_days=_HORIZON_DAYS[horizon] if horizon else None,
        subject=request.subject,
        attributions=request.agency_attribution_filter,
        denied=task.denied_capabilities,
        shown=request.result_payload_filter,
        is_about_acts=request.retrieval_mode == "agentic_recall",
        is_about_skills=request.retrieval_mode == "skill_discovery",
        guards=request.guardrails,
    )


def guarding_claims(ranking: Ranking, claims: pa.Table, guards: tuple[str, ...]) -> frozenset[bytes]:
    """Return the best ranked claim that serves each guardrail.  claims: CLAIM_CARDS."""
    if not guards:
        return frozenset()
    cards = {row["atom_id"]: row for row in claims.to_pylist()}
    missing, found = set(guards), set()
    for one in ranking.items["atom_id"].to_pylist():
        card = cards.get(one)
        if card is None:
            continue
        payload = msgspec.json.decode(card["payload"])
        is_disputed = card["health_status"] == "contradicted"
        served = missing & guardrails_of(card["type"], payload, is_disputed=is_disputed)
        if served:
            found.add(one)
            missing -= served
    return frozenset(found)


def unmet(ranking: Ranking, wishes: Wishes) -> dict[str, int]:
    """Return what could not be had, as counts by reason of omission."""
    if not wishes.needs_counterevidence:
        return {}
    return {} if _signal(ranking, "attention_counterevidence").any() else {"counterevidence_unavailable": 1}


def attention_trace(
    request: PacketRequest, ranking: Ranking, wishes: Wishes, profile: Profile
) -> dict[str, Any] | None:
    """Return what attention did, None where none was asked for and something was asked in words."""
    if request.attention_context is None and request.task_context is None and request.asked:
        return None
    weights = {name: getattr(profile.weights, name) / MILLION for name in _ATTENTIVE}
    held = _signal(ranking, "attention_suppression_penalty") + _signal(ranking, "inhibition_penalty")
    omitted = dict(ranking.omitted) | unmet(ranking, wishes)
    return {
        "policy_id": ATTENTION_POLICY,
        "mode": "cues" if request.asked else "browse",
        "context": msgspec.to_builtins(request.attention_context or AttentionContext()),
        "focus_terms": list(wishes.focus)[:_TOLD],
        "suppress_terms": list(wishes.suppress)[:_TOLD],
        "weight_adjustments": {name: value for name, value in weights.items() if value},
        "selected_item_refs": [],
        "inhibited_refs": _refs(ranking.items.filter(pa.array(held > 0)).slice(0, _TOLD)),
        "omitted_reasons": sorted(omitted),
    }


def _signal(ranking: Ranking, name: str) -> Any:
    column, at = ranking.items["signals"], SIGNALS.index(name)
    return np.array([0 if row is None else row[at] for row in column.to_pylist()], np.int64)


def _refs(items: pa.Table) -> list[str]:
    pairs = zip(items["atom_id"].to_pylist(), items["source_id"].to_pylist(), strict=True)
    return [id_text("atoms", atom) if atom else id_text("sources", source) for atom, source in pairs]
