"""Role and trust of a speaker from the words a format uses for them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "system": "system",
    "developer": "system",
}
ROLE_TRUST = {
    "user": "trusted_user",
    "assistant": "agent",
    "tool": "tool",
    "system": "recall",
    "record": "recall",
}
_SOURCE_STANDING = {
    "user": ("user", "trusted_user"),
    "tool": ("tool", "tool"),
    "web": ("tool", "untrusted_web"),
}
_TRUST_ROLE = {
    "trusted_user": "user",
    "agent": "assistant",
    "tool": "tool",
    "untrusted_web": "tool",
    "recall": "tool",
}
_TRUST_ORDER = ("trusted_user", "agent", "tool", "untrusted_web", "recall")


class Standing(NamedTuple):
    """Who speaks and how far they are believed; `fault` says that the role word is unknown."""

    role: str
    trust: str
    author: str
    fault: str | None = None


@lru_cache(maxsize=4096)
def standing_of(role: str | None, trust: str | None = None, source: str | None = None) -> Standing:
    """Return the standing of a message; with no word at all the speaker is the user.

    An explicit trust wins; a source lowers the trust of its role but never raises it.
    """
    fault = None
    own = None
    if role is not None:
        own = _ROLES.get(role.lower())
        if own is None:
            own, fault = "tool", f"role {role[:40]!r} is unknown; it has the standing of a tool"
    from_source = _SOURCE_STANDING.get(source or "")
    if own is None:
        own = from_source[0] if from_source else _TRUST_ROLE.get(trust or "", "user")
    if trust is None:
        trust = ROLE_TRUST[own]
        if from_source:
            trust = lower_trust(trust, from_source[1])
    return Standing(own, trust, own, fault)


def lower_trust(one: str, other: str) -> str:
    """Return the lesser of two trusts."""
    return max(one, other, key=_TRUST_ORDER.index)
