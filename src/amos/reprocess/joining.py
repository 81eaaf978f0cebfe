"""The methods of an open store that join entities; what one needs is imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amos.clock import utc_now
from amos.flow.principal import Principal
from amos.journal.store import Shard

if TYPE_CHECKING:
    from amos.reprocess.merging import Merging

Row = dict[str, Any]


class Joining:
    """Merge and split entities, and take them out of use."""

    shard: Shard
    principal: Principal

    def merge(self, ref: str, into: str, *, note: str = "", dry_run: bool = False) -> Row:
        """Declare the entity `ref` to be the entity `into`: its claims follow, and so do later ones.

        Returns how many claims moved.  Raises UsageError when the two cannot be one: they belong to different
        authors or scopes, one is no person, or they are one already.
        """
        return self._work().run("merge", ref, into, note, dry_run=dry_run)

    def split(self, ref: str, *, note: str = "", dry_run: bool = False) -> Row:
        """Take back that the entity `ref` was merged; its claims return to it.

        Raises UsageError if it was not.
        """
        return self._work().run("split", ref, None, note, dry_run=dry_run)

    def deprecate(self, ref: str, *, note: str = "", undo: bool = False, dry_run: bool = False) -> Row:
        """Declare the entity `ref` out of use, or with undo in use again; its claims stay.

        Returns whether rows still name it: as long as any does, its reference works.  Raises UsageError if it
        is so already.
        """
        from amos.flow.policies import rules_of
        from amos.reprocess.retiring import Retiring

        work = Retiring(shard=self.shard, actor=self.principal.name, rules=rules_of(self.shard), now=utc_now)
        return work.run(ref, note, is_undone=undo, dry_run=dry_run)

    def _work(self) -> Merging:
        from amos.flow.policies import rules_of
        from amos.reprocess.merging import Merging

        return Merging(shard=self.shard, actor=self.principal.name, rules=rules_of(self.shard), now=utc_now)
