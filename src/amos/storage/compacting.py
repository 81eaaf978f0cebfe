"""Merge neighbouring segments of a shard, each merge a step of its own."""

from __future__ import annotations

from collections.abc import Callable

from amos.schemas.catalog import SegmentEntry
from amos.storage.care import Care
from amos.storage.catalog import Catalog
from amos.storage.commit_log import CommitLog
from amos.storage.tiers import planned

Done = list[tuple[list[SegmentEntry], SegmentEntry | None]]
"""Runs of segments, and what each became."""


def compact_segments(
    catalog: Catalog,
    log: CommitLog,
    care: Care,
    most: int,
    now_us: int,
    progress: Callable[[int, int], None] | None,
    require: Callable[[], None],
) -> Done:
    """Merge until each table has at most `most` segments; return what was merged.

    A run that another process changed meanwhile is left as it is.  require: raises inside the transaction
    when this process may not go on.
    """
    if not planned(catalog.segments(), most):
        return []
    log.seal_all()  # hot rows may lie between two segments
    runs = planned(catalog.segments(), most)
    done: Done = []
    for place, run in enumerate(runs):
        made = log.merged(run)
        try:
            with catalog.writing("compact"):
                is_sound = log.are_named(run)
                require()
                if is_sound:
                    log.replace(made, care, now_us)
        except BaseException:
            log.discard(made.new)
            raise
        if is_sound:
            done.append((run, made.new[0] if made.new else None))
        else:
            log.discard(made.new)
        if progress is not None:
            progress(place + 1, len(runs))
    return done
