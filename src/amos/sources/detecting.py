"""Tell which format a file is in, and say what gave it away."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amos.sources.misfits import is_blank, misfit_of, wide_encoding
from amos.sources.own_exports import OwnFile, own_file
from amos.sources.reader import Recognition, Sample
from amos.sources.registry import readers
from amos.sources.walking import InputFile

_HEAD_BYTES = 1 << 16
_SURE = 90
_SHOWN_KEYS = 8
_SHOWN_BYTES = 24
_BLANK = "nothing but white space"
_WHOLE_FILES = frozenset({"memory-folder"})
"""Formats in which each file is a record: their readers themselves tell of a blank one."""
_EXPECTED_SUFFIXES = frozenset(
    {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".gz", ".af", ".db", ".sqlite"}
)
COMPANIONS = frozenset(
    {
        "user.json",
        "users.json",
        "user_settings.json",
        "message_feedback.json",
        "model_comparisons.json",
        "shared_conversations.json",
        "export_manifest.json",
        "group_chats.json",
        "shopping.json",
        "sora.json",
        "projects.json",
        "memories.json",
        "org_users.json",
        "channels.json",
        "groups.json",
        "dms.json",
        "mpims.json",
        "integration_logs.json",
        "canvases.json",
        "content_flags.json",
        "sessions-index.json",
    }
)
"""Files that come along with exports and hold no message."""


@dataclass(frozen=True, kw_only=True)
class Detected:
    """What a file was taken for: `format` is None when no reader knows it.

    own: what it is when Amos itself wrote it, for another command than ingest.
    advice: what makes it readable; None where only its format is missing.
    """

    file: str
    member: str | None
    format: str | None
    confidence: int
    saw: str
    own: OwnFile | None = None
    advice: str | None = None
    is_blank: bool = False


def read_sample(part: InputFile) -> Sample:
    """Return the beginning of `part`; raises OSError and the errors of zipfile."""
    with part.open(_HEAD_BYTES) as stream:
        head = stream.read(_HEAD_BYTES)
    return Sample(name=part.name, head=head, is_whole=part.size <= len(head), folder=part.container)


def detect_part(part: InputFile) -> Detected:
    """Return the format of `part`, or what was seen instead."""
    sample = read_sample(part)
    best, found = Recognition(0, ""), None
    misfit = misfit_of(sample.head, part.given)
    if misfit is None:
        for name, reader in readers().items():
            recognition = reader.recognise(sample)
            if recognition.confidence > best.confidence:
                best, found = recognition, name
            if best.confidence >= _SURE:
                break
    return Detected(
        file=str(part.path),
        member=part.member.filename if part.member else None,
        format=found,
        confidence=best.confidence,
        saw=best.saw if found else misfit.what if misfit else describe(sample),
        own=None if found else own_file(sample),
        advice=misfit.advice if misfit else None,
        is_blank=sample.is_whole and is_blank(sample.head),
    )


def seen_as(part: InputFile, name: str) -> Detected:
    """Return `part` as of the format `name` that the caller gave it, or what it is when it cannot be."""
    head = read_sample(part).head
    wide = misfit_of(head, part.given) if wide_encoding(head) else None
    is_nothing = name not in _WHOLE_FILES and part.size <= len(head) and is_blank(head)
    return Detected(
        file=str(part.path),
        member=part.member.filename if part.member else None,
        format=None if wide or is_nothing else name,
        confidence=0,
        saw=wide.what if wide else "",
        advice=wide.advice if wide else None,
        is_blank=is_nothing,
    )


def is_expected(part: InputFile) -> bool:
    """Tell whether a file nobody reads looks like data, so that passing it over needs saying."""
    suffix = part.path.suffix if part.member is None else re.sub(r".*(?=\.)", "", part.name)
    return suffix.lower() in _EXPECTED_SUFFIXES and not is_companion(part)


def is_companion(part: InputFile) -> bool:
    """Tell whether `part` is known to come along with exports without holding messages."""
    return part.name in COMPANIONS or part.name.endswith(".meta.json")


def describe(sample: Sample) -> str:
    """Return in words what a text nobody knows begins with."""
    if is_blank(sample.head):
        return _BLANK
    keys = sample.keys
    if keys:
        more = " …" if len(keys) > _SHOWN_KEYS else ""
        what = "a JSON array of objects" if sample.is_array else "JSON"
        return f"{what} with the keys " + ", ".join(repr(key[:40]) for key in keys[:_SHOWN_KEYS]) + more
    if sample.name.lower().endswith((".csv", ".tsv")):
        return "a table, which needs `--map`"
    return f"text beginning with {sample.head[:_SHOWN_BYTES].decode(errors='replace')!r}"
