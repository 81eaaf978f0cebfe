"""What has happened since a claim was held that is a reason to look at it again before its deadline."""

from __future__ import annotations

from functools import cached_property

import pyarrow.compute as pc

from amos.extraction.propose import EXTRACTOR
from amos.flow.review_cases import Case
from amos.journal.store import Snapshot
from amos.schemas.vocabulary import Reason

NEW_EVIDENCE, NEW_EXTRACTOR, NEW_ENTITY = "new_evidence", "new_extractor", "new_entity"
"""A claim it would meet came or changed; newer rules can read its message again; somebody was named since."""
_UNNAMED = {Reason.AMBIGUOUS_REFERENT, Reason.AMBIGUOUS_IDENTITY, Reason.UNRESOLVED_REFERENCE}


class Triggers:
    """The reasons to look again at cases of one version."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _newest_entity(self) -> int:
        rows = self._snapshot.table("entities", ["graph_version"])
        return int(pc.max(rows["graph_version"]).as_py() or 0)

    def of(self, case: Case, *, is_stale: bool) -> list[str]:
        """Return what happened since a claim was held, in order of name; nothing for other cases."""
        if case.kind != "claim":
            return []
        family, _, version = case.decision["extractor"].partition("@")
        is_named_since = self._newest_entity > case.decision["graph_version"]
        happened = {
            NEW_ENTITY: bool(_UNNAMED.intersection(case.decision["reasons"])) and is_named_since,
            NEW_EVIDENCE: is_stale,
            NEW_EXTRACTOR: f"{family}@{version}" != EXTRACTOR and family == EXTRACTOR.partition("@")[0],
        }
        return [name for name, holds in happened.items() if holds]
