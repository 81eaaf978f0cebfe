"""The admission policy: numbers and choices that decide, read from TOML and kept by digest."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from amos.errors import InputError, SchemaError


class Confidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Threshold of extraction confidence, 0 to 100."""

    minimum: int


class Quarantine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a held candidate may wait."""

    days: int


class Review(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which claims wait for a person although they have a bound."""

    non_durable: Literal["bounded", "wait"]


class Risk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Risk points by what a claim touches."""

    plain: int
    third_party: int
    sensitive: int


class Authority(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Properties that an operation owns, and the tools that are believed about them, by author."""

    operational: list[str]
    registered: dict[str, list[str]]


class ValueLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits on the value of a claim."""

    longest: int


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of the admission policy."""

    name: str
    version: int
    confidence: Confidence
    quarantine: Quarantine
    utility: dict[str, int]
    risk: Risk
    review: Review
    authority: Authority
    value: ValueLimits
    confidence_ppm: dict[str, int]
    retention: dict[str, str]

    @property
    def label(self) -> str:
        """Return `name@version`, as decisions carry it."""
        return f"{self.name}@{self.version}"


def read_policy(text: str) -> Policy:
    """Return the policy written in TOML `text`; raises SchemaError naming the wrong field."""
    try:
        return msgspec.toml.decode(text, type=Policy)
    except msgspec.MsgspecError as cause:
        raise SchemaError(f"admission policy: {cause}", advice="Fix the named field.") from cause


def policy_text(path: str | Path | None) -> str:
    """Return the text of a policy file, of the one that ships with Amos where none is given.

    Raises InputError when the file cannot be read.
    """
    if path is None:
        return default_policy_text()
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(
            f"{path}: the policy cannot be read", path=str(path), advice="Give a TOML file in UTF-8."
        ) from cause


def default_policy_text() -> str:
    """Return the text of the policy that ships with Amos."""
    return (resources.files("amos.admission") / "policy.toml").read_text(encoding="utf-8")
