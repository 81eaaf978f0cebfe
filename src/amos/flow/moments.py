"""Which state a question is asked of: transaction time picks the graph version, valid time the instant.

The two are independent, as in a bitemporal table: `at_version` or `known_at` say what the store had
accepted, `as_of` says when a claim must hold.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypedDict

from amos.errors import BusyError, UsageError
from amos.flow.instants import instant_us
from amos.journal.store import Shard, Snapshot

STRONG, MONOTONIC, EVENTUAL = "strong", "monotonic", "eventual"
SUPPRESSING = "suppress"
"""The operation that hides rows: earlier versions would show them."""

WAIT_SECONDS = 2.0
"""How long a question waits for a version that another program is about to commit."""
_PAUSE_SECONDS = 0.02


class When(TypedDict, total=False):
    """The options of a caller.  at_version, known_at: transaction time.  as_of: valid time.

    min_version: nothing older is answered from, so that a caller sees its own writes.
    """

    at_version: int | None
    known_at: str | datetime | None
    min_version: int | None
    as_of: str | datetime | None


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A checked `When`, instants in microseconds since 1970 UTC."""

    at_version: int | None = None
    known_at_us: int | None = None
    min_version: int | None = None
    as_of_us: int | None = None


def read_moment(when: When) -> Moment:
    """Return the moment that is asked of.  Raises UsageError for options that contradict each other."""
    at_version, min_version = when.get("at_version"), when.get("min_version")
    known_at, as_of = _microseconds(when, "known_at"), _microseconds(when, "as_of")
    if at_version is not None and known_at is not None:
        raise UsageError(
            "`--at-version` and `--known-at` both name what was known", advice="Give one of the two."
        )
    if at_version is not None and min_version is not None and at_version < min_version:
        raise _too_old(at_version, min_version)
    return Moment(at_version=at_version, known_at_us=known_at, min_version=min_version, as_of_us=as_of)


def split_moment(options: dict[str, Any]) -> tuple[Moment, dict[str, Any]]:
    """Return the moment that options name, and the fields of a request with its instant of validity."""
    given = dict(options)
    if "min_graph_version" in given:  # the word of the request
        given.setdefault("min_version", given.pop("min_graph_version"))
    own: Any = {name: value for name, value in given.items() if name in When.__annotations__}
    fields = {name: value for name, value in given.items() if name not in own}
    moment = read_moment(own)
    return moment, fields if moment.as_of_us is None else {**fields, "as_of_us": moment.as_of_us}


def consistent(moment: Moment, requirement: str) -> Moment:
    """Return the moment that a consistency requirement leaves: an eventual answer waits for no version.

    Raises UsageError where the newest state is required and an older one is named.
    """
    if requirement == STRONG and (moment.at_version is not None or moment.known_at_us is not None):
        raise UsageError(
            "a strong answer comes from the newest state, and an older one is named",
            advice="Leave `--at-version` and `--known-at` out, or ask for a monotonic answer.",
        )
    return replace(moment, min_version=None) if requirement == EVENTUAL else moment


def pin_moment(
    shard: Shard, moment: Moment, *, continued: int | None = None, wait_seconds: float | None = None
) -> Snapshot:
    """Return a snapshot of the version asked for, the newest where none is.

    continued: the version of an earlier page.  Raises UsageError for a version that does not exist, is older
    than the least one wanted or than something that was hidden, BusyError when that one is not there after
    `wait_seconds`.
    """
    least = moment.min_version
    if least is not None:
        _await_version(shard, least, WAIT_SECONDS if wait_seconds is None else wait_seconds)
    chosen = _chosen(shard, moment, continued)
    if chosen is not None and least is not None and chosen < least:
        raise _too_old(chosen, least)
    if chosen is not None:
        _require_shown(shard, chosen)
    return shard.pin(chosen)


def _require_shown(shard: Shard, version: int) -> None:
    """Raise UsageError for a version that would show what was hidden after it."""
    hidden = shard.last_version_of(SUPPRESSING)
    if 0 < version < hidden:
        raise UsageError(
            f"graph version {version} cannot be shown: something was hidden by graph version {hidden}",
            code="beyond_suppression",
            advice=f"Ask for version {hidden} or a later one; `amos export journal` holds what is hidden.",
        )


def _chosen(shard: Shard, moment: Moment, continued: int | None) -> int | None:
    if moment.at_version is not None:
        return moment.at_version
    if moment.known_at_us is not None:
        return shard.version_at(moment.known_at_us)
    return continued


def _await_version(shard: Shard, least: int, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while (head := shard.head) < least:
        if time.monotonic() >= deadline:
            raise BusyError(
                f"graph version {least} is not there yet: the newest is {head}",
                code="version_not_reached",
                advice="Ask again when its writer has committed, or without `--min-version`.",
            )
        time.sleep(_PAUSE_SECONDS)


def _too_old(chosen: int, least: int) -> UsageError:
    return UsageError(
        f"the answer would come from graph version {chosen}, older than `--min-version` {least}",
        advice="Ask for a later version, or lower `--min-version`.",
    )


def _microseconds(when: When, name: str) -> int | None:
    at: Any = when.get(name)
    if at is None:
        return None
    option = "--" + name.replace("_", "-")
    return instant_us(at if isinstance(at, str) else at.isoformat(), option)
