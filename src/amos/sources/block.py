"""What every reader yields: blocks of content and problems, never an exception per record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa

DEFAULT_PURPOSES = ("personalization",)


class Block(msgspec.Struct, kw_only=True, gc=False):
    """One content block of one record; field meanings as in `schemas.raw.RAW`."""

    format: str
    record_key: str
    conversation_key: str
    text: str
    turn: int
    locator: str
    block: int = 0
    kind: str = "text"
    role: str = "user"
    trust: str = "trusted_user"
    author: str | None = None
    is_owner: bool = True
    channel: str | None = None
    event_us: int | None = None
    event_text: str | None = None
    zone: str | None = None
    is_zone_assumed: bool = False
    conversation_title: str | None = None
    session: str | None = None
    reply_to: str | None = None
    scope_project: str | None = None
    scope_user: str | None = None
    scope_agent: str | None = None
    scope_session: str | None = None
    scope_task: str | None = None
    scope_tool_environment: str | None = None
    may_retain: bool = True
    purposes: tuple[str, ...] = DEFAULT_PURPOSES
    flags: int = 0
    revised_us: int | None = None
    extra: str | None = None


class Problem(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    """A record that could not be read, or could be read only in part."""

    file: str
    record: int
    code: str
    message: str
    is_lost: bool = True


class Batch(msgspec.Struct, kw_only=True):
    """Some records of one input: what they hold, what was wrong, how many they were.

    What they hold comes as RAW tables, as blocks, or as both: `blocks` stand behind `tables`.
    `raw_rows.batch_table` and `raw_rows.batch_blocks` give all of it in one shape.
    """

    blocks: list[Block]
    problems: list[Problem]
    record_count: int
    format: str
    bytes_read: int = 0
    tables: list[pa.Table] = []
    paths: dict[str, str] = {}
    """Path as it was given, by the file's name in locators; problems name it already."""
    unknown_fields: set[str] = msgspec.field(default_factory=set)
    """Fields that mean nothing to the format: they are kept in `extra`."""

    @property
    def is_empty(self) -> bool:
        """No record of it could be read."""
        return not self.blocks and not self.tables
