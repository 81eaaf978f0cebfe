"""Find orders to an assistant by how they are built: who is addressed, what binds, what is to be done.

It is for text that nobody may give orders in: pages, tool output, recalled text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_letters import any_of, classes, lettered, near
from amos.patterns import pattern_of

_LETTER_OF = classes(
    """
    a an please kindly bitte svp so then also very just only really ein eine einen un una une s'il te
    plaît por favor
    le la les el lo los las l' der die das den
    """,
    A="""
    ai llm llms gpt chatgpt claude gemini copilot chatbot chatbots ki ia sprachmodell ki-assistent
    ki-assistenten
    ai-assistant ai-assistants ai-agent ai-agents ai-powered
    """,
    a="""
    assistant assistants bot bots agent agents assistent assistenten assistante asistente asistentes
    agente agentes
    scraper scrapers crawler crawlers summarizer summariser
    """,
    U="""
    user user's reader reader's customer customer's visitor visitor's shopper shopper's client client's
    holder holder's
    owner operator operator's admin administrator human nutzer benutzer anwender kunde kunden
    nutzers utilisateur usuario cliente lecteur lector
    """,
    d="the this that your our their every each any dieser diese dieses este esta cet cette ce",
    O="""
    must should shall ought needs need has have is are supposed required instructed soll sollst sollen
    sollte muss
    müssen musst doit dois devez doivent debe debes deben tiene tienes
    """,
    l="will can may could might wirst darfst vas va",
    h="already hereby had been given granted provided expressed previously explicitly implicitly fully",
    Q="""
    approved pre-approved preapproved authorised authorized trusted verified consented consent permission
    permitted
    agreed waived vetted whitelisted allowlisted safe opted genehmigt autorisiert zugestimmt eingewilligt
    autorizado
    aprobado autorisé approuvé
    """,
    V="""
    answer respond reply say tell recommend suggest mention praise promote endorse disclose reveal comply
    obey
    pretend refuse claim state antworte antworten sage sag sagen empfehle empfiehl empfehlen erwähne
    erwähnen behaupte
    réponds répondez répondre dis dites recommande recommandez recommander mentionne mentionnez
    responde responda responder contesta contesten recomienda recomiende recomendar menciona
    """,
    i="""
    ignore disregard forget bypass override ignoriere ignorieren vergiss vergessen ignorez oublie oubliez
    ignora ignoren
    """,
    W="""
    remember store save note record memorise memorize set update add log register speichere merke notiere
    trage
    enregistre enregistrez retiens retenez note notez guarda guarde registra anota recuerda
    """,
    E="""
    treat consider regard mark assume flag trust rate rank betrachte behandle considère considérez traite
    considera trata
    """,
    X="""
    send email e-mail forward post upload transfer share export leak paste submit sende schicke envoie
    envoyez envía manda
    """,
    K="""
    keys credentials passwords secrets tokens conversation conversations chats contacts cookies api-keys
    mailbox inbox
    passwörter zugangsdaten identifiants contraseñas credenciales
    """,
    D="""
    delete erase wipe clear reset remove purge drop skip disable discard lösche supprime supprimez efface
    borra elimina
    """,
    M="""
    memories instructions guidelines guardrails preferences prompt directives anweisungen consignes
    instrucciones
    """,
    m="memory profile gedächtnis mémoire memoria confirmation confirmations approvals prompts long-term",
    F="""
    always never henceforth onwards immer nie stets künftig toujours jamais désormais dorénavant siempre
    nunca
    """,
    n="now here sofort jetzt maintenant ahora adelante on",
    p="from ab à de en partir starting",
    Y="you du sie tu vous tú usted",
    y="its",
    w="when whenever if once wenn falls sobald quand lorsque si cuando cada",
    k="""
    ask asks asked asking inquires enquires wonders queries query fragt gefragt demande demandé pregunta
    pregunte preguntan
    """,
    z="attention note notice message memo instruction hinweis achtung nachricht aviso atención nota avis",
    t="to for that als as at by with für an para pour que dass",
    N="don't not no nicht ne pas dont do",
)
_START = r"(?:^|(?<=[.:,']))"
_ACT = "[ViWEXDz]"
_STANDING = rf"{_START}(?:F|p[xpt]?n{{1,2}}|pn?p?n),?"
_RULES = (
    # somebody is addressed
    rf"[Aa][^.:,]{{0,4}}?(?:O[tN]{{0,2}}|F)[^.:,]{{0,2}}?{_ACT}(?!A)",
    rf"A[^.:,]{{0,3}}?[:,][^.:]{{0,3}}?{_ACT}",
    rf"{_START}[xzF]{{0,2}}[Aa][:,][^.:]{{0,3}}?{_ACT}",
    rf"{_START}z[td]{{0,2}}[xF]?[Aa][:,.]",
    r"td?[Aa]:",
    r"A,?Y[Ol]",
    # a user's consent, told by somebody else
    r"dx?U[^.:,]?[Ohl]{1,3}[^.:,]?[FNh]?Q",
    # what to do whenever asked; from now on; "you will now"
    rf"w[^.:]{{0,6}}?k[^.:]{{0,8}}?,F?N?{_ACT}",
    rf"{_STANDING}[OY]{{0,2}}F?N{{0,2}}(?:[VE]|[iWXD][^.:]{{0,8}}?[UMmKYQ])(?!d?x?U?x?t)",
    rf"{_STANDING}[OlY]{{2}}F?[^.:]{{0,3}}?V",
    r"Y[Ol]t?[nF]N?[Vi]",
    r"Y[Ol]t?[Vi][^.:]{0,5}?[UMK]",
    # what to keep of the user, what to trust, what to hand over, what to drop
    rf"{_START}N{{0,2}}W[^.]{{0,9}}?d[x]?U(?!x?t)",
    rf"{_START}N{{0,2}}W[^.:]{{0,5}}?t[^.:]{{0,3}}?[mM]",
    rf"{_START}E[^.:]{{1,9}}?tF?h?Q",
    rf"{_START}X[^.:]{{0,3}}?K[^.:]{{0,3}}?t",
    rf"{_START}[Di]d?[^.:,]{{0,2}}?M",
)
_ORDER = pattern_of("|".join(f"(?:{rule})" for rule in _RULES))
_WAYS = (
    any_of(_LETTER_OF, "Aa"),
    near(any_of(_LETTER_OF, "U"), any_of(_LETTER_OF, "QW")),
    near(any_of(_LETTER_OF, "FnYk"), any_of(_LETTER_OF, "ViWEXDz")),
    near(any_of(_LETTER_OF, "WXDiE"), any_of(_LETTER_OF, "mMKQ")),
)
PATTERNS = tuple(pattern_of(way, re.IGNORECASE) for way in _WAYS)
"""What every find matches, one or the other."""


def find_orders(text: str) -> Iterator[tuple[int, int]]:
    """Yield the range of each order in `text`, whose apostrophes are plain."""
    yield from lettered(text, _LETTER_OF).found(_ORDER)
