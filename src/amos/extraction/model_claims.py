"""What a model says of a text, checked against the text: nothing of it is believed without its bytes.

A model proposes and decides nothing: every row names the words it rests on, and these are found in the stored
text or the row is refused.  A refused row becomes a claim without content, vetoed with the reason.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from amos.extraction.sensitive import is_sensitive
from amos.extraction.wording import kind_of_value
from amos.schemas.vocabulary import AtomType, Cue, MemoryClass, Modality, Reason

MOST_CLAIMS = 64
"""Claims of one text that are looked at; the rest is refused, each with a row."""
PATTERN = "model"
CONFIDENCE = 80
"""Extraction confidence of a row that states none."""

Types = Literal["belief", "preference", "goal", "commitment", "procedure", "episode"]
Modalities = Literal[
    "asserted", "preference", "obligation", "request", "desired", "uncertain", "hypothetical", "conditional",
    "reported", "ironic", "question", "none",
]  # fmt: skip
Classes = Literal["durable_fact", "temporary_state", "episode", "procedure", "non_memory"]
Short = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]
Long = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]


class ModelClaim(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One row of a model's answer.

    quote: the words it rests on, or span: their half-open byte range in the text; excerpt_sha256 is checked
    where it is given.  subject is `user` for the author.  confidence: 0 to 100.
    """

    type: Types
    quote: Long | None = None
    span: tuple[int, int] | None = None
    excerpt_sha256: str | None = None
    subject: Short = "user"
    property: Short | None = None
    value: Long | None = None
    polarity: Literal["positive", "negative"] = "positive"
    modality: Modalities = "asserted"
    memory_class: Classes | None = None
    confidence: Percent = CONFIDENCE


class Refused(Exception):  # noqa: N818 - it carries a reason, as a decision does
    """A row that cannot be taken, with the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


_CLASSES: Mapping[str, str] = {
    AtomType.EPISODE: MemoryClass.EPISODE,
    AtomType.PROCEDURE: MemoryClass.PROCEDURE,
}


def claim_rows_of(answer: Any, content: str, source_row: int) -> Iterator[dict[str, Any]]:
    """Yield one row of CLAIMS per row of a model's answer on `content`; refused ones carry a veto.

    answer: the list of claims as it was decoded from JSON, whatever it is.
    """
    rows = answer if isinstance(answer, list) else [answer]
    for number, row in enumerate(rows):
        try:
            yield _checked(row if number < MOST_CLAIMS else None, content, source_row)
        except Refused as refusal:
            yield _refused_row(refusal.reason, number, content, source_row)


def _checked(row: Any, content: str, source_row: int) -> dict[str, Any]:
    try:
        claim = msgspec.convert(row, ModelClaim)
    except msgspec.ValidationError as cause:
        raise Refused(Reason.MALFORMED_MODEL_OUTPUT) from cause
    start, end = _span_of(claim, content.encode())
    words = content.encode()[start:end].decode()
    if claim.value is not None and _folded(claim.value) not in _folded(words):
        raise Refused(Reason.UNSUPPORTED_BY_SOURCE)
    if claim.value is None and claim.property is not None:
        raise Refused(Reason.MALFORMED_MODEL_OUTPUT)
    is_author = claim.subject.casefold() in ("user", "i", "me")
    cues = 0 if is_author else int(Cue.THIRD_PARTY)
    if is_sensitive(claim.property or "", claim.value or words, is_other=not is_author):
        cues |= int(Cue.SENSITIVE)
    if not is_author and _folded(claim.subject) not in _folded(content):
        raise Refused(Reason.UNSUPPORTED_BY_SOURCE)
    return _row(
        source_row,
        type=claim.type,
        memory_class=claim.memory_class or _CLASSES.get(claim.type, MemoryClass.DURABLE_FACT),
        subject_kind="author" if is_author else "other",
        subject="user" if is_author else claim.subject,
        property=claim.property,
        value=claim.value,
        value_kind=kind_of_value(claim.value) if claim.value is not None else "text",
        polarity=claim.polarity,
        modality=claim.modality,
        payload=None if claim.value is not None else _payload(words),
        start=start,
        end=end,
        confidence=claim.confidence,
        cues=cues,
    )


def _span_of(claim: ModelClaim, content: bytes) -> tuple[int, int]:
    """Return the bytes that a claim rests on.  Raises Refused when they are not in the text."""
    if claim.span is not None:
        start, end = claim.span
        if not 0 <= start < end <= len(content) or _splits_letter(content, start, end):
            raise Refused(Reason.EVIDENCE_SPAN_OUT_OF_RANGE)
        if claim.quote is not None and content[start:end] != claim.quote.encode():
            raise Refused(Reason.UNSUPPORTED_BY_SOURCE)
    elif claim.quote is not None:
        quote = claim.quote.encode()
        start = content.find(quote)
        if start < 0:
            raise Refused(Reason.UNSUPPORTED_BY_SOURCE)
        end = start + len(quote)
    else:
        raise Refused(Reason.UNSUPPORTED_BY_SOURCE)
    if claim.excerpt_sha256 is not None:
        digest = hashlib.sha256(content[start:end]).hexdigest()
        if digest != claim.excerpt_sha256.lower():
            raise Refused(Reason.EVIDENCE_EXCERPT_DIGEST_MISMATCH)
    return start, end


def _splits_letter(content: bytes, start: int, end: int) -> bool:
    """Tell whether an edge lies inside the bytes of one character."""
    return any(edge < len(content) and content[edge] & 0xC0 == 0x80 for edge in (start, end))


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _payload(words: str) -> str:
    return msgspec.json.encode({"claim": words}).decode()


def _refused_row(reason: Reason, number: int, content: str, source_row: int) -> dict[str, Any]:
    """Return a row that keeps the reason and the place in the answer, and nothing of what it said."""
    return _row(
        source_row,
        type=AtomType.BELIEF,
        memory_class=MemoryClass.NON_MEMORY,
        subject_kind="author",
        subject="user",
        modality=Modality.NONE,
        payload=_payload(f"row {number + 1} of a model's answer"),
        start=0,
        end=len(content.encode()),
        confidence=0,
        veto=str(reason),
    )


def _row(source_row: int, **said: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "source_row": source_row,
        "pattern": PATTERN,
        "property": None,
        "value": None,
        "value_kind": "text",
        "arity": "single",
        "polarity": "positive",
        "applicability": None,
        "more_spans": [],
        "valid_from": None,
        "valid_until": None,
        "time_text": None,
        "time_precision": None,
        "cues": 0,
        "veto": None,
    }
    return {**row, **{name: str(value) if isinstance(value, str) else value for name, value in said.items()}}
