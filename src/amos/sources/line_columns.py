"""Many plain `messages` lines at once: their fields as columns, and the rows they make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.raw import RAW
from amos.sources.block import DEFAULT_PURPOSES
from amos.sources.decoding import known_keys, plain_keys
from amos.sources.instant_columns import InstantColumns, read_instants
from amos.sources.keys import join_key
from amos.sources.line import HIGHEST_TURN, LOWEST_TURN, SOURCES, Line, Scope
from amos.sources.raw_rows import array_of, constant
from amos.sources.reader import ReadContext
from amos.sources.standing import Standing, standing_of

_RARE = ("trust", "channel", "title", "purposes", "context")
_WORDS = ("id", "role", "author", "conversation", "session", "reply_to")
_NO_SCOPE = (None,) * len(Scope.__struct_fields__)
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
_Column = Sequence[Any]
_PIECE = 512
"""Rows turned into columns at once: fewer than wake the garbage collector, which would find none."""


class LineColumns:
    """The fields of some lines, at least one, column by column."""

    def __init__(self, lines: Sequence[Line], context: ReadContext) -> None:
        self.lines = lines
        self.fields = _columns(lines)
        self._context = context

    def is_set(self, name: str) -> bool:
        """Tell whether any line has a value in the field `name`."""
        column = self.fields[name]
        return column[0] is not None or column.count(None) != len(column)

    def are_plain(self, raws: Sequence[bytes]) -> bool:
        """Tell whether no line needs the careful way: each key stands once, with a usual value.

        raws: the bytes of the lines.
        """
        turns = [turn for turn in self.fields["turn"] if turn is not None]
        if turns and not LOWEST_TURN <= min(turns) <= max(turns) <= HIGHEST_TURN:
            return False
        if not SOURCES.issuperset(source for source in set(self.fields["source"]) if source is not None):
            return False
        return not any(self.is_set(name) for name in _RARE) and self._is_each_key_once(raws)

    def _is_each_key_once(self, raws: Sequence[bytes]) -> bool:
        raw = b"".join(raws)
        columns = [*self.fields.values(), *self._scopes.values()]
        set_count = sum(len(column) - column.count(None) for column in columns)
        has_blank = any("" in self.fields[name] for name in _WORDS) or any(
            "" in column for column in self._scopes.values()
        )
        # The careful way makes nothing of a blank word, so `Line.is_plain` itself decides then.
        # No line holds fewer keys than are set: equal sums mean that the counts of each line are equal.
        if has_blank:
            return plain_keys(raw) == set_count
        found = known_keys(raw)
        return found == set_count or found == sum(map(_distinct_keys, raws))

    def are_regular(self) -> bool:
        """Tell whether no line makes a problem by its speaker, its time or its shard."""
        context = self._context
        return (
            self._instants is not None
            and not any(standing.fault for standing in self._standings[1].values())
            and {None, context.tenant}.issuperset(self._scopes.get("tenant", ()))
            and {None, context.workspace}.issuperset(self._scopes.get("workspace", ()))
        )

    @cached_property
    def roles(self) -> list[str]:
        """The roles that the lines have by their words."""
        words, standings = self._standings
        return [standings[word].role for word in words]

    def table(
        self,
        numbers: Sequence[int],
        *,
        format: str,  # noqa: A002 - the name of the column
        record_key: pa.Array,
        conversation_key: Sequence[str],
        turn: Sequence[int],
        flags: Sequence[int],
    ) -> pa.Table:
        """Return the RAW rows of the lines, all regular; `numbers` counts them in the file."""
        count = len(self.lines)
        columns = {
            **_unsaid_columns(count),
            **self._standing_columns(),
            **self._scope_columns(),
            **self._time_columns(),
        }
        columns["format"] = constant(format, _TEXT, count)
        columns["record_key"] = record_key
        columns["conversation_key"] = array_of(conversation_key, _TEXT)
        columns["text"] = pa.array(self.fields["text"], _TEXT)
        columns["session"] = array_of(self.fields["session"], _TEXT)
        columns["turn"] = pa.array(turn, pa.int64())
        columns["flags"] = array_of(flags, pa.int32())
        columns["reply_to"] = array_of(self._replies(), _TEXT)
        columns["may_retain"] = array_of([word is not False for word in self.fields["retain"]], pa.bool_())
        columns["locator"] = pc.binary_join_element_wise(
            pa.scalar(self._context.file), pa.array(numbers, pa.int64()).cast(_TEXT), "#"
        )
        return pa.Table.from_arrays([columns[name] for name in RAW.names], schema=RAW)

    @cached_property
    def _instants(self) -> InstantColumns | None:
        return read_instants(self.fields["ts"], self._context.zone)

    @cached_property
    def _scopes(self) -> dict[str, _Column]:
        """The parts of the scopes; nothing when no line has a scope."""
        if not self.is_set("scope"):
            return {}
        rows = [
            _NO_SCOPE if scope is None else msgspec.structs.astuple(scope) for scope in self.fields["scope"]
        ]
        return dict(zip(Scope.__struct_fields__, zip(*rows, strict=True), strict=True))

    @cached_property
    def _standings(self) -> tuple[_Column, dict[Any, Standing]]:
        """Each line's words on its speaker, and the standing of each different choice of words."""
        roles, sources = self.fields["role"], self.fields["source"]
        if not self.is_set("source"):
            return roles, {role: standing_of(role) for role in dict.fromkeys(roles)}
        words = tuple(zip(roles, sources, strict=True))
        return words, {word: standing_of(word[0], None, word[1]) for word in dict.fromkeys(words)}

    def _standing_columns(self) -> dict[str, pa.Array]:
        words, standings = self._standings
        numbers = {word: number for number, word in enumerate(standings)}
        places = np.array([numbers[word] for word in words], np.int32)
        rows = pa.array(places)
        kinds = standings.values()
        named = self.fields["author"]
        author = _chosen([kind.author for kind in kinds], rows)
        is_owner = np.array([kind.role == "user" for kind in kinds])[places]
        if self.is_set("author"):
            author = pa.array(
                [name or word for name, word in zip(named, author.to_pylist(), strict=True)], _TEXT
            )
            users = self._scopes.get("user", (None,) * len(named))
            is_owner &= [name is None or name == user for name, user in zip(named, users, strict=True)]
        return {
            "role": _chosen([kind.role for kind in kinds], rows),
            "trust": _chosen([kind.trust for kind in kinds], rows),
            "author": author,
            "is_owner": pa.array(is_owner),
        }

    def _scope_columns(self) -> dict[str, pa.Array]:
        nothing = (None,) * len(self.lines)
        return {f"scope_{name}": array_of(self._scopes.get(name, nothing), _TEXT) for name in SCOPE_NAMES}

    def _time_columns(self) -> dict[str, pa.Array]:
        instants = self._instants
        assert instants is not None, "the lines are not regular"
        names = ("event_us", "event_text", "zone", "is_zone_assumed")
        return dict(zip(names, instants, strict=True))

    def _replies(self) -> Sequence[str | None]:
        replies = self.fields["reply_to"]
        if not self.is_set("reply_to"):
            return replies
        conversations = self.fields["conversation"]
        return [
            join_key(conversation, reply) if reply and conversation else reply or None
            for conversation, reply in zip(conversations, replies, strict=True)
        ]


def _distinct_keys(raw: bytes) -> int:
    """Return how many different keys a line has, those of its scope included."""
    row = _decode(raw)
    return len(row) + len(row.get("scope") or ())


def _columns(lines: Sequence[Line]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in Line.__struct_fields__}
    for start in range(0, len(lines), _PIECE):
        rows = map(msgspec.structs.astuple, lines[start : start + _PIECE])
        for column, part in zip(columns.values(), zip(*rows, strict=True), strict=True):
            column.extend(part)
    return columns


@lru_cache(maxsize=2)
def _unsaid_columns(count: int) -> dict[str, pa.Array]:
    return {name: constant(value, RAW.field(name).type, count) for name, value in _UNSAID.items()}


def join_keys(conversations: Sequence[str], ids: Sequence[str]) -> pa.Array:
    """Return what `join_key` returns for each conversation with its id."""
    pairs = zip(conversations, ids, strict=True)
    joined = pa.array([f"{conversation}/{own}" for conversation, own in pairs], _TEXT)
    letters = joined.buffers()[2].to_pybytes()
    # Each key has the slash of its joint: as many slashes as keys mean that there is no other.
    if b"%" not in letters and letters.count(b"/") == len(joined):
        return joined
    return pa.array(list(map(join_key, conversations, ids)), _TEXT)


def _chosen(words: list[str], places: pa.Array) -> pa.Array:
    """Return the word at each of `places`."""
    if len(words) == 1:
        return constant(words[0], _TEXT, len(places))
    return pa.array(words, _TEXT).take(places)
