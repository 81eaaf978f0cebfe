"""Decide who is meant: by what was introduced before, and by who was spoken of in a bounded window.

Pure functions of what was said: who introduced whom, in the order of event time, and the turns of the same
conversation.  Nothing here depends on when a message arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from amos.entities.choice import (
    DOUBTED,
    KNOWN_GENDER,
    NAMED,
    NULL,
    OTHER_SPEAKER,
    PART_OF_NAME,
    PER_SENTENCE,
    PER_TURN,
    PERHAPS_A_PERSON,
    RIVAL,
    UNKNOWN_GENDER,
    Choice,
    choose,
)
from amos.entities.heard import Heard, heard_in, sentence_at
from amos.entities.spoken import PRONOUNS, Spoken, fold_name, role_label, spoken_of
from amos.identity import Scope, subject_identity
from amos.schemas.vocabulary import Reason

WINDOW = 8
"""Turns of the same conversation, before a mention, in which somebody may have been spoken of."""
LONGEST = 4_000
"""Characters of a message, its last ones, in which somebody may have been spoken of."""

Order = tuple[int, bytes, int, bytes, int]
"""Event time (unknown last), conversation, turn, source, place: the order of what was said."""


UNOWNED = "other"
"""Kind of entities that belong to no author: whoever speaks of them means the same."""


class Person(NamedTuple):
    """Somebody an author speaks of: unkeyed identity, and kind and readable name of the entity."""

    identity: bytes
    kind: str
    name: str


class Owner(NamedTuple):
    """The author whose words these are: unkeyed identity, id, and the scope of what is claimed."""

    identity: bytes
    entity_id: bytes
    scope: Scope

    def person(self, kind: str, name: str) -> Person:
        """Return somebody as this author calls them."""
        owner = None if kind == UNOWNED else self.identity
        return Person(subject_identity(self.scope, kind, name, owner), kind, name)


class Introduced(NamedTuple):
    """That a name, and perhaps a role, was given to somebody.

    source: id of the message that did.  is_part: the name that is looked up is only part of theirs.
    """

    owner: bytes
    role: str | None
    name: str
    person: Person
    order: Order
    conversation: bytes
    turn: int
    source: bytes
    is_part: bool = False


class Turn(NamedTuple):
    """A message of a conversation, as far as it may say who a pronoun means.

    speaker, called: entity id of its author, and their name.  is_agent: an agent's reply.
    """

    source: bytes
    turn: int
    block: int
    speaker: bytes
    called: str | None
    is_agent: bool
    text: str


class Asked(NamedTuple):
    """A claim of which it is asked whom it is about.

    place: first byte of the claim in its message.  text: the message.
    """

    spoken: Spoken
    owner: Owner
    order: Order
    conversation: bytes
    turn: int
    block: int
    source: bytes
    place: int
    text: str


class Answer(NamedTuple):
    """Who is meant.

    person: None while it is open, and where the words themselves name who it is.  people: those considered,
    as `choice` orders them.  evidence: ids of the messages that name them, in order.  role, name: by which
    what is chosen can be looked up again.
    """

    person: Person | None
    choice: Choice
    people: tuple[Person, ...]
    evidence: tuple[bytes, ...]
    reason: Reason
    role: str | None = None
    name: str | None = None

    @property
    def is_ambiguous(self) -> bool:
        """Whether several may be meant."""
        return self.choice.is_ambiguous


class Known:
    """Everybody who was introduced, by author, role and name; in order."""

    def __init__(self, introduced: Iterable[Introduced]) -> None:
        self._by: dict[tuple[bytes, str, str], list[Introduced]] = {}
        for one in sorted(set(introduced), key=lambda one: one.order):
            self._by.setdefault((one.owner, "name", fold_name(one.name)), []).append(one)
            if one.role is not None:
                self._by.setdefault((one.owner, "role", one.role), []).append(one)

    def named(self, owner: bytes, name: str) -> list[Introduced]:
        """Return who bears a folded name."""
        return self._by.get((owner, "name", name), [])

    def in_role(self, owner: bytes, role: str) -> list[Introduced]:
        """Return who was named in a role."""
        return self._by.get((owner, "role", role), [])


def answer(asked: Asked, known: Known, turns: Sequence[Turn]) -> Answer:
    """Return who is meant by the subject of a claim.

    turns: messages of its conversation, within the window before it, in order; only pronouns need them.
    """
    if asked.spoken.kind == "pronoun":
        return _of_pronoun(asked, known, turns)
    return _of_words(asked.spoken, asked, known)


def _of_words(spoken: Spoken, asked: Asked, known: Known) -> Answer:
    if spoken.kind == "role":
        return _of_role(spoken, asked, known)
    return _of_name(spoken, asked, known)


def _of_role(spoken: Spoken, asked: Asked, known: Known) -> Answer:
    """Return whom "my sister" means: the one sister named so far, else the first one named later."""
    assert spoken.role is not None
    assert spoken.relation is not None
    everybody = known.in_role(asked.owner.identity, spoken.role)
    if spoken.name is not None:
        everybody = [one for one in everybody if fold_name(one.name) == spoken.folded]
        before = [one for one in everybody if one.order <= asked.order]
        return _among(before[:1], asked, spoken)
    if spoken.relation.holders == "many" or spoken.relation.number == "several":
        return _nobody(spoken)
    before = [one for one in everybody if one.order <= asked.order]
    if spoken.relation.holders == "one":
        return _among(before[-1:] or everybody[:1], asked, spoken)
    return _among(before or everybody[:1], asked, spoken)


def _of_name(spoken: Spoken, asked: Asked, known: Known) -> Answer:
    """Return whom "Ana" means: the one of that name so far, else one introduced soon after it."""
    if spoken.is_apart:
        return _nobody(spoken)
    everybody = known.named(asked.owner.identity, spoken.folded or "")
    before = [one for one in everybody if one.order <= asked.order]
    soon = [
        one
        for one in everybody
        if one.conversation == asked.conversation and 0 <= one.turn - asked.turn <= WINDOW and not one.is_part
    ]
    return _among(before or soon[:1], asked, spoken)


_NO_CHOICE = choose({})


def _nobody(spoken: Spoken) -> Answer:
    return Answer(None, _NO_CHOICE, (), (), Reason.NO_REFERENCE_TO_RESOLVE, spoken.role, spoken.folded)


def _among(found: Sequence[Introduced], asked: Asked, spoken: Spoken) -> Answer:
    """Return the answer among those who were introduced; several mentions of one count once."""
    weights: dict[bytes, int] = {}
    people: dict[bytes, Person] = {}
    for one in found:
        weight = PART_OF_NAME if one.is_part else NAMED
        weights[one.person.identity] = max(weight, weights.get(one.person.identity, 0))
        people[one.person.identity] = one.person
    if not weights:
        return _nobody(spoken)
    choice = choose(weights)
    chosen = None if choice.chosen is None else people[choice.referents[choice.chosen]]
    nearby = all(
        one.conversation == asked.conversation and abs(asked.turn - one.turn) <= WINDOW for one in found
    )
    reason = Reason.RESOLVED_FROM_BOUNDED_WINDOW if nearby else Reason.RESOLVED_FROM_ELIGIBLE_MEMORY
    return Answer(
        person=chosen,
        choice=choice,
        people=tuple(people[one] for one in choice.referents),
        evidence=_first_evidence(found),
        reason=reason if chosen else _open(choice),
        role=spoken.role,
        name=spoken.folded,
    )


def _first_evidence(found: Sequence[Introduced]) -> tuple[bytes, ...]:
    """Return the messages that first introduced each of them."""
    first: dict[bytes, bytes] = {}
    for one in found:
        first.setdefault(one.person.identity, one.source)
    return tuple(dict.fromkeys(first.values()))


def _open(choice: Choice) -> Reason:
    return Reason.AMBIGUOUS_REFERENT if choice.is_ambiguous else Reason.NO_REFERENT_IN_BOUNDED_WINDOW


class _Antecedent(NamedTuple):
    """Somebody who may be meant.  is_sure: known to be a person."""

    weight: int
    spoken: Spoken
    is_sure: bool
    source: bytes
    turn: int


def _of_pronoun(asked: Asked, known: Known, turns: Sequence[Turn]) -> Answer:
    """Return whom "she" means: the one who fits and was spoken of before, in the window."""
    gender = PRONOUNS[(asked.spoken.name or "").casefold()]
    found, null = _antecedents(asked, gender, turns)
    weights: dict[bytes, int] = {}
    people: dict[bytes, tuple[Person, _Antecedent]] = {}
    heard = [(_as_heard(one.spoken, asked, known), one) for one in found]
    sure = {person.identity for person, one in heard if one.is_sure or person.kind != "person"}
    for person, one in heard:
        if one.weight >= RIVAL and person.identity not in sure:
            null = DOUBTED  # whether it is a person at all is open: so is who else may be meant
        weight = one.weight if person.identity in sure else min(one.weight, PERHAPS_A_PERSON)
        if weight > weights.get(person.identity, 0):
            weights[person.identity] = weight
            people[person.identity] = person, one
    choice = choose(weights, null)
    ordered = tuple(people[one] for one in choice.referents)
    evidence = tuple(dict.fromkeys(one.source for _, one in ordered))
    if choice.chosen is None:
        return Answer(None, choice, tuple(person for person, _ in ordered), evidence, _open(choice))
    person, meant = ordered[choice.chosen]
    further = _of_words(meant.spoken, asked, known)
    if further.is_ambiguous:
        return further
    return Answer(
        person=further.person or person,
        choice=choice,
        people=tuple(one for one, _ in ordered),
        evidence=evidence,
        reason=Reason.RESOLVED_FROM_BOUNDED_WINDOW,
        role=meant.spoken.role,
        name=meant.spoken.folded,
    )


def _as_heard(spoken: Spoken, asked: Asked, known: Known) -> Person:
    """Return the entity of somebody as they were spoken of; what the window itself says is one, is one."""
    if spoken.kind == "role" and spoken.name is None:
        near = _in_window(known.in_role(asked.owner.identity, spoken.role or ""), asked)
    else:
        near = _in_window(known.named(asked.owner.identity, spoken.folded or ""), asked)
        near = [one for one in near if spoken.role in (None, one.role)]
    people = {one.person for one in near if not one.is_part}
    if len(people) == 1:
        return people.pop()
    if spoken.kind == "role":
        return asked.owner.person("thing", role_label(spoken))
    return asked.owner.person("person", spoken.name or "")


def _in_window(found: Sequence[Introduced], asked: Asked) -> list[Introduced]:
    return [
        one
        for one in found
        if one.conversation == asked.conversation
        and one.order <= asked.order
        and asked.turn - one.turn <= WINDOW
    ]


def _antecedents(asked: Asked, gender: str, turns: Sequence[Turn]) -> tuple[list[_Antecedent], int]:
    """Return who may be meant, and the weight of null."""
    null = NULL
    found: list[_Antecedent] = []
    speakers = {turn.speaker for turn in turns if not turn.is_agent} | {asked.owner.entity_id}
    present = _present(turns) if len(speakers) <= _PAIR else frozenset()
    before = asked.text.encode()[: asked.place].decode(errors="ignore")
    own = Turn(
        asked.source, asked.turn, asked.block, asked.owner.entity_id, None, is_agent=False, text=before
    )
    for turn in (*turns, own):
        distance, text = asked.turn - turn.turn, turn.text[-LONGEST:]
        last = sentence_at(text, len(text))
        for heard in heard_in(text):
            fit = _fit(heard, gender)
            if fit == 0 or (heard.name is not None and fold_name(heard.name) in present):
                continue
            weight = fit - PER_SENTENCE * max(0, last - heard.sentence) - PER_TURN * distance
            if fit == UNKNOWN_GENDER and turn.speaker != asked.owner.entity_id:
                weight -= OTHER_SPEAKER
            spoken = _spoken(heard, turn, asked, len(speakers))
            if weight >= RIVAL and (spoken is None or _is_open(heard, gender)):
                null = DOUBTED
            if spoken is not None and weight > 0:
                found.append(_Antecedent(weight, spoken, heard.gender != "u", turn.source, turn.turn))
    return found, null


def _present(turns: Sequence[Turn]) -> frozenset[str]:
    """Return by what names those who talk address each other: they are no third person."""
    return frozenset(fold_name(turn.called) for turn in turns if turn.called)


def _fit(heard: Heard, gender: str) -> int:
    """Return how well somebody's gender fits that of a pronoun; 0 when it does not."""
    if gender == "p":
        return KNOWN_GENDER if heard.gender == "p" else UNKNOWN_GENDER
    if heard.gender == gender:
        return KNOWN_GENDER
    return UNKNOWN_GENDER if heard.gender in "xnu" else 0


def _is_open(heard: Heard, gender: str) -> bool:
    """Tell whether "they" may as well mean this one person together with others."""
    return gender == "p" and heard.gender != "p"


def _spoken(heard: Heard, turn: Turn, asked: Asked, speakers: int) -> Spoken | None:
    """Return how the author of the claim would speak of them; None for somebody they have no word for."""
    if heard.is_bare:
        return None
    if heard.role is None:
        found = spoken_of("person", heard.name or "")
        return None if found is None or found.kind != "name" else found
    is_authors = turn.speaker == asked.owner.entity_id if heard.whose == "my" else speakers <= _PAIR
    if not is_authors or (heard.whose == "your" and turn.speaker == asked.owner.entity_id):
        return None
    return Spoken("role", role=heard.role, name=heard.name, relation=heard.relation)


_PAIR = 2
"""Speakers of a conversation in which "your sister" can only be the other one's."""
