"""How the records of reviews are named: a format, a conversation per case, two blocks."""

from __future__ import annotations

from amos.identity import conversation_identity, id_text, keyed_id

FORMAT = "review"
"""Format of the sources that reviewers write."""
RECORD, WORDING = 0, 1
"""Blocks of a record: the decision with its note, and the wording of the claim."""


def conversation_of(table: str, identifier: bytes, key: bytes) -> bytes:
    """Return the id of the conversation that holds what reviewers said about a row."""
    return keyed_id(key, "conversations", conversation_identity(FORMAT, id_text(table, identifier)))
