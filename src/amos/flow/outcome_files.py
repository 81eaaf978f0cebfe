"""Many outcomes at once: rows of a file or of a caller, recorded in parts; bad rows are told with why."""

from __future__ import annotations

import csv
import io
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from amos.errors import EngineError, InputError, UsageError
from amos.flow.outcome_told import Told, read_told
from amos.flow.recall import refresh
from amos.flow.recording import Recording
from amos.journal.store import Shard
from amos.retrieval.store import REFRESH_ROWS

_LOG = logging.getLogger(__name__)

PART_ROWS = 512
"""Outcomes of one commit."""
SHOWN_ERRORS = 200
"""Refused rows that are listed; all of them are counted."""
_SEPARATOR = ";"
"""Between the values of a list in a cell of CSV."""
_LISTS = ("label", "ref", "used", "corrected", "unhelpful", "missing")
Progress = Callable[[int, int], None]
Row = dict[str, Any]


class Line(NamedTuple):
    """One row of a file, by its number from 1: its fields, or why it cannot be read."""

    number: int
    fields: Mapping[str, Any] | EngineError


def record_rows(
    work: Recording,
    rows: str | Path | Iterable[Mapping[str, Any]],
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Row:
    """Record every row that can be; return the counts, and the refused rows with their reasons."""
    lines = read_lines(Path(rows)) if isinstance(rows, (str, Path)) else _numbered(rows)
    total = _Total()
    for start in range(0, len(lines), PART_ROWS):
        part = lines[start : start + PART_ROWS]
        told = [total.checked(line) for line in part]
        numbers = [line.number for line, one in zip(part, told, strict=True) if one is not None]
        results = work.record([one for one in told if one is not None], dry_run=dry_run, is_brief=True)
        for number, result in zip(numbers, results, strict=True):
            total.count(number, result)
        if progress is not None:
            progress(min(start + PART_ROWS, len(lines)), len(lines))
    if total.recorded and not dry_run:
        work.shard.tidy(now=work.now())
    if total.recorded >= REFRESH_ROWS and not dry_run:
        _store_index(work.shard)
    return {
        "rows": len(lines),
        **total.as_record(),
        "dry_run": dry_run,
        "graph_version": work.shard.head or None,
    }


def _store_index(shard: Shard) -> None:
    """Bring the stored index up to date, as readers would have to do each time; no answer depends on it."""
    try:
        refresh(shard, at_least=REFRESH_ROWS)
    except (OSError, EngineError) as cause:
        _LOG.warning("the index could not be stored", extra={"cause": str(cause)})


class _Total:
    """What became of the rows so far; every row is in exactly one count."""

    def __init__(self) -> None:
        self._fates: Counter[str] = Counter(recorded=0, known=0, refused=0)
        self._fed: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._errors: list[Row] = []

    def checked(self, line: Line) -> Told | None:
        """Return what a line says, None where it was refused."""
        try:
            if isinstance(line.fields, EngineError):
                raise line.fields
            return read_told(line.fields)
        except EngineError as cause:
            self._refuse(line.number, cause)
            return None

    def count(self, number: int, result: Row | EngineError) -> None:
        """Count what became of a row."""
        if isinstance(result, EngineError):
            self._refuse(number, result)
            return
        self._fates[result["status"]] += 1
        if result["status"] == "recorded":
            self._fed.update(item["kind"] for item in result["items"])
            self._fed["exposure"] += result["exposed"]

    @property
    def recorded(self) -> int:
        """How many outcomes were new."""
        return self._fates["recorded"]

    def _refuse(self, number: int, cause: EngineError) -> None:
        self._fates["refused"] += 1
        self._reasons[cause.code] += 1
        if len(self._errors) < SHOWN_ERRORS:
            self._errors.append(
                {"row": number, "code": cause.code, "message": str(cause), "path": cause.path}
            )

    def as_record(self) -> Row:
        """Return the counts and the refused rows."""
        return {
            **self._fates,
            "feedback": dict(sorted(self._fed.items())),
            "reasons": dict(self._reasons.most_common()),
            "errors": sorted(self._errors, key=lambda error: int(error["row"])),
            "errors_total": self._fates["refused"],
        }


def _numbered(rows: Iterable[Any]) -> list[Line]:
    return [
        Line(number, row if isinstance(row, Mapping) else InputError("no object", code="schema_invalid"))
        for number, row in enumerate(rows, 1)
    ]


def read_lines(path: Path) -> list[Line]:
    """Return the rows of a file of JSON lines, CSV or Parquet, by its ending.

    A line that is no object is a row with its reason.  Raises UsageError where there is no file, InputError
    when it cannot be read as a whole, or holds nothing.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file", path=str(path), advice="Check the path.")
    readers = {".csv": _csv_lines, ".parquet": _parquet_lines}
    lines = list(readers.get(path.suffix.lower(), _json_lines)(path))
    if not lines:
        raise InputError(f"{path}: there is no outcome in it", code="empty_file", path=str(path))
    return lines


def _json_lines(path: Path) -> Iterator[Line]:
    for number, raw in enumerate(path.read_bytes().splitlines(), 1):
        if not raw.strip():
            continue
        try:
            yield Line(number, msgspec.json.decode(raw, type=dict[str, Any]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as cause:
            yield Line(number, InputError(f"no JSON object: {cause}", code="schema_invalid"))


def _csv_lines(path: Path) -> Iterator[Line]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise InputError(f"{path} is no UTF-8 text", path=str(path)) from cause
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as cause:
            yield Line(rows.line_num, InputError(f"no row of a table: {cause}", code="schema_invalid"))
            return
        if None in row:
            problem = InputError("the row has more cells than the head", code="schema_invalid")
            yield Line(rows.line_num, problem)
            continue
        yield Line(rows.line_num, {name: _cell(name, value) for name, value in row.items()})


def _cell(name: str, value: str | None) -> Any:
    """Return the value of a cell; in columns of lists several values stand between semicolons."""
    is_list = any(word in name for word in _LISTS)
    return value.split(_SEPARATOR) if value and is_list else value


def _parquet_lines(path: Path) -> Iterator[Line]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as cause:
        raise InputError(f"{path} is no Parquet file: {cause}", path=str(path)) from cause
    yield from (Line(number, row) for number, row in enumerate(rows, 1))
