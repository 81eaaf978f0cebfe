"""Many questions at once: one packet each, printed as one row per item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from amos.clock import from_us
from amos.errors import InputError, UsageError
from amos.flow.instants import instant_us
from amos.flow.recall import Recall
from amos.identity import random_id
from amos.packets.packet import Packet
from amos.packets.request import PacketRequest, read_request

PACKET_ROWS = pa.schema(
    [
        pa.field("qid", pa.string(), nullable=False),
        pa.field("packet_id", pa.string(), nullable=False),
        pa.field("rank", pa.int32(), nullable=False),
        pa.field("item_kind", pa.string(), nullable=False),
        pa.field("atom_id", pa.string()),
        pa.field("source_id", pa.string()),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("components", pa.string(), nullable=False),
        pa.field("statement", pa.string(), nullable=False),
        pa.field("excerpt", pa.string()),
    ]
)
"""Rows of `packets -o`; `components` is JSON."""

_AT_ONCE = 256
"""Questions whose rows are looked up together."""
_FIELDS = {"qid", "cues", "scope", "as_of", "asked_at"}


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a file of questions; `asked_at` is the instant at which it is asked."""

    qid: str
    cues: list[str]
    scope: dict[str, str] = {}
    as_of: str | None = None
    asked_at: str | None = None


def read_questions(path: Path) -> list[dict[str, Any]]:
    """Return the questions of a JSON lines file, checked.

    Raises UsageError when there is no file, InputError naming the first line that does not fit.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file", path=str(path), advice="Check the path.")
    questions = [
        _read_line(path, number, line)
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
        if line.strip()
    ]
    if not questions:
        raise InputError(f"{path}: there is no question in it", code="empty_file", path=str(path))
    return questions


def _read_line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(line)
        found = msgspec.convert(fields, Question)
        unknown = sorted(set(fields) - _FIELDS)
        if unknown:
            raise msgspec.ValidationError(f"the field {unknown[0]!r} is unknown")
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise InputError(
            f"{path}:{number}: {cause}",
            path=str(path),
            advice='Each line is an object such as {"qid": "q1", "cues": ["favourite tea"]}.',
        ) from cause
    return dict(msgspec.to_builtins(found))


def answer_questions(
    recall: Recall,
    questions: Iterable[Mapping[str, Any]],
    *,
    scope: Mapping[str, str],
    options: Mapping[str, Any],
    now: datetime,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one packet per question, in the order of the questions.

    scope: of every question; a question may only add to it.  options: further request fields.
    """
    every = list(questions)
    recall.expect(len(every))
    for low in range(0, len(every), _AT_ONCE):
        asked = [_asked(one, scope, options, now) for one in every[low : low + _AT_ONCE]]
        recall.look_ahead([(request, moment) for _, request, moment in asked])
        for qid, request, moment in asked:
            yield from _rows(qid, recall.packet(request, packet_id=random_id(), now=moment))


def _asked(
    question: Mapping[str, Any], scope: Mapping[str, str], options: Mapping[str, Any], now: datetime
) -> tuple[str, PacketRequest, datetime]:
    """Return the id of a question, its request, and when it is asked."""
    asked = question.get("asked_at")
    moment = now if asked is None else from_us(instant_us(asked, "asked_at"))
    fields: dict[str, Any] = {"cues": tuple(question["cues"]), **options}
    fields["scope"] = _joined(scope, question.get("scope") or {})
    if question.get("as_of") is not None:
        fields["as_of_us"] = instant_us(question["as_of"], "as_of")
    return str(question["qid"]), read_request(fields), moment


def _joined(given: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    for name, value in own.items():
        if given.get(name, value) != value:
            raise UsageError(
                f"a question asks for {name} {value!r} outside the given scope", code="scope_denied"
            )
    return {**given, **own}


def _rows(qid: str, packet: Packet) -> Iterator[dict[str, Any]]:
    for item in packet.items:
        yield {
            "qid": qid,
            "packet_id": packet.packet_id,
            "rank": item.rank,
            "item_kind": item.item_kind,
            "atom_id": item.atom_id,
            "source_id": item.source_id,
            "score": item.score,
            "components": item.score_components,
            "statement": item.statement,
            "excerpt": item.evidence[0].excerpt if item.evidence else None,
        }


def packet_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return rows of `answer_questions` as PACKET_ROWS."""
    plain = [{**row, "components": msgspec.json.encode(row["components"]).decode()} for row in rows]
    return pa.Table.from_pylist(plain, schema=PACKET_ROWS)


def write_table(table: pa.Table, path: Path) -> None:
    """Write `table` as Parquet to `path`, which appears only when it is whole."""
    import pyarrow.parquet as pq

    from amos.copies.store import drafting

    with drafting(path) as draft:
        pq.write_table(table, draft, compression="zstd")
