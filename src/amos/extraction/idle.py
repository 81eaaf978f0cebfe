"""Claims that are no memory though a pattern fits: irony, remarks about passwords, idle statements."""

from __future__ import annotations

import functools
import re

from amos.extraction.grammar import Meaning
from amos.extraction.screen_nouns import WORD_NOUNS
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_SECRET_NAME = pattern_of(
    rf"(?:^|.*[\s\-])(?:{WORD_NOUNS}|(?:bank |card |sim |phone |debit |credit )pin(?: code| number)?|^pin)$",
    re.IGNORECASE,
)
_UNPLEASANT = pattern_of(
    r"\b(?:be(?:ing)? (?:woken|ignored|yelled|shouted|interrupted|overcharged|lied|cheated|kept waiting"
    r"|blamed|stood|dumped|robbed|fined|laughed|spammed|bitten|rained|stuck|put on hold|called names"
    r"|talked over|charged)|(?:getting|paying|having) (?:\w+ )?(?:fines|soaked|spammed|yelled|stuck|lost"
    r"|woken|ripped off|charged twice|rained on|food poisoning|root canals?|my (?:tyre|wallet|bike) stolen)"
    r"|parking tickets?|traffic jams?|stuck in|on hold|waiting (?:in|for|on|at)|standing in (?:line|queues?)"
    r"|queue?ing for|rush hour|spam calls?|unpaid overtime|delayed (?:again|flights?|trains?)|cold calls?"
    r"|hold music|jackhammers?|stepping on lego|another (?:outage|meeting|delay|reboot|update)|paper jams?"
    r"|burnt toast|wet socks|late fees|hidden fees|(?:paying|getting) (?:\w+ )?(?:fees|fines|taxes|bills"
    r"|penalties|surcharges)|tax forms?|tax returns|captchas?|waking up at (?:3|4|5)"
    r"|lost luggage|power cuts?|burst pipes?|potholes?|mosquito bites?|hangovers?|drilling|leaf blowers?"
    r"|expense reports?|steuererklärung|resetting passwords?|bureaucracy|red tape|paperwork"
    r"|reply-all(?: storms?)?|pop-?ups?)\b",
    re.IGNORECASE,
)
"""What nobody likes: who says so means the contrary."""
_SUFFERED = pattern_of(
    r"being (?!loved|hugged|kissed|married|engaged|retired|employed|needed|wanted|included|invited|challenged"
    r"|trusted|surprised|spoiled|spoilt|pampered|tickled|thanked|appreciated|respected|surrounded"
    r"|involved|organi[sz]ed"
    r"|prepared|read|asked|massaged|held|alone|open|up|tired)(?:\w+ed|\w+en|told|left|put|made|sent"
    r"|hit|cut|lost)\b",
    re.IGNORECASE,
)
"""What is done to somebody, and is seldom liked: "being ghosted"."""
_WORD = pattern_of(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ANCHORS = frozenset(
    # numbers and times
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred "
    "thousand third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth "
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays "
    "fridays saturdays sundays weekdays weekends january february march april may june july august "
    "september october november december noon midnight morning mornings evening evenings afternoon daily "
    "weekly monthly yearly spring summer autumn winter o'clock nobody everybody everyone "
    # owners
    "my mine "
    # places and holders
    "inbox office kitchen garage shed cellar attic drawer drawers cupboard shelf desk room floor gate "
    "door server cluster repo repository folder channel account team building warehouse yard dock library "
    "shop fridge freezer lobby basement van locker toolbox cabinet safe porch balcony hallway letterbox "
    "mailbox database bucket branch branches pipeline registry staging production backup backups printer "
    "router thermostat boiler due "
    # looks and stuff
    "red green blue yellow white black grey gray orange purple pink brown amber teal turquoise violet "
    "beige navy oak pine steel copper brass wooden glass leather cotton wool plastic concrete".split()
)
_DEFINITE_VERBS = frozenset(
    "hold holds contain contains store stores use uses require requires need needs support supports run "
    "runs listen listens connect connects export exports cost costs weigh weighs measure measures open "
    "opens close closes leave leaves arrive arrives belong belongs include includes cover covers accept "
    "accepts ship ships expire expires deploy deploys serve serves face faces meet meets allow allows "
    "rotate rotates sell sells charge charges provide provides own owns manage manages handle handles "
    "depend depends consist consists carry carries speak speaks teach teaches fit fits load loads deliver "
    "delivers ferments hibernate hibernates migrates hatches feed feeds bite bites bark barks leak leaks "
    "drink drinks eat eats collects wears drives studies start starts end ends begin begins stands stand "
    "sits hangs lies lives refers report reports".split()
)
_JUDGING = frozenset(
    "best worst easiest hardest nicest funniest coolest weirdest craziest greatest loveliest sweetest "
    "biggest prettiest ugliest hard smart good bad great real true pure".split()
)
_POINTING = frozenset("below above attached following this these that those here there such same".split())
_FINITE = frozenset(
    "went was were is are has had said did made came took got gave saw told thought knew felt became kept "
    "left brought began ran sat stood lay let looked seemed turned asked wanted".split()
)
_TALKED_WITH = frozenset("you your you're we us i me they".split())
_VERB_REACH = 3
_MOST_WORDS, _MOST_PLAIN_WORDS = 16, 7
"""Words of a statement that somebody may look up later; more are a speech."""
_IDLE_VALUES = (
    "the one ", "the ones ", "the best", "the worst", "the easy", "the hard", "the same", "the thing",
    "the part", "the easiest", "the hardest", "the reason", "the way", "the point", "a good", "a great",
    "a nice", "a bad", "a shame", "a pity", "a mess", "a joke", "a pain", "a dream", "a blast", "a big deal",
    "a lot", "a must",
)  # fmt: skip
_LIKED = frozenset(
    (
        "hobby",
        "hobbies",
        "passion",
        "dream",
        "joy",
        "pastime",
        "highlight",
        "treat",
        "pleasure",
        "idea of fun",
        "forte",
    )
)
"""Properties whose value somebody likes."""
OWNED = frozenset(("possession", "counted"))
"""Families that say what somebody has."""
_ASKS = frozenset(
    "question questions idea ideas issue issues problem problems thing things option options thought "
    "thoughts point points concern concerns request requests error errors bug bugs task tasks doubt "
    "doubts choice choices suggestion suggestions".split()
)
"""What one "has" only in this talk."""
_WORK_OBJECTS = frozenset(
    "code build script query test tests function page app program output layout header pipeline deploy "
    "deployment loop regex css html server site website screen file upload download link button form "
    "image sheet spreadsheet table chart computer laptop browser terminal editor".split()
)
_WORK_STATES = frozenset(
    "broken slow down stuck failing crashing frozen empty missing gone green red ready done wrong working "
    "fine ok okay late back up offline online blank".split()
)
_SOON = pattern_of(
    r"in (?:a )?(?:minute|moment|bit|while|few|two|three|four|five|ten|fifteen|twenty|thirty|\d{1,2})",
    re.IGNORECASE,
)


def idle_reason(
    meaning: Meaning, property_name: str, value: str, subject: str, span: str, *, is_negative: bool
) -> str | None:
    """Return the reason that keeps a claim out for what it says, None when nothing does.

    span: the words of the claim.  subject: its subject, as named.
    """
    if meaning.shape == "statement":
        is_idle = meaning.subject == "other" and is_idle_statement(subject, value, span)
        return Reason.LOW_VALUE.value if is_idle else None
    is_taste = (
        meaning.family == "preference" or property_name.startswith("favourite ") or property_name in _LIKED
    )
    if is_taste and not is_negative and _is_unpleasant(value):
        return Reason.SUSPECTED_IRONY.value
    is_idle = _is_choice(meaning.family, property_name, value) or _is_remark(property_name, value)
    return Reason.LOW_VALUE.value if is_idle else None


def _is_unpleasant(value: str) -> bool:
    return _UNPLEASANT.search(value) is not None or _SUFFERED.match(value) is not None


def _is_choice(family: str, property_name: str, value: str) -> bool:
    """Tell whether a value is one of what was just shown, or praise, or something asked."""
    folded = value.casefold()
    if family == "own" and f"{folded} ".startswith(_IDLE_VALUES):
        return True
    if family in OWNED and not _ASKS.isdisjoint(folded.split()[:3]):
        return True
    is_one_of_some = value.startswith("the ") and value.endswith((" one", " ones", " version", " option"))
    return is_one_of_some and not names_kind(family, property_name)


def names_kind(family: str, property_name: str) -> bool:
    """Tell whether a property says of what kind "the ... one" is: "my mug", not "my favourite"."""
    if family in ("own", "third", "correction", "neither"):
        return property_name not in _CHOSEN
    return family == "preference" and property_name.startswith("favourite ")


_CHOSEN = frozenset("favourite choice pick vote preference answer guess selection".split())


def _is_remark(property_name: str, value: str) -> bool:
    """Tell whether a claim only remarks on a password or on the work in hand."""
    if property_name in _WORK_OBJECTS and value.casefold() in _WORK_STATES:
        return True
    return _names_secret(property_name)


@functools.lru_cache(maxsize=8192)
def _names_secret(property_name: str) -> bool:
    return _SECRET_NAME.match(property_name) is not None


def is_soon(text: str) -> bool:
    """Tell whether a value is a delay in minutes that names no unit: "in five"."""
    return _SOON.fullmatch(text.strip()) is not None


def _has_definite_verb(subject: str, words: list[str]) -> bool:
    """Tell whether a verb that says something definite stands right behind the subject."""
    names = _WORD.findall(subject)
    folded = [word.casefold() for word in words]
    if not names or names[-1].casefold() not in folded:
        return not _DEFINITE_VERBS.isdisjoint(folded)
    at = folded.index(names[-1].casefold()) + 1
    return not _DEFINITE_VERBS.isdisjoint(folded[at : at + _VERB_REACH])


def is_idle_statement(subject: str, value: str, span: str) -> bool:
    """Tell whether a statement about the world lacks anything definite: owner, number, time, name, holder."""
    subject_words = set(subject.casefold().split())
    if subject_words & _FINITE or subject_words & _JUDGING or subject_words & _POINTING:
        return True
    if f"{value.casefold()} ".startswith(_IDLE_VALUES):
        return True
    words = _WORD.findall(span)
    folded = {word.casefold() for word in words}
    if len(words) > _MOST_WORDS or folded & _TALKED_WITH:
        return True
    if folded & _ANCHORS or any(map(str.isdigit, span)):
        return False
    if len(words) <= _MOST_PLAIN_WORDS and _has_definite_verb(subject, words):
        return False
    return not any(word[0].isupper() and word != "I" for word in words[1:])
