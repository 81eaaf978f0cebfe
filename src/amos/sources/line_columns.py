"""Many plain `messages` lines at once: their fields as columns, and the rows they make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amos.schemas.columns import SCOPE_NAMES
from amos.schemas.raw import RAW
from amos.sources.block import DEFAULT_PURPOSES
from amos.sources.decoding import plain_keys
from amos.sources.instant_columns import InstantColumns, read_instants
from amos.sources.keys import join_key
from amos.sources.line import HIGHEST_TURN, LOWEST_TURN, SOURCES, Line, Scope
from amos.sources.raw_rows import array_of, constant
from amos.sources.reader import ReadContext
from amos.sources.standing import Standing, standing_of

_RARE = ("trust", "channel", "title", "purposes", "context")
_NO_SCOPE = (None,) * len(Scope.__struct_fields__)
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
_Column = tuple[Any, ...]


class LineColumns:
    """The fields of some lines, at least one, column by column."""

    def __init__(self, lines: Sequence[Line], context: ReadContext) -> None:
        rows = map(msgspec.structs.astuple, lines)
        self.lines = lines
        self.fields: dict[str, _Column] = dict(
            zip(Line.__struct_fields__, zip(*rows, strict=True), strict=True)
        )
        self._context = context

    def is_set(self, name: str) -> bool:
        """Tell whether any line has a value in the field `name`."""
        column = self.fields[name]
        return column[0] is not None or column.count(None) != len(column)

    def are_plain(self, raws: Sequence[bytes]) -> bool:
        """Tell whether `Line.is_plain` holds for every line; `raws` are their bytes."""
        turns = [turn for turn in self.fields["turn"] if turn is not None]
        if turns and not LOWEST_TURN <= min(turns) <= max(turns) <= HIGHEST_TURN:
            return False
        if not SOURCES.issuperset(source for source in set(self.fields["source"]) if source is not None):
            return False
        if any(self.is_set(name) for name in _RARE):
            return False
        columns = [*self.fields.values(), *self._scopes.values()]
        # No line holds fewer keys than are set, so equal sums mean that every line is equal.
        return plain_keys(b"".join(raws)) == sum(len(column) - column.count(None) for column in columns)

    def irregular(self) -> list[int]:
        """Return the rows, ascending, that make a problem: standing, time or shard of the line."""
        found = set(self._instants.invalid)
        words, standings = self._standings
        strange = {word for word, standing in standings.items() if standing.fault}
        if strange:
            found.update(row for row, word in enumerate(words) if word in strange)
        for name, here in (("tenant", self._context.tenant), ("workspace", self._context.workspace)):
            shards = self._scopes.get(name, ())
            found.update(row for row, shard in enumerate(shards) if shard is not None and shard != here)
        return sorted(found)

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
        """Return the RAW rows of the lines, none of which is irregular; `numbers` counts them in the file."""
        count = len(self.lines)
        columns = {name: constant(value, RAW.field(name).type, count) for name, value in _UNSAID.items()}
        columns.update(self._standing_columns(), **self._scope_columns(), **self._time_columns())
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
    def _instants(self) -> InstantColumns:
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
        kinds = standings.values()
        named = self.fields["author"]
        author = _chosen([kind.author for kind in kinds], places)
        is_owner = np.array([kind.role == "user" for kind in kinds])[places]
        if self.is_set("author"):
            author = pa.array(
                [name or word for name, word in zip(named, author.to_pylist(), strict=True)], _TEXT
            )
            users = self._scopes.get("user", (None,) * len(named))
            is_owner &= [name is None or name == user for name, user in zip(named, users, strict=True)]
        return {
            "role": _chosen([kind.role for kind in kinds], places),
            "trust": _chosen([kind.trust for kind in kinds], places),
            "author": author,
            "is_owner": pa.array(is_owner),
        }

    def _scope_columns(self) -> dict[str, pa.Array]:
        nothing = (None,) * len(self.lines)
        return {f"scope_{name}": array_of(self._scopes.get(name, nothing), _TEXT) for name in SCOPE_NAMES}

    def _time_columns(self) -> dict[str, pa.Array]:
        us, text, zone, is_assumed, _ = self._instants
        return {"event_us": us, "event_text": text, "zone": zone, "is_zone_assumed": is_assumed}

    def _replies(self) -> Sequence[str | None]:
        replies = self.fields["reply_to"]
        if not self.is_set("reply_to"):
            return replies
        conversations = self.fields["conversation"]
        return [
            join_key(conversation, reply) if reply and conversation else reply or None
            for conversation, reply in zip(conversations, replies, strict=True)
        ]


def join_keys(conversations: Sequence[str], ids: Sequence[str]) -> pa.Array:
    """Return what `join_key` returns for each conversation with its id."""
    joined = pc.binary_join_element_wise(pa.array(conversations, _TEXT), pa.array(ids, _TEXT), "/")
    letters = joined.buffers()[2].to_pybytes()
    # Each key has the slash of its joint: as many slashes as keys mean that there is no other.
    if b"%" not in letters and letters.count(b"/") == len(joined):
        return joined
    return pa.array(list(map(join_key, conversations, ids)), _TEXT)


def _chosen(words: list[str], places: npt.NDArray[np.int32]) -> pa.Array:
    """Return the word at each of `places`."""
    if len(words) == 1:
        return constant(words[0], _TEXT, len(places))
    return pa.array(words, _TEXT).take(pa.array(places))
