"""Tell which format a file is in, and say what gave it away."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amos.sources.own_exports import OwnFile, own_file
from amos.sources.reader import Recognition, Sample
from amos.sources.registry import readers
from amos.sources.walking import InputFile

_HEAD_BYTES = 1 << 16
_SURE = 90
_SHOWN_KEYS = 8
_SHOWN_BYTES = 24
_EXPECTED_SUFFIXES = frozenset(
    {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".gz", ".af", ".db", ".sqlite"}
)
_MAGICS = (
    (b"\x1f\x8b", "gzip-packed: unpack it first"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "Parquet, which needs `--map`, or `--from langsmith` or `langfuse`"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
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
    """

    file: str
    member: str | None
    format: str | None
    confidence: int
    saw: str
    own: OwnFile | None = None


def read_sample(part: InputFile) -> Sample:
    """Return the beginning of `part`; raises OSError and the errors of zipfile."""
    with part.open(_HEAD_BYTES) as stream:
        head = stream.read(_HEAD_BYTES)
    return Sample(name=part.name, head=head, is_whole=part.size <= len(head), folder=part.container)


def detect_part(part: InputFile) -> Detected:
    """Return the format of `part`, or what was seen instead."""
    sample = read_sample(part)
    best, found = Recognition(0, ""), None
    if not is_binary(sample.head):
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
        saw=best.saw if found else describe(sample),
        own=None if found else own_file(sample),
    )


def is_binary(head: bytes) -> bool:
    """Tell whether `head` is no UTF-8 text at all."""
    return b"\x00" in head or any(head.startswith(magic) for magic, _ in _MAGICS)


def is_expected(part: InputFile) -> bool:
    """Tell whether a file nobody reads looks like data, so that passing it over needs saying."""
    suffix = part.path.suffix if part.member is None else re.sub(r".*(?=\.)", "", part.name)
    return suffix.lower() in _EXPECTED_SUFFIXES and not is_companion(part)


def is_companion(part: InputFile) -> bool:
    """Tell whether `part` is known to come along with exports without holding messages."""
    return part.name in COMPANIONS or part.name.endswith(".meta.json")


def describe(sample: Sample) -> str:
    """Return in words what a file nobody knows begins with."""
    if not sample.head.strip():
        return "nothing: the file is empty"
    for magic, meaning in _MAGICS:
        if sample.head.startswith(magic):
            return meaning
    if b"\x00" in sample.head:
        return f"binary data beginning with {sample.head[:8].hex(' ')}"
    keys = sample.keys
    if keys:
        more = " …" if len(keys) > _SHOWN_KEYS else ""
        what = "a JSON array of objects" if sample.is_array else "JSON"
        return f"{what} with the keys " + ", ".join(repr(key[:40]) for key in keys[:_SHOWN_KEYS]) + more
    if sample.name.lower().endswith((".csv", ".tsv")):
        return "a table, which needs `--map`"
    return f"text beginning with {sample.head[:_SHOWN_BYTES].decode(errors='replace')!r}"
