"""Read the folder of text files that an agent keeps as its memory: one file is one source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, ClassVar

from amos.schemas.vocabulary import SourceFlag
from amos.sources.block import Batch
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import Instant, read_instant
from amos.sources.noted_memory import Note, note_block
from amos.sources.parts import set_time
from amos.sources.reader import NOT_MINE, ReadContext, Reader, Recognition, Sample
from amos.sources.records import one_record
from amos.sources.splitting import BOM

FOLDERS = frozenset({"memory", "memories", "memory-bank", "memory_bank", "agent-memory", "memory_folder"})
_SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".txt"})
_FRONT = re.compile(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w-]{0,60}")
_TIMES = ("updated", "updated_at", "modified", "last_updated", "date", "created", "created_at")
_LONGEST_TITLE = 200


class MemoryFolderReader(Reader):
    """Keys: the path inside the folder.  A changed file revises what it said before.

    All of it has the standing of an agent's notes.  When a file was last saved is its time, unless
    its front matter names one.
    """

    name: ClassVar[str] = "memory-folder"

    @classmethod
    def recognise(cls, sample: Sample) -> Recognition:
        """See a text file in a folder called memory, or the front matter of a memory."""
        suffix = PurePosixPath(sample.name).suffix.lower()
        if suffix not in _SUFFIXES or not sample.head.strip():
            return NOT_MINE
        if FOLDERS & {part.lower() for part in PurePosixPath(sample.folder).parts}:
            return Recognition(70, "a text file in a memory folder")
        if sample.name == "MEMORY.md":
            return Recognition(65, "a file called MEMORY.md")
        front = _front_matter(sample.head.removeprefix(BOM).decode(errors="replace"))
        if "permalink" in front or {"name", "description", "type"} <= front.keys():
            return Recognition(60, "a text file with the front matter of a memory")
        return NOT_MINE

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[Batch]:
        """Yield the file as one record."""
        longest = context.limits.record_bytes
        raw = stream.read(longest + 1)
        if len(raw) > longest:
            problem = lost(context.file, 1, Fault.TOO_LARGE, "longer than one record may be")
            yield one_record([], [problem], form=self.name, size=len(raw))
            return
        problems = []
        flags = 0
        try:
            text = raw.removeprefix(BOM).decode()
        except UnicodeDecodeError as cause:
            text = raw.removeprefix(BOM).decode(errors="replace")
            flags = int(SourceFlag.SURROGATE_REPLACED)
            said = f"byte {cause.start} is no UTF-8; it became U+FFFD"
            problems.append(noted(context.file, 1, Fault.INVALID_UTF8, said))
        if not text.strip():
            problems.append(lost(context.file, 1, Fault.EMPTY_FILE, "there is no text in the file"))
            yield one_record([], problems, form=self.name, size=len(raw))
            return
        front = _front_matter(text)
        key = key_of(context.file)
        block = note_block(
            Note(
                format=self.name,
                key=key,
                conversation=key,
                text=text,
                locator=f"{context.file}#1",
                title=_title(text, front, key),
                extra={"front_matter": front} if front else {},
            )
        )
        block.flags |= flags
        written = _written(front, context)
        if written.is_invalid:
            said = f"no time can be read from {written.text!r}"
            problems.append(noted(context.file, 1, Fault.TIME_INVALID, said))
        is_dated = written.us is not None or written.is_invalid
        set_time(block, written if is_dated else context.saved)
        # A file that names its day may have been saved before it: another text is a later one all the same.
        times = (context.saved.us, written.us + 1 if written.us is not None else None)
        block.revised_us = max((us for us in times if us is not None), default=None)
        yield one_record([block], problems, form=self.name, size=len(raw))


def key_of(shown: str) -> str:
    """Return the path of a file inside its folder, from its name in locators.

    What was given and a folder called memory do not count: both ways in lead to the same file.
    """
    parts = PurePosixPath(shown).parts
    above, name = list(parts[1:-1]), parts[-1]
    for place in range(len(above) - 1, -1, -1):
        if above[place].lower() in FOLDERS:
            del above[place]
            break
    return "/".join([*above, name])


def _front_matter(text: str) -> dict[str, str]:
    """Return the plain fields of the front matter, lists and nested values left out."""
    found = _FRONT.match(text)
    if found is None:
        return {}
    fields = {}
    for line in found[1].splitlines():
        name, _, value = line.partition(":")
        if value.strip() and _NAME.fullmatch(name):
            fields[name] = value.strip().strip("\"'")
    return fields


def _title(text: str, front: dict[str, str], key: str) -> str:
    headings = (line[2:].strip() for line in text.splitlines() if line.startswith("# "))
    named = front.get("title") or front.get("name") or next(headings, "") or key
    return named[:_LONGEST_TITLE]


def _written(front: dict[str, str], context: ReadContext) -> Instant:
    for name in _TIMES:
        if name in front:
            return read_instant(front[name], context.zone)
    return Instant()
