"""Find what a message leaves open or gives to others: tags, alternatives, doubts, groans, quoted words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from amos.extraction.frames_found import Frame, Kind, Rule

_CLOSE = r"(?=\s{0,3}[.!…]{0,3}(?:\s{0,3}(?:\Z|\n)|\s{1,3}[A-Z]))"
_TAG = re.compile(
    r"[,;–—-]?\s{1,2}(?:(?:is|are|was|were|do|does|did|has|have|had|wo|ca|would|could"
    r"|should)n'?t (?:it|he|she|they|i|we"
    r"|you|that|there)|(?:is|are|was|were|do|does|did|has|have|will|can|am) (?:it|he|she|they|i|we|there))"
    rf"{_CLOSE}|[,;–—-]\s{{1,2}}(?:right|correct|innit|eh|huh|no|yeah|yes|oder|nicht wahr|gell?"
    rf"|n'est-ce pas|non|verdad"
    r"|cierto|true)(?=\s{0,2}\?)|\s(?:nicht wahr|n'est-ce pas|¿verdad|innit)(?!\w)",
    re.IGNORECASE,
)
"""Asks for a yes, with or without its mark: "..., doesn't it"."""
_EITHER = re.compile(
    r"[,;.…–—-]{1,4}\s{0,3}(?:or|oder|ou|o) (?:(?:was|is|were|are|did|do|does|am|have|has|had|maybe"
    r"|perhaps|possibly|might"
    r"|could|wait|rather|vielleicht|war|ist|était|est|peut-être|era|es|quizás)(?!\w)|[^.!?\n]{1,60}\?)"
    r"|(?<!\w)or (?:something|so|thereabouts|similar|whatever|some such|smth|sth"
    r"|around there)(?: like that)?"
    r"(?=\s{0,3}(?:[.,;!?…)]|\Z|\n))",
    re.IGNORECASE,
)
"""Leaves open which: "..., or was it June?"."""
_UNSURE = re.compile(
    r"(?<!\w)(?:(?:i |that |it )?(?:could|might|may|can) (?:well |easily )?be (?:wrong|mistaken|off"
    r"|misremembering)"
    r"|(?:i'd|i would|i'll|i need to|i have to|i should|let me|gotta|must|better|will|'ll)"
    r" (?:\w+ ){0,2}?(?:double[ -]?)?(?:check(?! (?:in|on|out|up)(?!\w))|verify|confirm|look (?:it"
    r"|that) up)"
    r"|(?:i'm|i am|im) (?:not|never) (?:\S{1,10} ){0,2}?(?:sure|certain|positive)"
    r"|not (?:\S{1,10} ){0,2}?(?:sure|certain)"
    r"|don't quote me|(?:unless|if) (?:i'm|i am|i'm not|i am not) (?:mistaken|wrong|confused|mixing)"
    r"|if memory serves"
    r"|if i (?:remember|recall)|(?:grain|pinch) of salt|(?:can't|cannot|don't) (?:quite |really "
    r"|exactly )?(?:remember"
    r"|recall) (?:exactly|if|whether|for sure|precisely)|no idea (?:if|whether)|something like that"
    r"|give or take|is it\?\?"
    r"|or so (?:i'm|i am|i was|they|he|she|people) (?:told|says?|think|heard|tells?)|glaube ich"
    r"|soweit ich weiß|wenn ich"
    r" mich nicht irre|je crois|si je ne me trompe|sauf erreur|creo que|si no me equivoco"
    r"|me parece que)(?!\w)",
    re.IGNORECASE,
)
"""Says that the author does not know for certain."""
_MISHAP = (
    r"(?:again|another|late|broken|broke|breaks?|crash\w*|cancel\w*|delay\w*|dead|down|stuck|lost"
    r"|lose[sd]?|flood\w*"
    r"|fail\w*|missing|wrong|leak\w*|frozen|freez\w*|ruin\w*|rain\w*|out of order|error\w*|on fire"
    r"|worst|ignor\w*|forg[eo]t\w*"
    r"|explod\w*|die[sd]?|queue\w*|traffic|overtime|noise|noisy|drill\w*|brick|mess|bills?|fines?"
    r"|spam|mould|mold)"
)
_CHEER = (
    r"(?:great|fantastic|wonderful|lovely|brilliant|perfect|super|awesome|nice|terrific|splendid"
    r"|excellent|marvell?ous"
    r"|amazing|superb|fabulous|wow|yay|hooray|bravo|charming|delightful|toll|super|klasse|génial"
    r"|genial|qué bien)"
)
_GROAN = re.compile(
    rf"(?:\A|[.!?\n]\s{{0,3}})(?:oh,? |ah,? "
    rf"|well,? )?{_CHEER}[,.!…]{{1,3}}\s{{1,2}}(?=[^.!?\n]{{0,160}}?(?<!\w){_MISHAP}(?!\w))"
    rf"|(?<!\w)(?:love|adore|enjoy|appreciate|cherish|liebe|adoro)(?: it| how| that){{0,2}} (?:when"
    rf"|how|that|wenn|quand|cuando)"
    rf" (?=[^.!?\n]{{0,100}}?(?<!\w){_MISHAP}(?!\w))"
    r"|(?:\A|[.!?\n]\s{0,3})(?:oh |ah |well )?(?:yeah|yes|sure|right|ok|okay|of course|clearly"
    r"|obviously|ja klar|mais oui)"
    r"[,.…]{0,3} (?:right,? |sure,? )?(?:because|cos|cause|weil|parce)(?!\w)"
    r"|(?:\A|[.!?\n]\s{0,3})nothing (?:says|screams|beats|like)(?!\w)",
    re.IGNORECASE,
)
"""Cheers what nobody would: the sentence is not meant."""
_AFTER_GROAN = re.compile(
    r"[.!…]\s{1,3}(?:(?:i )?(?:just |absolutely |simply )?lov(?:e|ing) (?:it|that|this)(?: for me)?"
    r"|just (?:great|perfect"
    r"|lovely|wonderful|what i needed)|so much fun|what fun|what a joy|living the dream|lucky me"
    r"|thanks a lot|how nice|good"
    r" times|go me|story of my life|yay me)(?=\s{0,2}[.!…]{0,3}\s{0,3}(?:\Z|\n))"
    r"|(?<!\w)(?:haha|lol|lmao|ha),? (?:right|sure|yeah|as if)(?=\s{0,2}[.!…]{0,3}\s{0,3}(?:\Z|\n))",
    re.IGNORECASE,
)
_FACES = "\U0001f644\U0001f643\U0001f612\U0001f921\U0001f60f\U0001f92a"
"""Faces that roll their eyes or wink."""
_FACE = re.compile(
    rf"(?:\A|[.!?\n]\s{{0,3}})(?:oh|ah|sure|yeah|yes|right|of course|totally|obviously|clearly|well"
    rf"|{_CHEER})(?:,|…|\.\.\.?)? "
    rf"(?=[^.!?\n]{{1,160}}[{_FACES}])",
    re.IGNORECASE,
)
_COLON = re.compile(r":(?=\s{1,3}[^\s\"“„«'‘`])|[-=]>(?=\s{0,2}\w)")
_SAYS = frozenset(
    "said says say saying told tells texted texts text wrote writes write writing goes go went reads "
    "read reading replied replies answered answers claims claimed put puts posted posts tweeted "
    "announced announces insists insisted shouted shouts asked asks whispered quoted quotes states "
    "stated explained explains mentioned adds added sings sang yells screams messaged emailed mailed "
    "typed declares declared swears swore repeats mutters boasts joked jokes translates sagte sagt "
    "schrieb schreibt meint meinte dit écrit disait dice dijo escribió".split()
)
_TEXTS = frozenset(
    "sign poster banner slogan motto ad advert advertisement review article headline caption song lyrics "
    "chorus poem verse quote email e-mail mail letter sms text message note post tweet comment template "
    "example sample placeholder script book page website site listing brochure manual label form "
    "transcript chat thread story joke riddle proverb saying prompt words mug shirt t-shirt bumper "
    "sticker postcard voicemail plaque advice exercise sentence dialogue subtitle schild plakat lied "
    "affiche panneau chanson cartel canción letrero".split()
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
_COMPOSES = frozenset("write draft compose send create make tell help please".split())
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)[.!?…]+[\"'”)]*(?=\s|\Z)|\n+"
)
_LONGEST_LEAD = 120


def _doubted(pattern: re.Pattern[str], *, is_lead: bool = False) -> Callable[[str], Iterator[Frame]]:
    """Return the search for the sentences in which a match begins and ends; a lead opens the one behind it."""

    def find(text: str) -> Iterator[Frame]:
        marks = [match.span() for match in pattern.finditer(text)]
        if not marks:
            return
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        starts = [0, *ends]
        for start, end in marks:
            place = bisect_right(starts, end - 1 if is_lead else start) - 1
            after = bisect_right(ends, max(end - 1, start))
            yield Frame(starts[place], ends[after] if after < len(ends) else len(text), Kind.DOUBTED)

    return find


def _find_given_words(text: str) -> Iterator[Frame]:
    """Yield, up to its line's end, what stands behind a colon that another's name, text or saying leads to."""
    reached = 0
    for colon in _COLON.finditer(text):
        if colon.start() < reached:
            continue
        first = max(0, colon.start() - _LONGEST_LEAD)
        ends = [match.end() for match in _SENTENCE_END.finditer(text, first, colon.start())]
        if _is_given(_WORD.findall(text[ends[-1] if ends else first : colon.start()])):
            end = text.find("\n", colon.end())
            reached = end if end >= 0 else len(text)
            yield Frame(colon.end(), reached, Kind.PASTED)


def _is_given(words: list[str]) -> bool:
    """Tell whether a lead names another voice: who says it, where it stands written, what to do with it."""
    folded = [word.casefold() for word in words]
    if not folded:
        return False
    if folded[0] in _REWORK or folded[0] in _COMPOSES:
        return folded[0] in _REWORK
    for place, word in enumerate(folded):
        before = folded[place - 1] if place else ""
        if (
            word in _SAYS
            and place
            and before not in _SELF
            and before not in ("to", "my", "please", "you", "let")
        ):
            return folded[0] not in _SELF
        if word in _TEXTS and (before in _POINTS or before.endswith("'s") or folded[0] in ("the", "a")):
            return True
    is_one = folded[0] in ("my", "our", "the") and len(folded) == 2 and folded[1] in _PEOPLE
    return is_one or (
        folded[0] in ("in", "according", "per", "as", "laut", "selon", "según") and _names_other(words)
    )


def _names_other(words: list[str]) -> bool:
    return any(word.casefold() in _PEOPLE or word.endswith("'s") or word[0].isupper() for word in words[1:])


_TAG_STEMS = (
    "n't it", "n't he", "n't she", "n't they", "n't i", "n't we", "n't you", "n't that", "n't there",
    "nt it", " is it", " are they", " was it", " do i", " does it", " do they", " did i", " did it",
    " has it", " have i", " will it", " am i", " is he", " is she", " is there", " was he", " was she",
    " can i", "right", "correct", "innit", "eh", "huh", "no?", "no ?", "yeah", "yes", "oder", "gel", "wahr",
    "n'est-ce", "non", "verdad", "cierto", "true",
)  # fmt: skip
_UNSURE_STEMS = (
    "wrong", "mistaken", " off", "misrem", "check", "verify", "confirm", "look it up", "look that up",
    "sure", "certain", "positive", "quote me", "confused", "mixing", "memory serves", "if i re", "of salt",
    "remember", "recall", "no idea", "like that", "give or take", "is it??", "or so ", "glaube ich",
    "soweit ich", "nicht irre", "je crois", "trompe", "sauf erreur", "creo que", "equivoco", "parece que",
)  # fmt: skip
_GROAN_STEMS = (
    "great", "fantastic", "wonderful", "lovely", "brilliant", "perfect", "super", "awesome", "nice",
    "terrific", "splendid", "excellent", "marvel", "amazing", "superb", "fabulous", "wow", "yay", "hooray",
    "bravo", "charming", "delightful", "toll", "klasse", "génial", "genial", "qué bien", "love", "adore",
    "enjoy", "appreciate", "cherish", "liebe", "adoro", "because", "cos", "cause", "weil", "parce",
    "nothing ",
)  # fmt: skip
_AFTER_STEMS = (
    "lov", "just ", "fun", "a joy", "the dream", "lucky me", "a lot", "how nice", "good times", "go me",
    "my life", "yay me", "haha", "lol", "lmao", "ha",
)  # fmt: skip
RULES = (
    Rule(_doubted(_TAG), stems=_TAG_STEMS),
    Rule(_doubted(_EITHER), stems=("or ", "oder ", "ou ", " o ")),
    Rule(_doubted(_UNSURE), stems=_UNSURE_STEMS),
    Rule(_doubted(_GROAN, is_lead=True), stems=_GROAN_STEMS),
    Rule(_doubted(_AFTER_GROAN), stems=_AFTER_STEMS),
    Rule(
        _doubted(_FACE, is_lead=True),
        marks=tuple(_FACES),
    ),
    Rule(_find_given_words, marks=(":", "->", "=>")),
)
"""Ranges that a message does not state outright."""
