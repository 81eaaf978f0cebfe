"""Find where somebody asks to have something forgotten, and the words that say what.

A request is never obeyed here: it is told to a person, who decides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.extraction.frames import find_frames
from amos.extraction.frames_found import Kind, flat
from amos.extraction.notes import coded, one_array, unread_reasons
from amos.extraction.screen_view import byte_offsets
from amos.patterns import pattern_of
from amos.schemas.choosing import with_column
from amos.schemas.claims import CLAIMS, SOURCE_NOTES
from amos.schemas.vocabulary import UNSEEN, Modality, Reason, SourceFlag, Trust

_OWN = r"(?:my|our)(?! (?:next|last|previous|earlier) (?:message|sentence|line|remark|bit|part)(?!\w))"
_NAME = r"(?-i:[A-ZÀ-Þ][^\W\d_]{1,24})"
_CLAUSE = (
    r"(?:that )?(?=(?:i|i'm|i've|i'd|my|we|we're|our|he|he's|she|she's|they|his|her|their)(?!\w) \w"
    rf"|{_NAME} \w)"
)
_SAID = (
    r"(?:what(?:ever)?|everything|anything|all)(?: that)? (?:i|i've|we) (?:ever |just |once )?(?:said"
    r"|told you"
    r"|mentioned|wrote|shared)(?: to you)? (?:about|on|regarding|of) (?=\S)"
)
_KNOWN = (
    r"(?:what(?:ever)?|everything|anything|all)(?: that)? (?:you (?:know|have|remember|stored?|saved?|kept"
    r"|keep)"
    r"(?: stored| saved| written)? )?(?:about|on|of) (?=\S)"
)
_ENTRY = (
    r"(?:the|that|any|your|all) (?:fact|notes?|memor(?:y|ies)|entry|entries|records?) "
    r"(?:that |about |on |of )(?=\S)"
)
_WHERE = r"(?:where|who|what|when|how old|how) (?=(?:i|my|we|our|he|she|they|his|her|their)(?!\w))"
_MEMORY = (
    r" (?:from|out of|in) (?:(?:your|the|my|all) ){0,2}(?:memory|memories|notes?|records?|files?|profile"
    r"|storage"
    r"|database)(?!\w)"
)
_ATTRIBUTE = (
    r"(?:e-?mail(?: address)?|(?:home |street |work |postal )?address|(?:phone |mobile )?number|birthday"
    r"|birth date"
    r"|date of birth|age|(?:shoe|clothing|ring) size|size|salary|income|weight|height|diet|allerg(?:y|ies)"
    r"|job"
    r"|employer|boss|blood group|blood type|religion|nickname|pronouns?|home ?town|preferences?)"
)
_BEGIN = (
    r"(?:\A|[.!?;:,\n(–—-]\s{0,3}|(?<!\w)(?:please|pls|plz|kindly|and|now|just|also|so|ok|okay|then|hey) )"
)
_ASK = _BEGIN + (
    r"(?:please |pls |kindly |just |now )?(?:(?:can|could|would|will) you (?:please |kindly |just |now )?"
    r"|you (?:can|may|should|must|have to|need to|could) (?:please |now |just )?"
    r"|(?:i'd|i would) (?:like|love|prefer) you to |i (?:want|need|wish|ask) you to (?:please )?)?"
)
_END = (
    r"(?=\s*(?:[.!?;\n)]|\Z)|,? (?:please|pls|plz|thanks|thank you|thx|for good|any ?more|any longer|now"
    r"|but|because"
    r"|since)(?!\w)|, )"
)
_ENGLISH = (
    (
        rf"(?:forget|unlearn|unremember|stop (?:remembering|storing"
        rf"|keeping))(?: about(?! {_NAME}))? (?P<%s>(?:{_SAID}"
        rf"|{_KNOWN}|{_ENTRY}|(?:the fact )?{_CLAUSE}|{_WHERE}|{_OWN} (?=\S)"
        rf"|{_NAME}'s (?=\S)).{{1,200}}?)(?:{_MEMORY})?{_END}"
    ),
    (
        rf"(?:delete|erase|remove|wipe|scrub|drop|clear)(?: out| away)? (?P<%s>(?:{_SAID}|{_KNOWN}|{_ENTRY}"
        rf"|the fact {_CLAUSE}).{{1,200}}?)(?:{_MEMORY})?{_END}"
    ),
    (
        rf"(?:delete|erase|remove|wipe|scrub|drop|clear|take|strike) (?P<%s>(?:{_OWN}|{_NAME}'s|the|that) "
        rf".{{1,80}}?){_MEMORY}{_END}"
    ),
    rf"(?:delete|erase|remove|wipe|scrub|drop) (?P<%s>my {_ATTRIBUTE}){_END}",
    (
        r"(?:do ?n't|do not|stop|no longer) (?:remember|store|keep|save|know)(?:ing)? (?P<%s>(?:my|our|that i"
        r"|that my) "
        r".{1,120}?)(?: on file)? (?:any ?more|any longer)(?!\w)"
    ),
    r"no longer (?:remember|store|keep|save) (?P<%s>(?:my|our|that i|that my) .{1,120}?)(?: on file)?" + _END,
)
_YOU_MAY = (
    r"you (?:can|may|should|could) (?:please |now |just )?forget (?:about )?(?P<%s>the .{1,60}? (?:goal|plan"
    rf"|appointment|reminder|preference|habit|diet|trip|allergy|promise)){_END}"
)
_GERMAN_END = r"(?=\s*(?:[.!?;\n)]|\Z)|,? (?:bitte|danke)(?!\w)|, )"
_GERMAN = (
    r"(?:vergiss|vergesst|vergessen sie)(?: bitte)?,? dass (?P<%s>(?:ich|mein|wir|unser|er|sie)\w* .{1,160}?)"
    + _GERMAN_END,
    r"(?:vergiss|vergesst|vergessen sie)(?: bitte)?,? (?P<%s>(?:mein|unser)\w{0,2} .{1,80}?)" + _GERMAN_END,
    r"(?:vergiss|vergesst|vergessen sie|lösche?|lösch|löschen sie|entferne?|streiche?)(?: bitte)?,? "
    r"(?P<%s>(?:(?:alles,? )?was (?:ich|du|wir)|alles(?: \w+)? über|wo ich|wer mein\w{0,2}"
    r"|wie ich) .{1,120}?)" + _GERMAN_END,
    (
        r"(?:lösche?|lösch|löschen sie|entferne?|streiche?)(?: bitte)? (?P<%s>(?:mein"
        r"|unser)\w{0,2} .{1,80}?) (?:aus|in) "
        r"(?:deine[mnr]|dem|den|ihre[mn]) (?:gedächtnis|speicher|notizen|profil)"
    ),
    (
        r"(?:merke?|speichere?)(?: dir)? (?P<%s>mein\w{0,2} .{1,80}?) (?:nicht|bitte nicht) (?:mehr"
        r"|länger)(?!\w)"
    ),
    (
        r"(?:kannst|könntest|würdest) du (?:bitte )?(?P<%s>(?:alles(?: \w+)? über|mein\w{0,2}"
        r"|unser\w{0,2}) .{1,100}?) "
        r"(?:bitte )?(?:vergessen|löschen)(?!\w)"
    ),
)
_FRENCH_END = r"(?=\s*(?:[.!?;\n)]|\Z)|,? (?:s'il te plaît|s'il vous plaît|stp|svp|merci)(?!\w)|, )"
_FRENCH_ASK = r"(?:(?:peux-tu|pourrais-tu|pouvez-vous|tu peux|veuillez)(?: s'il te plaît)? )?"
_FRENCH = (
    r"(?:oublie[zr]?)(?: s'il te plaît)? (?P<%s>(?:que (?:je|j'|mon|ma|mes|nous|notre|il|elle)|qu'(?:il"
    r"|elle)|mon|ma"
    r"|mes|notre|nos|où j|qui est mon|ce que (?:je|j')|tout ce que) ?.{1,120}?)(?: de ta mémoire)?"
    + _FRENCH_END,
    r"(?:efface|supprime|retire|enlève)[zr]? (?P<%s>(?:ce que (?:je|j'|tu|vous)|tout ce que) ?.{1,120}?)"
    + _FRENCH_END,
    (
        r"(?:efface|supprime|retire|enlève)[zr]? (?P<%s>(?:mon|ma|mes|notre|nos) .{1,80}?) de (?:ta"
        r"|votre) mémoire"
    ),
    r"ne (?:retiens|retenez|garde|gardez|enregistre|enregistrez) plus (?P<%s>(?:mon|ma|mes|que je"
    r"|que j') ?.{1,80}?)" + _FRENCH_END,
)
_SPANISH_END = r"(?=\s*(?:[.!?;\n)]|\Z)|,? (?:por favor|gracias)(?!\w)|, )"
_SPANISH = (
    r"(?:olvida|olvide|olvídate de|olvidar)(?: por favor)? (?P<%s>(?:que (?:yo |mi |vivo|soy|tengo|me|nos"
    r"|trabajo|como"
    r"|él |ella )?|mi|mis|nuestr[oa]s?|dónde vivo|lo que (?:te )?dije"
    r"|todo lo que) ?.{1,120}?)(?: de tu memoria)?" + _SPANISH_END,
    r"(?:borra|borre|elimina|elimine|quita|suprime|borrar|eliminar) (?P<%s>(?:lo que|todo lo que) .{1,120}?)"
    + _SPANISH_END,
    (
        r"(?:borra|borre|elimina|elimine|quita|suprime|borrar|eliminar) (?P<%s>(?:mi|mis"
        r"|nuestr[oa]s?) .{1,80}?) de "
        r"(?:tu|su) (?:memoria|perfil)"
    ),
    r"(?:ya no|no) (?:recuerdes|guardes) (?:más )?(?P<%s>(?:mi|mis) .{1,80}?)(?: más)?" + _SPANISH_END,
)
_START = (
    r"(?:\A|[.!?;:,\n(–—¿¡-]\s{0,3}"
    r"|(?<!\w)(?:bitte|und|jetzt|also|et|alors|y|ahora|por favor|s'il te plaît) )"
)
_SPANISH_ASK = r"(?:(?:puedes|podrías|quiero que|por favor,?) )?"


def _named(openers: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(
        pattern_of(opener + pattern.replace("%s", "what"), re.IGNORECASE)
        for opener, patterns in openers
        for pattern in patterns
    )


_REQUESTS = _named(
    (
        (_ASK, _ENGLISH),
        (_BEGIN, (_YOU_MAY,)),
        (_START, _GERMAN),
        (_START + _FRENCH_ASK, _FRENCH),
        (_START + _SPANISH_ASK, _SPANISH),
    )
)
_GATE = (
    "(?i)forget|unlearn|unremember|stop (?:remember|stor|keep)|delete|erase|remove|wipe|scrub|drop|clear"
    "|vergess|vergiss|lösch|entfern|streich"
    "|oubli|efface|supprim|retir|enlèv|olvid|olvíd|borra|borre|elimin|quita|suprim|out of your mem"
    "|(?:remember|store|keep|save|know)(?:ing)? .{0,120}(?:any ?more|any longer)|no longer (?:remember"
    "|store|keep|save)"
    "|(?:merk|speicher).{0,100}nicht (?:mehr|länger)|(?:retiens|retenez|garde|gardez|enregistre"
    "|enregistrez) plus"
    "|no (?:recuerdes|guardes)"
)
"""What every text with a request matches."""
_GATE_ALONE = pattern_of(_GATE)
_SMALL = 8_192
"""Bytes of texts that are searched one by one."""
_QUOTED = pattern_of(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|‘[^’\n]{1,400}’(?!\w)"
    r"|(?<!\w)'[^'\n]{8,400}'(?!\w)|```.*?(?:```|\Z)|`[^`\n]{1,400}`|^[ \t]*[>|].*$",
    re.DOTALL | re.MULTILINE,
)
_SUPPOSED = pattern_of(
    r"(?<!\w)(?:if|when|whenever|how|why|what if|suppose|imagine|wenn|falls|wie|si|cuando|quand|comment"
    r"|cómo)(?!\w)"
    r"[^.!?;\n]{0,60}$",
    re.IGNORECASE,
)
_TOLD = pattern_of(
    r"(?<!\w)(?:told|tell|tells|asked|asks|says?|said|sagt|sagte|meinte|dit|a dit|dijo"
    r"|dice)(?!\w)[^.!?;\n]{0,40}$",
    re.IGNORECASE,
)
_WINDOW = 72
_FOREIGN = (Kind.PASTED, Kind.PLAYED, Kind.ROLED, Kind.JOKED)
_NOT_ITS_AUTHOR = int(UNSEEN | SourceFlag.FORWARDED)
_NOTED = str(Reason.FORGET_REQUESTED)


class Request(NamedTuple):
    """What is asked to be forgotten: a half-open range of UTF-8 bytes, and its words."""

    start: int
    end: int
    words: str


def find_requests(text: str) -> list[Request]:
    """Return what `text` asks in earnest, and in its author's own words, to have forgotten, in order."""
    plain = flat(text)
    spans = sorted({match.span("what") for pattern in _REQUESTS for match in _meant(pattern, plain)})
    if not spans:
        return []
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    edges = byte_offsets(text, [edge for span in kept for edge in span])
    found = [
        Request(first, last, text[start:end])
        for (start, end), first, last in zip(kept, edges[::2], edges[1::2], strict=True)
    ]
    frames = [frame for frame in find_frames(text) if frame.kind in _FOREIGN]
    return [one for one in found if not any(frame.start <= one.start < frame.end for frame in frames)]


def _meant(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches that are neither quoted nor supposed nor told of somebody."""
    quotes: list[tuple[int, int]] | None = None
    for match in pattern.finditer(text):
        before = text[max(0, match.start() - _WINDOW) : match.start("what")]
        head = before[: len(before) - (match.start("what") - match.start())]
        if _SUPPOSED.search(head) or _TOLD.search(head):
            continue
        quotes = [one.span() for one in _QUOTED.finditer(text)] if quotes is None else quotes
        place = bisect_right(quotes, (match.start("what"), len(text))) - 1
        if place < 0 or quotes[place][1] <= match.start("what"):
            yield match


def requests_of(sources: pa.Table) -> dict[int, list[Request]]:
    """Return by row of `sources` (SEGMENTABLE) what their authors ask to have forgotten.

    Only a trusted user's own visible words ask: nothing that is forwarded, quoted, flagged or withheld.
    """
    may_ask = _may_ask(sources["content"])
    if not may_ask.any():
        return {}
    rows = sources.take(pa.array(np.flatnonzero(may_ask)))
    own = (unread_reasons(rows) == 0) & coded(rows["trust"]).equals(Trust.TRUSTED_USER)
    own &= coded(rows["kind"]).equals("text") & ((rows["flags"].to_numpy() & _NOT_ITS_AUTHOR) == 0)
    told = zip(np.flatnonzero(may_ask)[own].tolist(), rows["content"].take(np.flatnonzero(own)), strict=True)
    found = ((row, find_requests(text.as_py())) for row, text in told)
    return {row: requests for row, requests in found if requests}


def _may_ask(texts: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which texts may hold a request, never too few; few texts are not worth another pattern."""
    encoded = one_array(texts).dictionary_encode()  # equal texts are asked once
    distinct = encoded.dictionary
    if texts.nbytes <= _SMALL:
        found = np.array([_GATE_ALONE.search(text) is not None for text in distinct.to_pylist()], np.bool_)
    else:
        found = pc.match_substring_regex(distinct, _GATE).to_numpy(zero_copy_only=False).astype(np.bool_)
    return np.asarray(found[encoded.indices.to_numpy()], np.bool_)


def withhold_requested(claims: pa.Table, requests: dict[int, list[Request]]) -> pa.Table:
    """Return `claims` with a veto on those that a request to forget states: its words claim nothing."""
    rows = zip(*(claims[name].to_pylist() for name in ("source_row", "start", "veto")), strict=True)
    vetoes = [
        str(Reason.REQUEST_NOT_MEMORY)
        if veto is None and any(one.start <= start < one.end for one in requests.get(row, ()))
        else veto
        for row, start, veto in rows
    ]
    return with_column(claims, "veto", pa.array(vetoes, CLAIMS.field("veto").type))


def note_requests(notes: pa.Table, requests: dict[int, list[Request]]) -> pa.Table:
    """Return SOURCE_NOTES in which every source that asks to forget says so."""
    if not requests:
        return notes
    rows = pa.array(sorted(requests), pa.int32())
    others = notes.filter(pc.invert(pc.is_in(notes["source_row"], value_set=rows)))
    asked = pa.table(
        [rows, pa.repeat(_NOTED, len(rows)), pa.repeat(str(Modality.REQUEST), len(rows))], schema=SOURCE_NOTES
    )
    return pa.concat_tables([others, asked]).sort_by("source_row")
