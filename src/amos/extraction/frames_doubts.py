"""Find what a message leaves open or gives to others: tags, alternatives, doubts, groans, quoted words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from amos.extraction.frames_found import SENTENCE_END, Frame, Kind, Rule
from amos.patterns import pattern_of

_CLOSE = r"(?=\s{0,3}[.!…]{0,3}(?:\s{0,3}(?:\Z|\n)|\s{1,3}[A-Z]))"
_TAG = pattern_of(
    r"[,;–—-]?\s{1,2}(?:(?:is|are|was|were|do|does|did|has|have|had|wo|ca|would|could"
    r"|should)n'?t (?:it|he|she|they|i|we"
    r"|you|that|there)|(?:is|are|was|were|do|does|did|has|have|will|can|am) (?:it|he|she|they|i|we|there))"
    rf"{_CLOSE}|[,;–—-]\s{{1,2}}(?:right|correct|innit|eh|huh|oder|nicht wahr|verdad"
    rf"|cierto)(?=\s{{0,2}}(?:\Z|\n))|[,;–—-]\s{{1,2}}(?:right|correct|innit|eh|huh|no|yeah|yes|oder"
    rf"|nicht wahr|gell?"
    rf"|n'est-ce pas|non|verdad"
    r"|cierto|true)(?=\s{0,2}\?)|\s(?:nicht wahr|n'est-ce pas|¿verdad|innit)(?!\w)",
    re.IGNORECASE,
)
"""Asks for a yes, with or without its mark: "..., doesn't it"."""
_EITHER = pattern_of(
    r"[,;.…–—-]{1,4}\s{0,3}(?:or|oder|ou|o) (?:(?:was|is|were|are|did|do|does|am|have|has|had|maybe"
    r"|perhaps|possibly|might"
    r"|could|wait|rather|vielleicht|war|ist|était|est|peut-être|era|es|quizás)(?!\w)"
    r"|[^.!?\n]{1,60}\?)|(?:\.{2,3}|…)\s{0,2}[^.!?\n]{1,24}\?"
    r"|(?<!\w)or (?:something|so|thereabouts|similar|whatever|some such|smth|sth"
    r"|around there)(?: like that)?"
    r"(?=\s{0,3}(?:[.,;!?…)]|\Z|\n))",
    re.IGNORECASE,
)
"""Leaves open which: "..., or was it June?"."""
_UNSURE = pattern_of(
    r"(?<!\w)(?:(?:i|we) (?:highly |really |seriously |very much )?(?:doubt|question|dispute"
    r"|wonder)(?: that| if| whether)?(?= )"
    r"|(?:it's|it is) (?:\w+ )?(?:unlikely|doubtful|debatable|questionable|false|untrue"
    r"|a (?:lie|myth|rumou?r)) that"
    r"|i (?:forget|forgot|can't recall)(?: which| now| what)?(?=\s{0,2}(?:[.!,;]|\Z|\n))"
    r"|(?:i |that |it )?(?:could|might|may|can) (?:well |easily )?be (?:wrong|mistaken|off"
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
_GIVEN = pattern_of(
    r"(?:\A|[.!?\n]\s{0,3})(?:(?:as )?per|according to|laut|selon|según|in the (?:words|opinion|view|eyes) of"
    r"|in (?:his|her|their|[^\s.,!?]{2,20}'s) (?:words|opinion|view|eyes|book|version|telling)"
    r"|if you (?:ask|believe)(?! me))"
    r" (?!my (?:calendar|notes|diary|contract|records|lease|ticket|passport|badge|phone))[^.!?\n]{0,60}?,",
    re.IGNORECASE,
)
"""Gives what follows to somebody else: "per the landlord, ..."."""
_SUPPOSED = pattern_of(
    r"(?:\A|[.!?\n]\s{0,3})(?:(?:and|so|now|just|ok|okay|let's),? ){0,2}(?:(?:picture|imagine"
    r"|pretend|suppose|assume|envision|say)"
    r" (?:me|us|that|i|i'm|my|we|a|this|it)(?!\w)|(?:just )?for (?:the )?(?:sake of (?:the |an? "
    r"|this )?)?(?:argument|story|exercise"
    r"|example|laughs|fun|drama|test|demo)(?:'s)?(?: sake)?,|once upon a time|(?:in (?:a|an|some"
    r"|another|the) )(?:parallel|alternate"
    r"|alternative|perfect|ideal|fictional|made-up|fantasy|imaginary)(?!\w)|my (?:dream|ideal"
    r"|imaginary|fantasy|pretend"
    r"|would-be|fictional) [^\s.,!?]{2,20} (?:has|have|had|would|will|is in|is at|is on)"
    r"|hypothetically"
    r"|theoretically|in theory)(?!\w)?",
    re.IGNORECASE,
)
"""Opens a sentence that only supposes."""
_MISHAP = (
    r"(?:again|another|late|broken|broke|breaks?|crash\w*|cancel\w*|delay\w*|dead|down|stuck|lost"
    r"|lose[sd]?|flood\w*"
    r"|fail\w*|missing|wrong|leak\w*|frozen|freez\w*|ruin\w*|rain\w*|out of order|error\w*|on fire"
    r"|worst|ignor\w*|forg[eo]t\w*|parking|laundry|dentist|taxes|tax|chores|dishes|stolen|burgl\w*"
    r"|rejected|fired|sick|pain\w*"
    r"|explod\w*|die[sd]?|queue\w*|traffic|overtime|noise|noisy|drill\w*|brick|mess|bills?|fines?"
    r"|spam|mould|mold)"
)
_CHEER = (
    r"(?:great|fantastic|wonderful|lovely|brilliant|perfect|super|awesome|nice|terrific|splendid"
    r"|excellent|marvell?ous"
    r"|amazing|superb|fabulous|wow|yay|hooray|bravo|charming|delightful|toll|super|klasse|génial"
    r"|genial|qué bien|congrat\w*)"
)
_GROAN = pattern_of(
    rf"(?:\A|[.!?\n]\s{{0,3}})(?:oh,? |ah,? "
    rf"|well,? )?{_CHEER}(?: (?:to|for) (?:me|us)| job| going"
    rf"| work)?[,.!…]{{1,3}}\s{{1,2}}(?=[^.!?\n]{{0,160}}?(?<!\w){_MISHAP}(?!\w))"
    rf"|(?<!\w)(?:love|adore|enjoy|appreciate|cherish|liebe|adoro)(?: it| how| that){{0,2}} (?:when"
    rf"|how|that|wenn|quand|cuando)"
    rf" (?=[^.!?\n]{{0,100}}?(?<!\w){_MISHAP}(?!\w))"
    r"|(?:\A|[.!?\n]\s{0,3})(?:oh |ah |well )?(?:yeah|yes|sure|right|ok|okay|of course|clearly"
    r"|obviously|ja klar|mais oui)"
    r"[,.…]{0,3} (?:right,? |sure,? )?(?:because|cos|cause|weil|parce)(?!\w)"
    r"|(?:\A|[.!?\n]\s{0,3})(?:nothing (?:says|screams|beats|like)|(?:oh|ja|na|ach|ben|mais|sí"
    r"|claro),? (?:sure|of course"
    r"|absolutely|definitely|klar|sicher|bien sûr|oui|que sí)"
    r"|what an? (?:dream|joy|treat|delight|pleasure|blessing|honou?r|surprise|thrill)"
    r"|how (?:thrilling|exciting|lovely|wonderful"
    r"|delightful|charming|nice|fun))(?=[,:!.…])(?!\w)",
    re.IGNORECASE,
)
"""Cheers what nobody would: the sentence is not meant."""
_AFTER_GROAN = pattern_of(
    r"[.!…]\s{1,3}(?:(?:i )?(?:just |absolutely |simply )?lov(?:e|ing) (?:it|that|this)(?: for me)?"
    r"|just (?:great|perfect"
    r"|lovely|wonderful|what i needed)|so much fun|what fun|what a joy|living the dream|lucky me"
    r"|thanks a lot|how nice|good"
    r" times|go me|story of my life|yay me)(?=\s{0,2}[.!…]{0,3}\s{0,3}(?:\Z|\n))"
    r"|[.!…]\s{1,3}(?:yeah,? no|no,? not really|nah|as if|in your dreams|you wish|i wish|if only"
    r"|yeah,? sure|sure,? sure|right\.\.\."
    r"|ha(?:ha)*|lo+l|not really|or not)(?=\s{0,2}[.!…]{0,3}\s{0,3}(?:\Z|\n))"
    r"|(?<!\w)(?:haha|lol|lmao|ha),? (?:right|sure|yeah|as if)(?=\s{0,2}[.!…]{0,3}\s{0,3}(?:\Z|\n))",
    re.IGNORECASE,
)
_FACES = "\U0001f644\U0001f643\U0001f612\U0001f921\U0001f60f\U0001f92a"
"""Faces that roll their eyes or wink."""
_FACE = pattern_of(
    rf"(?:\A|[.!?\n]\s{{0,3}})(?:oh|ah|sure|yeah|yes|right|of course|totally|obviously|clearly|well"
    rf"|{_CHEER})(?:,|…|\.\.\.?)? "
    rf"(?=[^.!?\n]{{1,160}}[{_FACES}])",
    re.IGNORECASE,
)


def _doubted(pattern: re.Pattern[str], *, is_lead: bool = False) -> Callable[[str], Iterator[Frame]]:
    """Return the search for the sentences that a match begins and ends in; a lead opens the one behind it."""

    def find(text: str) -> Iterator[Frame]:
        marks = [match.span() for match in pattern.finditer(text)]
        if not marks:
            return
        ends = [match.end() for match in SENTENCE_END.finditer(text)]
        starts = [0, *ends]
        for start, end in marks:
            place = bisect_right(starts, end - 1 if is_lead else start) - 1
            after = bisect_right(ends, max(end - 1, start))
            yield Frame(starts[place], ends[after] if after < len(ends) else len(text), Kind.DOUBTED)

    return find


_TAG_STEMS = (
    "n't it", "n't he", "n't she", "n't they", "n't i", "n't we", "n't you", "n't that", "n't there",
    "nt it", " is it", " are they", " was it", " do i", " does it", " do they", " did i", " did it",
    " has it", " have i", " will it", " am i", " is he", " is she", " is there", " was he", " was she",
    " can i", "right", "correct", "innit", "eh", "huh", "no?", "no ?", "yeah", "yes", "oder", "gel", "wahr",
    "n'est-ce", "non", "verdad", "cierto", "true",
)  # fmt: skip
_UNSURE_STEMS = (
    "doubt", "question", "dispute", "wonder", "unlikely", "debatable", "false", "untrue", "a lie", "myth",
    "rumo", "forg",
    "wrong", "mistaken", " off", "misrem", "check", "verify", "confirm", "look it up", "look that up",
    "sure", "certain", "positive", "quote me", "confused", "mixing", "memory serves", "if i re", "of salt",
    "remember", "recall", "no idea", "like that", "give or take", "is it??", "or so ", "glaube ich",
    "soweit ich", "nicht irre", "je crois", "trompe", "sauf erreur", "creo que", "equivoco", "parece que",
)  # fmt: skip
_GROAN_STEMS = (
    "great", "fantastic", "wonderful", "lovely", "brilliant", "perfect", "super", "awesome", "nice",
    "terrific", "splendid", "excellent", "marvel", "amazing", "superb", "fabulous", "wow", "yay", "hooray",
    "bravo", "charming", "delightful", "congrat", "klar", "sicher", "sûr", "oui", "claro", "oh", "what a",
    "how ", "toll", "klasse", "génial", "genial", "qué bien", "love", "adore",
    "enjoy", "appreciate", "cherish", "liebe", "adoro", "because", "cos", "cause", "weil", "parce",
    "nothing ",
)  # fmt: skip
_AFTER_STEMS = (
    "yeah", "no", "nah", "as if", "dreams", "wish", "if only", "sure", "right...", "lov", "just ", "fun",
    "a joy", "the dream", "lucky me", "a lot", "how nice", "good times", "go me",
    "my life", "yay me", "haha", "lol", "lmao", "ha",
)  # fmt: skip
_GIVEN_STEMS = (
    "per ", "according to", "laut ", "selon ", "según ", "words", "opinion", "view", "eyes", "'s book",
    "his book", "her book",
    "version", "telling", "if you ",
)  # fmt: skip
_SUPPOSED_STEMS = (
    "picture ", "imagine ", "pretend ", "suppose ", "assume ", "envision ", "say ", "for ", "once upon",
    "parallel", "altern",
    "perfect", "ideal", "fiction", "made-up", "fantasy", "imaginary", "hypothetic", "my dream", "pretend",
    "would-be", "theor",
)  # fmt: skip
RULES = (
    Rule(_doubted(_TAG), stems=_TAG_STEMS),
    Rule(_doubted(_GIVEN, is_lead=True), stems=_GIVEN_STEMS),
    Rule(_doubted(_SUPPOSED, is_lead=True), stems=_SUPPOSED_STEMS),
    Rule(_doubted(_EITHER), stems=("or ", "oder ", "ou ", " o "), marks=("..", "…")),
    Rule(_doubted(_UNSURE), stems=_UNSURE_STEMS),
    Rule(_doubted(_GROAN, is_lead=True), stems=_GROAN_STEMS),
    Rule(_doubted(_AFTER_GROAN), stems=_AFTER_STEMS),
    Rule(
        _doubted(_FACE, is_lead=True),
        marks=tuple(_FACES),
    ),
)
"""Ranges that a message does not state outright."""
