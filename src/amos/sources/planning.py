"""Decide what to read: which files, in which format, and which of them are one export."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from amos.errors import InputError
from amos.sources.block import Problem
from amos.sources.detecting import Detected, detect_part, is_companion, is_expected, seen_as
from amos.sources.faults import Fault, lost, noted
from amos.sources.limits import Limits
from amos.sources.own_exports import OwnFile, own_file
from amos.sources.reader import Sample
from amos.sources.registry import reader_class, readers
from amos.sources.slack import CHANNELS, PEOPLE
from amos.sources.walking import InputFile, Walk

READ_ERRORS = (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
"""What reading a damaged file or archive member can raise."""

_SHARD = re.compile(r"(.*?)[-_. ]?\d+(?:[-_]of[-_]\d+)?", re.DOTALL)
_NAMED = 5
_SHARDED = frozenset({"chatgpt", "claude-ai", "openai"})
_LISTS = {"slack": PEOPLE | CHANNELS}
"""Files of an export that name what its other files only number: read first, by the same reader."""

_REMEDIES: dict[str, str] = {
    Fault.REFUSED_MEMBER: "If you trust where it comes from, unpack it yourself and give the folder.",
    Fault.TOO_DEEP: "Give a folder further down.",
    Fault.TOO_LARGE: "Give parts of it, one after the other.",
}
"""What to do about what a walk refused, by code."""


@dataclass(frozen=True, kw_only=True)
class LogicalInput:
    """Files that are one export: shards are read in order by one reader."""

    name: str
    format: str
    parts: tuple[InputFile, ...]

    @property
    def size(self) -> int:
        """Bytes to read, unpacked."""
        return sum(part.size for part in self.parts)


@dataclass(kw_only=True)
class Survey:
    """What will be read, and what was wrong or passed over before reading began."""

    inputs: list[LogicalInput] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def survey(
    paths: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    limits: Limits | None = None,
) -> Survey:
    """Return the inputs behind `paths`.

    format: read every file as this one instead of looking.  Raises UsageError for a path or
    format that does not exist, InputError when nothing at all can be read.
    """
    walk = Walk(limits=limits or Limits())
    if format is not None:
        reader_class(format)
    for path in paths:
        walk.add(Path(path))
    known: list[tuple[InputFile, str]] = []
    unknown: list[tuple[InputFile, Detected]] = []
    for part in walk.parts:
        _sort_part(part, format, known, unknown, walk)
    if not known:
        raise _nothing_readable(walk, unknown)
    for part, detected in unknown:
        _pass_over(part, detected, walk)
    if walk.skipped:
        walk.problems.append(_skipped_row(walk.skipped))
    return Survey(inputs=_logical_inputs(known), problems=walk.problems)


def _sort_part(
    part: InputFile,
    given: str | None,
    known: list[tuple[InputFile, str]],
    unknown: list[tuple[InputFile, Detected]],
    walk: Walk,
) -> None:
    if given is not None:
        is_list = part.name in _LISTS.get(given, ())
        if (is_companion(part) and not is_list) or part.size == 0:
            unknown.append((part, _seen_nothing(part)))
            return
    try:
        detected = detect_part(part) if given is None else seen_as(part, given)
    except READ_ERRORS as cause:
        walk.problems.append(lost(part.given, 0, Fault.UNREADABLE, f"it cannot be read: {cause}"))
        return
    if detected.format is None:
        unknown.append((part, detected))
    else:
        known.append((part, detected.format))


def _seen_nothing(part: InputFile) -> Detected:
    return Detected(file=str(part.path), member=None, format=None, confidence=0, saw="nothing")


def _pass_over(part: InputFile, detected: Detected, walk: Walk) -> None:
    if part.size == 0 or (detected.is_blank and is_expected(part)):
        said = "the file holds nothing but white space" if part.size else "the file is empty"
        walk.problems.append(noted(part.given, 0, Fault.EMPTY_FILE, said))
    elif is_expected(part):
        message = f"no reader knows it; it holds {detected.saw}"
        walk.problems.append(lost(part.given, 0, Fault.UNKNOWN_FORMAT, message))
    else:
        walk.skipped.append(part.given)


def _skipped_row(names: list[str]) -> Problem:
    shown = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
    message = f"{len(names)} file(s) that hold no transcript were passed over: {shown}"
    return noted(names[0], 0, Fault.SKIPPED_FILES, message)


def _nothing_readable(walk: Walk, unknown: list[tuple[InputFile, Detected]]) -> InputError:
    formats = f"Name its format with `--from`: {', '.join(readers())}; tables need `--map`."
    for part, detected in unknown:
        own = detected.own or _own_beside(part)
        if own is not None:
            said = f"{part.given} is {own.what}"
            advice = own.advice_for(part.path)
            return InputError(said, code=Fault.OWN_EXPORT.value, path=part.given, advice=advice)
    for part, detected in unknown:
        if part.size == 0 or detected.is_blank:
            continue
        return InputError(
            f"{part.given}: no reader knows this format; it holds {detected.saw}",
            code=Fault.UNKNOWN_FORMAT.value,
            path=part.given,
            advice=detected.advice or formats,
        )
    refused = next((problem for problem in walk.problems if problem.is_lost), None)
    if refused is not None:
        return _refusal(refused, _REMEDIES.get(refused.code, "Check the file and its permissions."))
    if unknown:
        given = unknown[0][0].given
        held = "holds nothing but white space" if unknown[0][1].is_blank else "is empty"
        return InputError(
            f"{given}: the file {held}: 0 records",
            code=Fault.EMPTY_FILE.value,
            path=given,
            advice="Export it again, or give another file.",
        )
    store = next((problem for problem in walk.problems if problem.code == Fault.STORE_FOLDER), None)
    if store is not None:
        return _refusal(
            store, "Give the files to read. The store is named with `-s`, a backup to `amos restore`."
        )
    return InputError(
        "there is no file to read: 0 records",
        code=Fault.EMPTY_FILE.value,
        advice="Give a file, or a folder that holds one; hidden files are passed over.",
    )


def _own_beside(part: InputFile) -> OwnFile | None:
    """Return what a Parquet file is beside a manifest of ours."""
    manifest = part.path.with_name("manifest.json")
    if part.member is not None or part.path.suffix != ".parquet" or not manifest.is_file():
        return None
    with manifest.open("rb") as stream:
        return own_file(Sample(name=manifest.name, head=stream.read(1 << 20)))


def _refusal(problem: Problem, advice: str) -> InputError:
    return InputError(
        f"{problem.file}: {problem.message}", code=problem.code, path=problem.file, advice=advice
    )


def _logical_inputs(known: list[tuple[InputFile, str]]) -> list[LogicalInput]:
    groups: dict[tuple[str, ...], list[InputFile]] = {}
    for part, name in known:
        groups.setdefault(_group_key(part, name), []).append(part)
    return [
        LogicalInput(name=parts[0].shown, format=key[0], parts=tuple(_lists_first(parts, key[0])))
        for key, parts in groups.items()
    ]


def _lists_first(parts: list[InputFile], name: str) -> list[InputFile]:
    lists = _LISTS.get(name, frozenset())
    return sorted(parts, key=lambda part: part.name not in lists) if lists else parts


def _group_key(part: InputFile, name: str) -> tuple[str, ...]:
    if name in _LISTS:
        is_list = part.name in _LISTS[name]
        return (name, part.container if is_list else str(PurePosixPath(part.container).parent))
    if name not in _SHARDED:
        return (name, part.shown, str(part.path))
    stem, _, suffix = part.name.rpartition(".")
    shard = _SHARD.fullmatch(stem)
    return (name, part.container, shard[1] if shard else stem, suffix)
