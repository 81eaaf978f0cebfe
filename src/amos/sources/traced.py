"""The steps of a traced run: calls of a model, and what went on around them."""

from __future__ import annotations

from typing import Any, NamedTuple

from amos.sources.block import Batch
from amos.sources.call_messages import alternatives_in, messages_in, words_in
from amos.sources.calls import CallLog
from amos.sources.faults import Fault, noted
from amos.sources.openai_calls import Call, tool_names
from amos.sources.openai_content import chain_text
from amos.sources.reader import ReadContext
from amos.sources.records import Record, one_record


class Step(NamedTuple):
    """One observation or run: what went in and came out, and whose it was."""

    trace: str | None
    is_model: bool
    is_root: bool
    asked: Any
    answered: Any
    user: str | None
    session: str | None
    created: Any
    rest: dict[str, Any]


class StepLog:
    """The steps of one input.  Read are calls of a model and steps that are given messages.

    A root step with a plain question counts where no step of its trace gave messages before; all
    other steps are left out and counted.
    """

    def __init__(self, form: str) -> None:
        self._form = form
        self._log = CallLog(form, is_system_apart=True)
        self._told: set[str] = set()
        self._left_out = 0

    def batch(self, step: Step, record: Record, context: ReadContext, place: str = "") -> Batch:
        """Return the messages that `step` adds."""
        call = self._call(step)
        if call is None:
            self._left_out += 1
            return Batch(blocks=[], problems=record.problems, record_count=0, format=self._form)
        blocks = self._log.blocks(call, record, context, place)
        return one_record(blocks, record.problems, form=self._form)

    def ending(self, context: ReadContext) -> Batch:
        """Return the note that says how many steps were left out since the last one."""
        said = f"{self._left_out} step(s) around the calls of a model; left out"
        problems = [noted(context.file, 0, Fault.LEFT_OUT, said)] if self._left_out else []
        self._left_out = 0
        return Batch(blocks=[], problems=problems, record_count=0, format=self._form)

    def _call(self, step: Step) -> Call | None:
        request = messages_in(step.asked)
        choices = alternatives_in(step.answered)
        is_sequence = not choices
        if is_sequence:
            choices = messages_in(step.answered)
        if not request and not (step.is_model and choices):
            if not step.is_model and not (step.is_root and step.trace not in self._told):
                return None
            request, choices = _plain(step, choices)
        elif request and _words(choices[: len(request)]) == _words(request):
            choices = choices[len(request) :]  # a state comes back whole
        if not choices and (word := words_in(step.answered)) and step.is_model:
            choices = [{"role": "assistant", "content": word}]
        if not request and not choices:
            return None
        if step.trace is not None:
            self._told.add(step.trace)
        return Call(
            request=request,
            choices=choices,
            declared=(step.user, step.session),
            created=step.created,
            tools=tool_names([*request, *choices]),
            rest=step.rest,
            conversation=step.session,
            is_sequence=is_sequence,
            is_scoped=True,
        )


def _words(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(str(message.get("role")), chain_text(message)) for message in messages]


def _plain(step: Step, choices: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return question and answer of a step that is given words instead of messages."""
    asked, answered = words_in(step.asked), words_in(step.answered)
    request = [{"role": "user", "content": asked}] if asked else []
    if not choices and answered and (asked or step.is_model):
        choices = [{"role": "assistant", "content": answered}]
    return request, choices
