"""Find the files behind the given paths: folders and archives, in a fixed order, within bounds."""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from amos.errors import UsageError
from amos.sources.block import Problem
from amos.sources.faults import Fault, lost, noted
from amos.sources.instants import UNKNOWN, DefaultZone, Instant, read_instant
from amos.sources.limits import Limits
from amos.sources.splitting import buffered

_BUFFER_BYTES = 1 << 20
_ZIP_MAGIC = b"PK"
_DIGITS = re.compile(r"(\d+)")
_DRIVE = re.compile(r"[A-Za-z]:")
_SLASHES = re.compile(r"[/\\]")
_ENCRYPTED = 1
_STORE_MARK = "amos.toml"


class Archive:
    """A zip file, opened once and read member by member."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None

    @property
    def zip(self) -> zipfile.ZipFile:
        """The open archive; raises zipfile.BadZipFile or OSError."""
        if self._zip is None:
            self._zip = zipfile.ZipFile(self.path)
        return self._zip

    def close(self) -> None:
        """Close the archive; it opens again when it is needed."""
        if self._zip is not None:
            self._zip.close()
            self._zip = None


@dataclass(frozen=True, kw_only=True)
class InputFile:
    """One file, or one member of an archive, that can be opened any number of times."""

    shown: str
    """Name for locators: the given path's last name, then the way inside it; no folder of the machine."""
    path: Path
    size: int
    archive: Archive | None = None
    member: zipfile.ZipInfo | None = None

    @property
    def given(self) -> str:
        """Path for messages: as it was given, then the way inside a folder or archive."""
        return str(self.path) if self.member is None else f"{self.path}/{self.member.filename}"

    def saved(self, zone: DefaultZone) -> Instant:
        """Return when it was last saved; an archive writes that down without a zone."""
        if self.member is not None:
            year, month, day, hour, minute, second = self.member.date_time
            written = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
            return read_instant(written, zone)
        try:
            return read_instant(self.path.stat().st_mtime)
        except OSError:
            return UNKNOWN

    @property
    def container(self) -> str:
        """What holds it: siblings in one folder or archive share this."""
        return str(PurePosixPath(self.shown).parent)

    @property
    def name(self) -> str:
        """The last name."""
        return PurePosixPath(self.shown).name

    def open(self, buffer_bytes: int = _BUFFER_BYTES) -> BinaryIO:
        """Return a buffered stream of its bytes; raises OSError and the errors of zipfile."""
        if self.archive is None or self.member is None:
            return self.path.open("rb", buffering=buffer_bytes)
        return buffered(self.archive.zip.open(self.member), buffer_bytes)


@dataclass(kw_only=True)
class Walk:
    """What a walk found: files to look at, faults, and names passed over."""

    limits: Limits
    parts: list[InputFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _shown: dict[str, int] = field(default_factory=dict)

    def add(self, path: Path) -> None:
        """Add `path` and all below it; raises UsageError when there is no such path."""
        try:
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise UsageError(
                f"{path}: no such file or folder", path=str(path), advice="Check the path."
            ) from None
        except (OSError, ValueError) as cause:
            self._lose(str(path), Fault.UNREADABLE, _said(cause))
            return
        shown = path.name or path.resolve().name or str(path)
        if stat.S_ISDIR(mode):
            self._add_folder(path, shown, ())
        elif stat.S_ISREG(mode):
            self._add_file(path, shown)
        else:
            self._lose(str(path), Fault.UNREADABLE, "it is neither a file nor a folder")

    def _add_folder(self, folder: Path, shown: str, above: tuple[tuple[int, int], ...]) -> None:
        identity = folder.stat()
        key = (identity.st_dev, identity.st_ino)
        if key in above:
            self._note(folder, Fault.FOLDER_LOOP, "the folder contains itself through a link")
            return
        if len(above) >= self.limits.folder_depth:
            self._lose(str(folder), Fault.TOO_DEEP, f"folders nest deeper than {self.limits.folder_depth}")
            return
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: natural_order(entry.name))
        except OSError as cause:
            self._lose(str(folder), Fault.UNREADABLE, _said(cause))
            return
        if any(entry.name == _STORE_MARK for entry in entries):
            self._note(folder, Fault.STORE_FOLDER, "it is an Amos store, no transcript; it was passed over")
            return
        for entry in entries:
            self._add_entry(entry, f"{shown}/{entry.name}", (*above, key))

    def _add_entry(self, entry: os.DirEntry[str], shown: str, above: tuple[tuple[int, int], ...]) -> None:
        path = Path(entry.path)
        if entry.name.startswith("."):
            self.skipped.append(str(path))
            return
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
            if is_folder:
                self._add_folder(path, shown, above)
            elif is_file:
                self._add_file(path, shown)
            else:
                self.skipped.append(str(path))
        except OSError as cause:
            self._lose(str(path), Fault.UNREADABLE, _said(cause))

    def _add_file(self, path: Path, shown: str) -> None:
        if len(self.parts) >= self.limits.files:
            self._lose(str(path), Fault.TOO_LARGE, f"more than {self.limits.files} files")
            return
        try:
            size = path.stat().st_size
            with path.open("rb") as stream:
                magic = stream.read(len(_ZIP_MAGIC))
        except OSError as cause:
            self._lose(str(path), Fault.UNREADABLE, _said(cause))
            return
        if magic == _ZIP_MAGIC or path.suffix.lower() == ".zip":
            self._add_archive(path, shown, size)
        else:
            self.parts.append(InputFile(shown=self._unique(shown), path=path, size=size))

    def _add_archive(self, path: Path, shown: str, size: int) -> None:
        archive = Archive(path)
        try:
            members = archive.zip.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, RuntimeError) as cause:
            self._lose(str(path), Fault.UNREADABLE, f"the archive cannot be opened: {_said(cause)}")
            return
        unpacked = sum(member.file_size for member in members)
        refusal = _archive_refusal(len(members), unpacked, size, self.limits)
        if refusal:
            archive.close()
            self._lose(str(path), Fault.REFUSED_MEMBER, refusal)
            return
        for member in sorted(members, key=lambda member: natural_order(member.filename)):
            self._add_member(archive, member, shown)

    def _add_member(self, archive: Archive, member: zipfile.ZipInfo, shown: str) -> None:
        if member.is_dir():
            return
        given = f"{archive.path}/{member.filename}"
        refusal = _member_refusal(member, self.limits)
        if refusal:
            self._lose(given, Fault.REFUSED_MEMBER, refusal)
        elif any(name.startswith((".", "__MACOSX")) for name in member.filename.split("/")):
            self.skipped.append(given)
        else:
            self.parts.append(
                InputFile(
                    shown=self._unique(f"{shown}/{member.filename}"),
                    path=archive.path,
                    size=member.file_size,
                    archive=archive,
                    member=member,
                )
            )

    def _unique(self, shown: str) -> str:
        """Return `shown`, numbered when it was used before: a locator names one record only."""
        count = self._shown.get(shown, 0) + 1
        self._shown[shown] = count
        return shown if count == 1 else self._unique(f"{shown} ({count})")

    def _lose(self, given: str, code: Fault, message: str) -> None:
        self.problems.append(lost(given, 0, code, message))

    def _note(self, folder: Path, code: Fault, message: str) -> None:
        self.problems.append(noted(str(folder), 0, code, message))


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key under which shard 10 follows shard 9."""
    return [
        (0, int(part), part) if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part
    ]


def _said(cause: BaseException) -> str:
    if isinstance(cause, PermissionError):
        return "no permission to read it"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(cause) or type(cause).__name__


def _archive_refusal(count: int, unpacked: int, packed: int, limits: Limits) -> str | None:
    if count > limits.members:
        return f"it holds {count} members, more than {limits.members}"
    if unpacked > limits.ratio_floor_bytes and unpacked > packed * limits.archive_ratio:
        times = f"{unpacked // max(packed, 1):,} times as much (over {limits.archive_ratio} is refused)"
        return f"it looks like a zip bomb: {packed:,} bytes would unpack to {unpacked:,}, {times}"
    return None


def _member_refusal(member: zipfile.ZipInfo, limits: Limits) -> str | None:
    """Return why `member` is not opened, None when it is."""
    name, size = member.filename, member.file_size
    is_bomb = size > limits.ratio_floor_bytes and size > member.compress_size * limits.member_ratio
    refusals = {
        "its name is an absolute path": name.startswith(("/", "\\")) or bool(_DRIVE.match(name)),
        "its name leads out of the archive": ".." in _SLASHES.split(name),
        "it is a link": stat.S_ISLNK(member.external_attr >> 16),
        "it is encrypted; unpack the archive with its password first": bool(member.flag_bits & _ENCRYPTED),
        "it is an archive inside an archive; unpack the outer one first": name.lower().endswith(".zip"),
        f"it would unpack to {size:,} bytes, more than {limits.member_bytes:,}": size > limits.member_bytes,
        f"it looks like a zip bomb: it would unpack to {size:,} bytes, more than {limits.member_ratio} times "
        "its packed size": is_bomb,
    }
    return next((said for said, applies in refusals.items() if applies), None)


def closing(parts: Iterator[InputFile] | list[InputFile]) -> None:
    """Close the archives behind `parts`."""
    for part in parts:
        if part.archive is not None:
            part.archive.close()
