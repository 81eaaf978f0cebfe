"""The rules a run decides by, read once, and when compiling its kernels pays."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NotRequired, TypedDict

from amos.admission.policy import Policy, policy_text, read_policy
from amos.extraction.propose import EXTRACTOR
from amos.extraction.registry import Extractor, find_extractor
from amos.flow.prepare import Rules
from amos.journal.store import Shard
from amos.kernels.warmth import was_warm
from amos.schemas.catalog import text_digest

COMPILED_FROM_BYTES = 400_000
"""Input of one process, about 2,000 messages, from which compiling the kernels pays."""
LOADED_FROM_BYTES = 100_000
"""The same for a process of many runs where they were compiled before: loading them costs as much as
reading 500 messages plainly."""


class ChosenRules(TypedDict):
    """What a caller may choose of the rules of a run."""

    extractor: NotRequired[str | Extractor | None]
    policy: NotRequired[str | Path | None]


class _Seen:
    """Bytes that this process was given so far: many small runs pay for compiling as one large one."""

    count = 0
    runs = 0


Told = tuple[Policy, dict[bytes, tuple[str, str]]]
"""A policy, and its text by digest."""


def default_rules(
    *,
    size: int,
    extractor: str | Extractor | None = None,
    policy: str | Path | None = None,
    told: Told | None = None,
) -> Rules:
    """Return an extractor and an admission policy; compiled once a process has read enough.

    size: bytes of the input at hand.  extractor: itself or its name, the current rules when left out.
    policy: a TOML file; told: a policy that was read.  Else the policy that ships with Amos decides.
    Plain and compiled kernels give the same rows.  Raises UsageError for an unknown extractor, InputError and
    SchemaError for a policy that cannot be read.
    """
    _Seen.count += size
    _Seen.runs += 1
    is_loading_worth = _Seen.runs > 1 and _Seen.count >= LOADED_FROM_BYTES and was_warm()
    if told is None:
        told = default_policy() if policy is None else _policy_of(policy_text(policy))
    read, texts = told
    return Rules(
        extractor=extractor_of(extractor),
        policy=read,
        is_compiled=_Seen.count >= COMPILED_FROM_BYTES or is_loading_worth,
        texts=texts,
    )


def extractor_of(extractor: str | Extractor | None) -> Extractor:
    """Return an extractor given by itself or by its name, the current rules when left out."""
    if extractor is None or isinstance(extractor, str):
        return find_extractor(extractor or EXTRACTOR)
    return extractor


def note_answers(shard: Shard, extractor: Extractor, now: datetime) -> None:
    """Register the file that an extractor adds a model's answers to, if it does."""
    path = getattr(extractor, "written_to", None)
    if path is not None:
        from amos.flow.noting import copy_entry, noted  # what copies need is no part of most runs

        noted(shard.folder, copy_entry(shard, path, "answers of a model", now))


@lru_cache(maxsize=1)
def default_policy() -> Told:
    """Return the policy that ships with Amos, and its text by digest."""
    return _policy_of(policy_text(None))


def _policy_of(text: str) -> Told:
    return read_policy(text), {text_digest(text): ("policy", text)}
