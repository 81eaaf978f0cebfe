"""`amos demo`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath
from amos.cli.printing import json_option, print_lines, print_object

if TYPE_CHECKING:
    from amos.api import Store

_ITEMS = 2
_BEINGS = ("person", "animal")
_EARLIER = "rules@1"
_DIFFERENCES = 4


@click.command()
@click.option("--keep", type=GivenPath(path_type=Path), metavar="PATH", help="Keep the store there.")
@json_option
@pass_invocation
def demo(invocation: Invocation, *, keep: Path | None, as_json: bool) -> None:  # noqa: ARG001 - own store
    """See the whole life of a memory on a sample story.

    Builds a store from transcripts that ship with Amos: what came in, what was kept, what was refused and
    why, three questions, the origin of one answer, a check that nothing was altered, and what another
    extractor would have read.

    \b
    Examples:
      amos demo
      amos demo --keep demo-store
    """
    with _folder(keep) as folder:
        if as_json:
            print_object({name: part for name, _, part, _ in _chapters(folder)})
            return
        from amos.bundled import samples_folder
        from amos.flow.inputs import count_inputs
        from amos.views.story import closing_lines, opening_lines

        counts = count_inputs([samples_folder()])
        print_lines(opening_lines(str(folder), files=counts.files, formats=counts.formats))
        for _, title, _, lines in _chapters(folder):
            click.echo("\n" + click.style(title, bold=True))
            print_lines(lines)
        click.echo("\n" + click.style("Try next", bold=True))
        print_lines(closing_lines(None if keep is None else str(keep)))


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="amos-demo-") as folder:
        yield Path(folder) / "store"


Chapter = tuple[str, str, Any, Iterable[str]]
"""Key, title, the rows behind it, and the lines that tell them."""


def _chapters(folder: Path) -> Iterator[Chapter]:
    from amos.api import Store
    from amos.bundled import samples_folder
    from amos.views.checks import verify_lines
    from amos.views.receipt import receipt_lines
    from amos.views.reprocessed import reprocess_lines
    from amos.views.story import kept_lines, people_lines, refused_lines

    with Store.create(folder) as store:
        receipt = store.ingest([samples_folder()])
        yield "ingest", "1. What came in", receipt, receipt_lines(receipt)
        kept, refused = store.story()
        known = people_lines(store.entities(kinds=_BEINGS))
        yield "kept", "2. What was kept (some of it)", kept, chain(kept_lines(kept), known)
        yield "refused", "3. What was refused, and why", refused, refused_lines(refused)
        yield from _answers(store)
        report = store.verify().as_record()
        yield "verify", "6. Was anything altered?", report, verify_lines(report)
        run = store.reprocess(_EARLIER)
        title = f"7. And under another extractor? (amos reprocess --extractor {_EARLIER})"
        yield "reprocess", title, run, reprocess_lines(run, shown=_DIFFERENCES)


def _answers(store: Store) -> Iterator[Chapter]:
    import msgspec

    from amos.flow.story import QUESTIONS
    from amos.packets.render import render_text
    from amos.views.reasons import why_lines

    packets = [store.packet(question, max_items=_ITEMS) for question in QUESTIONS]
    told = [
        f"  {line}" if place else f"{question}?"
        for question, found in zip(QUESTIONS, packets, strict=True)
        for place, line in enumerate(["", *render_text(found).splitlines()])
    ]
    yield "packets", "4. Three questions", [msgspec.to_builtins(found) for found in packets], told
    named = next((item.atom_id for found in packets for item in found.items if item.atom_id), None)
    if named is not None:
        answer = store.why(named)
        yield "why", f"5. Why? (amos why {named})", answer, why_lines(answer)
