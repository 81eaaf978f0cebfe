"""The nouns by which people announce a secret, and a fast way to find them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from amos.patterns import pattern_of

PHRASE_NOUNS = (
    r"pass[ \-]?phrases?|(?:seed|recovery|mnemonic|wallet|secret|unlock|backup)[ \-]?(?:phrase|words)"
    r"|(?:security|secret|recovery|challenge|verification)[ \-](?:question )?(?:answers?|word)"
    r"|(?:vault|safe|pass|unlock|alarm|panic|magic|entry)[ \-]?word"
    r"|answer to (?:my|the|our) (?:security|secret|recovery) question"
    r"|(?:12|24|twelve|twenty[ \-]four)[ \-]?(?:secret |recovery |seed )?words|mnemonic"
)
"""What takes several plain words."""
MISSPELT_NOUNS = (
    r"p[a@4]?[s$5]{1,3}[ \-]?w[o0]{0,2}r?[o0]?r?d+s?|p[a@4][s$5]{1,3}[o0]wr?d?s?|p[a@4][s$5]{2,3}[o0]r[dt]s?"
    r"|p[a@4][s$5]{1,3}[ \-]?w[o0]r[ts]|p[a@4][s$5]{1,3}[ \-]?(?:fr[aei]+se?|phra[sz]e?s?|phrse)"
    r"|p[a@4][s$5]{1,3}[ \-]?c[o0]d[es]?s?"
)
"""Slips of the pen and letters replaced by signs: "pasword", "p@ssw0rd"."""
WORD_NOUNS = (
    r"pass[ \-]?words?|pass[ \-]?codes?|passwd|pwd?|pass[ \-]?w[öo]rt(?:er)?"
    r"|kennwort|losungswort|contrase[nñ]as?|mots? de passe|mdp|senhas?|wachtwoord|parola d'ordine"
    r"|парол[ья]\w?|has[łl]o(?: to)?|lozinka|geslo|salasanani?(?: on)?"
    r"|l[öo]senord(?:et)?|adgangskode|jelszó|heslo|şifrem?"
    r"|(?:wi-?fi|wlan|wpa2?|router|hotspot|network|guest network)[ \-](?:key|pass|code)"
    r"|(?:clé|cle|clef|clave) (?:du |de la |del )?(?:wi-?fi|wpa2?|router|routeur|réseau|red)"
    rf"|{PHRASE_NOUNS}|{MISSPELT_NOUNS}"
)
DIGIT_NOUNS = (
    r"(?:door|gate|alarm|safe|vault|garage|lock|locker|padlock)['’]s (?:pass)?codes?"
    r"|codes? (?:for|to|of) (?:the |my |our )?(?:[^\s.,:;]{1,16} ){0,2}?(?:door|gate|alarm|safe|vault"
    r"|garage|building|lock|lockbox|entrance|house|shed)|code (?:de (?:ma |la )?carte(?: bleue"
    r"| bancaire)?)|(?:recovery|backup) codes?|(?:sim |card |bank |phone )?pin(?:[ \-]?(?:code|number"
    r"|nummer))?|cvv2?|cvc|otp|geheim(?:zahl|nummer)|kombination|zahlenschloss"
    r"|(?:haus|hof|zimmer|garagen|keller|alarm|safe|tresor|zugangs|tor|t[uü]r)(?:t[uü]r)?[ \-]?code"
    r"|digicode|code (?:pin|secret|d['’]acc[eè]s|(?:de |du |d['’]|de (?:la |l['’]|ma |mon ))(?:porte|portail"
    r"|portillon|immeuble|entr[ée]e|alarme|coffre|cave|garage)(?: d['’]entr[ée]e)?)"
    r"|claves? (?:secretas? )?del? "
    r"(?:la |mi )?(?:caja(?: fuerte)?|portal|garaje|candado|casa)|combinaci[óo]n|c[oó]digo del? (?:la |mi "
    r"|el )?"
    r"(?:portal|garaje|alarma|caja(?: fuerte)?|edificio|casa|entrada|candado)|claves? (?:secretas?"
    r"|de acceso|del? (?:la |mi |el )?(?:banco|tarjeta|puerta|alarma"
    r"|correo|cuenta|móvil|movil|teléfono|caja))"
    r"|c[oó]digo (?:pin|secreto|de acceso|de la puerta)|(?:security|access|door|gate|alarm"
    r"|entry|unlock|safe|vault|garage|keypad|lock|lockbox|verification|one[ \-]time|2fa|two[ \-]factor"
    r"|login|auth(?:entication)?|panel|building|house|front door)[ \-](?:pass[ \-]?)?(?:codes?"
    r"|combination|combo)|combination|combo"
)
KEY_NOUNS = (
    r"(?:api|access|auth(?:entication)?|bearer|refresh|session|deploy|bot|service|staging|production"
    r"|prod|personal)[ \-_]?(?:key|token)s?|(?:secret|private|ssh|signing|encryption|licen[cs]e|product"
    r"|master)[ \-_]?keys?|(?:factory|default|activation|bitlocker|wi-?fi|wlan|network)[ \-]keys?"
    r"|(?:two[ \-]factor|2fa|totp|otp|mfa|authenticator)[ \-](?:seed|secret|key)"
    r"|(?:client|shared|app|webhook)[ \-_]?secrets?|tokens?|secrets?|clave"
    r"|credentials?|log[ \-]?ins?|zugangsdaten|schl[uü]ssel|api[ \-]?schl[uü]ssel"
)
SPACELESS_NOUNS = r"密码|密碼|口令|パスワード|暗証番号|비밀번호"
NOUN = pattern_of(
    rf"(?<![^\W_])(?:(?P<word>{WORD_NOUNS})|(?P<digit>{DIGIT_NOUNS})|(?P<key>{KEY_NOUNS}))(?![\w])"
    rf"|(?P<spaceless>{SPACELESS_NOUNS})",
    re.IGNORECASE,
)
_SHORT_TEXT = 256
_NOUN_REACH = 64  # the longest noun and the character behind it
_CORE_TEXT = """
    pass p@s p4s pa5 pa$ p@5 p@$ p4$ p45 pas psw pss p5w p$w ps5 pwd pw wort contrase
    mdp senha wacht parol парол
    phrase words mnemonic hasło haslo lozink geslo salasana zahlenschloss digicode seed
    senord
    adgangskode jelszó heslo şifre pin cvv cvc otp geheim combi combo kombi code
    código
    codigo key token secret clave credential log zugang schlüssel schluessel 密 口令 パスワード 暗証 비밀
"""
_CORES = tuple(_CORE_TEXT.split())


@functools.lru_cache(maxsize=4)
def find_nouns(text: str) -> tuple[re.Match[str], ...]:
    """Return the nouns of secrets in order; the pattern only runs around letters that each must hold.

    The name of the group that matched tells what such a noun takes: a word, digits, a key.
    """
    return tuple(noun for start, end in _windows(text) for noun in NOUN.finditer(text, start, end))


def _windows(text: str) -> list[tuple[int, int]]:
    """Return disjoint ranges of `text` that hold every noun whole, with what stands around it."""
    lowered = text.lower()
    if len(text) < _SHORT_TEXT or len(lowered) != len(text) or "ſ" in text:
        return [(0, len(text))]
    windows: list[tuple[int, int]] = []
    for core in sorted(at for word in _CORES for at in _places(lowered, word)):
        start, end = max(0, core - _NOUN_REACH), core + _NOUN_REACH
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.append((start, end))
    return windows


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)
