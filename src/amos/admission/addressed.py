"""Read what is told to somebody as if they said it: "you live in Ghent" is "I live in Ghent" to its author.

A reading keeps the order of the words and puts others in the place of pronouns and of the verb beside them.
It decides nothing: what it makes is looked for among wordings that were forgotten, and a wrong one is no
wording of anybody.  So a text gets every reading that its words allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amos.kernels.wordings import Wording, wording_of

Verb = Callable[[str], str]

_MAY_ADDRESS = (
    r"(?i)\b(?:you|yours?|yourself|du|dich|dir|dein\w*|sie|ihnen|ihr\w*|tu|ton|ta|tes|toi|te|t|vous|votre|vos"
    r"|tus|ti|su|sus|usted|eres|tienes)\b|\btú|\w[aeá]s (?:a|al|como|de|el|en|la|para|un|una)\b"
)
_ADDRESSES = re.compile(_MAY_ADDRESS)


class Reading(NamedTuple):
    """How a text is read: what stands for its pronouns, and for the verb beside one that is a subject.

    pronouns: words by the one they replace; none leave it out.  subjects: those with a verb beside them.
    signs: words of the language, for one whose verbs stand without a subject; there any word may be a verb.
    """

    pronouns: Mapping[str, tuple[str, ...]]
    subjects: frozenset[str]
    verb: Verb
    signs: frozenset[str] = frozenset()

    def fits(self, words: frozenset[str]) -> bool:
        """Tell whether a text of these words may be read so."""
        return not (words.isdisjoint(self.pronouns) and words.isdisjoint(self.signs))


def may_address(texts: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return which texts may speak to somebody; null does not."""
    found = pc.fill_null(pc.match_substring_regex(texts, _MAY_ADDRESS), False)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


def readings_of(text: str) -> Iterator[Wording]:
    """Yield `text` as who is spoken to would say it; each word has the bytes of what it stands for."""
    if _ADDRESSES.search(text) is None:
        return
    said = wording_of(text)
    present = frozenset(said.words)
    seen = {tuple(said.words)}
    for reading in READINGS:
        if reading.fits(present):
            for read in _read(said, reading):
                if tuple(read.words) not in seen:
                    seen.add(tuple(read.words))
                    yield read


def _read(said: Wording, reading: Reading) -> Iterator[Wording]:
    """Yield the wording of a reading, and once more with the subject in front of every verb."""
    words = said.words
    verbs = {
        near
        for at, word in enumerate(words)
        if word in reading.subjects
        for near in _beside(words, at)
        if words[near] not in reading.pronouns
    }
    found: list[tuple[str, int, int]] = []
    for at, word in enumerate(words):
        if word in reading.pronouns:
            found += [(one, at, at) for one in reading.pronouns[word]]
        else:
            is_verb = at in verbs or bool(reading.signs)
            found.append((reading.verb(word) if is_verb else word, at, at))
    if reading.pronouns is _FRENCH or reading.pronouns is _FRENCH_HERS:
        found = _elided(found)
    yield _wording(said, found)
    turned = {at - 1 for at in range(1, len(words)) if words[at] in reading.subjects and at - 1 in verbs}
    yield _wording(said, _turned(found, turned))


def _wording(said: Wording, found: Sequence[tuple[str, int, int]]) -> Wording:
    return Wording(
        [word for word, _, _ in found],
        [said.starts[first] for _, first, _ in found],
        [said.ends[last] for _, _, last in found],
    )


def _turned(found: Sequence[tuple[str, int, int]], verbs: set[int]) -> list[tuple[str, int, int]]:
    """Return the words with each verb of `verbs` behind the subject that follows it: "am I" is "I am".

    Both then stand for the bytes of both.
    """
    turned = list(found)
    for at in range(len(turned) - 1):
        (verb, first, _), (subject, last, _) = turned[at], turned[at + 1]
        if first in verbs and last == first + 1:
            turned[at : at + 2] = [(subject, first, last), (verb, first, last)]
    return turned


_BETWEEN = frozenset(
    ("ne", "n", "te", "t", "vous", "y", "en", "no", "ya", "also", "always", "really", "never")
)
"""Words between a subject and its verb."""


def _beside(words: Sequence[str], at: int) -> Iterator[int]:
    """Yield where the verb of the subject at `at` may stand: behind it, and in front of it."""
    behind = at + 1
    while behind < len(words) and words[behind] in _BETWEEN:
        behind += 1
    if behind < len(words):
        yield behind
    if at:
        yield at - 1


def _elided(found: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Return French words as they are written before a vowel: `je habite` is j'habite."""
    behind = [*(word for word, _, _ in found[1:]), ""]
    return [
        ("j" if word == "je" and after[:1] in set("aeiouyhéèêâîô") else word, first, last)
        for (word, first, last), after in zip(found, behind, strict=True)
    ]


def _by(forms: Mapping[str, str], rule: Verb = str) -> Verb:
    """Return the verb that is looked up in `forms`, else made by `rule`."""
    return lambda word: forms[word] if word in forms else rule(word)


def _third_person(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in set("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{word}s"


def _german(word: str, *, vowels: tuple[tuple[str, str], ...] = (), ending: str = "e") -> str:
    """Return a German verb of "du" as "ich" has it: wohnst, arbeitest, heisst, fährst, magst."""
    if not word.endswith("t"):
        return word
    stem = word[:-2] if word.endswith("st") and not word.endswith("sst") else word[:-1]
    if stem.endswith(("te", "de")):
        stem = stem[:-1]
    for changed, plain in vowels:
        head, found, tail = stem.rpartition(changed)
        if found:
            return f"{head}{plain}{tail}{ending}"
    return stem + ending


def _german_changed(word: str) -> str:
    return _german(word, vowels=(("ie", "e"), ("ä", "a"), ("i", "e")))


def _german_bare(word: str) -> str:
    return _german(word, ending="")


def _german_polite(word: str) -> str:
    return word[:-1] if word.endswith("en") else word


def _french(word: str) -> str:
    return word[:-1] if word.endswith("es") else word


def _french_polite(word: str) -> str:
    head, _, tail = word.removesuffix("ez").rpartition("é")
    stem = f"{head}è{tail}" if head and len(tail) == 1 else word.removesuffix("ez")
    return f"{stem}e" if word.endswith("ez") else word


def _spanish(word: str) -> str:
    return f"{word[:-2]}o" if len(word) > 3 and word.endswith(("as", "es")) else word


def _spanish_polite(word: str) -> str:
    return f"{word[:-1]}o" if len(word) > 2 and word.endswith(("a", "e")) else word


def _declined(**stems: str) -> dict[str, tuple[str, ...]]:
    return {
        f"{stem}{ending}": (f"{own}{ending}",)
        for stem, own in stems.items()
        for ending in ("", "e", "en", "em", "er", "es")
    }


def _english(subject: str, owner: str, owned: str) -> dict[str, tuple[str, ...]]:
    own = {"i": "myself", "me": "myself", "we": "ourselves"}[subject]
    return {"you": (subject,), "your": (owner,), "yours": (owned,), "yourself": (own,), "yourselves": (own,)}


_ENGLISH, _ENGLISH_US = _english("i", "my", "mine"), _english("we", "our", "ours")
_ENGLISH_ME = _english("me", "my", "mine")
_ENGLISH_USER = {"you": ("user",), "your": ("user", "s"), "yours": ("user", "s")}
_SHORT = {"have": "ve", "ve": "have", "will": "ll", "ll": "will", "would": "d", "d": "would"}
_GERMAN = {"du": ("ich",), "dir": ("mir",), "dich": ("mich",), **_declined(dein="mein")}
_GERMAN_POLITE = {"sie": ("ich",), "ihnen": ("mir",), **_declined(ihr="mein")}
_GERMAN_PLURAL = {
    "sind": "bin", "waren": "war", "mögen": "mag", "wollen": "will", "können": "kann", "müssen": "muss",
    "dürfen": "darf", "sollen": "soll", "wissen": "weiss",
}  # fmt: skip
_FRENCH = {
    "tu": ("je",), "vous": ("je",), "te": ("me",), "t": ("m",), "toi": ("moi",), "ton": ("mon",),
    "ta": ("ma",), "tes": ("mes",), "votre": ("mon",), "vos": ("mes",),
}  # fmt: skip
_FRENCH_HERS = {**_FRENCH, "votre": ("ma",)}
_FRENCH_FORMS = {"es": "suis", "as": "ai", "vas": "vais"}
_FRENCH_POLITE = {"êtes": "suis", "avez": "ai", "allez": "vais", "voulez": "veux", "faites": "fais"}
_SPANISH: dict[str, tuple[str, ...]] = {
    "tú": (), "tu": ("mi",), "tus": ("mis",), "te": ("me",), "ti": ("mí",),
}  # fmt: skip
_SPANISH_FORMS = {
    "eres": "soy", "estás": "estoy", "tienes": "tengo", "vas": "voy", "has": "he", "vienes": "vengo",
    "haces": "hago",
}  # fmt: skip
_SPANISH_YO = {**_SPANISH, "tú": ("yo",)}
_SPANISH_SIGNS = frozenset((*_SPANISH_FORMS, "al", "de", "el", "en", "la", "las", "los", "para", "un", "una"))
_SPANISH_POLITE: dict[str, tuple[str, ...]] = {
    "usted": (), "su": ("mi",), "sus": ("mis",), "le": ("me",), "se": ("me",),
}  # fmt: skip
_SPANISH_POLITE_YO = {**_SPANISH_POLITE, "usted": ("yo",)}
_SPANISH_POLITE_FORMS = {"es": "soy", "está": "estoy", "tiene": "tengo", "va": "voy", "ha": "he"}
_YOU, _DU, _SIE = frozenset(("you",)), frozenset(("du",)), frozenset(("sie",))
_TU, _VOUS, _USTED = frozenset(("tu",)), frozenset(("vous",)), frozenset(("usted", "se"))

READINGS = (
    Reading(_ENGLISH, _YOU, _by({"are": "am", "were": "was", "re": "m"})),
    Reading(_ENGLISH, _YOU, _by({"are": "m", "were": "was", "re": "am", **_SHORT})),
    Reading(_ENGLISH_ME, _YOU, str),
    Reading(_ENGLISH_US, _YOU, str),
    Reading(_ENGLISH_US, _YOU, _by({"are": "re", "re": "are", **_SHORT})),
    Reading(
        _ENGLISH_USER,
        _YOU,
        _by({"are": "is", "re": "is", "were": "was", "have": "has", "ve": "has"}, _third_person),
    ),
    Reading(_GERMAN, _DU, _by({"bist": "bin", "hast": "habe", "wirst": "werde"}, _german)),
    Reading(_GERMAN, _DU, _german_changed),
    Reading(_GERMAN, _DU, _german_bare),
    Reading(_GERMAN_POLITE, _SIE, _by(_GERMAN_PLURAL, _german_polite)),
    Reading(_FRENCH, _TU, _by(_FRENCH_FORMS, _french)),
    Reading(_FRENCH, _VOUS, _by(_FRENCH_POLITE, _french_polite)),
    Reading(_FRENCH_HERS, _VOUS, _by(_FRENCH_POLITE, _french_polite)),
    Reading(_SPANISH, frozenset(), _by(_SPANISH_FORMS, _spanish), _SPANISH_SIGNS),
    Reading(_SPANISH_YO, frozenset(), _by(_SPANISH_FORMS, _spanish), _SPANISH_SIGNS),
    Reading(_SPANISH_POLITE_YO, _USTED, _by(_SPANISH_POLITE_FORMS, _spanish_polite)),
    Reading(_SPANISH_POLITE, _USTED, _by(_SPANISH_POLITE_FORMS, _spanish_polite)),
)
