"""Which properties and values touch health, money, law, faith, orientation or identity papers."""

from __future__ import annotations

import functools
import re

from amos.patterns import pattern_of

_HEADS = frozenset(
    "salary income wage wages pay debt debts mortgage loan overdraft pension savings net-worth bonus "
    "diagnosis disease illness condition disorder medication meds prescription therapy surgery operation "
    "symptoms symptom pregnancy disability blood-group blood-type blood-pressure cholesterol hiv "
    "depression anxiety weight bmi dose insulin cancer religion faith church confession denomination "
    "orientation sexuality gender pronouns ethnicity race login username visa passport citizenship "
    "nationality conviction record asylum immigration custody divorce lawsuit party-membership "
    "union-membership politics ssn gehalt sueldo salario salaire krankheit diagnose diagnóstico maladie "
    "reisepass pasaporte passeport religión iban".split()
)
_TOUCHING = frozenset(
    # health: remedies, conditions, care
    "antidepressant antidepressants antibiotic antibiotics antipsychotic antihistamine painkiller "
    "painkillers inhaler statin statins contraceptive contraception pill pills vaccine "
    "vaccination chemo chemotherapy radiotherapy dialysis insulin pacemaker transplant biopsy methadone "
    "sertraline therapist psychiatrist psychologist counsellor counselor oncologist cardiologist "
    "gynaecologist gynecologist urologist neurologist rheumatologist endocrinologist fertility ivf "
    "miscarriage abortion diagnosis medication meds prescription dosage pregnancy rehab sobriety "
    "addiction detox asthma diabetes epilepsy migraine migraines eczema arthritis endometriosis ptsd adhd "
    "autism bipolar ocd dementia "
    # law and family law
    "divorce custody probation parole bail alimony lawsuit arrest conviction felony subpoena indictment "
    "eviction bankruptcy deportation asylum restraining prosecutor sentencing "
    # money
    "salary debt debts overdraft mortgage loan bankruptcy creditor creditors bailiff payslip paycheck "
    # faith and orientation
    "rabbi imam confessor baptism sexuality".split()
)
"""Words that make a property sensitive wherever they stand in it: "divorce hearing"."""
_PHRASES = (
    "net worth", "take-home pay", "hourly rate", "day rate", "tax bracket", "credit limit", "child support",
    "household income", "monthly income", "annual income", "blood sugar", "sex life", "blood test",
    "blood group", "blood type", "blood pressure", "visa status", "residence permit", "passport number",
    "social security", "national insurance", "tax id", "tax number", "driving licence number", "id number",
    "id card", "bank account", "account number", "credit score", "criminal record", "legal status",
    "immigration status", "sexual orientation", "mental health", "medical history", "health condition",
    "health insurance number", "user name", "user id", "account id",
    "gender identity", "political party", "bank balance", "account balance", "court date", "court hearing",
    "court case", "beta blocker", "beta-blocker",
)  # fmt: skip
_PHRASE = pattern_of("|".join(_PHRASES))
_HARMLESS_HEADS = frozenset(
    "course class lesson book teacher exam exams essay lecture homework folder app reminder template shop "
    "museum song film movie playlist article podcast desk department".split()
)
_OF_A_BODY = frozenset("weight race operation record dose".split())
"""Heads that are delicate of a person, and plain of a thing: the weight of a car."""
_OF_A_PERSON = frozenset("body birth target current goal ideal starting adult pre-pregnancy".split())
"""What may stand before such a head when it is a person's all the same."""
_MADE_THINGS = (
    "album band song track film movie book novel author singer game series show artist podcast painting "
    "perfume play musical comic character romance documentary course class lecture seminar exhibition"
)
_MADE = frozenset(_MADE_THINGS.split())
_IS_MADE = pattern_of(rf"\b(?:{_MADE_THINGS.replace(' ', '|')})(?:s|es|ies)?\b", re.IGNORECASE)
"""Works and lessons: one about an illness is none."""
_WORDS = frozenset(
    # health
    "cancer hiv aids depression depressed bipolar adhd ptsd ocd anxiety celiac coeliac dialysis dyslexic "
    "dyslexia crohn's crohns colitis arthritis fibromyalgia endometriosis lupus psoriasis eczema "
    "parkinson's alzheimer's dementia hepatitis herpes chlamydia syphilis hypertension anaemia anemia "
    "abortion vasectomy mastectomy hysterectomy colour-blind color-blind colourblind colorblind tumour "
    "tumor lymphoma leukaemia leukemia chemo chemotherapy insulin beta-blocker beta-blockers "
    "antidepressant antidepressants antipsychotic antipsychotics antibiotics sertraline lithium prozac "
    "zoloft xanax valium ritalin adderall methadone morphine oxycodone tramadol codeine metformin "
    "warfarin levothyroxine prednisone prednisolone salbutamol ventolin ozempic estradiol testosterone "
    "lexapro wellbutrin lamotrigine methylphenidate naproxen "
    # law and money
    "arrested convicted undocumented asylum custody foreclosure overdraft divorcing evicted eviction "
    # faith and orientation
    "muslim christian catholic protestant jewish hindu buddhist sikh mormon quaker baptist lutheran "
    "anglican methodist atheist agnostic evangelical gay lesbian bisexual transgender transsexual queer "
    "asexual pansexual nonbinary non-binary "
    # the same, as German, French and Spanish say it
    "depressiv schwanger schwul lesbisch bisexuell magersüchtig krebskrank behindert vorbestraft verschuldet "
    "drogensüchtig alkoholiker alkoholikerin jüdisch muslimisch katholisch evangelisch psychotherapie "
    "chemotherapie antidepressiva insolvent insolvenz bewährung abtreibung fehlgeburt scheidung "
    "enceinte dépressif dépressive séropositif séropositive musulman musulmane juif juive catholique "
    "protestante homosexuel homosexuelle lesbienne endetté endettée alcoolique toxicomane handicapé "
    "handicapée "
    "antidépresseurs chimiothérapie divorce "
    "embarazada deprimido deprimida seropositivo seropositiva musulmán musulmana judío judía católico "
    "católica "
    "homosexual lesbiana endeudado endeudada alcohólico alcohólica drogadicto drogadicta discapacitado "
    "discapacitada antidepresivos quimioterapia aborto".split()
)
_STEMS = (
    "diabet", "epilep", "pregnan", "anorexi", "bulimi", "autis", "schizophren", "asthma", "migraine",
    "infertil", "miscarr", "bankrupt",
)  # fmt: skip
_ENDINGS = (
    "azepam", "azolam", "oxetine", "alopram", "azepine", "sartan", "prazole", "cillin", "mycin", "triptan",
    "gabalin", "vastatin",
)  # fmt: skip
_SHORTEST_PART = min(map(len, _STEMS + _ENDINGS))
_WORD = pattern_of(r"[\w'-]+")
_SAYINGS = pattern_of(
    r"\b(?:on (?:medication|probation|parole|bail|benefits|antidepressants)|in (?:debt|prison|jail|rehab)"
    r"|anxiety disorder|eating disorder|panic attacks?|multiple sclerosis|high blood pressure"
    r"|heart (?:disease|failure|condition)|unemploy(?:ment|ed) benefits?|food stamps"
    r"|divorce (?:lawyer|hearing|papers|settlement)|restraining order|behind on (?:my |the )?rent"
    r"|(?:criminal|police|arrest|prison) records?|(?:student|payday|car|personal) loans?|credit card debt"
    r"|court orders?|suicidal|suicide attempt|self[- ]harm|(?:drug|heroin|cocaine|gambling"
    r"|alcohol) (?:addict|"
    r"addiction|problem)|(?:recovering |an? |^)alcoholic$|trade union|(?:green|labou?r|conservative|communist"
    r"|socialist|democratic|republican|liberal|workers'?|left|pirate) party"
    r"|jehovah'?s witness|orthodox jew|trans (?:man|woman)|beta blockers?"
    r"|\d+(?:[.,]\d+)? ?(?:mg|mcg|µg) (?:of|a day|daily|twice|per)"
    r"|(?-i:(?:A|B|AB|O) (?:negative|positive)))\b",
    re.IGNORECASE,
)
_MADE_UP = pattern_of(
    r"(?<!\S)(?!\S*://|\S*@\S*\.|[@#/])(?=\S*[^\W\d_])(?=\S*\d)(?=\S*\w[!#$%^&*?~|]\w"
    r"|\S*\w[!#$^&*~|])[^\s,;]{7,64}(?!\S)"
)
"""A run of letters, digits and signs as passwords are: somebody looks at it, whatever it is said to be."""
_OTHERS_ONLY = pattern_of(
    r"\b(?:appraisal|performance|review|rating|warning|let go|fired|failing|flunk\w*|expelled"
    r"|laid off|sick leave|sick note|surgery"
    r"|allerg\w+|intoleran\w+|access|permission|clearance|salary|rent|grades?|weight|health|hospital"
    r"|therapist|rehab|prison|jail|court|clinic|parole|medication|password|pin|drinking"
    r"|addict\w*|divorc\w*|affair|ill|illness|injur\w+)\b",
    re.IGNORECASE,
)


def is_sensitive(property_name: str, value: str, *, is_other: bool, is_thing: bool = False) -> bool:
    """Tell whether a claim needs review for what it touches.

    is_other: about somebody else.  is_thing: about a thing that somebody has.
    Decided on property and value: a "religion course" is harmless, a diet of "insulin" is not.
    """
    verdict = _of_property(property_name, is_thing=is_thing)
    if verdict is not None:
        return verdict
    if value.isdigit():  # a number alone names nothing
        return is_other and _names_matter(property_name)
    if _MADE_UP.search(value):
        return True
    if _touches(value) and not _IS_MADE.search(value):
        return True
    return is_other and (_names_matter(property_name) or _OTHERS_ONLY.search(value) is not None)


@functools.lru_cache(maxsize=8192)
def _names_matter(property_name: str) -> bool:
    """Tell whether a property is delicate where it is somebody else's."""
    return _OTHERS_ONLY.search(property_name) is not None


@functools.lru_cache(maxsize=8192)
def _of_property(property_name: str, *, is_thing: bool) -> bool | None:
    """Return what a property alone decides, None when the value decides."""
    words = property_name.split()
    head = words[-1] if words else ""
    if head in _HARMLESS_HEADS:
        return False
    if head in _OF_A_BODY and (is_thing or (len(words) > 1 and words[-2] not in _OF_A_PERSON)):
        return None
    if head in _HEADS or not _TOUCHING.isdisjoint(words) or _PHRASE.search(property_name):
        return True
    is_work = bool(words) and words[0] in ("favourite", "favorite") and head in _MADE
    return False if is_work or (is_thing and head in ("name", "nickname")) else None


def _touches(value: str) -> bool:
    """Tell whether a value names an illness, a remedy, a proceeding, debts, a faith or an orientation."""
    for word in _WORD.findall(value.casefold()):
        if word in _WORDS:
            return True
        if len(word) >= _SHORTEST_PART and (word.startswith(_STEMS) or word.endswith(_ENDINGS)):
            return True
    return " " in value and _SAYINGS.search(value) is not None
