"""Find who is spoken of in running text: roles, names, and people without a name of their own.

It looks for everybody whom a later pronoun may mean.  Somebody too many makes a pronoun ambiguous, which a
person can settle; somebody too few makes it mean the wrong one, which nobody notices.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from amos.entities.relations import Relation, relations_by_label
from amos.entities.spoken import QUALIFIERS

_SENTENCE_END = re.compile(r"(?:(?<!\b[DMS][rst])(?<!\bMrs)(?<!\bProf)[.!?…]+(?=\s|$)|\n)\s*")
_TITLES = frozenset("Dr Mr Mrs Ms Prof St".split())
_LABELS = "|".join(sorted(map(re.escape, relations_by_label()), key=len, reverse=True))
_NAME = r"[A-ZÀ-ÖØ-Þ][\w]*(?:[-'’][A-Za-zÀ-ÿ]+)*"
_ROLE = re.compile(
    rf"\b(?P<whose>[Mm]y|[Oo]ur|[Yy]our)\s+(?P<narrowed>(?:(?:{'|'.join(sorted(QUALIFIERS))})\s+)*)"
    rf"(?P<label>{_LABELS})(?![\w-])(?P<of>['’]s?\b)?(?:,?\s+(?P<name>{_NAME}))?"
)
_WORDS = re.compile(r"[\w]+(?:[-'’][\w]+)*")
_PEOPLE: dict[str, str] = {
    "man": "m", "men": "p", "guy": "m", "guys": "p", "boy": "m", "gentleman": "m", "lad": "m", "king": "m",
    "woman": "f", "women": "p", "girl": "f", "girls": "p", "lady": "f", "ladies": "p", "queen": "f",
    "person": "x", "people": "p", "someone": "x", "somebody": "x", "everyone": "p", "everybody": "p",
    "stranger": "x", "adult": "x", "couple": "p", "team": "p", "family": "p", "folks": "p", "waitress": "f",
    "waiter": "m", "actor": "x", "actress": "f", "nurse": "x", "driver": "x", "plumber": "x",
    "electrician": "x", "author": "x", "singer": "x", "writer": "x", "artist": "x", "engineer": "x",
    "developer": "x", "designer": "x", "chef": "x", "cook": "x", "professor": "x", "surgeon": "x",
    "guest": "x", "guests": "p", "customer": "x", "customers": "p", "patient": "x", "owner": "x",
    "seller": "x", "agent": "x", "officer": "x", "player": "x", "speaker": "x", "builder": "x",
    "painter": "x", "mechanic": "x", "gardener": "x", "founder": "x", "ceo": "x", "director": "x",
    "president": "x", "minister": "x", "hairdresser": "x", "barber": "x", "receptionist": "x", "clerk": "x",
    "students": "p", "teachers": "p", "cousins": "p", "sisters": "p", "brothers": "p", "nieces": "p",
    "nephews": "p", "daughters": "p", "sons": "p", "aunts": "p", "uncles": "p", "guy's": "m",
}  # fmt: skip
_IN_ROLE = frozenset("as is was am be been being are were became become becomes 's 're like not".split())
"""Words before "a nurse" that make it what somebody is, not somebody else."""
_ARTICLES = frozenset("a an the this that some another his her their its every each my our your".split())
_PLACES = frozenset("in at near into around outside inside via from across throughout".split())
_TOWARDS = frozenset("to for".split())
_MOVES = frozenset(
    "move moved moving relocated went go going goes gone flew fly flying drove drive driving travel traveled "
    "travelled travelling trip back came come coming emigrated return returned commute commutes".split()
)
_TRADES = frozenset("work works worked working job position".split())
_NO_NAMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july "
    "august september october november december christmas easter halloween thanksgiving english german "
    "french spanish italian dutch chinese japanese russian american british european asian african i i'm "
    "i've i'll i'd ok okay yes no tv usa uk eu".split()
)
_STARTERS = frozenset(
    "a about actually anything anyone anybody nothing whatever congrats after again ah all also "
    "although always an and any anyway are as at awesome because been before being best both but by bye "
    "can chat come congratulations cool could dear did do does don't each either even ever every "
    "everybody everyone everything fine first for from fun get give glad go good great guess had happy "
    "has have haven't he hello help her here hers hey hi his hmm honestly hope how however if in indeed "
    "is isn't it it's its just keep last lately let let's like long look looking lots love made make "
    "many maybe me meanwhile mine more most much my need neither never new next nice no nobody none "
    "nope nor not nothing now of off oh ok okay on once one only or other our out over perhaps please "
    "really recently remember right same say seems see she should since so some somebody someone "
    "something sometimes soon sorry sounds still such sure take talk tell than thank thanks that that's "
    "the their them then there there's these they they're think this those though time to today "
    "tomorrow tonight too two under unfortunately until up us usually very wait was we we're we've well "
    "were what what's when where which while who why will wish with without wow would yeah yep yes "
    "yesterday yet you you're your".split()
)
_WITH_PEOPLE = frozenset(
    "with met meet meeting saw see called calls call told tell asked ask visited visit visiting married "
    "invited helped thanked dated phoned texted hugged uncle aunt auntie".split()
)
_DOES = frozenset(
    "said says told tells thinks thought asked called calls likes loves hates prefers avoids enjoys lives "
    "lived moved works worked came went knows knew wants wanted needs married met plays played studies "
    "studied bought cooked brought visited laughed smiled agreed promised invited just always never".split()
)
_AFTER_NAME = frozenset(
    "and or is isn't was wasn't has hasn't had does doesn't did didn't can can't could will won't would may "
    "might must should went came said told got took made met saw left gave knew thinks just always never "
    "really also still recently now who whose from".split()
)


class Heard(NamedTuple):
    """Somebody spoken of in a text.

    whose: "my", "your", or None for a name and for people without one.  role, relation: of "my older
    sister"; name: as written.  gender: f, m, x (unknown), n (animal) or p (several).  end: character after
    it.  sentence: number of its sentence.  is_bare: somebody without a name or role of their own.
    """

    whose: str | None
    role: str | None
    relation: Relation | None
    name: str | None
    gender: str
    start: int
    end: int
    sentence: int
    is_bare: bool = False


@lru_cache(maxsize=1 << 12)
def heard_in(text: str) -> tuple[Heard, ...]:
    """Return everybody spoken of in `text`, in order of place."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    found = list(_roles(text, ends))
    taken = [(one.start, one.end) for one in found]
    found += _others(text, ends, taken)
    return tuple(sorted(found, key=lambda one: one.start))


def sentence_at(text: str, place: int) -> int:
    """Return the number of the sentence that the character `place` stands in."""
    return _number([found.end() for found in _SENTENCE_END.finditer(text)], place)


def _number(ends: list[int], place: int) -> int:
    return bisect_right(ends, place)


def _roles(text: str, ends: list[int]) -> list[Heard]:
    found = []
    for one in _ROLE.finditer(text):
        relation = relations_by_label()[one["label"]]
        narrowed = one["narrowed"].split()
        name = one["name"] if one["name"] and one["name"].casefold() not in _NO_NAMES else None
        gender = "p" if relation.number == "several" else relation.gender
        end = one.end() if name else one.end("of") if one["of"] else one.end("label")
        found.append(
            Heard(
                whose="your" if one["whose"].casefold() == "your" else "my",
                role=" ".join([*narrowed, relation.name]),
                relation=relation,
                name=None if one["of"] else name,
                gender=gender,
                start=one.start(),
                end=end,
                sentence=_number(ends, one.start()),
            )
        )
    return found


def _others(text: str, ends: list[int], taken: list[tuple[int, int]]) -> list[Heard]:
    """Return names, and people without one, outside of the ranges `taken`."""
    words = [(one[0], one.start(), one.end()) for one in _WORDS.finditer(text)]
    starts = [first for first, _ in taken]
    found: list[Heard] = []
    place = 0
    while place < len(words):
        _, start, end = words[place]
        role = bisect_right(starts, start) - 1
        if role >= 0 and start < taken[role][1]:
            place += 1
            continue
        count = _length_of_name(text, words, place, ends)
        if count:
            last = words[place + count - 1][2]
            name = text[start:last].removesuffix("'s").removesuffix("’s")
            kind = "x" if _is_person(words, place, count) else "u"
            found.append(Heard(None, None, None, name, kind, start, last, _number(ends, start)))
            place += count
            continue
        gender = _gender_of_people(words, place)
        if gender is not None:
            found.append(
                Heard(None, None, None, None, gender, start, end, _number(ends, start), is_bare=True)
            )
        place += 1
    return found


def _length_of_name(text: str, words: list[tuple[str, int, int]], place: int, ends: list[int]) -> int:
    """Return how many words from `place` on are a name, 0 where none begins."""
    word, start, _ = words[place]
    if not word[0].isupper() or word.casefold().split("'")[0] in _NO_NAMES or word.casefold() in _NO_NAMES:
        return 0
    is_first = place == 0 or _number(ends, start) > _number(ends, words[place - 1][1])
    if is_first and not _begins_with_name(words, place, ends):
        return 0
    before = words[place - 1][0].casefold() if place and not is_first else ""
    if before in _PLACES or (before in _TOWARDS and _leads_to_place(words, place - 1)):
        return 0
    count = 1
    while (
        place + count < len(words)
        and words[place + count][0][0].isupper()
        and _are_one_name(text, words[place + count - 1], words[place + count])
        and not words[place + count - 1][0].endswith(("'s", "’s"))
    ):
        count += 1
    return count


def _begins_with_name(words: list[tuple[str, int, int]], place: int, ends: list[int]) -> bool:
    """Tell whether the first word of a sentence is a name: what follows says what somebody is or does."""
    word = words[place][0]
    folded = word.casefold().replace("’", "'")
    stem, _, mark = folded.partition("'")
    if folded in _STARTERS or stem in _STARTERS or stem.endswith("ing"):
        return False
    if mark == "s":
        return True
    if place + 1 == len(words) or _number(ends, words[place + 1][1]) > _number(ends, words[place][1]):
        return False
    following = words[place + 1][0]
    if following[0].isupper():
        return True
    if stem.endswith("s") and following in ("are", "were", "have"):
        return False
    return following in _AFTER_NAME or (len(following) > _SHORT and following.endswith(("s", "ed")))


_SHORT = 3
"""Letters of the longest word that is no verb for ending in "s" or "ed"."""


def _is_person(words: list[tuple[str, int, int]], place: int, count: int) -> bool:
    """Tell whether a name is that of a person for what stands around it: "met Ana", "Ana said"."""
    before = words[place - 1][0].casefold() if place else ""
    after = words[place + count][0] if place + count < len(words) else ""
    is_joined = after in ("and", "or", "both") or before in ("and", "or")
    return (
        is_joined
        or before in _WITH_PEOPLE
        or after in _DOES
        or words[place + count - 1][0].endswith(("'s", "’s"))
    )


def _are_one_name(text: str, word: tuple[str, int, int], following: tuple[str, int, int]) -> bool:
    """Tell whether nothing but a space, or the point of a title, stands between two words."""
    between = text[word[2] : following[1]]
    return between == " " or (between == ". " and word[0] in _TITLES)


def _leads_to_place(words: list[tuple[str, int, int]], place: int) -> bool:
    """Tell whether the "to" or "for" at `place` names where somebody goes, or whom they work for."""
    earlier = {word.casefold() for word, _, _ in words[max(0, place - 3) : place]}
    return not earlier.isdisjoint(_MOVES if words[place][0].casefold() == "to" else _TRADES)


def _gender_of_people(words: list[tuple[str, int, int]], place: int) -> str | None:
    """Return the gender of somebody without a name: "a friend", "the nurse", "his wife"; else None."""
    word = words[place][0].casefold().removesuffix("'s").removesuffix("’s")
    relation = relations_by_label().get(word)
    gender = _PEOPLE.get(word)
    if relation is not None:
        gender = "p" if relation.number == "several" else relation.gender
    if gender is None:
        return None
    before = [one[0].casefold() for one in words[max(0, place - 4) : place]]
    if word.endswith(("body", "one")) or gender == "p":
        return gender
    article = next((at for at in range(len(before) - 1, -1, -1) if before[at] in _ARTICLES), None)
    if article is None:
        return gender if before and before[-1].endswith(("'s", "’s")) else None
    return None if article and before[article - 1] in _IN_ROLE else gender
