"""A dialogue set on disk: turns, questions, and which turns answer them; and the run files beside it."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from amos.errors import InputError, UsageError

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn.  conv_id: questions are answered from their own conversation alone."""

    doc_id: str
    conv_id: str
    turn: int
    speaker: str
    text: str
    session: int | str | None = None
    timestamp: str | None = None
    caption: str | None = None


class LabelledQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One question.  evidence: doc ids of the turns that answer it."""

    qid: str
    conv_id: str
    text: str
    evidence: list[str]
    category: str = "all"
    asked_at: str | None = None


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a run file: doc ids, best first."""

    qid: str
    ranked: list[str]


@dataclass(frozen=True, kw_only=True)
class DialogueSet:
    """Turns in the order of the file and the questions that can be scored.

    skipped: questions left out, by reason.  unanswerable: those of them that no turn answers.
    """

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[LabelledQuestion, ...]
    skipped: dict[str, int]
    unanswerable: tuple[LabelledQuestion, ...] = ()


Line = TypeVar("Line", Turn, LabelledQuestion, RunLine)


def read_set(folder: Path, *, skipped_categories: Collection[str] = ()) -> DialogueSet:
    """Return the set in `folder`, plain or gzipped.

    Raises UsageError where a file is missing, InputError naming the first line that does not fit or a
    question that names a turn nobody has.
    """
    turns = tuple(_lines(_found(folder, CORPUS), Turn))
    asked = tuple(_lines(_found(folder, QUERIES), LabelledQuestion))
    home = {turn.doc_id: turn.conv_id for turn in turns}
    if len(home) < len(turns):
        raise InputError(f"{folder}: two turns have the same doc_id", path=str(folder))
    for one in asked:
        lost = [doc for doc in one.evidence if home.get(doc) != one.conv_id]
        if lost:
            said = f"{folder}: question {one.qid!r} names {lost[0]!r}, no turn of {one.conv_id!r}"
            raise InputError(said, path=str(folder))
    wanted = [one for one in asked if one.category not in skipped_categories]
    scored = tuple(one for one in wanted if one.evidence)
    skipped = {"category": len(asked) - len(wanted), "no_evidence": len(wanted) - len(scored)}
    if not scored:
        raise InputError(f"{folder}: no question can be scored", path=str(folder), code="empty_file")
    unanswerable = tuple(one for one in wanted if not one.evidence and one.conv_id in home.values())
    return DialogueSet(
        name=folder.name, turns=turns, questions=scored, skipped=skipped, unanswerable=unanswerable
    )


def write_corpus(turns: Iterable[Turn], path: Path) -> None:
    """Write turns as the lines that `ingest` reads."""
    encode = msgspec.json.Encoder().encode
    path.write_bytes(b"".join(encode(turn) + b"\n" for turn in turns))


def read_run(path: Path) -> dict[str, list[str]]:
    """Return the ranked doc ids of a run file by question."""
    return {line.qid: line.ranked for line in _lines(path, RunLine)}


def write_run(run: Mapping[str, Sequence[str]], path: Path) -> None:
    """Write a run file, which appears only when it is whole."""
    encode = msgspec.json.Encoder().encode
    lines = (encode(RunLine(qid=qid, ranked=list(ranked))) + b"\n" for qid, ranked in run.items())
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_bytes(b"".join(lines))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _found(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    advice = f"A set is a folder with {CORPUS} and {QUERIES}, plain or gzipped."
    raise UsageError(f"{folder} has no {name}", path=str(folder), advice=advice)


def _lines(path: Path, kind: type[Line]) -> Iterator[Line]:
    decoder = msgspec.json.Decoder(kind)
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as cause:
        raise InputError(f"{path} cannot be read: {cause}", path=str(path)) from cause
    for number, line in enumerate(raw.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as cause:
            raise InputError(f"{path}:{number}: {cause}", path=str(path)) from cause
