"""Read OpenTelemetry traces and logs of model calls: OTLP JSON with `gen_ai` attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch, Block
from amos.sources.call_messages import messages_in, opened
from amos.sources.calls import CallLog
from amos.sources.decoding import extra_json
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.keys import digest_key, join_key
from amos.sources.openai_calls import Call, tool_names
from amos.sources.otel_values import attribute_events, attributes_of, indexed_messages
from amos.sources.parts import set_time, text_or_none, without
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import Record, json_documents, json_kind, one_record, opening_of

_CONTAINERS = {
    "resourceSpans": ("scopeSpans", "spans"),
    "resource_spans": ("scope_spans", "spans"),
    "resourceLogs": ("scopeLogs", "logRecords"),
    "resource_logs": ("scope_logs", "log_records"),
}
_SESSION = ("gen_ai.conversation.id", "session.id", "langfuse.session.id", "thread.id", "thread_id")
_USER = ("user.id", "enduser.id", "langfuse.user.id", "gen_ai.user.id")
_SPOKEN = ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages")
_OLDER = ("gen_ai.prompt", "gen_ai.completion")
_NANO = 1_000


class OtelReader(Reader):
    """Keys: a chain of digests that begins at the declared conversation and user.

    A span is a record: it gives the messages that no earlier one gave.  One of a model without a
    message is kept as a record; spans of anything else are left out, and that is said.
    """

    name: ClassVar[str] = "otel"

    def __init__(self) -> None:
        self._log = CallLog(self.name, is_system_apart=True)

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See `resourceSpans` or `resourceLogs`."""
        for name in _CONTAINERS:
            if name in sample.keys:
                return Recognition(95, f"OTLP JSON with `{name}`")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the spans and log records one by one."""
        other_count = 0
        for record in json_documents(stream, context):
            yield opening_of(record, form=self.name)
            if record.value is None:
                continue
            found = 0
            for place, (span, around) in enumerate(_spans(record.value), start=1):
                found += 1
                if isinstance(span, dict) and not _is_of_model(span):
                    other_count += 1
                    continue
                yield self._read(span, around, f"/{place}", record, context)
            if not found:
                problem = lost(context.file, record.number, Fault.WRONG_TYPE, "no spans and no log records")
                yield one_record([], [problem], form=self.name)
        if other_count:
            said = f"{other_count} span(s) of other work than calls of a model; left out"
            problem = noted(context.file, 0, Fault.LEFT_OUT, said)
            yield Batch(blocks=[], problems=[problem], record_count=0, format=self.name)

    def _read(
        self, span: Any, around: dict[str, Any], place: str, record: Record, context: ReadContext
    ) -> Batch:
        inside = Record(number=record.number, size=0, value={}, problems=[], flags=record.flags)
        if not isinstance(span, dict):
            said = f"{json_kind(span)} where a span belongs"
            problem = lost(context.file, record.number, Fault.WRONG_TYPE, said)
            return one_record([], [problem], form=self.name)
        call = _call(span, around)
        if call.messages:
            blocks = self._log.blocks(call, inside, context, place)
        else:
            blocks = [_record_block(span, call, f"{context.file}#{record.number}{place}", record.flags)]
        return one_record(blocks, inside.problems, form=self.name)


def _spans(value: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each span or log record, and what is said of the resource and scope that it came from."""
    for name, (inner, listed) in _CONTAINERS.items():
        for resource in _objects(value.get(name)):
            named = resource.get("resource")
            origin = attributes_of(named) if isinstance(named, dict) else {}
            for scope in _objects(resource.get(inner) or resource.get("instrumentationLibrarySpans")):
                told = scope.get("scope")
                around = without(
                    {"resource": origin, "scope": told.get("name") if isinstance(told, dict) else None}
                )
                spans = scope.get(listed)
                for span in spans if isinstance(spans, list) else []:
                    yield span, around


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_of_model(span: dict[str, Any]) -> bool:
    told = attributes_of(span)
    words = [*told, str(told.get("event.name")), str(span.get("eventName"))]
    return any(word.startswith("gen_ai.") for word in words)


def _call(span: dict[str, Any], around: dict[str, Any]) -> Call:
    """Return the call that `span` tells of, by attributes, by events or by numbered attributes."""
    told = attributes_of(span)
    body = span.get("body")
    events = attribute_events(span)
    request = [*messages_in({"system": told.get(_SPOKEN[0]), "messages": told.get(_SPOKEN[1])})]
    if not request and told.get(_SPOKEN[0]) is not None:
        request = messages_in([{"role": "system", "parts": opened(told[_SPOKEN[0]])}])
    request = request or events.asked or indexed_messages(told, _OLDER[0])
    choices = messages_in(told.get(_SPOKEN[2])) or events.answered or indexed_messages(told, _OLDER[1])
    rest = {**around, **without(span, "attributes", "events", *(("body",) if events.is_body_used else ()))}
    kept = {
        key: value
        for key, value in told.items()
        if key not in _SPOKEN and not key.startswith(tuple(f"{one}." for one in _OLDER))
    }
    if kept:
        rest["attributes"] = kept
    if events.rest:
        rest["events"] = events.rest
    if body is not None and not events.is_body_used:
        rest["body"] = body
    session = _first_text(told, _SESSION)
    return Call(
        request=request,
        choices=choices,
        declared=(_first_text(told, _USER), session),
        created=_written(span),
        tools=tool_names([*request, *choices]),
        rest=rest,
        conversation=session,
        is_scoped=True,
    )


def _first_text(told: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_or_none(told.get(name)))), None)


def _written(span: dict[str, Any]) -> Any:
    """Return when the span began, in seconds; what is no number stays as it is."""
    names = ("startTimeUnixNano", "start_time_unix_nano", "timeUnixNano", "time_unix_nano")
    written = next((span[name] for name in names if span.get(name) is not None), None)
    try:
        nanos = int(written) if isinstance(written, str | int) and not isinstance(written, bool) else 0
    except ValueError:
        return written
    return nanos // _NANO / 1_000_000 if nanos > 0 else None if written in (None, 0, "0") else written


def _record_block(span: dict[str, Any], call: Call, locator: str, flags: int) -> Block:
    """Return a span without a message: no bytes, everything in `extra`."""
    trace, own = (text_or_none(span.get(name)) for name in ("traceId", "spanId"))
    key = (trace or "", own) if own else (digest_key(("amos/span/1", extra_json(call.rest))),)
    block = Block(
        format=OtelReader.name,
        record_key=join_key("span", *key),
        conversation_key=call.conversation or trace or key[0],
        text="",
        turn=0,
        locator=locator,
        kind="record",
        role="record",
        trust="recall",
        is_owner=False,
        session=call.declared[1],
        scope_user=call.declared[0],
        flags=flags | int(SourceFlag.NOT_A_MESSAGE),
        extra=extra_json(call.rest),
    )
    instant: Instant = read_instant(call.created)
    set_time(block, instant)
    return block
