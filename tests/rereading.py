"""An extractor that reads less than the rules, and stores read with one and read again with the other."""

import json

import pyarrow as pa

from amos.clock import utc_now
from amos.extraction.propose import Proposal
from amos.extraction.registry import find_extractor
from amos.flow.ingest import Run
from amos.flow.rules import default_rules
from amos.identity import id_text, random_id
from amos.reprocess.runs import Asked, Reprocessing, find_run
from amos.schemas.claims import SOURCE_NOTES
from amos.schemas.vocabulary import Reason
from amos.sources.reading import read_batches


class Partial:
    """Misses some claims, says another value for some, and is less sure of the rest."""

    name = "partial@1"

    def propose(self, sources, *, is_compiled):
        """Return fewer claims than the rules, and notes for the texts that have none left."""
        found = find_extractor().propose(sources, is_compiled=is_compiled)
        rows, left = [], set(range(sources.num_rows))
        for row in found.claims.to_pylist():
            kind = (row["end"] - row["start"]) % 3
            if kind == 0:
                continue
            if kind == 1 and row["value"]:
                row["value"] = row["value"].upper() + " 7"
            rows.append({**row, "confidence": row["confidence"] - kind})
            left.discard(row["source_row"])
        left -= set(found.notes["source_row"].to_pylist())
        more = [
            {"source_row": row, "reason": str(Reason.NO_EXTRACTABLE_CLAIM), "modality": "none"}
            for row in sorted(left)
        ]
        notes = pa.concat_tables([found.notes, pa.Table.from_pylist(more, schema=SOURCE_NOTES)])
        return Proposal(pa.Table.from_pylist(rows, schema=found.claims.schema), notes)


def rules_of(extractor):
    """Return the rules of a run with this extractor."""
    from dataclasses import replace

    return replace(default_rules(size=0), extractor=extractor)


def ingest_with(store, paths, extractor):
    """Ingest `paths` with an extractor of the tests."""
    run = Run(shard=store.shard, rules=rules_of(extractor), actor="test", run_id=random_id(), now=utc_now)
    return run.ingest(read_batches(list(paths), format="messages"))


def reprocessing(store, extractor):
    """Return what re-reads the store with an extractor of the tests."""
    return Reprocessing(shard=store.shard, actor="test", rules=rules_of(extractor), now=utc_now)


def read_again(store, extractor, **asked):
    """Compare and apply; return the receipt."""
    work = reprocessing(store, extractor)
    wanted = Asked(extractor=extractor.name, **asked)
    with store.shard.pin() as snapshot:
        compared = work.compare(wanted, snapshot)
    run_id = random_id()
    record = work.keep(run_id, wanted, compared, utc_now())
    return work.apply(run_id, record)


def take_back(store, record, extractor):
    """Revert an applied run; return what was done."""
    run_id, held = find_run(store.shard, record["run_id"])
    assert id_text("runs", run_id) == record["run_id"]
    return reprocessing(store, extractor).revert(run_id, json.loads(json.dumps(held)))
