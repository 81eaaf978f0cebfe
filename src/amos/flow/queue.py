"""What a store tells and asks its reviewers: the queue, one case, a decision, the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from amos.clock import utc_now
from amos.flow.looking import Looking
from amos.flow.moments import When, split_moment
from amos.identity import random_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amos.flow.look import Listed
    from amos.flow.paging import PageRequest
    from amos.flow.review_cases import QueueFilter
    from amos.flow.review_expire import Expiring
    from amos.flow.review_show import Desk
    from amos.flow.sight import Sight


class Queue(Looking):
    """The methods of an open store that are about review; what a method needs is imported when called."""

    def review(
        self, wanted: QueueFilter | None = None, page: PageRequest | None = None, **when: Unpack[When]
    ) -> Listed:
        """Return one page of what waits for a person, the longest waiting first; `when` as for `packet`."""
        from amos.flow.paging import PageRequest
        from amos.flow.review_cases import QueueFilter
        from amos.flow.review_show import list_queue

        with self._sight(when) as sight:
            return list_queue(self._desk(sight), wanted or QueueFilter(), page or PageRequest())

    def show_review(self, ref: str, **when: Unpack[When]) -> dict[str, Any]:
        """Return what a reviewer needs to decide on a case: evidence in context, what it would change."""
        from amos.flow.review_show import show_case

        with self._sight(when) as sight:
            return show_case(self._desk(sight), ref)

    def decide(self, verdict: str, *refs: str, dry_run: bool = False, **options: Any) -> dict[str, Any]:
        """Approve, edit, reject or defer what is named, or what `wanted` finds, in one commit.

        options: `wanted`, a filter of the queue; `note`, why; `text`, `value` or `referent`, what edit says;
        `until_us`, the new deadline of defer; `seen`, the graph version that was looked at; `key`: repeating
        it with the same request returns the first answer.
        Raises BusyError when a single case was decided or what it rests on has moved, InputError when it may
        not be decided, UsageError when the request makes no sense.
        """
        from amos.flow.policies import rules_of
        from amos.flow.review import Reviewing, ReviewRequest
        from amos.flow.review_words import Words

        said = {name: options.pop(name) for name in ("note", "text", "value", "referent") if name in options}
        request = ReviewRequest(verdict=verdict, refs=refs, words=Words(**said), **options)
        work = Reviewing(
            shard=self.shard,
            actor=self.principal.name,
            run_id=random_id(),
            rules=rules_of(self.shard),
            now=utc_now,
            scope=self.scope,
        )
        report = work.decide(request, dry_run=dry_run)
        if not dry_run:
            self.expire_due()
        return report

    def expire(self, *, dry_run: bool = False, wait_seconds: float = 10) -> dict[str, Any]:
        """Purge what has passed its deadline without a decision; return what went.

        The claims go from every file, their words stay in the messages; a withheld message stays withheld.
        wait_seconds: for readers that still hold files.  Raises InputError when a legal hold is against it.
        """
        return self._expiring(wait_seconds, self.scope).expire(dry_run=dry_run)

    def expire_due(self) -> None:
        """Purge what has expired, at most once a day: called at the end of runs that write."""
        from amos.flow.due import may_have_expired
        from amos.flow.policies import policy_of

        if may_have_expired(self.shard, utc_now(), days=policy_of(self.shard).quarantine.days):
            from amos.flow.review_expire import expire_quietly

            expire_quietly(self._expiring(0, {}))

    def _expiring(self, wait_seconds: float, scope: Mapping[str, str]) -> Expiring:
        from amos.flow.policies import policy_of
        from amos.flow.review_expire import Expiring

        return Expiring(
            shard=self.shard,
            actor=self.principal.name,
            run_id=random_id(),
            policy=policy_of(self.shard),
            now=utc_now,
            scope=scope,
            wait_seconds=wait_seconds,
        )

    def choose_policy(self, path: str | Path) -> bool:
        """Let the admission policy in a TOML file decide from now on; return whether that changed anything.

        Raises InputError and SchemaError for a policy that cannot be read.
        """
        from amos.flow.policies import choose_policy

        return choose_policy(self.shard, path, actor=self.principal.name, now=utc_now())

    def policy(self) -> dict[str, Any]:
        """Return the admission policy that decides: name, digest and text, since when, by which record."""
        from amos.flow.policies import shown_policy

        return shown_policy(self.shard)

    def report_review(
        self, *, limit: int | None = None, is_full: bool = False, **when: Unpack[When]
    ) -> dict[str, Any]:
        """Return what waits in figures, what people decided, and up to `limit` cases, the oldest first.

        is_full: each case with its words in context, as `show_review` tells it.
        """
        from amos.flow.review_report import MOST_CASES, report_review

        with self._sight(when) as sight:
            return report_review(self._desk(sight), limit=limit or MOST_CASES, is_full=is_full)

    def lineage(self, ref: str, **when: Unpack[When]) -> dict[str, Any]:
        """Return the history of a value: what was claimed of its property, and what gave way to what."""
        from amos.flow.lineage import lineage_of

        with self._sight(when) as sight:
            return lineage_of(sight, ref)

    def prov(self, ref: str, **when: Unpack[When]) -> dict[str, Any]:
        """Return every step that led to a row: stage, version, what it used, who ran it; and as PROV."""
        from amos.flow.prov import prov_of

        with self._sight(when) as sight:
            return prov_of(sight, ref)

    def why_not(self, ref: str, *cues: str, **options: Any) -> dict[str, Any]:
        """Return the gate that keeps `ref` out of the packet that these cues and options ask for."""
        from amos.flow.sight import Sight
        from amos.flow.why_not import Asked, why_not
        from amos.packets.request import read_request

        moment, fields = split_moment(options)
        request = read_request({"cues": cues, "scope": self.scope, **fields})
        now = utc_now()
        with self._recall(moment) as recall:
            sight = Sight(snapshot=recall.snapshot, now=now, as_of_us=request.as_of_us, scope=self.scope)
            return why_not(Asked(recall=recall, sight=sight, request=request, now=now), ref)

    def _desk(self, sight: Sight) -> Desk:
        from amos.flow.policies import policy_of
        from amos.flow.review_show import Desk

        return Desk(sight=sight, key=self.shard.key, policy=policy_of(self.shard))
