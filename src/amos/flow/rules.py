"""The rules a run decides by, read once."""

from __future__ import annotations

from amos.admission.policy import default_policy_text, read_policy
from amos.extraction.grammar import load_grammar
from amos.flow.prepare import Rules

COMPILED_FROM_BYTES = 400_000
"""Input size, about 2,000 messages, from which compiling the kernels pays."""


def default_rules(*, size: int) -> Rules:
    """Return the grammar and policy that ship with Amos, compiled for inputs of many bytes."""
    return Rules(
        grammar=load_grammar(),
        policy=read_policy(default_policy_text()),
        is_compiled=size >= COMPILED_FROM_BYTES,
    )
