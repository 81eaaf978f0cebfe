"""`amos packets`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from amos.cli.asking import asking_options, request_fields
from amos.cli.invocation import Invocation, pass_invocation
from amos.cli.paths import GivenPath, OutputPath
from amos.cli.printing import json_option, print_object, print_rows


@click.command()
@click.argument("queries", metavar="QUERIES", type=GivenPath(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the rows to a Parquet file.",
)
@asking_options
@json_option
@pass_invocation
def packets(
    invocation: Invocation, /, *, queries: Path, output: Path | None, as_json: bool, **asked: Any
) -> None:
    """Ask many questions at once; one row per item of each packet.

    QUERIES is a file of JSON lines such as {"qid": "q1", "cues": ["favourite tea"]}; `scope`, `as_of` and
    `asked_at` may be added. Without -o the rows are printed as JSON lines.

    \b
    Examples:
      amos packets questions.jsonl
      amos packets questions.jsonl -o answers.parquet
    """
    from amos.flow.questions import packet_table, read_questions, write_table

    questions = read_questions(queries)
    with invocation.open_store() as store:
        rows = store.packets(questions, **request_fields(**asked))
        if output is None:
            print_rows(rows)
            return
        table = packet_table(rows)
    write_table(table, output)
    said = {"file": str(output), "questions": len(questions), "rows": table.num_rows}
    if as_json:
        print_object(said)
    else:
        from amos.views.plain import plural

        click.echo(f"{output}: {plural(table.num_rows, 'row')} for {plural(len(questions), 'question')}")
