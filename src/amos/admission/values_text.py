"""Fold text so that spelling, case and spacing make no difference, but letters and words do."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFE0E, 0xFE0F, 0xFEFF])
_PLAIN_MARKS = str.maketrans(
    {
        "’": "'", "‘": "'", "ʼ": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
        "′": "'", "″": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "×": "x",
    }
)  # fmt: skip
EDGE = " \t\n\"'.,;:!?()[]"
_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"[\s\"'(\[]*(?:(?:the|an|a)\s+)+(?=\S)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")

# British or longer spelling first; both words of a pair fold to it
_PAIRS = """
    colour color, colours colors, coloured colored, favourite favorite, favourites favorites, flavour
    flavor, flavours flavors, honour honor, labour labor, harbour harbor, humour humor, rumour rumor,
    vapour vapor, armour armor, odour odor, parlour parlor, saviour savior, savour savor, neighbour
    neighbor, neighbours neighbors, neighbourhood neighborhood, behaviour behavior, endeavour endeavor,
    grey gray, greys grays, centre center, centres centers, theatre theater, theatres theaters, fibre
    fiber, calibre caliber, metre meter, metres meters, litre liter, litres liters, kilometre kilometer,
    kilometres kilometers, centimetre centimeter, centimetres centimeters, millimetre millimeter,
    millimetres millimeters, organise organize, organised organized, organisation organization,
    organisations organizations, organiser organizer, recognise recognize, recognised recognized,
    realise realize, realised realized, apologise apologize, analyse analyze, analysed analyzed,
    customise customize, customised customized, memorise memorize, optimise optimize, optimised
    optimized, specialise specialize, specialised specialized, summarise summarize, summarised
    summarized, catalogue catalog, dialogue dialog, defence defense, offence offense, licence license,
    practise practice, aluminium aluminum, jewellery jewelry, moustache mustache, pyjamas pajamas,
    yoghurt yogurt, doughnut donut, doughnuts donuts, travelled traveled, traveller traveler, travelling
    traveling, cancelled canceled, cancelling canceling, modelling modeling, enrolment enrollment,
    fulfil fulfill, skilful skillful, manoeuvre maneuver, paediatric pediatric, anaemia anemia,
    oesophagus esophagus, plough plow, sceptical skeptical, programme program, ageing aging, artefact
    artifact, email e-mail, emails e-mails, wifi wi-fi, tshirt t-shirt, coworker co-worker, coworkers
    co-workers
"""
VARIANTS = {other: first for first, other in (pair.split() for pair in _PAIRS.split(","))}
"""Spelling to fold to, by the variant met in text."""
_HYPHENED = re.compile(rf"(?<!\w)(?:{'|'.join(word for word in VARIANTS if '-' in word)})(?!\w)")


def fold_text(text: str, *, edge: str = EDGE) -> str:
    """Return `text` in NFKC and one case, with plain marks and single spaces; accents stay.

    The marks of `edge` go at both ends, unless nothing else is there.
    """
    plain = unicodedata.normalize("NFKC", text).translate(_INVISIBLE).translate(_PLAIN_MARKS)
    folded = _SPACE.sub(" ", unicodedata.normalize("NFKC", plain.casefold())).strip()
    return folded.strip(edge) or folded


def without_article(text: str) -> str:
    """Return `text` without leading English articles; an article alone is a value."""
    match = _ARTICLE.match(text)
    return text[match.end() :] if match else text


def canonical_text(text: str) -> str:
    """Return the one form of `text` that is no typed value: folded, without article, one spelling."""
    return one_spelling(without_article(fold_text(text))).strip(EDGE) or fold_text(text)


def one_spelling(folded: str) -> str:
    """Return folded text with British and American spellings made one."""
    hyphened = _HYPHENED.sub(lambda match: VARIANTS[match.group()], folded)
    return _WORD.sub(lambda match: VARIANTS.get(match.group(), match.group()), hyphened)
