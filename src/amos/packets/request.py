"""What a caller asks for, checked before anything is read."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from amos.errors import UsageError
from amos.packets.context import AttentionContext, TaskContext, check_texts
from amos.packets.modes import MODES, Mode, mode_named
from amos.packets.processors import Allowance, Processor, processor_named
from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.vocabulary import AtomType

BYTES_PER_TOKEN = 4
MOST_ITEMS = 1_000
MOST_CUES = 32
LONGEST_CUE = 20_000
MOST_FILTERS = 16

PURPOSES = ("operational", "deliberation", "historical")
CONSISTENCY = ("strong", "monotonic", "eventual")
FORMS = ("json", "text", "markdown")
PROVENANCE_LEVELS = ("none", "refs", "full")
TURN = "turn"
"""Stands for messages where types are named."""

Attribution = Literal["self", "other_agent", "shared_system", "external", "unknown"]
Guardrail = Literal["failures", "corrections", "blocked_actions", "limitations", "counterevidence"]
Filter = dict[str, Any]


class PacketRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One packet request.

    cues: what is asked; without any, all that is in sight is looked through in the light of the context.
    scope: narrows, by scope name.  token_budget: tokens of four bytes, envelope included; null is the
    processor's.  as_of_us: microseconds since 1970 UTC.  requested_memory_types: atom types and `turn`,
    all when empty.  payload_filter: values that a field of a claim must have to be considered at all;
    result_payload_filter: the same for what is shown, while the others still lead to it.
    bias_guardrails: null takes those of the mode.  profile: name of a ranking profile or a TOML file.
    request_id, client_identity, shared_view_ref: the caller's own names, copied into the packet.
    """

    cues: tuple[str, ...] = ()
    request_id: str | None = None
    client_identity: str | None = None
    target_processor: str = "reasoner"
    retrieval_mode: str = "general"
    purpose: str = "operational"
    attention_context: AttentionContext | None = None
    task_context: TaskContext | None = None
    scope: dict[str, str] = {}
    shared_view_ref: str | None = None
    agentic_recall_subject: str | None = None
    agency_attribution_filter: tuple[Attribution, ...] = ()
    bias_guardrails: tuple[Guardrail, ...] | None = None
    requested_memory_types: tuple[str, ...] = ()
    payload_filter: Filter = {}
    result_payload_filter: Filter = {}
    max_items: int | None = None
    token_budget: int | None = None
    consistency_requirement: str = "monotonic"
    include_conflicts: bool | None = None
    include_archived: bool = False
    include_low_health: bool = False
    include_superseded: bool = False
    include_untrusted: bool = False
    include_provenance: bool | str = False
    rendering_target: str | None = None
    profile: str | None = None
    as_of_us: int | None = None

    @property
    def processor(self) -> Processor:
        """Return who will read the packet."""
        return processor_named(self.target_processor)

    @property
    def mode(self) -> Mode:
        """Return what the retrieval mode changes."""
        return mode_named(self.retrieval_mode)

    @property
    def allowance(self) -> Allowance:
        """Return the budget in force: what was asked for, else the processor's."""
        known = self.processor.allowance
        shows_conflicts = known.has_conflicts or self.purpose == "deliberation"
        return Allowance(
            items=self.max_items if self.max_items is not None else known.items,
            tokens=self.token_budget if self.token_budget is not None else known.tokens,
            has_conflicts=shows_conflicts if self.include_conflicts is None else self.include_conflicts,
        )

    @property
    def provenance_level(self) -> str:
        """Return how much is told of where claims come from: none, refs or full."""
        level = self.include_provenance
        return level if isinstance(level, str) else ("full" if level else "none")

    @property
    def asked(self) -> tuple[str, ...]:
        """Return what is asked: the cues, else what the situation says."""
        if self.cues or self.task_context is None:
            return self.cues
        return self.task_context.texts[:MOST_CUES]

    @property
    def scope_asked(self) -> dict[str, str]:
        """Return the scope, with the project of the situation where it names none."""
        project = self.task_context.active_project if self.task_context else None
        return {"project": project, **self.scope} if project else dict(self.scope)

    @property
    def subject(self) -> str | None:
        """Return the agent whose acts are meant, None where nobody is named."""
        context = self.task_context
        return self.agentic_recall_subject or (context.agent_identity if context else None)

    @property
    def guardrails(self) -> tuple[str, ...]:
        """Return the guardrails against a flattering choice that are in force."""
        return self.mode.guardrails if self.bias_guardrails is None else self.bias_guardrails


def read_request(fields: dict[str, Any]) -> PacketRequest:
    """Return the checked request.  Raises UsageError naming the field that does not fit.

    `token_or_byte_budget` is taken as the spec writes it, in place of `token_budget`.
    """
    given = dict(fields)
    budget = given.pop("token_or_byte_budget", None)
    if budget is not None:
        if given.get("token_budget") is not None:
            raise UsageError("token_budget and token_or_byte_budget both say how large the answer may be")
        given["token_budget"] = read_budget(budget)
    try:
        request = msgspec.convert(given, PacketRequest)
    except msgspec.ValidationError as cause:
        raise UsageError(f"the request does not fit: {cause}") from cause
    check_request(request)
    return request


def check_request(request: PacketRequest) -> None:
    """Raise UsageError when a value of the request makes no sense."""
    _check_cues(request.cues)
    for name, value, most in (
        ("max_items", request.max_items, MOST_ITEMS),
        ("token_budget", request.token_budget, 10_000_000),
    ):
        if value is not None and not 0 < value <= most:
            raise UsageError(f"{name} must be a whole number from 1 to {most}, not {value}")
    if request.retrieval_mode not in MODES:
        raise UsageError(f"no retrieval mode {request.retrieval_mode!r}", advice=f"Use {', '.join(MODES)}.")
    for name, said, known in (
        ("purpose", request.purpose, PURPOSES),
        ("consistency requirement", request.consistency_requirement, CONSISTENCY),
        ("rendering target", request.rendering_target or FORMS[0], FORMS),
        ("provenance level", request.provenance_level, PROVENANCE_LEVELS),
    ):
        if said not in known:
            raise UsageError(f"no {name} {said!r}", advice=f"Use {', '.join(known)}.")
    unknown = sorted(set(request.scope) - set(SCOPE_NAMES))
    if unknown:
        raise UsageError(f"no scope is called {unknown[0]!r}", advice=f"Scopes are {', '.join(SCOPE_NAMES)}.")
    _check_types(request)
    _check_context(request)


def _check_context(request: PacketRequest) -> None:
    for filters in (request.payload_filter, request.result_payload_filter):
        if len(filters) > MOST_FILTERS:
            raise UsageError(f"a payload filter has {len(filters)} fields, more than {MOST_FILTERS}")
    for context in (request.attention_context, request.task_context):
        if context is not None:
            check_texts(context)


def _check_cues(cues: tuple[str, ...]) -> None:
    if len(cues) > MOST_CUES:
        raise UsageError(f"a request has up to {MOST_CUES} cues, not {len(cues)}")
    for cue in cues:
        if not cue.strip():
            raise UsageError(
                "a cue is empty", advice="Ask with a few words, such as `coffee in the evening`."
            )
        if len(cue) > LONGEST_CUE:
            raise UsageError(f"a cue has {len(cue)} characters, more than {LONGEST_CUE}")


def _check_types(request: PacketRequest) -> None:
    attention = request.attention_context or AttentionContext()
    known = {*AtomType, TURN}
    named = (
        *request.requested_memory_types,
        *attention.boost_memory_types,
        *attention.suppress_memory_types,
    )
    for one in named:
        if one not in known:
            raise UsageError(f"no memory type {one!r}", advice=f"Types are {', '.join((*AtomType, TURN))}.")


def read_budget(value: object) -> int:
    """Return tokens for a budget as the spec writes it: bytes, {"tokens": n} or {"bytes": n}."""
    unit, amount = "bytes", value
    if isinstance(value, dict) and len(value) == 1:
        ((unit, amount),) = value.items()
    if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not math.isfinite(amount):
        raise UsageError(f"a budget is a number of bytes, or of tokens, not {value!r}")
    if amount != int(amount) or amount <= 0 or unit not in ("bytes", "tokens"):
        raise UsageError(f"a budget is a whole number above 0 of bytes or tokens, not {value!r}")
    return int(amount) if unit == "tokens" else -(-int(amount) // BYTES_PER_TOKEN)
