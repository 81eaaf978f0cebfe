"""Find the words that a message gives to others: behind a name, a text or a saying, and a colon."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from amos.extraction.frames_found import SENTENCE_END, Frame, Kind, Rule
from amos.patterns import pattern_of

_COLON = pattern_of(
    r":(?=\s{1,3}[^\s\"“„«'‘`])|[-=]>(?=\s{0,2}\w)|(?<=\s)[-–—](?=\s(?:I|i|my|My|we|We|our|Our)\b)"
)
_SAYS = frozenset(
    "said says say saying told tells texted texts text wrote writes write writing goes go went reads "
    "read reading replied replies answered answers claims claimed put puts posted posts tweeted "
    "announced announces insists insisted shouted shouts asked asks whispered quoted quotes states "
    "stated explained explains mentioned adds added sings sang yells screams messaged emailed mailed "
    "typed declares declared swears swore repeats mutters boasts joked jokes translates sagte sagt "
    "schrieb schreibt meint meinte dit écrit disait dice dijo escribió".split()
)
_TEXTS = frozenset(
    "bio intro profile sign poster banner slogan motto ad advert advertisement review article headline "
    "caption song lyrics chorus poem verse quote email e-mail mail letter sms text message note post "
    "tweet comment template example sample placeholder script book page website site listing brochure "
    "manual label form transcript chat thread story joke riddle proverb saying prompt words mug shirt "
    "t-shirt bumper sticker postcard voicemail plaque advice exercise sentence dialogue subtitle schild "
    "plakat lied affiche panneau chanson cartel canción letrero".split()
)
_PEOPLE = frozenset(
    "he she they his her their him mum mom mummy dad mother father sister brother wife husband partner "
    "boss manager friend neighbour neighbor colleague coworker teacher doctor landlord grandma grandpa "
    "granny aunt uncle cousin son daughter girlfriend boyfriend ex roommate flatmate client customer "
    "somebody someone everyone people er sie mama papa elle il ella él jefe jefa chef mère père".split()
)
_SELF = frozenset("i we i'd i've i'll we'd i'm ich wir je j' yo".split())
_POINTS = frozenset("the a an this that his her their its some another der die das le la un une el".split())
_REWORK = frozenset(
    "translate proofread rewrite rephrase paraphrase summarise summarize reword correct spellcheck "
    "übersetze traduis traduce improve shorten polish".split()
)
_CITES = frozenset("quoting citing quote pasting copying forwarding zitiere citando".split())
_OF = frozenset("of from by about on von de du del".split())
_MATERIAL = frozenset(
    "this these it that following below sentence sentences line lines text phrase words statement".split()
)
_ASKED = frozenset(
    "can could would will what how is does turn make convert give explain check rate guess continue "
    "finish complete classify tag categorise categorize label extract parse spell say read type repeat "
    "echo copy put use change phrase format edit fix grade judge analyse analyze interpret sort react "
    "reply respond answer kannst könntest mach peux pourrais puedes".split()
)
_KEEPS = frozenset(
    "remember note save keep store know memorise memorize record mind log write add learn forget".split()
)
_AFTER = frozenset("in according per as laut selon según".split())
_NO_SAYING = _SELF | {"to", "my", "please", "you", "let"}
_COMPOSES = frozenset("write draft compose send create make tell help please".split())
_WORD = pattern_of(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LONGEST_LEAD = 120


def _find_given_words(text: str) -> Iterator[Frame]:
    """Yield what stands, to its line's end, behind a colon that another's name, text or saying leads to."""
    reached = 0
    for colon in _COLON.finditer(text):
        if colon.start() < reached:
            continue
        first = max(0, colon.start() - _LONGEST_LEAD)
        ends = [match.end() for match in SENTENCE_END.finditer(text, first, colon.start())]
        if _is_given(_WORD.findall(text[ends[-1] if ends else first : colon.start()])):
            end = text.find("\n", colon.end())
            reached = end if end >= 0 else len(text)
            yield Frame(colon.end(), reached, Kind.PASTED)


def _is_given(words: list[str]) -> bool:
    """Tell whether a lead names another voice: who says it, where it stands written, what to do with it."""
    folded = [word.casefold() for word in words]
    if not folded or folded[0] in _COMPOSES:
        return False
    if folded[0] in _REWORK or _is_task(folded) or not _CITES.isdisjoint(folded):
        return True
    said_at = _place_of_saying(folded)
    if said_at is not None:
        return folded[0] not in _SELF
    return _names_text(folded) or _names_owner(folded) or (folded[0] in _AFTER and _names_other(words))


def _place_of_saying(folded: list[str]) -> int | None:
    """Return where somebody else than the author says something, None where nobody does."""
    for place in range(1, len(folded)):
        if folded[place] in _SAYS and folded[place - 1] not in _NO_SAYING:
            return place
    return None


def _names_text(folded: list[str]) -> bool:
    """Tell whether a lead names something that words stand on: "the sign outside", "bio of our speaker"."""
    if folded[0] in _TEXTS and not _OF.isdisjoint(folded[1:]):
        return True
    return any(
        word in _TEXTS and (before in _POINTS or before.endswith("'s") or folded[0] in ("the", "a"))
        for before, word in pairwise(["", *folded])
    )


def _names_owner(folded: list[str]) -> bool:
    """Tell whether a lead is a person, or something of a person that "is" or "was" what follows."""
    if folded[0] in ("my", "our", "the") and len(folded) == 2 and folded[1] in _PEOPLE:
        return True
    is_of_other = any(word.endswith("'s") or word in _PEOPLE for word in folded[:-1])
    return folded[-1] in ("was", "is", "were") and is_of_other and not {"my", "i"} & set(folded)


def _is_task(folded: list[str]) -> bool:
    """Tell whether a lead asks for something to be done with the words behind it, other than to keep them."""
    first = folded[1] if folded[0] in ("please", "pls", "now", "ok", "hey") and len(folded) > 1 else folded[0]
    return first in _ASKED and not _MATERIAL.isdisjoint(folded[1:]) and _KEEPS.isdisjoint(folded)


def _names_other(words: list[str]) -> bool:
    return any(word.casefold() in _PEOPLE or word.endswith("'s") or word[0].isupper() for word in words[1:])


RULES = (Rule(_find_given_words, marks=(":", "->", "=>", " - ", " – ", " — ")),)
"""Ranges that are the words of somebody or something else."""
