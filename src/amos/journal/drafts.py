"""Prepare a commit outside the write transaction: check, encode, hash; decide what is sealed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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
    tables = []
    bodies: dict[int, EventBody] = {}
    for table in TABLES:
        places = [i for i, group in enumerate(checked) if group.table == table]
        if places:
            members = [checked[i] for i in places]
            draft, made = _draft_table(table, members, operation, random_bytes)
            tables.append(draft)
            bodies.update(zip(places, made, strict=True))
    said = (notice_body(notice, operation) for notice in notices)
    return Draft(tuple(tables), (*(bodies[i] for i in range(len(checked))), *said))


def draft_request(rows: Sequence[EventRows], request: CommitRequest) -> Draft | None:
    """Return the draft of a commit with fresh random salts, or None when there is nothing to say."""
    return draft_commit(rows, operation=request.operation, random_bytes=os.urandom, notices=request.notices)


def _checked(group: EventRows) -> EventRows:
    check_type(group.event_type)
    return group._replace(rows=check_rows(group.table, group.rows))


def _draft_table(
    table: str, members: Sequence[EventRows], operation: str, random_bytes: Callable[[int], bytes]
) -> tuple[TableDraft, list[EventBody]]:
    rows = members[0].rows if len(members) == 1 else pa.concat_tables([group.rows for group in members])
    rows = rows.combine_chunks()
    width = salt_width(table)
    salts = np.frombuffer(random_bytes(width * len(rows)), np.uint8).reshape(len(rows), width)
    buffer, offsets = encode_table(table, rows, salts)
    digests = commitments(table, buffer, offsets)
    made, start = [], 0
    for group in members:
        stop = start + len(group.rows)
        root = merkle_root(digests[start:stop])
        made.append(event_body(group.event_type, operation, table, root, stop - start))
        start = stop
    return TableDraft(table, rows, salts, buffer, offsets), made
