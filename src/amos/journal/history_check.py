"""Go through commits, events and rows side by side, from the first commit on, in flat memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amos.journal.catalog_check import Kept
from amos.journal.chain_check import ChainCheck, Mark
from amos.journal.findings import Problem, VerifyReport
from amos.journal.promises import Promised, Stated, Taking, promised_by_table
from amos.journal.row_check import check_rows_of, check_taken
from amos.journal.rows import stored
from amos.journal.streams import GroupSource, RowStream
from amos.schemas.catalog import CommitEntry, ErasedColumns, Layout, SegmentEntry
from amos.schemas.state import TABLES

Array = npt.NDArray[Any]
ROW_TABLES = tuple(name for name in TABLES if name != "events")


class HistorySource(GroupSource, Protocol):
    """What a walk through the history reads of a shard."""

    def commit_pages(self, *, until: int) -> Iterator[list[CommitEntry]]:
        """Yield the commits, oldest first, in lists."""
        ...

    def erased_columns(self, table: str) -> ErasedColumns:
        """Return the rows of a table that are gone."""
        ...

    def erased_tables(self) -> list[str]:
        """Return the names under which rows are noted as gone."""
        ...


class Walked(NamedTuple):
    """What the walk leaves for later checks."""

    marks: dict[int, Mark]
    events: int
    root: bytes
    taking: list[Taking]
    kept: Kept


class HistoryCheck:
    """One walk through a shard.  `sound`: segments whose files are what was sealed.

    is_whole: rows of sealed segments are recomputed too, not only those that the catalog holds itself.
    """

    def __init__(
        self,
        source: HistorySource,
        layout: Layout,
        sound: Sequence[SegmentEntry],
        report: VerifyReport,
        progress: Callable[[str, int, int], None],
        *,
        is_whole: bool,
    ) -> None:
        self._progress = progress
        self._source, self._layout, self._report, self._is_whole = source, layout, report, is_whole
        chosen = sound if is_whole else []
        self._rows = {table: RowStream(source, table, chosen, layout.hot, report.add) for table in ROW_TABLES}
        self._events = RowStream(source, "events", sound, layout.hot, report.add)
        self._erased = {table: source.erased_columns(table) for table in ROW_TABLES}
        self._promised = dict.fromkeys(ROW_TABLES, 0)
        self._hot = {
            table: np.array([one.graph_version for one in layout.hot if one.table == table], np.int64)
            for table in ROW_TABLES
        }
        self._taking: list[Taking] = []

    def walk(self, watched: Collection[int]) -> Walked:
        """Check everything; problems go to the report."""
        chain, kept = ChainCheck(watched), Kept()
        for commits in self._source.commit_pages(until=self._layout.head):
            self._report.checked["commits"] += len(commits)
            last = commits[-1].graph_version
            first_event = chain.events + 1
            with self._report.timed("links", "events") as phase:
                events = pa.concat_tables([stored("events").empty_table(), *self._events.until(last)])
                payloads = Stated(events.column("payload"))
                self._report.problems += chain.check(commits, events, payloads)
                phase.done += len(events)
                kept.add(events)
                promised, taking, problems = promised_by_table(events, first_event, payloads)
            self._report.problems += problems
            self._taking += taking
            self._check_rows(promised, last)
            self._progress("rows" if self._is_whole else "links", last, self._layout.head)
        self._report.checked["events"] = self._events.rows_read
        for rows in self._events.rest():
            versions = sorted(set(rows.column("graph_version").to_pylist()))
            for version in versions:
                self._report.add(
                    "event_without_commit", f"version {version}", "events stand where no commit is logged"
                )
        self._check_rest()
        return Walked(chain.marks, chain.events, chain.tree.root(), self._taking, kept)

    def _check_rows(self, promised: dict[str, Promised], last: int) -> None:
        for table, all_said in promised.items():
            if table not in self._rows:
                self._report.add("event_changed", f"events up to commit {last}", f"there is no table {table}")
                continue
            self._promised[table] += int(all_said.rows.sum())
        with self._report.timed("rows", "rows") as phase:
            for table, stream in self._rows.items():
                before = stream.rows_read
                if (said := promised.get(table)) is not None:
                    chosen = said if self._is_whole else self._in_catalog(table, said)
                    erased = self._erased[table]
                    self._report.problems += check_rows_of(table, chosen, stream.until, erased, last)
                else:
                    self._report.problems += _unpromised(table, stream, last)
                phase.done += stream.rows_read - before
                self._report.checked["rows"] += stream.rows_read - before

    def _in_catalog(self, table: str, said: Promised) -> Promised:
        """Return what is said of the commits whose rows the catalog holds itself."""
        return said.chosen(np.flatnonzero(np.isin(said.versions, self._hot[table])))

    def _check_rest(self) -> None:
        """Check what is told by no commit, the rows that are gone, and the counts of sealed rows."""
        for table, stream in self._rows.items():
            self._report.problems += _unpromised(table, stream, 2**62)
            erased = self._erased[table]
            taking = [event for event in self._taking if event.table == table]
            self._report.problems += check_taken(table, erased, taking)
            if len(erased.places):
                self._report.checked["erased"] = self._report.checked.get("erased", 0) + len(erased.places)
            self._report.problems += self._count(table, len(erased.places))
        for table in sorted(set(self._source.erased_tables()) - set(ROW_TABLES)):
            self._report.add("erased_rows_changed", table, "rows are gone from a table that is none")

    def _count(self, table: str, gone: int) -> Iterator[Problem]:
        sealed = sum(entry.row_count for entry in self._layout.segments if entry.table == table)
        hot = sum(entry.row_count for entry in self._layout.hot if entry.table == table)
        if sealed + hot + gone != self._promised[table]:
            detail = f"{sealed} sealed, {hot} hot and {gone} erased rows, events say {self._promised[table]}"
            yield Problem("rows_missing", table, detail)


def _unpromised(table: str, stream: RowStream, until: int) -> Iterator[Problem]:
    count = sum(len(rows) for rows in stream.until(until))
    if count:
        yield Problem("rows_changed", table, f"{count} rows stand where no event promises them")
