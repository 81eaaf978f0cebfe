"""Find requests not to keep something by how they are built, in four languages, whatever words they choose.

Each word stands for its class: a denial, a verb of keeping, the message itself, the memory, a wish.  What
is denied must be the keeping of the message: "don't save it" asks, "don't save it in the attic" does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_letters import any_of, classes, lettered, near

_SKIPPED = """
    please pls plz kindly just ever even actually really also too thanks thx ok okay hey hi well so btw
    oh psst
    down away anywhere permanently now then again though tho either yet simply strictly only all whatsoever
    anymore at later future reference good assistant once moment today
    the a an any some bitte mal auch doch bloß bloss jetzt nur irgendwo merci svp stp porfa
    favor dir mir sich te me se le la lo les l' el los las un una une der die den dem ein eine einfach
    auf ab actually your its their pues por vor tout todo y'all lieber up one lol haha tbh surtout
    assistant dear
"""
_LETTER_OF = classes(
    _SKIPPED,
    N="""
    don't dont never not no none nothing nowhere without ne n' nicht nichts nie niemals nirgends kein keine
    keinen keinesfalls pas rien jamais aucun aucune nada nunca jamás ningún ninguna sin sans ohne nix donot
    """,
    n="""
    didn't doesn't isn't aren't won't wouldn't can't cannot wasn't weren't couldn't didnt doesnt isnt
    wont
    """,
    f="""needn't mustn't shouldn't shan't oughtn't neednt shouldnt mustnt""",
    K="""
    save store retain memorise memorize jot persist archive hang
    merken speichern abspeichern notieren aufschreiben behalten aufzeichnen festhalten sichern
    protokollieren
    vermerken einspeichern mitschreiben merk merke merkst speicher speichere speicherst speichert notier
    notiere
    notierst behalt behalte behältst protokollier protokolliere schreibst schreib schreibe
    retenir retiens retenez retiennes mémoriser mémorise mémorises mémorisez enregistrer enregistre
    enregistres
    enregistrez sauvegarder sauvegarde sauvegardes sauvegardez garder garde gardes gardez conserver conserve
    conserves conservez noter notez stocke stockes stockez consigne consignez
    guardar guardes guarde recordar recuerdes recuerde anotar anotes anote apuntar apuntes apunte almacenar
    almacenes almacene registrar registres memorizar memorices memorice grabar grabes conservar
    """,
    R="remember",
    k="keep write capture track hold make",
    r="record log file registre",
    h="note",
    l="leave",
    j="take put add enter commit include stick pop ajoute ajoutes mets metas pongas añadas",
    D="""
    saved stored recorded logged noted retained memorised memorized kept remembered written archived
    persisted filed
    captured tracked added gespeichert gemerkt notiert aufgeschrieben festgehalten protokolliert
    aufgezeichnet
    abgespeichert enregistré enregistrée noté notée mémorisé mémorisée gardé gardée sauvegardé retenu
    guardado guardada
    anotado anotada registrado registrada grabado apuntado almacenado
    """,
    G="""
    saving storing remembering recording logging noting keeping retaining memorising memorizing writing
    archiving filing tracking storage retention jotting holding hanging
    """,
    M="""
    memory memories record records notes log logs database profile history books transcript minutes files
    gedächtnis protokoll notizen akte akten archiv logbuch mémoire historique registres mémoires memoria
    notas
    historial archivo recuerdos
    """,
    g="that",
    T="""
    this these those following everything something message sentence bit part chat conversation info detail
    details das dies diese dieses folgendes davon nachricht ça cela ceci esto eso mensaje fact remark
    anything
    """,
    i="it them es ello",
    Y="you u ya you're du sie tu vous tú usted",
    I="i we he she they ich wir er je nous il elle on yo nosotros él ella i'm i'd we'd i've",
    W="""
    want wants like love prefer rather wish wishing appreciate asking ask request möchte will wünsche
    wollte wäre hätte
    voudrais préfère préférerais veux souhaite aimerais quiero prefiero preferiría quisiera gustaría pido
    """,
    F="""
    need needs have has must should shall bother try careful sure feel brauchst musst sollst darfst
    brauche besoin
    inutile dois faut hace falta necesario necesidad hay obligation reason point required requires necessary
    """,
    o="do does did are is would will can could may might 'd be been get gets got being",
    t="to zu zum de for fürs für pour para d' of von",
    p="in into on onto from off as im ins dans als como of out about aus à",
    O="out off outside aside",
    c="and but because though although und aber mais et y pero while since if",
    C="condition provided providing promise swear long understanding assuming",
    q="dass que qu' what whatever was",
    Z="yourself dich toi ti vous-même",
    S="skip omit avoid refrain forgo drop spare exclude",
    U="unsaid unspoken unheard unrecorded unsaved unstored unlogged untold unwritten",
    A="treat consider regard traite betrachte considera trata",
    V="""
    stay stays remain remains bleibt bleib bleiben reste restera queda quede quedará leaves salga sale
    sort
    """,
    H="here hier ici aquí room walls thread acá",
    b="between unter entre",
    u="us uns ourselves",
    m="my our mein meine mon ma mi",
)
_E = "(?:[TN]?t)?[Tig]"
_M = "[Mrh]"
_K = "[Krh]"
_END = rf"(?=$|[.,:c']|[pt]{{1,2}}m?{_M}|[pt]TG|[pt]$)"
_AFTER = rf"(?:{_END}|(?<=[Ti])(?=[Im]))"
_START = r"(?:^|(?<=[.,:c']))"
_KEEP = "[KRkGrh]"
_DENY = r"(?:[oF]{0,2}N[oFtpYG]{0,6}?|Y?f[tY]?|oYN|Y[oN]{1,2}F[ot]{0,2}|Y?Ft?N|YNt|tN)"
_RULES = (
    # an order: "don't … keep this", "no need to store that", "not to be filed"
    rf"{_START}{_DENY}{_KEEP}[pO]?{_E}{_AFTER}",
    rf"{_START}{_DENY}[KrG]{_END}",
    rf"{_START}{_DENY}[Rhk](?=:)",
    rf"{_START}{_DENY}[jkl]N?[MRKrh](?:[pt]{_E})?{_END}",
    rf"{_START}{_DENY}[jKkr][^.:]{{1,14}}?[pt]m?{_M}{_END}",
    # the verb first, or last
    rf"{_START}[Kkr]{_E}N{_END}",
    rf"{_START}{_E}N{_E}?[KG]{_END}",
    rf"{_START}YF{_E}?N{_E}?K{_END}",
    rf"{_START}N[Kh]N(?:{_E})?{_END}",
    # a wish, and a condition
    rf"(?:N[oW]{{0,3}}W|W[oY]?N|WN)[N,]{{0,2}}(?:[qg]Y?|tY|Yt?)[ot]{{0,2}}{_E}?{_KEEP}[pO]?(?:{_E})?{_END}",
    rf"W,?[qg]?Y?[oFt]{{0,2}}[Nnf][oFt]{{0,2}}{_KEEP}[pt]{{0,2}}(?:{_E})?{_END}",
    rf"NW{_E}[to]{{0,2}}D{_END}",
    rf"NW{_E}[to]{{0,2}}[pO]{{1,2}}{_M}{_END}",
    rf"C[,qg]?Y[oF]?[Nnf][oFt]{{0,2}}{_KEEP}[pO]?{_E}{_END}",
    # what must not happen to it
    rf"{_START}[Tg]T?[oF]{{0,3}}[Nnf][oFt]{{0,3}}D(?:p?{_M})?{_END}",
    rf"{_START}N(?:p[Tg])?[oF]{{1,3}}D{_END}",
    rf"{_START}Nto?D{_END}",
    rf"{_START}(?:[Tg][oF]{{0,2}})?[Nn]T?[tp]{{1,2}}(?:[KG]|m?{_M}){_END}",
    rf"{_START}(?:[Tg][oF]{{0,2}})?[Nn]Tt[KRkrh](?:p{_M})?{_END}",
    rf"{_START}N[MGrh][^.:]{{0,2}}?[pt][Tg]",
    # left out, kept out, kept here
    rf"{_START}[Sl][pt]?(?:[MGKrh])[pt]{_E}{_END}",
    rf"{_START}S[p]?G{_E}?{_END}",
    rf"{_START}[Skl][^.:]{{1,8}}?O[pt]?m?{_M}{_END}",
    rf"{_START}[Skl]{_E}U{_END}",
    rf"{_START}A{_E}p?U",
    rf"{_START}[Kk]{_E}[tp]Z",
    rf"{_START}(?:[Tg]|qI[^.:]{{1,5}}?)[FoNnqt]{{0,3}}[Vl]o?(?:[pt]?T?H|bu)",
    rf"{_START}b(?:(?:u|Y,?c?)[,cxu]{{0,5}}:|(?:u|Yc),)",
)
_SILENCE = re.compile("|".join(f"(?:{rule})" for rule in _RULES))
_DENIED = any_of(_LETTER_OF, "NnfSlO")
_KEPT = any_of(_LETTER_OF, "KRkrhjDGM")
_WAYS = (
    near(_DENIED, _KEPT),
    near(any_of(_LETTER_OF, "Kk"), any_of(_LETTER_OF, "Z")),
    near(any_of(_LETTER_OF, "Vl"), any_of(_LETTER_OF, "H")),
    any_of(_LETTER_OF, "U"),
    rf"{any_of(_LETTER_OF, 'b')}\W+(?:{any_of(_LETTER_OF, 'u')}|\byou\b)",
)
PATTERNS = tuple(re.compile(way, re.IGNORECASE) for way in _WAYS)
"""What every find matches, one or the other."""


def find_silence(text: str) -> Iterator[tuple[int, int]]:
    """Yield the range of each request in `text`, whose apostrophes are plain."""
    yield from lettered(text, _LETTER_OF).found(_SILENCE)
