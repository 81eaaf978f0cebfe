"""A mapping file: which column of a table is which field of a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from amos.errors import InputError, UsageError
from amos.sources.line import Line, Scope

_SCOPE_NAMES = frozenset(field.name for field in msgspec.structs.fields(Scope))
_FIELD_NAMES = frozenset(field.name for field in msgspec.structs.fields(Line)) - {"context", "scope"}


class Mapping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to read a table.

    name: the system that the ids come from; part of every identity.  fields: message field to
    column, dots leading into nested objects.  scope: scope field to column.  constants: message
    field to value, where no column says it.  values: message field to (word in the table, ours).
    """

    name: str
    fields: dict[str, str]
    scope: dict[str, str] = {}
    constants: dict[str, Any] = {}
    values: dict[str, dict[str, Any]] = {}
    kind: Literal["csv", "tsv", "json", "parquet"] | None = None
    delimiter: str | None = None


def load_mapping(path: Path) -> Mapping:
    """Return the mapping in the TOML file `path`.

    Raises UsageError when there is no such file, InputError when it is no such mapping.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such mapping file", path=str(path)) from None
    except OSError as cause:
        raise _refuse(path, cause.strerror or str(cause)) from None
    try:
        mapping = msgspec.toml.decode(raw, type=Mapping)
    except (msgspec.DecodeError, ValueError) as cause:
        raise _refuse(path, str(cause)) from None
    _check(mapping, path)
    return mapping


def _check(mapping: Mapping, path: Path) -> None:
    named = {*mapping.fields, *mapping.constants, *mapping.values}
    unknown = sorted(named - _FIELD_NAMES) + sorted(set(mapping.scope) - _SCOPE_NAMES)
    if unknown:
        raise _refuse(path, f"no field is called {unknown[0]!r}; there are {', '.join(sorted(_FIELD_NAMES))}")
    if "text" not in mapping.fields:
        raise _refuse(path, "`fields` does not say which column is the `text`")
    if not mapping.name:
        raise _refuse(path, "`name` is empty; it tells ids of this system from those of others")
    if mapping.delimiter is not None and len(mapping.delimiter) != 1:
        raise _refuse(path, "`delimiter` is not one character")


def _refuse(path: Path, message: str) -> InputError:
    return InputError(
        f"{path}: {message}",
        code="schema_invalid",
        path=str(path),
        advice='Give a `name` and a table `fields`, for example: text = "body".',
    )
