"""Which properties and values touch health, money, law, faith, orientation or identity papers."""

from __future__ import annotations

import re

_HEADS = frozenset(
    "salary income wage wages pay debt debts mortgage loan overdraft pension savings net-worth bonus "
    "diagnosis disease illness condition disorder medication meds prescription therapy surgery operation "
    "symptoms symptom pregnancy disability blood-group blood-type blood-pressure cholesterol hiv depression "
    "anxiety weight bmi dose insulin cancer "
    "religion faith church confession denomination orientation sexuality gender pronouns ethnicity race "
    "login username "
    "visa passport citizenship nationality conviction record asylum immigration custody divorce lawsuit "
    "party-membership union-membership politics ssn "
    "gehalt sueldo salario salaire krankheit diagnose diagnóstico maladie reisepass pasaporte passeport "
    "religión "
    "iban".split()
)
_PHRASES = (
    "blood group", "blood type", "blood pressure", "visa status", "residence permit", "passport number",
    "social security", "national insurance", "tax id", "tax number", "driving licence number", "id number",
    "id card", "bank account", "account number", "credit score", "criminal record", "legal status",
    "immigration status", "sexual orientation", "mental health", "medical history", "health condition",
    "health insurance number", "user name", "user id", "account id",
    "gender identity", "political party", "bank balance", "account balance",
)  # fmt: skip
_PHRASE = re.compile("|".join(_PHRASES))
_HARMLESS_HEADS = frozenset(
    "course class lesson book teacher exam exams essay lecture homework folder app reminder template shop "
    "museum song film movie playlist article podcast desk department".split()
)
_VALUES = re.compile(
    r"\b(?:diabetic|diabetes|cancer|hiv|aids|depress(?:ed|ion)|bipolar|epilep\w+|pregnant|anorexi\w+|bulimi\w+"
    r"|adhd|autis\w+|schizophren\w+|anxiety disorder|chemotherapy|insulin|antidepressants?|on medication"
    r"|bankrupt|in debt|unemployed benefits|arrested|convicted|on probation|in prison|undocumented|asylum"
    r"|muslim|christian|catholic|protestant|jewish|hindu|buddhist|sikh|atheist|agnostic"
    r"|gay|lesbian|bisexual|transgender|queer|asexual|celiac|coeliac|asthma\w*|migraines?|dialysis|dyslexic"
    r"|O negative|O positive|A negative|A positive|B negative|B positive|AB negative|AB positive)\b",
    re.IGNORECASE,
)
_OTHERS_ONLY = re.compile(
    r"\b(?:appraisal|performance|review|rating|warning|let go|fired|laid off|sick leave|sick note|surgery"
    r"|allerg\w+|intoleran\w+|access|permission|clearance|salary|rent|grades?|weight|health|hospital"
    r"|therapist|rehab|prison|jail|court|clinic|parole|medication|password|pin|drinking|addict\w*|divorce\w*|affair|ill|illness|injur\w+)\b",
    re.IGNORECASE,
)


def is_sensitive(property_name: str, value: str, *, is_other: bool) -> bool:
    """Tell whether a claim needs review for what it touches; `is_other`: about somebody else.

    Decided on property and value: a "religion course" is harmless, a diet of "insulin" is not.
    """
    words = property_name.split()
    head = words[-1] if words else ""
    if head in _HARMLESS_HEADS:
        return False
    if head in _HEADS or _PHRASE.search(property_name):
        return True
    if _VALUES.search(value):
        return True
    return is_other and bool(_OTHERS_ONLY.search(property_name) or _OTHERS_ONLY.search(value))
