"""What a caller may disclose beside its question: the situation it is in, and what deserves attention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from amos.errors import UsageError

MOST_TERMS = 64
LONGEST_TERM = 2_000

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
RiskPosture = Literal["normal", "cautious", "high_risk", "critical"]
TimeHorizon = Literal["immediate", "short", "long"]


class AttentionContext(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What to bring to the fore, what to hold back, and how careful to be; the question stays the question.

    novelty_preference: 0 … 1.  Types are atom types, and `turn`.
    """

    active_task: str | None = None
    mission: str | None = None
    goal: str | None = None
    role: str | None = None
    risk_posture: RiskPosture = "normal"
    time_horizon: TimeHorizon | None = None
    focus_terms: tuple[str, ...] = ()
    suppress_terms: tuple[str, ...] = ()
    boost_memory_types: tuple[str, ...] = ()
    suppress_memory_types: tuple[str, ...] = ()
    counterevidence_required: bool = False
    novelty_preference: Share = 0.0

    @property
    def focus(self) -> tuple[str, ...]:
        """Return every text that says what matters now, each once."""
        told = (*self.focus_terms, self.active_task, self.mission, self.goal, self.role)
        return tuple(dict.fromkeys(one for one in told if one))


class TaskContext(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The situation as structured cues.

    Texts say what is going on: they are cues where nothing is asked in words, else what attention is on.
    active_project: the project asked about where the scope names none.  agent_identity: whose acts are meant.
    denied_capabilities: what the agent cannot do now, so that claims of such capabilities are left out.
    """

    entities: tuple[str, ...] = ()
    task_type: str | None = None
    goal: str | None = None
    constraints: tuple[str, ...] = ()
    recent_instructions: tuple[str, ...] = ()
    recent_failures: tuple[str, ...] = ()
    known_limitations: tuple[str, ...] = ()
    available_capabilities: tuple[str, ...] = ()
    denied_capabilities: tuple[str, ...] = ()
    tool_state: tuple[str, ...] = ()
    runtime_state: tuple[str, ...] = ()
    outcome_refs: tuple[str, ...] = ()
    active_project: str | None = None
    agent_identity: str | None = None
    counterevidence_required: bool = False
    risk_level: RiskPosture = "normal"
    time_horizon: TimeHorizon | None = None
    output_type: Literal["json", "text", "markdown"] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the texts that say what is going on, each once, the goal first."""
        told = [one for one in (self.goal, self.task_type) if one]
        for several in (
            self.recent_instructions, self.entities, self.constraints, self.recent_failures,
            self.known_limitations, self.available_capabilities, self.tool_state, self.runtime_state,
        ):  # fmt: skip
            told += several
        return tuple(dict.fromkeys(told))


def check_texts(context: AttentionContext | TaskContext) -> None:
    """Raise UsageError where a text is empty or too long, or where there are too many of one kind."""
    for name, values in _texts(context):
        if len(values) > MOST_TERMS:
            raise UsageError(f"{name} has {len(values)} entries, more than {MOST_TERMS}")
        for value in values:
            if not value.strip() or len(value) > LONGEST_TERM:
                raise UsageError(f"an entry of {name} is empty or longer than {LONGEST_TERM} characters")


def _texts(context: AttentionContext | TaskContext) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in context.__struct_fields__:
        value = getattr(context, name)
        if isinstance(value, tuple):
            yield name, value
        elif isinstance(value, str):
            yield name, (value,)
