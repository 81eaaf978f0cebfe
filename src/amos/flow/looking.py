"""What a store answers: packets, searches, lists, reasons, tables, reports; nothing here writes to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from amos.clock import utc_now
from amos.flow.moments import (
    MONOTONIC,
    Moment,
    When,
    consistent,
    pin_moment,
    read_moment,
    split_moment,
)
from amos.flow.principal import Principal
from amos.flow.sight import Sight
from amos.identity import random_id
from amos.journal.store import Shard

if TYPE_CHECKING:
    import pyarrow as pa

    from amos.flow.look import Listed, Wanted
    from amos.flow.recall import Recall, SearchPage
    from amos.flow.story import Story
    from amos.packets.packet import Packet


class Looking:
    """The reading methods of an open store; what a method needs is imported when it is called."""

    shard: Shard
    principal: Principal
    scope: dict[str, str]

    def packet(self, *cues: str, record: bool = False, **options: Any) -> Packet:
        """Return one bounded, cited packet; options are the fields of a packet request.

        `at_version` or `known_at` ask a past state, `as_of` what held then, `min_version` for a version or a
        later one: see `moments.When`.  Times are ISO 8601 texts or datetimes; without a zone they are UTC.
        With record its receipt is kept in the shard's telemetry: references and scores, no text.
        """
        from amos.packets.request import read_request

        moment, fields = split_moment(options)
        request = read_request({"cues": cues, "scope": self.scope, **fields})
        now = utc_now()
        with self._recall(consistent(moment, request.consistency_requirement)) as recall:
            recall.wished_version = moment.min_version or 0
            found: Packet = recall.packet(request, packet_id=random_id(), now=now)
        if record:
            from amos.packets.store import record_receipt

            record_receipt(self.shard.folder, found, now)
        return found

    def packets(self, questions: Sequence[Mapping[str, Any]], **options: Any) -> Iterator[dict[str, Any]]:
        """Yield the items of one packet per question, as rows; one pinned version answers all.

        questions: objects with `qid`, `cues` and, if wanted, `scope`, `as_of`, `asked_at`.
        """
        from amos.flow.questions import answer_questions

        moment, fields = split_moment(options)
        wanted = fields.get("consistency_requirement", MONOTONIC)
        with self._recall(consistent(moment, wanted)) as recall:
            recall.wished_version = moment.min_version or 0
            yield from answer_questions(recall, questions, scope=self.scope, options=fields, now=utc_now())

    def search(self, text: str, *, limit: int = 20, cursor: str | None = None, **options: Any) -> SearchPage:
        """Return turns and claims that share words with `text`, best first, from `cursor` on."""
        from amos.flow.recall import cursor_version
        from amos.packets.request import read_request

        moment, fields = split_moment(options)
        request = read_request({"cues": (text,), "scope": self.scope, **fields})
        with self._recall(moment, None if cursor is None else cursor_version(cursor)) as recall:
            return recall.search(text, request, limit=limit, cursor=cursor, now=utc_now())

    def show(self, ref: str, **when: Unpack[When]) -> dict[str, Any]:
        """Return what a reference names: `found`, `item`, `omissions`.

        when: the moment asked about, as for `packet`.
        """
        from amos.flow.references import show_ref

        with self._sight(when) as sight:
            return show_ref(sight, ref)

    def list(self, wanted: Wanted | None = None, **when: Unpack[When]) -> Listed:
        """Return one page of what is stored, newest first; `when` as for `packet`.

        The kind `conflicts` lists refused commands.
        """
        from amos.flow.look import Wanted, list_rows
        from amos.flow.refused import KIND, list_conflicts

        wanted = wanted or Wanted()
        with self._sight(when) as sight:
            if wanted.kind == KIND:
                return list_conflicts(sight, self.shard.conflicts(), wanted.page, when)
            return list_rows(sight, wanted)

    def why(self, ref: str, **when: Unpack[When]) -> dict[str, Any]:
        """Return evidence, decision, lineage and events behind a row; `when` as for `packet`."""
        from amos.flow.why import why_ref

        with self._sight(when) as sight:
            return why_ref(sight, ref)

    def sql(self, query: str, **when: Unpack[When]) -> pa.Table:
        """Return the rows of one reading SQL statement over the tables in sight; `when` as for `packet`."""
        from amos.flow.sql import query_tables

        with self._sight(when) as sight:
            return query_tables(sight, query)

    def report_ingest(self) -> dict[str, Any]:
        """Return what the ingest runs have done, run by run and in total."""
        from amos.flow.report import report_ingest

        with self._sight() as sight:
            return report_ingest(sight, self.shard.runs())

    def runs(self) -> Sequence[dict[str, Any]]:
        """Return all runs, newest first, each with what it did; a narrowed caller is told of none."""
        from amos.flow.report import run_rows

        if self.scope:
            return []
        commits = (entry for page in self.shard.commit_pages(until=self.shard.head) for entry in page)
        return run_rows(self.shard.runs(), commits)

    def story(self) -> Story:
        """Return some claims that were kept, and one refused source for each telling reason."""
        from amos.flow.story import tell_story

        with self._sight() as sight:
            return tell_story(sight)

    def export(self, tables: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """Yield the rows in sight as plain objects, table by table."""
        from amos.flow.export import export_rows

        with self._sight() as sight:
            yield from export_rows(sight, tables, self.shard.holds())

    def recall(self) -> Recall:
        """Return the newest state as it is ranked; used as a context manager, one version answers all."""
        return self._recall(read_moment({}))

    @contextmanager
    def _sight(self, when: When | None = None) -> Iterator[Sight]:
        moment = read_moment(when or {})
        with pin_moment(self.shard, moment) as snapshot:
            yield Sight(snapshot=snapshot, now=utc_now(), as_of_us=moment.as_of_us, scope=self.scope)

    def _recall(self, moment: Moment, continued: int | None = None) -> Recall:
        from amos.flow.recall import Recall
        from amos.retrieval.visibility import NOBODY, OWNER

        snapshot = pin_moment(self.shard, moment, continued=continued)
        return Recall(self.shard, OWNER if self.principal.is_owner else NOBODY, snapshot=snapshot)
