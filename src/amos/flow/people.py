"""The methods of an open store about who is meant; what one needs is imported when it is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from amos.clock import utc_now
from amos.flow.moments import When, pin_moment, read_moment
from amos.flow.sight import Sight
from amos.journal.store import Shard


class People:
    """List and show entities."""

    shard: Shard
    scope: dict[str, str]

    def entities(
        self, *, kinds: Iterable[str] = (), text: str | None = None, **when: Unpack[When]
    ) -> list[dict[str, Any]]:
        """Return entities with labels and counts; kinds, text: only of these kinds, and called so."""
        from amos.flow.entity_rows import entity_rows

        moment = read_moment(when)
        with pin_moment(self.shard, moment) as snapshot:
            sight = Sight(snapshot=snapshot, now=utc_now(), as_of_us=moment.as_of_us, scope=self.scope)
            return entity_rows(sight, self.shard.key, kinds, text)

    def entity(self, ref: str, **when: Unpack[When]) -> dict[str, Any]:
        """Return one entity, what is claimed of it, and the mentions that mean it."""
        from amos.flow.entity_rows import show_entity

        moment = read_moment(when)
        with pin_moment(self.shard, moment) as snapshot:
            sight = Sight(snapshot=snapshot, now=utc_now(), as_of_us=moment.as_of_us, scope=self.scope)
            return show_entity(sight, self.shard.key, ref)
