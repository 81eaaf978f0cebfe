"""Write the reference pages from the code: `python docs/_generate.py [--check]`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import pkgutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from enum import IntFlag, StrEnum
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from amos import errors, schemas
from amos.schemas import state, vocabulary

DOCS = Path(__file__).parent
REFERENCE = DOCS / "reference"
NOTICE = "<!-- Written by docs/_generate.py from the code; edit the code instead. -->\n"


COLUMNS_INTRODUCTION = """# Columns

A column holds a value in every row unless it is marked *may be null*. Times are UTC, in microseconds;
`*_ppm` are parts per million.

## Stored tables

A stored row also carries `graph_version`, the commit that wrote it, and `row_number`, its place in the event.
"""
ERRORS_INTRODUCTION = """# Errors

An error says what is wrong, where, and what to do next. With `--json` it is one object with `code`,
`message`, `path`, `advice` and `retryable`. Exit code 0 is success, 1 a failure nobody foresaw, 130 an
interruption. A bad *record* is no error: it is counted and listed, and everything else is stored.

"""
COMMANDS_INTRODUCTION = """# Commands

Global options stand before the command, its own after it. The store may also be named by `AMOS_STORE`.
Results go to standard output; notices, warnings and progress go to standard error, progress only to a
terminal. With `--json` a command prints one object, or one object per row and a last line `amos_end` that
says whether the rows were all. Colour is left out where `NO_COLOR` is set.

Completion of commands and options, for bash, zsh (`zsh_source`) and fish (`fish_source`):

```sh
eval "$(_AMOS_COMPLETE=bash_source amos)"
```

"""


def cell(text: object) -> str:
    """Return text that may stand in a table cell."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(heads: list[str], rows: list[list[object]]) -> str:
    """Return a Markdown table."""
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    lines += [" | ".join(cell(value) for value in row) for row in rows]
    return "".join(f"| {line} |\n" for line in lines)


def first_line(documented: object) -> str:
    """Return the first paragraph of a docstring on one line."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def columns_page() -> str:
    """Return the page of every Arrow schema: the canonical tables first, then those between stages."""
    parts = [COLUMNS_INTRODUCTION]
    parts += [f"### {name}\n\n{schema_table(schema)}" for name, schema in state.TABLES.items()]
    parts.append("## Between stages\n")
    parts += [f"### {name}\n\n{schema_table(schema)}" for name, schema in stage_schemas()]
    return "\n".join(parts)


def stage_schemas() -> Iterator[tuple[str, pa.Schema]]:
    """Yield the named schemas that are no stored table, in the order of modules and lines."""
    for module in pkgutil.iter_modules(schemas.__path__):
        members = vars(importlib.import_module(f"{schemas.__name__}.{module.name}"))
        if module.name != "state":
            yield from ((name, value) for name, value in members.items() if isinstance(value, pa.Schema))


def schema_table(schema: pa.Schema) -> str:
    """Return one row per column: name, type, meaning."""
    rows: list[list[object]] = []
    for field in schema:
        meaning = (field.metadata or {}).get(b"meaning", b"").decode()
        rows.append(
            [f"`{field.name}`", f"`{field.type}`", meaning + (" (may be null)" if field.nullable else "")]
        )
    return table(["Column", "Type", "Meaning"], rows)


def errors_page() -> str:
    """Return the page of error classes, by exit code."""
    found = [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, errors.EngineError)
    ]
    rows: list[list[object]] = [
        [
            one.exit_code,
            f"`{one.default_code}`",
            first_line(one),
            one.default_advice,
            "yes" if one.is_retryable else "no",
        ]
        for one in sorted(found, key=lambda one: one.exit_code)
        if one is not errors.EngineError
    ]
    return ERRORS_INTRODUCTION + table(
        ["Exit code", "Usual code", "Means", "Usual advice", "Try again"], rows
    )


def reasons_page() -> str:
    """Return the page of closed word lists; every reason code must have its sentence."""
    sentences = tomllib.loads((DOCS / "_reasons.toml").read_text(encoding="utf-8"))
    known = {str(reason) for reason in vocabulary.Reason}
    if known != set(sentences):
        raise SystemExit(f"docs/_reasons.toml and the enum Reason differ: {sorted(known ^ set(sentences))}")
    rows: list[list[object]] = [[f"`{reason}`", sentences[str(reason)]] for reason in vocabulary.Reason]
    parts = [
        "# Reason codes and other closed lists\n\n## Reason\n\n" + first_line(vocabulary.Reason) + "\n",
        table(["Code", "Says"], rows),
    ]
    lists = [
        value
        for value in vars(vocabulary).values()
        if inspect.isclass(value) and value.__module__ == vocabulary.__name__
    ]
    parts += [word_list(one) for one in lists if one is not vocabulary.Reason]
    return "\n".join(parts)


def word_list(words: type[StrEnum] | type[IntFlag]) -> str:
    """Return one closed list: its words, or its bits."""
    values = [
        f"`{word.name.lower()}` = {word.value}" if issubclass(words, IntFlag) else f"`{word.value}`"
        for word in words
    ]
    return f"## {words.__name__}\n\n{first_line(words)}\n\n{', '.join(values)}\n"


def commands_page() -> str:
    """Return the page of commands with their help, usage, arguments and options."""
    root = importlib.import_module("amos.cli").main
    context = click.Context(root, info_name="amos", **root.context_settings)
    parts = [COMMANDS_INTRODUCTION + command_text(root, context)]
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if command is not None and not command.hidden:
            parts += list(
                command_sections(command, click.Context(command, info_name=name, parent=context), 2)
            )
    return "\n".join(parts)


def command_sections(command: click.Command, context: click.Context, depth: int) -> Iterator[str]:
    """Yield the section of a command, then those of its subcommands."""
    yield f"{'#' * depth} {context.command_path}\n\n{command_text(command, context)}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from command_sections(
                    inner, click.Context(inner, info_name=name, parent=context), depth + 1
                )


def command_text(command: click.Command, context: click.Context) -> str:
    """Return help, usage line and options of one command."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    pieces = [prose(inspect.cleandoc(command.help or "")), f"```text\n{usage}\n```\n"]
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows: list[list[object]] = [[f"`{record[0]}`", record[1]] for record in records if record]
    return "\n".join([*pieces, table(["Option", "Means"], rows) if rows else ""])


def prose(text: str) -> str:
    """Return click help as Markdown: a paragraph that click keeps as it is becomes a block."""
    kept: list[str] = []
    for paragraph in text.split("\n\n"):
        is_verbatim = paragraph.startswith("\b")
        kept.append(f"```text\n{paragraph.lstrip(chr(8)).strip(chr(10))}\n```" if is_verbatim else paragraph)
    return "\n\n".join(kept) + "\n"


def settings_page() -> str:
    """Return the page of settings with their defaults."""
    settings = importlib.import_module("amos.settings").Settings
    return (
        "# Settings\n\n"
        + first_line(settings)
        + "\n\n"
        + table(["Setting", "Type", "Default"], setting_rows(settings))
    )


def setting_rows(settings: Any) -> list[list[object]]:
    """Return one row per field of the settings record."""
    defaults = settings()
    return [
        [f"`{name}`", f"`{kind}`", f"`{getattr(defaults, name)!r}`"]
        for name, kind in settings.__annotations__.items()
    ]


PAGES: dict[str, Callable[[], str]] = {
    "columns.md": columns_page,
    "errors.md": errors_page,
    "reasons.md": reasons_page,
}
if hasattr(importlib.import_module("amos.cli"), "main"):
    PAGES["commands.md"] = commands_page
if importlib.util.find_spec("amos.settings"):
    PAGES["settings.md"] = settings_page


def pages() -> dict[Path, str]:
    """Return path and text of every generated page."""
    return {REFERENCE / name: NOTICE + "\n" + write().rstrip("\n") + "\n" for name, write in PAGES.items()}


def write_pages() -> None:
    """Write every page whose text has changed."""
    for path, text in pages().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def stale_pages() -> list[str]:
    """Return the names of pages that differ from what the code says."""
    return [
        path.name
        for path, text in pages().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def main() -> None:
    """Write the pages, or with `--check` fail when one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is stale")
    if not parser.parse_args().check:
        write_pages()
    elif stale := stale_pages():
        sys.exit(f"stale: {', '.join(stale)}; run `python docs/_generate.py`")


if __name__ == "__main__":
    main()
