"""Read Langfuse exports: observations and traces, as rows or as a downloaded trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.sources.block import Batch
from amos.sources.call_messages import opened
from amos.sources.faults import Fault, lost
from amos.sources.mapped import table_or_json
from amos.sources.parts import text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_kind, one_record, opening_of
from amos.sources.splitting import BOM
from amos.sources.traced import Step, StepLog

_TYPES = frozenset(
    {
        "GENERATION",
        "SPAN",
        "EVENT",
        "AGENT",
        "TOOL",
        "CHAIN",
        "RETRIEVER",
        "EVALUATOR",
        "EMBEDDING",
        "GUARDRAIL",
    }
)
_MODEL = frozenset({"GENERATION"})
_TAKEN = ("input", "output", "observations", "scores")
_UPPER = re.compile(r"(?<=[a-z0-9])([A-Z])")


class LangfuseReader(Reader):
    """Keys: a chain of digests that begins at the user and session that a row names.

    An observation is a record, and so is a trace that has none.  Scores are left out.
    """

    name: ClassVar[str] = "langfuse"

    def __init__(self) -> None:
        self._steps = StepLog(self.name)

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See observations with a trace, or a trace with its observations."""
        keys = {_snake(key) for key in sample.keys or _header(sample)}
        inner = {_snake(key) for key in sample.all_keys}
        if {"trace_id", "type", "start_time"} <= keys and _has_type(sample):
            return Recognition(92, "observations with `trace_id`, `type` and `start_time`")
        if "observations" in keys and ({"trace"} <= keys or {"timestamp", "id"} <= keys):
            return Recognition(92, "a trace with `observations`")
        if "data" in keys and {"trace_id", "parent_observation_id"} <= inner:
            return Recognition(90, "a page of observations under `data`")
        if {"timestamp", "session_id", "input", "output"} <= keys and not keys.isdisjoint(_OF_TRACE):
            return Recognition(91, "traces with `timestamp`, `session_id`, `input` and `output`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the observations one by one."""
        for record in table_or_json(stream, context):
            yield opening_of(record, form=self.name)
            if record.value is None:
                continue
            yield from self._rows(record.value, record, context)
        yield self._steps.ending(context)

    def _rows(self, value: dict[str, Any], record: Record, context: ReadContext) -> Iterator[Batch]:
        trace = value.get("trace") if isinstance(value.get("trace"), dict) else value
        assert isinstance(trace, dict)
        listed = value.get("observations")
        if isinstance(value.get("data"), list) and "input" not in value:
            trace, listed = {}, value["data"]
        if not isinstance(listed, list):
            yield self._row(value, {}, "", record, context)
            return
        whole = 0
        told = without(trace, *_TAKEN)
        for place, row in enumerate(listed, start=1):
            first = {**row, "trace": told} if told and not whole and isinstance(row, dict) else row
            batch = self._row(first, trace, f"/{place}", record, context)
            whole += len(batch.blocks)
            yield batch
        if not whole and trace:
            yield self._row({**without(trace, "observations"), "type": None}, {}, "/0", record, context)

    def _row(
        self, row: Any, trace: dict[str, Any], place: str, record: Record, context: ReadContext
    ) -> Batch:
        inside = Record(number=record.number, size=0, value={}, problems=[], flags=record.flags)
        if not isinstance(row, dict):
            said = f"{json_kind(row)} where an observation belongs"
            problem = lost(context.file, record.number, Fault.WRONG_TYPE, said)
            return one_record([], [problem], form=self.name)
        return self._steps.batch(_step(row, trace), inside, context, place)


_OF_TRACE = frozenset(
    {"project_id", "html_path", "latency", "bookmarked", "external_id", "release", "trace_id"}
)


def _header(sample: Sample) -> list[str]:
    """Return the columns of a CSV file."""
    if not sample.name.lower().endswith(".csv"):
        return []
    line = sample.head.removeprefix(BOM).split(b"\n", 1)[0].decode(errors="replace")
    return [name.strip().strip('"') for name in line.split(",")]


def _has_type(sample: Sample) -> bool:
    return not sample.objects or any(row.get("type") in _TYPES for row in sample.objects)


def _snake(name: str) -> str:
    return _UPPER.sub(r"_\1", name).lower()


def _step(row: dict[str, Any], trace: dict[str, Any]) -> Step:
    told = {_snake(name): value for name, value in row.items()}
    above = {_snake(name): value for name, value in trace.items()}
    kind = text_or_none(told.get("type"))
    own = text_or_none(told.get("id"))
    return Step(
        trace=text_or_none(told.get("trace_id")) or (own if kind is None else text_or_none(above.get("id"))),
        is_model=kind in _MODEL,
        is_root=kind is None or not told.get("parent_observation_id"),
        asked=opened(told.get("input")),
        answered=opened(told.get("output")),
        user=text_or_none(told.get("user_id")) or text_or_none(above.get("user_id")),
        session=text_or_none(told.get("session_id")) or text_or_none(above.get("session_id")),
        created=_first(told, "start_time", "timestamp", "created_at"),
        rest=without(row, *_TAKEN),
    )


def _first(told: dict[str, Any], *names: str) -> Any:
    return next((told[name] for name in names if told.get(name) is not None), None)
