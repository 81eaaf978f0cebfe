"""Bound claims in time: what holds now ends with the local day; what is told as past is history."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.clock import to_us
from amos.extraction.times import end_of_local_day
from amos.patterns import pattern_of
from amos.schemas.claims import CLAIMS, SEGMENTABLE
from amos.schemas.vocabulary import Cue, MemoryClass
from amos.stage import stage

_IRREGULAR = (
    "was were had did went taught drove rode kept held ran led spent slept ate drank wore made built sold "
    "bought "
    "felt knew grew began sang swam flew wrote read spoke took got gave saw met paid left lost sat "
    "stood".split()
)
_TOLD_AS_PAST = pattern_of(
    r"\W*(?:(?:\S+ ){1,5}?(?:was|were|had|wasn['’]t|weren['’]t|used to)|(?:(?i:i|we|he|she|they)"
    r"|[A-Z][\w'’-]+)"
    rf"(?: (?:also|once|only|still|never|always|[a-z]+ly))? (?:{'|'.join(_IRREGULAR)}"
    rf"|(?!hundred)[a-z]{{2,}}(?<!e)ed))"
    r"(?!\w)"
)


@stage(reads={"claims": CLAIMS, "sources": SEGMENTABLE}, writes=CLAIMS, version=1)
def bound_temporary(claims: pa.Table, sources: pa.Table) -> pa.Table:
    """Give every temporary state without a stated end the end of the local day on which it begins.

    That day is the source's own, or the day of a later `valid_from`.  claims: rows point into
    sources by `source_row`.  Sources without a time bound nothing.
    """
    if claims.num_rows == 0:
        return claims
    is_open = pc.and_(
        pc.equal(claims["memory_class"], str(MemoryClass.TEMPORARY_STATE)), pc.is_null(claims["valid_until"])
    )
    if not pc.any(is_open).as_py():
        return claims
    rows = claims["source_row"]
    said = sources["event_time"].take(rows)
    is_later = pc.fill_null(pc.greater(claims["valid_from"], said), False)
    instants = pc.if_else(is_later, claims["valid_from"], said).to_pylist()
    zones = sources["zone"].take(rows).to_pylist()
    stated = claims["valid_until"].to_pylist()
    ends = [
        end_of_local_day(to_us(at), zone) if opens and at is not None else None
        for opens, at, zone in zip(is_open.to_pylist(), instants, zones, strict=True)
    ]
    merged = [to_us(until) if until is not None else end for until, end in zip(stated, ends, strict=True)]
    field = CLAIMS.field("valid_until")
    column = pa.array(merged, pa.int64()).cast(pa.timestamp("us")).cast(field.type)
    return claims.set_column(CLAIMS.get_field_index("valid_until"), field, column)


@stage(reads={"claims": CLAIMS, "sources": SEGMENTABLE}, writes=CLAIMS, version=1)
def mark_former(claims: pa.Table, sources: pa.Table) -> pa.Table:
    """Mark what is told in the past tense and had ended when it was said: "I lived there until 2012".

    claims: rows point into sources by `source_row`.  A stated beginning makes a closed period of
    it, which needs no mark; sources without a time come after every end.
    """
    if claims["valid_until"].null_count == claims.num_rows:
        return claims
    said = sources["event_time"].take(claims["source_row"])
    has_ended = pc.fill_null(pc.less_equal(claims["valid_until"], said), pc.is_valid(claims["valid_until"]))
    is_state = pc.not_equal(claims["memory_class"], str(MemoryClass.EPISODE))  # an episode is past anyway
    is_over = pc.and_(pc.and_(has_ended, is_state), pc.is_null(claims["valid_from"]))
    places = np.flatnonzero(is_over.to_numpy().astype(np.bool_))
    if not places.size:
        return claims
    cues = claims["cues"].to_numpy().copy()
    cited = claims.select(["source_row", "start", "end"]).take(pa.array(places)).to_pylist()
    rows = sorted({claim["source_row"] for claim in cited})
    contents = sources["content"].take(pa.array(rows)).cast(pa.binary()).to_pylist()
    texts = dict(zip(rows, contents, strict=True))
    for place, claim in zip(places.tolist(), cited, strict=True):
        span = texts[claim["source_row"]][claim["start"] : claim["end"]].decode()
        if _TOLD_AS_PAST.match(span):
            cues[place] |= int(Cue.FORMER)
    field = CLAIMS.field("cues")
    return claims.set_column(CLAIMS.get_field_index("cues"), field, pa.array(cues, field.type))
