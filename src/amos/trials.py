"""The library's door for trials: measure retrieval on a set, in a scratch store that is gone afterwards.

What a function needs is imported when it is first called.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from amos.clock import utc_now

__all__ = ["evaluate_retrieval"]


def evaluate_retrieval(
    folder: str | Path,
    *,
    skipped_categories: Collection[str] = (),
    run_out: str | Path | None = None,
    compare: str | Path | None = None,
    depth: int = 100,
    has_failures: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return how well questions of a labelled set are answered from their own conversations.

    folder: `corpus.jsonl` and `queries.jsonl`, plain or gzipped.  The turns are ingested into a scratch
    store by the usual path and ranked by what `packet` uses.  run_out: file for the ranked ids.
    compare: an earlier run file.  depth: items per question.  has_failures: also list the worst answers.
    progress: told how many questions were asked, and how many there are.
    Raises UsageError where a file is missing and InputError where a line does not fit.
    """
    from amos.api import Store
    from amos.evaluation.dialogue_sets import read_run, read_set, write_corpus, write_run
    from amos.evaluation.retrieval import ask_set, failures, retrieval_report

    asked = read_set(Path(folder), skipped_categories=skipped_categories)
    against = None if compare is None else read_run(Path(compare))
    with tempfile.TemporaryDirectory(prefix="amos-trial-") as scratch:
        corpus = Path(scratch) / "corpus.jsonl"
        write_corpus(asked.turns, corpus)
        began = time.perf_counter()
        with Store.create(Path(scratch) / "store") as store:
            receipt = store.ingest(corpus, format="dialogue-set")
            ingested = time.perf_counter() - began
            ranked = ask_set(asked, store.recall(), now=utc_now(), depth=depth, progress=progress)
    report = retrieval_report(asked, ranked, against=against)
    report["ingest"] = {
        "seconds": round(ingested, 3),
        "records": receipt["records_read"],
        "outcomes": receipt["decisions"],
    }
    if has_failures:
        report["failures"] = failures(asked, ranked)
    if run_out is not None:
        write_run(ranked.run, Path(run_out))
    return report
