"""Prepare a commit outside the write transaction: check, encode, hash; decide what is sealed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.abreast import do_abreast
from amos.journal.events import EventBody, EventNotice, EventRows, check_type, event_body, notice_body
from amos.journal.requests import CommitRequest
from amos.journal.rows import check_rows, commitments, encode_table, salt_width
from amos.kernels.hashing import merkle_root
from amos.schemas.state import TABLES

Array = npt.NDArray[Any]

SEGMENT_ROWS = 4_096
SEGMENT_BYTES = 1 << 20


class TableDraft(NamedTuple):
    """Rows of one table in one commit, with their salts and canonical bytes."""

    table: str
    rows: pa.Table
    salts: Array
    buffer: Array
    offsets: Array

    @property
    def is_large(self) -> bool:
        """Whether the rows become a segment at once."""
        return len(self.rows) >= SEGMENT_ROWS or len(self.buffer) >= SEGMENT_BYTES


class Draft(NamedTuple):
    """A whole commit before it has a version."""

    tables: tuple[TableDraft, ...]
    bodies: tuple[EventBody, ...]


def draft_commit(
    groups: Sequence[EventRows],
    *,
    operation: str,
    random_bytes: Callable[[int], bytes],
    notices: Sequence[EventNotice] = (),
) -> Draft | None:
    """Return the encoded rows and event bodies of a commit, or None when there is nothing to say.

    random_bytes: source of the salts.  notices: events without rows, which follow the others.
    Raises SchemaError when a table or event type does not fit.
    """
    checked = [_checked(group) for group in groups]
    checked = [group for group in checked if len(group.rows)]
    if not checked and not notices:
        return None
    groups_of = [
        (table, places)
        for table in TABLES
        if (places := [i for i, group in enumerate(checked) if group.table == table])
    ]
    parts = [_part(table, [checked[i] for i in places], random_bytes) for table, places in groups_of]
    is_large = sum(len(part.rows) for part in parts) >= SEGMENT_ROWS
    drafted = do_abreast(_draft_table, parts) if is_large else list(map(_draft_table, parts))
    bodies: dict[int, EventBody] = {}
    for (table, places), (_, roots) in zip(groups_of, drafted, strict=True):
        for i, root in zip(places, roots, strict=True):
            bodies[i] = event_body(checked[i].event_type, operation, table, root, len(checked[i].rows))
    said = (notice_body(notice, operation) for notice in notices)
    tables = tuple(draft for draft, _ in drafted)
    return Draft(tables, (*(bodies[i] for i in range(len(checked))), *said))


def draft_request(rows: Sequence[EventRows], request: CommitRequest) -> Draft | None:
    """Return the draft of a commit with fresh random salts, or None when there is nothing to say."""
    return draft_commit(rows, operation=request.operation, random_bytes=os.urandom, notices=request.notices)


def _checked(group: EventRows) -> EventRows:
    check_type(group.event_type)
    return group._replace(rows=check_rows(group.table, group.rows))


class _Part(NamedTuple):
    """Rows of one table, of one event after another, with their salts."""

    table: str
    rows: pa.Table
    salts: Array
    counts: tuple[int, ...]


def _part(table: str, members: Sequence[EventRows], random_bytes: Callable[[int], bytes]) -> _Part:
    rows = members[0].rows if len(members) == 1 else pa.concat_tables([group.rows for group in members])
    rows = rows.combine_chunks()
    width = salt_width(table)
    salts = np.frombuffer(random_bytes(width * len(rows)), np.uint8).reshape(len(rows), width)
    return _Part(table, rows, salts, tuple(len(group.rows) for group in members))


def _draft_table(part: _Part) -> tuple[TableDraft, list[bytes]]:
    """Return the rows with their canonical bytes, and the root over those of each event."""
    buffer, offsets = encode_table(part.table, part.rows, part.salts)
    digests = commitments(part.table, buffer, offsets)
    roots, start = [], 0
    for count in part.counts:
        roots.append(merkle_root(digests[start : start + count]))
        start += count
    return TableDraft(part.table, part.rows, part.salts, buffer, offsets), roots
