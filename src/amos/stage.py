"""Declare what a pure stage reads and writes, and check it at every call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from amos.errors import SchemaError

REGISTRY: dict[str, Stage] = {}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A registered stage: its qualified name, the schemas per table parameter, its version."""

    name: str
    reads: Mapping[str, pa.Schema]
    writes: pa.Schema
    version: int
    function: Callable[..., pa.Table]


def _require(name: str, part: str, table: object, schema: pa.Schema) -> None:
    if not isinstance(table, pa.Table):
        raise SchemaError(f"{name}: {part} is {type(table).__name__}, not an Arrow table")
    if table.schema.equals(schema):
        return
    if table.schema.names != schema.names or table.schema.types != schema.types:
        wanted = ", ".join(f"{field.name} {field.type}" for field in schema)
        found = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        raise SchemaError(f"{name}: {part} has columns ({found}), expected ({wanted})")


def stage(
    *, reads: pa.Schema | Mapping[str, pa.Schema], writes: pa.Schema, version: int
) -> Callable[[Callable[..., pa.Table]], Callable[..., pa.Table]]:
    """Register a pure function of Arrow tables; `reads` maps table parameters to schemas.

    A single schema stands for the first parameter.  Raise `version` when results change.
    The wrapped function raises SchemaError when a table does not fit its declaration.
    """

    def declare(function: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
        signature = inspect.signature(function)
        first = next(iter(signature.parameters))
        tables = dict(reads) if isinstance(reads, Mapping) else {first: reads}
        name = f"{function.__module__}.{function.__name__}"

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> pa.Table:
            bound = signature.bind(*args, **kwargs)
            for parameter, schema in tables.items():
                _require(name, parameter, bound.arguments[parameter], schema)
            result = function(*args, **kwargs)
            _require(name, "the result", result, writes)
            return result

        REGISTRY[name] = Stage(name=name, reads=tables, writes=writes, version=version, function=checked)
        return checked

    return declare
