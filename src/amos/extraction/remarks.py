"""Find remarks on what is said: that it be hushed, dropped or used just this once, in whatever words.

The screens cut what they know for a request.  This look is wider and less sure: a clause beside a claim
that points at the saying, or speaks to the hearer, in words of telling, keeping, dropping or hiding, where
no known turn explains it.  So a claim waits for a person instead of being believed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from amos.extraction.screen_letters import MARKS, OTHER, classes, letters_of_words, letters_only, nth_word
from amos.extraction.screen_silence import SILENCE_WORDS
from amos.patterns import pattern_of

_OWN_OF = classes(
    """
    please kindly there really so then also the a an oh well ok okay though tho too ever even still now
    hey btw thanks bitte aber doch mal porfa por favor svp s'il and but und et y en que qu' dass daß
    """,
    T="""
    that it those which that's it's everything both das es davon darüber ça cela eso ello lo l' its what's
    """,
    t="this these following next dies dieses diese folgendes ceci esto",
    o="""
    one ones sentence bit part fact message messages piece info information detail details stuff above
    thing
    """,
    Y="""
    you your yours u ya you'd you'll you've you're yourself du dich dir dein deine tu te toi vous ti usted
    """,
    I="""
    i we me my us he she they i'd i've i'm im we've he's she's they've i'll ich wir er je j' il elle yo
    mein meine mon ma mi
    """,
    D="no-one nobody nobody's keiner keinem niemand personne nadie",
    l="only just once strictly solely merely purely temporarily one-time one-off nur juste seulement solo",
    L="later afterwards afterward forever permanently elsewhere else anyone anybody anywhere further beyond",
    O="off out away aside",
    S="""
    secret secrets secrecy secretly confidential confidentially confidence private privately hush silence
    silent discreet discretion whisper mum mum's classified redact censor undisclosed covert incognito
    anonymous ears lips zip sealed wraps geheim verschwiegen geheimnis stillschweigen bouche motus secreto
    secreta silencio discret discreto
    """,
    F="""
    forget delete drop erase wipe strike scratch scrap cross discard shred bury destroy undo unlearn unsay
    remove omit exclude purge void disregard vanish disappear evaporate fade dissolve
    """,
    K="""
    tell told say said mention repeat share spread reveal disclose leak hear heard know known learn find
    post pass quote cite sagen sag sagst weitersagen erzählen erzähl erzähle erfahren erfährt wissen weiß
    dire dis dites répéter répète parler parle savoir sait contar cuentes cuente decir digas diga saber
    sepa repetir repitas leas lis lies
    """,
    M="conversation thread session walls mind word words chat nosotros uns nous",
    V="stay remain go leave end stop bleibt bleibe reste queda quede",
    W="rather prefer favour favor wish appreciate grateful möchte préfère préférerais prefiero preferiría",
    w="want like will need",
    m="may might can could should shall must would supposed allowed meant is are was be been being to",
    p="in on at into by with from of under about for up down over",
)
_INFLECTED = "SFKMVW"
_ENDINGS = ("s", "d", "ed", "ing")
_AS_HERE = {"N": "D", "n": "D", "f": "D", "M": "M", "U": "S", "v": "F", "e": "F", "P": "S"}
_AS_HERE |= dict.fromkeys("KsRkrhDG", "K")


def _letters() -> dict[str, str]:
    """Return the letter of each word: those of the screen that mean the same here, and more."""
    known = {word: _AS_HERE[letter] for word, letter in SILENCE_WORDS.items() if letter in _AS_HERE}
    grown = {
        word.removesuffix("e") + ending if ending == "ing" else word + ending: letter
        for word, letter in (known | _OWN_OF).items()
        if letter and letter in _INFLECTED and word.isascii() and word.isalpha()
        for ending in _ENDINGS
    }
    return grown | known | _OWN_OF


LETTER_OF = _letters() | MARKS
"""The letter of each word and mark."""
_CLAIMED = "#"
_AFTER = (
    r"^(?!I)(?=.*S)(?=.*[tTYDo]|.{1,4}$)",  # "that is for your ears only"
    r"^[tT](?=.*[DVY]).*M",  # "that goes no further than this chat"
    r"^(?!I)(?=.*[tT])(?=.*M)(?=.*[YDF])",  # "let that one slip your mind"
    r"^(?!TDKx|[Ix][^D]{0,3}D)(?=.*K)(?=.*D)(?=.*[tTY])",  # "which you did not hear from me"
    r"^D[^I]*K|^x[ID]{2,3}K",  # "no one is supposed to know", "pretend I never mentioned her"
    r"^[^ID]*F[^I]*[tT]|^F.*I.*K|^F[^I]*$|^[tT].*F",  # "scratch what I just told you"
    r"I.*W.*[tTF]|^ID[mw]*w[tT]|^I.*D.*W.*[tT]",  # "I don't want that turning up"
    r"^D[^I]*L$",  # "and not for later"
    r"^[tT]V.*[DLM]|^[tT].*DV",  # "that stays with us"
    r"^[tT](?=.*Y)(?=.*D)|^Y.*D.*[tT]",  # "you did not get that from me"
    r"^[xKFSV][^IYTtD]{0,8}p[tT]o?$",  # "hush about it"
    r"^x+m?D.*[tT]",  # "my boss must not get wind of it"
    r"D[ox]?M|O[^I]?M",  # "not a word", "off the books"
    r"^(?!I)[^I]*D[^I]?m+[KFS]$",  # "not to be kept"
    r"^p?[tT]o?l$|^[tT][^I]*l$|^l[^I]*[tT]",  # "this once only"
)
_BEFORE = (
    r"^(?!I)(?=.*S)(?=.*[tTYDo]|.{1,4}$)",
    r"^(?!I)(?=.*t)(?=.*[MF])",
    r"^K[^ID]*t(?=.*[YO])",  # "keep this under your hat: ..."
    r"^(?![Ix][^D]{0,3}D)(?=.*K)(?=.*D)(?=.*t)",
    r"^D[^I]*L$",
    r"^I.*D.*t$|^I.*D.*[tT].*[KFM]",  # "I'm not at ease with this being kept: ..."
    r"I.*[wW].*D.*[tMK]|I.*W[^I]*t.*M",  # "I'd rather you didn't hang on to this: ..."
    r"^xI+KY?.*V|^t.*V",  # "what I tell you next stays here"
    r"^x?D[^I]*t",  # "nothing of the following is to last: ..."
    r"^p?to?l$|^t[^I]*l$|^l[^I]*t",
    r"^l?xM|O[^I]?M",  # "switch memory off"
    r"^F[^ITt]*$",  # "bórralo: ..."
)
_LEADING = (
    r"^(?![Ix])(?=.*K)(?=.*D)(?=.*T)",  # "nichts davon notieren, ..."
    r"^[xp]?D[^I]*K$",  # "à ne pas enregistrer : ..."
)
_ITSELF = r"Y.*D.*[KFM]|D.*Y.*K|D.*K.*[tT]$"
_IS_AFTER, _IS_BEFORE, _IS_LEADING = (
    pattern_of("|".join(ways)) for ways in (_AFTER, _BEFORE, _BEFORE + _LEADING)
)
_IS_ITSELF = pattern_of(_ITSELF)
_SENTENCES = pattern_of(r"[^.]+")
_PIECES = pattern_of(rf"[^,:'.{_CLAIMED}]+")
JOINED = pattern_of(r",(?=\s(?:dass|daß|que|that)\b)", re.IGNORECASE)
"""Parts what belongs together: "ich möchte nicht, dass …"."""
_PLACED = pattern_of("p[^tTYM]*x$")
"""Says where a thing goes: "put it on the letter"."""
WITH_OBJECT = pattern_of(r"\w*[áéíóú]\w*l[oa]s?")
"""A Spanish order with what it is about: "bórralo"."""
_NO_ORDERS = frozenset(
    """
    above about across after against along among around as at because before behind below beside besides
    between beyond by despite down during except for from in inside into like near of off on onto out
    outside over past per since through throughout till to toward towards under until unlike up upon via
    with within without if when while where whereas although once unless whether how why who whom whose
    than maybe perhaps probably possibly actually honestly sometimes usually often always almost nearly
    quite rather very only today tomorrow yesterday tonight here yes yeah yep no nope sure right wow great
    cool nice true sorry hello especially is are was were am be been do does did has have had can could
    will would shall should may might must his her our their him us someone something each every either
    another many much more most less few some any other same such own hope think thought guess bet believe
    suppose feel felt mean see saw glad love loved hate like liked enjoy know knew heard got had made took
    gave want need remember note make makes use add look check watch turns seems looks sounds does means
    takes brings gives helps keep let oder denn weil wenn als ob ist sind war hat haben für mit von bei
    nach zu auf an um auch noch nur mais ou car si on est sont a ont pour avec de dans sur chez puis aussi
    pero o porque si yo es son era tiene para con en también creo
    """.split()
)
"""Words at the head of a clause that give no order, or one that is plain: "make it short"."""
_PLAIN = pattern_of(
    r"(?:keep|bear|have)(?:ing)? (?:\w+ ){1,2}in mind|in mind that\b"
    r"|\b(?:don't|dont|do not|never)(?: ever)? (?:forget|delete|lose|drop|skip|remove|erase)\b"
    r"|\b(?:can't|cannot) wait\b|^you know$|\blet (?:me|you|us) know\b"
    r"|\bas (?:you|i|we) (?:\w+ )?(?:know|said|told)"
    r"|\b(?:tell|show|remind|ask) (?:me|us)\b|\btake (?:a )?note of\b"
    r"|^(?:i|we|i've|we've)(?: have)?(?: already)? (?:told|mentioned|said)\b"
    r"|^(?:not|no) (?:sure|idea|longer|problem|wonder|doubt)\b"
    r"|^(?:please )?(?:remember|note|save|write|store|record|keep|add) (?:this|that|it)(?: down)?"
    r"(?: for \w+)?(?: please)?$"
    r"|\b(?:good|great|nice|sorry|glad|happy) to (?:hear|know|see)\b",
    re.IGNORECASE,
)
"""Turns of talk that ask for no silence."""


class Remark(NamedTuple):
    """claim: the place of the claim that it stands beside.  start, end: its range in code points."""

    claim: int
    start: int
    end: int


class _Read(NamedTuple):
    """What stands around claims.  letters: of all parts, each claim as `#`.  words: per letter.

    places: per letter its part, and its number among all the words of that part.
    """

    letters: str
    words: list[str]
    places: list[tuple[int, int]]


@functools.lru_cache(maxsize=1 << 15)
def may_be_remark(letters: str) -> bool:
    """Tell whether a clause of such words may be a remark, whichever side of a claim it stands on."""
    return (
        _IS_AFTER.search(letters) is not None
        or _IS_LEADING.search(letters) is not None
        or _IS_LEADING.search(letters.removesuffix("T") + OTHER) is not None
        or letters[1:2] in ("t", "T", "o")
    )


def asks(letters: str) -> bool:
    """Tell whether what reads as a claim is itself a request: "I prefer that you don't keep this"."""
    return "D" in letters and _IS_ITSELF.search(letters) is not None


def find_remarks(text: str, claims: list[tuple[int, int]]) -> Iterator[Remark]:
    """Yield remarks beside `claims` (half-open ranges in code points, ascending); linear in `text`."""
    text = JOINED.sub(" ", text.replace("’", "'"))
    asking = [
        number for number, (start, end) in enumerate(claims) if asks(letters_only(text[start:end], LETTER_OF))
    ]
    yield from (Remark(number, *claims[number]) for number in asking)
    others = [number for number in range(len(claims)) if number not in asking]
    parts = _parts(text, [claims[number] for number in others])
    read = _read([text[start:end] for start, end in parts])
    for start, end, about in _found(read):
        first, last = (_range(text, parts, read.places[place]) for place in (start, end - 1))
        yield from (Remark(others[claim], first[0], last[1]) for claim in about)


def _parts(text: str, claims: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges before, between and behind claims."""
    at, parts = 0, []
    for start, end in claims:
        parts.append((at, max(at, start)))
        at = max(at, end)
    return [*parts, (at, len(text))]


def _read(parts: list[str]) -> _Read:
    letters: list[str] = []
    words: list[str] = []
    places: list[tuple[int, int]] = []
    for part, said in enumerate(parts):
        if part:
            letters.append(_CLAIMED)
            words.append("")
            places.append((part, 0))
        for number, (word, letter) in enumerate(letters_of_words(said, LETTER_OF)):
            if letter:
                letters.append(letter)
                words.append(word)
                places.append((part, number))
    return _Read("".join(letters), words, places)


def _range(text: str, parts: list[tuple[int, int]], place: tuple[int, int]) -> tuple[int, int]:
    start, end = parts[place[0]]
    return nth_word(text, start, end, place[1])


def _found(read: _Read) -> Iterator[tuple[int, int, list[int]]]:
    """Yield the ranges of clauses in letters that make claims doubtful, with those claims."""
    letters = read.letters
    sentences = [match.span() for match in _SENTENCES.finditer(letters)]
    counts = [letters.count(_CLAIMED, start, end) for start, end in sentences]
    firsts = [letters.count(_CLAIMED, 0, start) for start, _ in sentences]
    told = [list(range(first, first + count)) for first, count in zip(firsts, counts, strict=True)]
    before, after = _runs(told), _runs(told[::-1])[::-1]
    for number, (start, end) in enumerate(sentences):
        if not (before[number] or told[number] or after[number]):
            continue
        for piece in _PIECES.finditer(letters, start, end):
            reached = letters.count(_CLAIMED, 0, piece.start())
            passed = [*before[number], *(claim for claim in told[number] if claim < reached)]
            ahead = [*(claim for claim in told[number] if claim >= reached), *after[number]]
            about = _about(read, piece, passed, ahead)
            if about:
                yield piece.start(), piece.end(), about


def _runs(told: list[list[int]]) -> list[list[int]]:
    """Return per sentence the claims of the sentences right before it that hold any."""
    runs: list[list[int]] = []
    run: list[int] = []
    for claims in told:
        runs.append(run)
        run = [*run, *claims] if claims else []
    return runs


def _about(read: _Read, piece: re.Match[str], passed: list[int], ahead: list[int]) -> list[int]:
    """Return the claims that a clause makes doubtful: those before it, else those that it leads to."""
    letters, first = piece.group(), read.words[piece.start()]
    is_passed = bool(passed) and (_IS_AFTER.search(letters) is not None or _is_order(first, letters, "tTo"))
    if not is_passed:
        is_leading = read.letters.startswith(_CLAIMED, piece.end())
        if is_leading and letters.endswith("T"):
            letters = letters[:-1] + OTHER  # "remember that | I live in Ghent"
        is_near = read.letters.startswith(_CLAIMED, piece.end() + 1)
        ways = _IS_LEADING if is_near else _IS_BEFORE
        if not ahead or not (ways.search(letters) or _is_order(first, letters, "t")):
            return []
    said = " ".join(read.words[piece.start() : piece.end()])
    if _PLAIN.search(said):
        return []
    return passed if is_passed else ahead


def _is_order(first: str, letters: str, objects: str) -> bool:
    """Tell whether a clause is an order about the saying, by an unknown verb: "unhear this"."""
    if WITH_OBJECT.fullmatch(first):
        return True
    return (
        letters[1:2] in tuple(objects)
        and _PLACED.search(letters) is None
        and first.replace("-", "").isalpha()
        and first not in _NO_ORDERS
        and not first.endswith(("ing", "ly", "ed"))
    )
