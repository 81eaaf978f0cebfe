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
    places: dict[str, list[int]] = {}
    for at, word in enumerate(said.words):
        if word in _PRONOUNS:
            places.setdefault(word, []).append(at)
    seen = {tuple(said.words)}
    for reading in READINGS:
        if reading.fits(present):
            for read in _read(said, places, reading):
                if tuple(read.words) not in seen:
                    seen.add(tuple(read.words))
                    yield read


def _read(said: Wording, places: Mapping[str, list[int]], reading: Reading) -> Iterator[Wording]:
    """Yield the wording of a reading, and once more with the subject in front of a changed verb.

    places: where each pronoun of any reading stands.
    """
    words, pronouns = list(said.words), reading.pronouns
    pieces = {at: pronouns[word] for word in pronouns.keys() & places.keys() for at in places[word]}
    subjects = [at for word in reading.subjects & places.keys() for at in places[word]]
    verbs = {near for at in subjects for near in _beside(said.words, at)} - pieces.keys()
    for at in range(len(words)) if reading.signs else verbs:
        words[at] = reading.verb(words[at])
    for at in [at for at, piece in pieces.items() if piece == ("je",)]:
        pieces[at] = ("j",) if at + 1 < len(words) and _begins_with_vowel(words[at + 1]) else ("je",)
    yield _spliced(Wording(list(words), said.starts, said.ends), pieces)
    turned = [at for at in subjects if at - 1 in verbs and words[at - 1] != said.words[at - 1] and pieces[at]]
    if turned:
        others = {at: piece for at, piece in pieces.items() if at not in turned}
        yield _spliced(_turned(said, words, pieces, turned), others)


def _spliced(said: Wording, pieces: Mapping[int, tuple[str, ...]]) -> Wording:
    """Return the words with pieces in the place of some; a piece has the bytes of the word it replaces."""
    words, starts, ends = said
    if any(len(piece) != 1 for piece in pieces.values()):
        starts, ends = list(starts), list(ends)
    for at in sorted(pieces, reverse=True):
        piece = pieces[at]
        words[at : at + 1] = piece
        if len(piece) != 1:
            starts[at : at + 1], ends[at : at + 1] = (
                starts[at : at + 1] * len(piece),
                ends[at : at + 1] * len(piece),
            )
    return Wording(words, starts, ends)


def _turned(
    said: Wording, words: list[str], pieces: Mapping[int, tuple[str, ...]], subjects: Sequence[int]
) -> Wording:
    """Return the words with each subject in front of the verb before it, "am I" as "I am".

    Both then stand for the bytes of both.
    """
    words, starts, ends = list(words), list(said.starts), list(said.ends)
    for at in subjects:
        words[at - 1], words[at] = pieces[at][0], words[at - 1]
        starts[at], ends[at - 1] = starts[at - 1], ends[at]
    return Wording(words, starts, ends)


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


def _begins_with_vowel(word: str) -> bool:
    """Tell whether French drops the e of "je" before a word: j'habite."""
    return word[:1] in set("aeiouyhéèêâîô")


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
_PRONOUNS = frozenset(word for reading in READINGS for word in reading.pronouns)
