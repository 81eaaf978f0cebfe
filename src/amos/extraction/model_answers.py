"""Answers of a model by the digest of the text: from a file of JSON lines, asked for where one is set up.

The file belongs to whoever runs the model, not to the store.  Each line answers one text:
`{"text_sha256": …, "claims": […]}`, or `text` in place of its digest.  Of two lines on one text the last
counts, so that a file can simply be appended to.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from amos.errors import CapacityError, InputError

MOST_LINE_BYTES = 4 << 20
"""A longer line is no answer."""
MALFORMED_LINE = "malformed_line"
NO_ANSWER = "no_answer"


class Asking(Protocol):
    """Asks a model about some texts at once."""

    model: str

    def ask(self, texts: Sequence[str]) -> tuple[list[Any | None], str | None]:
        """Return the claims of each text as JSON gave them, None where there is no answer, and why not."""
        ...


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


class FileAnswers:
    """Answers from a file, and from a model for what the file does not answer; new ones are added to it.

    Raises InputError when the file cannot be read.
    """

    def __init__(self, path: Path, *, asking: Asking | None = None, batch: int = 8) -> None:
        self.failures: Counter[str] = Counter()
        self.asked = 0
        self._path = path
        self._asking = asking
        self._batch = batch
        self._known: dict[str, Any] = {}
        if path.exists() or asking is None:
            self._read()

    @property
    def written_to(self) -> Path | None:
        """The file that new answers are added to, None where no model is asked."""
        return None if self._asking is None else self._path

    def _read(self) -> None:
        try:
            with self._path.open("rb") as stream:
                for line in stream:
                    if line.strip():
                        self._take(line)
        except OSError as cause:
            raise InputError(
                f"{self._path} cannot be read: {cause.strerror}",
                path=str(self._path),
                advice="Name a file of JSON lines, each with `text` or `text_sha256`, and `claims`.",
            ) from cause

    def _take(self, line: bytes) -> None:
        answer: Any = None
        if len(line) <= MOST_LINE_BYTES:
            try:
                answer = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                answer = None
        key = _key_of(answer)
        if key is None:
            self.failures[MALFORMED_LINE] += 1
        else:
            self._known[key] = answer.get("claims")

    def of(self, texts: Sequence[str]) -> Mapping[str, Any]:
        """Return the answer on each text that there is one for."""
        keys = {text: digest_of(text) for text in texts}
        missing = [text for text, key in keys.items() if key not in self._known]
        if self._asking is not None and missing:
            missing = self._ask(missing)
        elif missing:
            self.failures[NO_ANSWER] += len(missing)
        return {text: self._known[key] for text, key in keys.items() if key in self._known}

    def _ask(self, texts: list[str]) -> list[str]:
        """Ask about `texts`, batch by batch; keep what is answered, return what is not."""
        assert self._asking is not None
        unanswered: list[str] = []
        for place in range(0, len(texts), self._batch):
            batch = texts[place : place + self._batch]
            answers, failure = self._asking.ask(batch)
            self.asked += len(batch)
            lines = []
            for text, claims in zip(batch, answers, strict=True):
                if claims is None:
                    unanswered.append(text)
                    self.failures[failure or NO_ANSWER] += 1
                    continue
                self._known[digest_of(text)] = claims
                lines.append({"text_sha256": digest_of(text), "model": self._asking.model, "claims": claims})
            self._append(lines)
        return unanswered

    def _append(self, lines: list[dict[str, Any]]) -> None:
        if not lines:
            return
        try:
            with self._path.open("ab") as stream:
                if stream.tell():
                    _end_line(self._path, stream)
                stream.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as cause:
            raise CapacityError(
                f"{self._path} cannot be written: {cause.strerror}", path=str(self._path)
            ) from cause


def _end_line(path: Path, stream: Any) -> None:
    """End the last line where a killed run left it open."""
    with path.open("rb") as held:
        held.seek(-1, os.SEEK_END)
        if held.read(1) != b"\n":
            stream.write(b"\n")


def _key_of(answer: Any) -> str | None:
    if not isinstance(answer, dict) or "claims" not in answer:
        return None
    text, key = answer.get("text"), answer.get("text_sha256")
    if isinstance(text, str):
        found = digest_of(text)
        return found if key in (None, found) else None
    is_digest = isinstance(key, str) and len(key) == 64 and not set(key.lower()) - set("0123456789abcdef")
    return str(key).lower() if is_digest else None
