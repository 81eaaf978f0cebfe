"""Words of time in four languages, brought to one small English vocabulary."""

from __future__ import annotations

import unicodedata

from amos.patterns import pattern_of

_UNITS = {
    "minute": "minute minutes min mins minuten minuto minutos",
    "hour": "hour hours hr hrs stunde stunden heure heures hora horas",
    "day": "day days tag tage tagen jour jours día días dia dias",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "month": "month months monat monate monaten monats mois mes meses",
    "year": "year years yr yrs jahr jahre jahren jahres an ans année années annee año años ano anos",
    "weekend": "weekend weekends week-end wochenende wochenenden finde",
}
UNITS = {word: unit for unit, words in _UNITS.items() for word in words.split()}

_WORDS = {
    "next": "next coming upcoming following nächste nächsten nächster nächstes naechste naechsten"
    " kommende kommenden"
    " kommendes prochain prochaine prochains próximo próxima proximo proxima",
    "last": "last past previous letzte letzten letzter letztes vergangene vergangenen vorige vorigen"
    " dernier dernière"
    " derniere derniers passé passée pasado pasada último última",
    "this": "this diese diesen dieser dieses diesem ce cet cette este esta",
    "every": "every each jeden jede jedes chaque cada",
    "today": "today heute aujourd'hui hoy",
    "yesterday": "yesterday gestern hier ayer",
    "tomorrow": "tomorrow tmrw tomorow demain",
    "tonight": "tonight tonite",
    "until": "until till til through thru bis jusqu'à jusqu'au jusque hasta",
    "by": "by spätestens",
    "from": "from starting beginning ab dès desde",
    "since": "since seit depuis",
    "before": "before vor avant antes",
    "after": "after nach après apres después despues",
    "ago": "ago",
    "in": "in dans en im dentro",
    "on": "on am",
    "at": "at um",
    "the": "the der die das dem den le la les el los las du del",
    "of": "of de",
    "and": "and und et y",
    "for": "for für pour para pendant durante",
    "to": "to",
    "noon": "noon midday mittag mittags midi mediodía mediodia lunchtime",
    "midnight": "midnight mitternacht minuit medianoche",
    "morning": "morning morgens vormittag vormittags matin matinée",
    "afternoon": "afternoon nachmittag nachmittags après-midi tarde",
    "evening": "evening abend abends soir soirée",
    "night": "night nacht nachts nuit noche",
    "daily": "daily täglich quotidien quotidiennement diario diariamente",
    "weekly": "weekly wöchentlich hebdomadaire semanal semanalmente",
    "monthly": "monthly monatlich mensuel mensual mensualmente",
    "yearly": "yearly annually jährlich annuel anual anualmente",
    "end": "end ende fin finales",
    "start": "start begin anfang début debut principios",
}
WORDS = {word: plain for plain, words in _WORDS.items() for word in words.split()}

_IDIOMS = (
    (r"\b([ap])\.\s?m\b\.?", r"\1m"),
    (r"\bo'clock\b", "oclock"),
    (r"\bday after tomorrow\b|\bübermorgen\b|\baprès-demain\b|\bpasado mañana\b", "in 2 days"),
    (r"\bday before yesterday\b|\bvorgestern\b|\bavant-hier\b|\banteayer\b|\bantier\b", "2 days ago"),
    (r"\bheute (?:abend|nacht)\b|\bce soir\b|\bcette nuit\b|\besta noche\b", "tonight"),
    (r"\bheute morgen\b|\bheute früh\b|\bce matin\b|\besta mañana\b", "this morning"),
    (r"\bmorgen früh\b|\bmañana por la mañana\b|\bdemain matin\b", "tomorrow morning"),
    (r"\b(?:por|en|de) la mañana\b|\bdu matin\b|\bam (?:morgen|vormittag)\b", "morning"),
    (r"\b(?:por|en|de) la tarde\b|\bde l'après-midi\b", "afternoon"),
    (r"\b(?:por|en|de) la noche\b|\bdu soir\b", "evening"),
    (r"\bmañana\b|\bmorgen\b", "tomorrow"),
    (r"\bgestern abend\b|\bhier soir\b|\banoche\b|\blast night\b", "yesterday night"),
    (r"\b(?:fin|ende) (?:de|der|des) (?:la )?(?:semaine|semana|woche)\b", "end of week"),
    (r"\b(?:el )?fin de semana\b", "weekend"),
    (r"\b(?:que viene|qui vient|que entra)\b", "next"),
    (r"\bil y a (.+)$|\bhace (.+)$|\bvor ((?:\d+|\w+) (?:\w+))$", r"\1\2\3 ago"),
    (r"\b(?:dentro de|d'ici) ", "in "),
    (
        (
            r"\b(?:à partir de|à partir du|a partir de|a partir del|as from|as of|starting from|starting on"
            r"|from and after) "
        ),
        "from ",
    ),
    (r"\bjusqu'à la fin (?:de|du) |\bbis ende |\bhasta (?:el )?fin(?:al)? de ", "until end of "),
    (r"\bwithin (?:the next )?(?=\S+ \S+$)", "by in "),
    (r"\b(?:bis zum|bis zur|jusqu'au|jusqu'à|hasta el|hasta la|up to|up until) ", "until the "),
    (r"\b(?:tous les|toutes les|todos los|todas las|alle) ", "every "),
    (r"\b(?:das|dieses|am) wochenende\b|\bce week-end\b|\beste finde\b", "this weekend"),
    (r"\b(?:no later than|not later than|at the latest by|spätestens (?:am|bis)) ", "by "),
    (
        (
            r"\b(?:the )?last time\b|\b(?:das )?letzte mal\b|\bla dernière fois\b|\bla última vez\b"
            r"|\bbeim letzten mal\b"
        ),
        "earlier",
    ),
    (r"\b(?:a )?fortnight\b", "2 weeks"),
    (r"\bhalf (?:a|an) (?:hour)\b", "30 minutes"),
    (r"\b(?:an?|one) hour and a half\b", "90 minutes"),
    (r"\bhence\b|\bfrom (?:now|today)\b", "ahead"),
    (r"\bchristmas eve\b|\bheiligabend\b|\bnochebuena\b", "24 december"),
    (r"\bchristmas(?: day)?\b|\bweihnachten\b|\bnoël\b|\bnavidad\b", "25 december"),
    (r"\bnew year's eve\b|\bsilvester\b|\bnochevieja\b", "31 december"),
    (r"\bnew year's day\b|\bneujahr\b", "1 january"),
    (r"\bhalloween\b", "31 october"),
    (r"\bvalentine's day\b", "14 february"),
)
IDIOMS = tuple((pattern_of(pattern), plain) for pattern, plain in _IDIOMS)
_SPACE = pattern_of(r"\s+")
_EDGE = " \t\n.,;:!?()[]\"'"


def plain_phrase(phrase: str) -> str:
    """Return `phrase` in lower case, with idioms of four languages in plain English order."""
    text = unicodedata.normalize("NFKC", phrase).replace("’", "'").casefold()
    text = _SPACE.sub(" ", text.replace(",", " ")).strip(_EDGE)
    for pattern, plain in IDIOMS:
        text = pattern.sub(plain, text)
    return _SPACE.sub(" ", text).strip()


def plain_word(word: str) -> str:
    """Return the English word that `word` stands for, or `word` itself."""
    return WORDS.get(word, word)
