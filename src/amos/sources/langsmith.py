"""Read LangSmith runs: JSON lines, an array, or the pages of its interface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.sources.block import Batch
from amos.sources.call_messages import opened
from amos.sources.faults import Fault, lost
from amos.sources.mapped import table_or_json
from amos.sources.parts import text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_kind, one_record, opening_of
from amos.sources.traced import Step, StepLog

_MODEL = frozenset({"llm", "chat_model", "chat"})
_THREAD = ("session_id", "thread_id", "conversation_id")
_USER = ("user_id", "user", "ls_user_id")
_TAKEN = ("inputs", "outputs", "child_runs", "events", "serialized")


class LangSmithReader(Reader):
    """Keys: a chain of digests that begins at the thread and user of a run's metadata.

    A run is a record.  `session_id` of the run itself is its project, no thread.
    """

    name: ClassVar[str] = "langsmith"

    def __init__(self) -> None:
        self._steps = StepLog(self.name)

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See runs with a `run_type`."""
        if "run_type" in sample.keys and not {"inputs", "outputs", "dotted_order"}.isdisjoint(sample.keys):
            return Recognition(94, "runs with `run_type` and `inputs`")
        if "runs" in sample.keys and "run_type" in sample.all_keys:
            return Recognition(92, "a page of `runs`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the runs one by one, each before the runs inside it."""
        for record in table_or_json(stream, context):
            yield opening_of(record, form=self.name)
            if record.value is None:
                continue
            listed = record.value.get("runs")
            runs = listed if isinstance(listed, list) else [record.value]
            for place, run in enumerate(_with_inner(runs)):
                yield self._run(run, f"/{place}" if place else "", record, context)
        yield self._steps.ending(context)

    def _run(self, run: Any, place: str, record: Record, context: ReadContext) -> Batch:
        inside = Record(number=record.number, size=0, value={}, problems=[], flags=record.flags)
        if not isinstance(run, dict):
            said = f"{json_kind(run)} where a run belongs"
            problem = lost(context.file, record.number, Fault.WRONG_TYPE, said)
            return one_record([], [problem], form=self.name)
        return self._steps.batch(_step(run), inside, context, place)


def _with_inner(runs: list[Any]) -> Iterator[Any]:
    """Yield the runs and those inside them, which a tree of runs nests."""
    waiting = list(reversed(runs))
    while waiting:
        run = waiting.pop()
        yield run
        inner = run.get("child_runs") if isinstance(run, dict) else None
        if isinstance(inner, list):
            waiting.extend(reversed(inner))


def _step(run: dict[str, Any]) -> Step:
    extra = opened(run.get("extra"))
    metadata = opened(extra.get("metadata")) if isinstance(extra, dict) else None
    told = metadata if isinstance(metadata, dict) else {}
    parents = run.get("parent_run_id") or run.get("parent_run_ids")
    return Step(
        trace=text_or_none(run.get("trace_id")) or text_or_none(run.get("id")),
        is_model=text_or_none(run.get("run_type")) in _MODEL,
        is_root=not parents,
        asked=opened(run.get("inputs")),
        answered=opened(run.get("outputs")),
        user=_first_text(told, _USER),
        session=text_or_none(run.get("thread_id")) or _first_text(told, _THREAD),
        created=run.get("start_time"),
        rest=without(run, *_TAKEN),
    )


def _first_text(told: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_or_none(told.get(name)))), None)
