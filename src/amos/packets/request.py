"""What a caller asks for, checked before anything is read."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from amos.errors import UsageError
from amos.packets.processors import MODES, Allowance, Processor, processor_named
from amos.schemas.columns import SCOPE_NAMES

BYTES_PER_TOKEN = 4
MOST_ITEMS = 1_000
MOST_CUES = 32
LONGEST_CUE = 20_000


class PacketRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One packet request.

    scope: narrows, by scope name.  token_budget: tokens of four bytes, envelope included; null is the
    processor's.  as_of_us, now_us: microseconds since 1970 UTC.  requested_memory_types: atom types,
    all when empty; turns are shown only when it is empty.
    """

    cues: tuple[str, ...]
    scope: dict[str, str] = {}
    target_processor: str = "reasoner"
    retrieval_mode: str = "general"
    max_items: int | None = None
    token_budget: int | None = None
    as_of_us: int | None = None
    requested_memory_types: tuple[str, ...] = ()
    include_conflicts: bool | None = None
    include_superseded: bool = False
    include_archived: bool = False
    include_low_health: bool = False
    include_untrusted: bool = False
    include_provenance: bool = False

    @property
    def processor(self) -> Processor:
        """Return who will read the packet."""
        return processor_named(self.target_processor)

    @property
    def allowance(self) -> Allowance:
        """Return the budget in force: what was asked for, else the processor's."""
        known = self.processor.allowance
        return Allowance(
            items=self.max_items if self.max_items is not None else known.items,
            tokens=self.token_budget if self.token_budget is not None else known.tokens,
            has_conflicts=known.has_conflicts if self.include_conflicts is None else self.include_conflicts,
        )


def read_request(fields: dict[str, Any]) -> PacketRequest:
    """Return the checked request.  Raises UsageError naming the field that does not fit."""
    try:
        request = msgspec.convert(fields, PacketRequest)
    except msgspec.ValidationError as cause:
        raise UsageError(f"the request does not fit: {cause}") from cause
    check_request(request)
    return request


def check_request(request: PacketRequest) -> None:
    """Raise UsageError when a value of the request makes no sense."""
    if not 0 < len(request.cues) <= MOST_CUES:
        raise UsageError(f"a request has 1 to {MOST_CUES} cues, not {len(request.cues)}")
    for cue in request.cues:
        if not cue.strip():
            raise UsageError(
                "a cue is empty", advice="Ask with a few words, such as `coffee in the evening`."
            )
        if len(cue) > LONGEST_CUE:
            raise UsageError(f"a cue has {len(cue)} characters, more than {LONGEST_CUE}")
    for name, value, most in (
        ("max_items", request.max_items, MOST_ITEMS),
        ("token_budget", request.token_budget, 10_000_000),
    ):
        if value is not None and not 0 < value <= most:
            raise UsageError(f"{name} must be a whole number from 1 to {most}, not {value}")
    if request.retrieval_mode not in MODES:
        raise UsageError(f"no retrieval mode {request.retrieval_mode!r}", advice=f"Use {', '.join(MODES)}.")
    unknown = sorted(set(request.scope) - set(SCOPE_NAMES))
    if unknown:
        raise UsageError(f"no scope is called {unknown[0]!r}", advice=f"Scopes are {', '.join(SCOPE_NAMES)}.")


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
