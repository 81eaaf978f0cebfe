"""The library's door for trials: measure retrieval on a set, in a scratch store that is gone afterwards.

What a function needs is imported when it is first called.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amos.clock import utc_now

if TYPE_CHECKING:
    from amos.api import Store
    from amos.evaluation.dialogue_sets import DialogueSet

__all__ = ["evaluate_retrieval", "fit_profile"]


def evaluate_retrieval(
    folder: str | Path,
    *,
    skipped_categories: Collection[str] = (),
    run_out: str | Path | None = None,
    compare: str | Path | None = None,
    depth: int = 100,
    profile: str | None = None,
    has_failures: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return how well questions of a labelled set are answered from their own conversations.

    folder: `corpus.jsonl` and `queries.jsonl`, plain or gzipped.  The turns are ingested into a scratch
    store by the usual path and ranked by what `packet` uses.  run_out: file for the ranked ids.
    compare: an earlier run file.  depth: items per question.  profile: name or TOML file of what ranks.
    has_failures: also list the worst answers.  progress: told how many questions were asked, and how many
    there are.
    Raises UsageError where a file is missing and InputError where a line does not fit.
    """
    from amos.evaluation.abstention import measure_abstention
    from amos.evaluation.dialogue_sets import read_run, read_set, write_run
    from amos.evaluation.retrieval import ask_set, failures, retrieval_report

    asked = read_set(Path(folder), skipped_categories=skipped_categories)
    against = None if compare is None else read_run(Path(compare))
    with _told(asked) as (store, ingested):
        ranked = ask_set(
            asked, store.recall(), now=utc_now(), depth=depth, profile=profile, progress=progress
        )
        abstention = measure_abstention(asked, store.recall(), now=utc_now(), profile=profile)
    report = retrieval_report(asked, ranked, against=against)
    report["abstention"] = abstention
    report["ingest"] = ingested
    if has_failures:
        report["failures"] = failures(asked, ranked)
    if run_out is not None:
        write_run(ranked.run, Path(run_out))
    return report


@contextmanager
def _told(asked: DialogueSet) -> Iterator[tuple[Store, dict[str, Any]]]:
    """Yield a scratch store that was told a set, and what telling it took."""
    from amos.api import Store
    from amos.evaluation.dialogue_sets import write_corpus

    with tempfile.TemporaryDirectory(prefix="amos-trial-") as scratch:
        corpus = Path(scratch) / "corpus.jsonl"
        write_corpus(asked.turns, corpus)
        began = time.perf_counter()
        with Store.create(Path(scratch) / "store") as store:
            receipt = store.ingest(corpus, format="dialogue-set")
            seconds = round(time.perf_counter() - began, 3)
            told = {"seconds": seconds, "records": receipt["records_read"], "outcomes": receipt["decisions"]}
            yield store, told


def fit_profile(
    folders: Sequence[str | Path],
    output: str | Path,
    *,
    begin: str = "amos.v2.prior",
    name: str | None = None,
    shares: Sequence[float] | None = None,
    pull: float = 0.03,
    skipped_categories: Collection[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Fit the weights of a ranking profile to labelled sets and write it as a TOML file.

    begin: name or file of the profile to begin with, to which weights are drawn by `pull`.  shares: how much
    each set counts, equally where none are given.  Weights that sets say nothing about stay as they are.
    """
    import msgspec

    from amos.evaluation.dialogue_sets import read_set
    from amos.evaluation.fitting import fit_weights
    from amos.evaluation.retrieval import labelled_answers
    from amos.retrieval.profile import Weights, find_profile, profile_toml

    first = find_profile(begin)
    named, parts = [], list(shares or [1.0] * len(folders))
    sets = []
    for folder in folders:
        asked = read_set(Path(folder), skipped_categories=skipped_categories)
        named.append(asked.name)
        with _told(asked) as (store, _):
            sets.append(labelled_answers(asked, store.recall(), now=utc_now(), progress=progress))
    fitted = fit_weights(sets, msgspec.to_builtins(first.weights), shares=parts, pull=pull)
    said = ", ".join(f"{one} x {part:g}" for one, part in zip(named, parts, strict=True))
    profile = msgspec.structs.replace(
        first,
        name=name or Path(output).stem,
        fitted_on=f"{said}; begun with {first.name}, pull {pull:g}",
        weights=msgspec.convert(fitted.weights, Weights),
    )
    Path(output).write_bytes(profile_toml(profile))
    return {
        "profile": profile.name,
        "file": str(output),
        "sets": named,
        "questions": fitted.questions,
        "loss_before": round(fitted.loss_before, 6),
        "loss_after": round(fitted.loss_after, 6),
        "weights": fitted.weights,
    }
