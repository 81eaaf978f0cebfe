"""What a pattern may need beyond its words: a time, a claim before it, a value of some kind."""

from __future__ import annotations

from collections.abc import Callable

from amos.extraction.conditions import due_inside, has_condition
from amos.extraction.drafts import Draft
from amos.extraction.grammar import Meaning
from amos.extraction.lexicon import CUES
from amos.extraction.lists import is_item
from amos.extraction.matches import Match, Origin
from amos.extraction.timing import DATED_KINDS, DUE_KINDS
from amos.extraction.wording import clean_value, kind_of_value
from amos.extraction.worth import are_alike, is_activity
from amos.kernels import rows as layout
from amos.kernels.features import DENIED, EVERY, FROM
from amos.kernels.match import VALUE
from amos.kernels.words import CUT
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Cue, Trust

_FORMER = int(Cue.FORMER)
_REQUEST = CUES["request"]
_PROMISED = CUES["promised"]
_CORRECTION = CUES["correction"]
_AGE = pattern_of(r"[1-9]\d")
_COUNTED = pattern_of(
    r"[1-9]\d{0,3} (?!more|other|times|percent|per|of|things?|seconds?|minutes?|hours?|days?|weeks?"
    r"|options?)[^\W\d_]{2,}"
)
_SENTENCE_MARK = pattern_of(r"[.!?\n:;–—]")
_OUTING = pattern_of(
    r"to (?:the |a |an |my |our )?(?:[\w'-]+ )?(?:gym|church|school|mosque|temple|synagogue|college"
    r"|university|uni|pool|market|library|choir|yoga|pub|sauna|club|class|classes|practice|kindergarten|physio)(?!\w)"
)
_LEAD_REACH, _MOST_LEAD_WORDS = 48, 2
_AFTER_AGE = frozenset((b"", b" ", b".", b",", b"!", b";", b")", b"\n"))


def is_meant(match: Match, meaning: Meaning, origin: Origin, before: Draft | None) -> bool:
    """Tell whether the conditions of the pattern hold: nothing cut or denied, its needs met."""
    if match.flags & CUT or match.cues & DENIED:
        return False
    if origin.trust == Trust.AGENT and not meaning.is_for_agents:
        return False
    if not meaning.needs:
        return True
    return _NEEDS[meaning.needs](match, origin, before)


def is_renounced(recent: Draft, match: Match) -> bool:
    """Tell whether a sentence of its own says what takes the place of what was denied right before.

    "Claire is no longer my manager; it's Ravi now.", "My mug isn't red. It's blue."
    """
    if not recent.is_negative or recent.meaning.arity != "single":
        return False
    denied, stated = recent.value or "", clean_value(match.capture(VALUE))
    kind = kind_of_value(stated)
    if kind_of_value(denied) != kind:
        return False
    return kind != "text" or are_alike(denied, stated)


def is_age(match: Match, origin: Origin) -> bool:
    """Tell whether the value is a bare number that reads as an age: "I'm 43", not "I'm 50% done"."""
    span = match.capture_span(VALUE)
    if span is None or not _AGE.fullmatch(match.capture(VALUE)):
        return False
    return origin.content[span[1] : span[1] + 1] in _AFTER_AGE


def gives_way(before: Draft, match: Match) -> bool:
    """Tell whether "it is ..." says what holds in place of the claim before it in the sentence.

    After "used to be", after a negation, or in a correction by a value of the same kind.
    """
    if before.property is None or before.value is None or before.meaning.arity != "single":
        return False
    if before.meaning.is_replaced or before.is_negative:
        return True
    kind = kind_of_value(before.value)
    return (
        bool(match.cues & _CORRECTION or before.cues & _FORMER)
        and kind not in ("text", "boolean")
        and kind == kind_of_value(clean_value(match.capture(VALUE)))
    )


def opens_sentence(match: Match, origin: Origin) -> bool:
    """Tell whether at most a word or two of the sentence stand before the match: "tbh, not into quizzes"."""
    start, _ = match.span(layout.ROW_START) or (0, 0)
    before = origin.content[max(start - _LEAD_REACH, 0) : start].decode(errors="ignore")
    return len(_SENTENCE_MARK.split(before)[-1].split()) <= _MOST_LEAD_WORDS


def is_outing(match: Match) -> bool:
    """Tell whether the value is where people go again and again: "to church", "swimming"."""
    value = match.capture(VALUE).casefold()
    return is_activity(value.split(" ", 1)[0]) or _OUTING.match(value) is not None


def is_conditional(match: Match, origin: Origin) -> bool:
    """Tell whether the claim goes on with when it falls due: "I'll call | once the parcel is here"."""
    span = match.span(layout.ROW_START)
    return span is not None and (has_condition(origin, span[1]) or due_inside(match.capture(VALUE)) != "")


def takes_over(before: Draft, match: Match) -> bool:
    """Tell whether "but ..." names what holds in place of the value denied right before it."""
    if before.property is None or before.meaning.arity != "single" or not before.is_negative:
        return False
    return is_item(match.capture(VALUE))


def is_own_name(match: Match) -> bool:
    """Tell whether the value of "I'm ..." reads as a name: neither capitals throughout nor a people."""
    text = match.capture(VALUE)
    return not text.isupper() and len(text) > 1 and not text.endswith(_PEOPLES)


_PEOPLES = ("ish", "ese", "ian", "ican", "ist", "ard", "est")
"""How words end that say where from or of what kind somebody is, written like names."""
_NEEDS: dict[str, Callable[[Match, Origin, Draft | None], bool]] = {
    "request": lambda match, _, __: bool(match.cues & _REQUEST),
    "due": lambda match, origin, _: match.kind in DUE_KINDS or is_conditional(match, origin),
    "time": lambda match, _, __: match.kind in DATED_KINDS,
    "recurrence": lambda match, _, __: match.kind == EVERY or is_outing(match),
    "opening": lambda match, origin, _: opens_sentence(match, origin),
    "previous": lambda _, __, before: before is not None and before.subject.kind == "author",
    "succession": lambda match, _, before: before is not None and match.kind == FROM,
    "promised": lambda match, _, __: bool(match.cues & _PROMISED),
    "replaced": lambda match, _, before: before is not None and gives_way(before, match),
    "instead": lambda match, _, before: before is not None and takes_over(before, match),
    "activity": lambda match, _, __: is_activity(match.capture(VALUE).split(" ", 1)[0]),
    "name": lambda match, _, __: is_own_name(match),
    "number": lambda match, origin, _: is_age(match, origin),
    "count": lambda match, _, __: _COUNTED.match(match.capture(VALUE)) is not None,
}
"""What a pattern may need beyond its words, by the name that the grammar gives it."""
