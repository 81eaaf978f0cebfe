"""Many plain `messages` lines at once: their fields as columns, and the rows they make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.identity import plain_name
from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.raw import RAW
from amos.sources.block import DEFAULT_PURPOSES
from amos.sources.decoding import known_keys, plain_keys
from amos.sources.instant_columns import InstantColumns, read_instants
from amos.sources.keys import join_key
from amos.sources.line import HIGHEST_TURN, LOWEST_TURN, SOURCES
from amos.sources.line_fields import LineFields
from amos.sources.raw_rows import constant
from amos.sources.reader import ReadContext
from amos.sources.standing import Standing, standing_of

_WORDS = ("id", "role", "author", "conversation", "session", "reply_to")
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_TEXT = pa.string()
# What no plain line can say.
_UNSAID = {
    "block": 0,
    "kind": "text",
    "channel": None,
    "conversation_title": None,
    "purposes": DEFAULT_PURPOSES,
    "revised_us": None,
    "extra": None,
}


class LineColumns:
    """The fields of some lines, at least one, column by column."""

    def __init__(self, fields: LineFields, context: ReadContext) -> None:
        self.fields = fields.columns
        self._scopes = fields.scopes
        self._times = fields.times
        self._count = len(self.fields["text"])
        self._context = context

    def is_set(self, name: str) -> bool:
        """Tell whether any line has a value in the field `name`."""
        return bool(self.fields[name].null_count < self._count)

    def are_plain(self, raw: bytes, raws: Sequence[bytes]) -> bool:
        """Tell whether no line needs the careful way: each key stands once, with a usual value.

        raws: the bytes of the lines, which together are `raw`.
        """
        lowest, highest = pc.min_max(self.fields["turn"]).as_py().values()
        if lowest is not None and not LOWEST_TURN <= lowest <= highest <= HIGHEST_TURN:
            return False
        if self.is_set("source") and not _are_among(SOURCES, self.fields["source"]):
            return False
        return self._is_each_key_once(raw, raws)

    def _is_each_key_once(self, raw: bytes, raws: Sequence[bytes]) -> bool:
        columns = [*self.fields.values(), *self._scopes.values()]
        set_count = sum(self._count - column.null_count for column in columns)
        if self._times is not None:
            set_count += self.fields["ts"].null_count - self._times.count(None)
        words = [*(self.fields[name] for name in _WORDS), *self._scopes.values()]
        # The careful way makes nothing of a blank word, so `Line.is_plain` itself decides then.
        # No line holds fewer keys than are set: equal sums mean that the counts of each line are equal.
        if any(map(_has_blank, words)):
            return plain_keys(raw) == set_count
        found = known_keys(raw)
        return found == set_count or found == sum(map(_distinct_keys, raws))

    def are_regular(self) -> bool:
        """Tell whether no line makes a problem by its speaker, its time or its shard."""
        context, scopes = self._context, self._scopes
        return (
            self._instants is not None
            and not any(standing.fault for standing in self._standings[1])
            and (not scopes or _are_among({context.tenant}, scopes["tenant"]))
            and (not scopes or _are_among({context.workspace}, scopes["workspace"]))
        )

    @property
    def roles(self) -> list[str]:
        """The roles that the lines have by their words."""
        places, standings = self._standings
        return [standings[place].role for place in places.tolist()]

    def table(
        self,
        numbers: Sequence[int],
        *,
        format: str,  # noqa: A002 - the name of the column
        record_key: pa.Array,
        conversation_key: pa.Array,
        turn: pa.Array,
        flags: pa.Array,
    ) -> pa.Table:
        """Return the RAW rows of the lines, all regular; `numbers` counts them in the file."""
        columns = {
            **_unsaid_columns(self._count),
            **self._standing_columns(),
            **self._scope_columns(),
            **self._time_columns(),
        }
        columns["format"] = constant(format, _TEXT, self._count)
        columns["record_key"] = record_key
        columns["conversation_key"] = conversation_key
        columns["text"] = self.fields["text"]
        columns["session"] = self.fields["session"]
        columns["turn"] = turn
        columns["flags"] = flags
        columns["reply_to"] = self._replies()
        columns["may_retain"] = pc.fill_null(self.fields["retain"], True)
        columns["locator"] = pc.binary_join_element_wise(
            pa.scalar(self._context.file), pa.array(numbers, pa.int64()).cast(_TEXT), "#"
        )
        return pa.Table.from_arrays([columns[name] for name in RAW.names], schema=RAW)

    @cached_property
    def _instants(self) -> InstantColumns | None:
        return read_instants(self.fields["ts"], self._times, self._context.zone)

    @cached_property
    def _standings(self) -> tuple[np.ndarray[Any, Any], list[Standing]]:
        """Per line the place of its standing, and the standing of each different choice of words."""
        told = [_coded(self.fields["role"])]
        if self.is_set("source"):
            told.append(_coded(self.fields["source"]))
        pairs = told[0][0]
        for codes, words in told[1:]:
            pairs = pairs * len(words) + codes
        chosen, places = np.unique(pairs, return_inverse=True)
        choices = np.unravel_index(chosen, [len(words) for _, words in told])
        words = [np.array(of, object)[place] for (_, of), place in zip(told, choices, strict=True)]
        return places, [standing_of(role, None, *source) for role, *source in zip(*words, strict=True)]

    def _standing_columns(self) -> dict[str, pa.Array]:
        places, kinds = self._standings
        rows = pa.array(places)
        author = _chosen([kind.author for kind in kinds], rows)
        is_owner = pa.array(np.array([kind.role == "user" for kind in kinds])[places])
        if self.is_set("author"):
            named = _named(self.fields["author"])
            author = pc.if_else(named.is_valid(), named, author)
            users = self._scopes.get("user", pa.nulls(self._count, _TEXT))
            is_own = pc.or_(named.is_null(), pc.fill_null(pc.equal(named, users), False))
            is_owner = pc.and_(is_owner, is_own)
        return {
            "role": _chosen([kind.role for kind in kinds], rows),
            "trust": _chosen([kind.trust for kind in kinds], rows),
            "author": author,
            "is_owner": is_owner,
        }

    def _scope_columns(self) -> dict[str, pa.Array]:
        nothing = pa.nulls(self._count, _TEXT)
        return {f"scope_{name}": self._scopes.get(name, nothing) for name in SCOPE_NAMES}

    def _time_columns(self) -> dict[str, pa.Array]:
        instants = self._instants
        assert instants is not None, "the lines are not regular"
        names = ("event_us", "event_text", "zone", "is_zone_assumed")
        return dict(zip(names, instants, strict=True))

    def _replies(self) -> pa.Array:
        replies = self.fields["reply_to"]
        if not self.is_set("reply_to"):
            return replies
        pairs = zip(self.fields["conversation"].to_pylist(), replies.to_pylist(), strict=True)
        joined = [
            join_key(conversation, reply) if reply and conversation else reply or None
            for conversation, reply in pairs
        ]
        return pa.array(joined, _TEXT)


def _are_among(words: Iterable[str], column: pa.Array) -> bool:
    """Tell whether each value of `column`, if any, is one of `words`."""
    return {None, *words}.issuperset(column.unique().to_pylist())


def has_gap(column: pa.Array) -> bool:
    """Tell whether any value of `column` is missing or blank."""
    return bool(column.null_count) or _has_blank(column)


def _has_blank(column: pa.Array) -> bool:
    return pc.min(pc.binary_length(column)).as_py() == 0


def _coded(column: pa.Array) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """Return per row the place of its word, and the words, None among them."""
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()


def _named(authors: pa.Array) -> pa.Array:
    """Return the authors that are named, null for one whose name is blank."""
    codes, words = _coded(authors)
    names = [word if word is not None and plain_name(word) else None for word in words]
    return pa.array(names, _TEXT).take(pa.array(codes))


def _distinct_keys(raw: bytes) -> int:
    """Return how many different keys a line has, those of its scope included."""
    row = _decode(raw)
    return len(row) + len(row.get("scope") or ())


@lru_cache(maxsize=2)
def _unsaid_columns(count: int) -> dict[str, pa.Array]:
    return {name: constant(value, RAW.field(name).type, count) for name, value in _UNSAID.items()}


def join_keys(conversations: pa.Array, ids: pa.Array) -> pa.Array:
    """Return what `join_key` returns for each conversation with its id."""
    joined = pc.binary_join_element_wise(conversations, ids, "/")
    # Each key has the slash of its joint: where no key has a second one, no part has any.
    if (
        pc.max(pc.count_substring(joined, "/")).as_py() == 1
        and not pc.any(pc.match_substring(joined, "%")).as_py()
    ):
        return joined
    pairs = zip(conversations.to_pylist(), ids.to_pylist(), strict=True)
    return pa.array([join_key(*pair) for pair in pairs], _TEXT)


def _chosen(words: list[str], places: pa.Array) -> pa.Array:
    """Return the word at each of `places`."""
    if len(words) == 1:
        return constant(words[0], _TEXT, len(places))
    return pa.array(words, _TEXT).take(places)
