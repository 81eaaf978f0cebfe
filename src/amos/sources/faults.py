"""Codes of what can be wrong with a record or a file, and the rows that say so."""

from __future__ import annotations

from enum import StrEnum

from amos.sources.block import Problem


class Fault(StrEnum):
    """Why a record was lost, or what was changed or left out while reading it."""

    INVALID_JSON = "invalid_json"
    TRUNCATED = "truncated"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    WRONG_TYPE = "wrong_type"
    MISSING_ID = "missing_id"
    SCHEMA_INVALID = "schema_invalid"
    TENANT_BOUNDARY = "tenant_boundary"
    DUPLICATE_KEY = "duplicate_key"
    SURROGATE_REPLACED = "surrogate_replaced"
    INVALID_UTF8 = "invalid_utf8"
    NOT_FINITE = "not_finite"
    TIME_INVALID = "time_invalid"
    UNKNOWN_ROLE = "unknown_role"
    UNKNOWN_CONTENT = "unknown_content"
    BROKEN_THREAD = "broken_thread"
    UNKNOWN_FORMAT = "unknown_format"
    UNREADABLE = "unreadable"
    EMPTY_FILE = "empty_file"
    REFUSED_MEMBER = "refused_member"
    FOLDER_LOOP = "folder_loop"
    STORE_FOLDER = "store_folder"
    OWN_EXPORT = "own_export"
    SKIPPED_FILES = "skipped_files"
    LEFT_OUT = "left_out"


NOTES = frozenset({Fault.SKIPPED_FILES, Fault.LEFT_OUT, Fault.STORE_FOLDER})
"""Codes that only account for what is no transcript; never a reason to doubt an import."""


class UnreadableRecordError(Exception):
    """One record cannot be read; readers turn it into a lost Problem and go on."""

    def __init__(self, code: Fault, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def lost(file: str, record: int, code: Fault, message: str) -> Problem:
    """Return the row for a record of which nothing could be kept."""
    return Problem(file=file, record=record, code=code.value, message=message, is_lost=True)


def noted(file: str, record: int, code: Fault, message: str) -> Problem:
    """Return the row for a record that was read with a change or a gap."""
    return Problem(file=file, record=record, code=code.value, message=message, is_lost=False)
