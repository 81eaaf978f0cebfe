"""Find requests not to keep something by how they are built, in four languages, whatever words they choose.

Each word stands for its class: a denial, a verb of keeping, the message itself, the memory, a wish.  What
is denied must be the keeping of the message: "don't save it" asks, "don't save it in the attic" does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction.screen_letters import OTHER, any_of, classes, lettered, near
from amos.patterns import pattern_of

_SKIPPED = """
    please pls plz kindly just ever even actually really also too thanks thx ok okay hey hi well so btw
    oh psst
    down away anywhere permanently now then again though tho either yet simply strictly only all whatsoever
    anymore at later future reference good assistant once moment today
    the a an any some bitte mal auch doch bloß bloss jetzt nur irgendwo merci svp stp porfa
    favor dir mir sich te me se le la lo les l' el los las un una une der die den dem ein eine einfach
    auf ab actually your its their pues por vor tout todo y'all lieber up one over lol haha tbh surtout
    assistant dear
"""
SILENCE_WORDS = classes(
    _SKIPPED,
    N="""
    inutile don't dont never not no none nothing nowhere without ne n' nicht nichts nie niemals nirgends
    kein keine
    keinen keinesfalls pas rien jamais aucun aucune nada nunca jamás ningún ninguna sin sans ohne nix donot
    """,
    n="""
    didn't doesn't isn't aren't won't wouldn't can't cannot wasn't weren't couldn't didnt doesnt isnt
    wont
    """,
    f="""needn't mustn't shouldn't shan't oughtn't neednt shouldnt mustnt""",
    K="""
    souvenir souviens souvenez acuerdes acuérdate acordarte landen save store retain memorise memorize jot
    persist archive carry hang hold track
    merken speichern abspeichern notieren aufschreiben behalten aufzeichnen festhalten sichern
    protokollieren
    vermerken einspeichern mitschreiben merk merke merkst speicher speichere speicherst speichert notier
    notiere
    notierst behalt behalte behältst protokollier protokolliere schreibst schreib schreibe
    retenir retiens retenez retiennes mémoriser mémorise mémorises mémorisez enregistrer enregistre
    enregistres
    enregistrez sauvegarder sauvegarde sauvegardes sauvegardez garder garde gardes gardez conserver conserve
    conserves conservez noter notez stocke stockes stockez consigne consignez
    """,
    s="""
    archivar archives guardar guardes guarde recordar recuerdes recuerde anotar anotes anote apuntar
    apuntes apunte almacenar
    almacenes almacene registrar registres memorizar memorices memorice grabar grabes conservar
    """,
    R="remember",
    k="keep write capture",
    r="record log file registre",
    h="note",
    l="leave",
    j="make take put add enter commit include stick pop ajoute ajoutes mets metas pongas añadas",
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
    archiving filing tracking storage retention jotting
    """,
    M="""
    memory memories records notes logs database profile history books transcript files
    trace traces spur spuren rastro constancia huella gedächtnis protokoll notizen akte akten archiv
    logbuch mémoire historique registres mémoires memoria
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
    consent agree permit allow want wants like love prefer rather wish wishing appreciate asking ask
    request möchte will wünsche
    wollte wäre hätte
    voudrais préfère préférerais veux souhaite aimerais quiero prefiero preferiría quisiera gustaría pido
    """,
    F="""
    need needs have has must should shall bother try careful sure feel brauchst musst sollst darfst
    brauche besoin
    dois faut hace falta necesario necesidad hay obligation reason point required requires necessary
    """,
    o="wird werden werde do does did are is would will can could may might 'd be been get gets got being",
    t="to zu zum de for fürs für pour para d' of von",
    p="from in into on onto as im ins dans als como about aus à en",
    O="out off outside aside",
    c="and but because though although und aber mais et y pero while since if",
    C="trust hope expect condition provided providing promise swear long understanding assuming",
    q="dass que qu' what whatever was",
    Z="yourself dich toi ti vous-même",
    S="""
    bórralo borra borrar efface effacer lösch lösche löschen strike erase delete scrub wipe remove stop
    pause disable suspend deactivate skip omit avoid refrain forgo drop spare exclude
    """,
    a="after once soon cuanto sobald après nachdem",
    w="gleich wieder sofort direkt aussitôt enseguida immediately afterwards afterward straight",
    e="forget disregard vergiss vergesst vergessen oublie oubliez oublier olvida olvídate olvidar",
    v="vanish disappear evaporate",
    P="incognito hush privately off-record",
    U="""
    private confidential confidentiel vertraulich confidencial deleted forgotten unsaid unspoken unheard
    unrecorded unsaved unstored unlogged untold unwritten
    """,
    A="treat consider regard traite betrachte considera trata",
    V="""
    stay stays remain remains bleibt bleib bleiben reste restera queda quede quedará leaves salga sale
    sort
    """,
    H="chat here hier ici aquí room walls thread acá",
    b="between unter entre",
    u="us uns ourselves",
    m="my our mein meine mon ma mi",
)
_E = "(?:(?:[TN]?t)?[Tig]|q[^.:,]{1,5}?)"
_M = "[Mrh]"
_K = "[Krh]"
_END = rf"(?=$|[.,:c']|[pt]{{1,2}}m?{_M}|[pt]TG|[pt]$)"
_AFTER = rf"(?:{_END}|(?<=[Ti])(?=[Im]))"
_START = r"(?:^|(?<=[.,:c']))"
_KEEP = "[KRkGrh]"
_DENY = r"(?:[oF]{0,2}N[oFtpYG]{0,6}?|Y?f[tY]?|oYN|Y[oN]{1,2}F[ot]{0,2}|Y?Ft?N|YNt|[pt]N{1,2}|oY[xF]N|NYx)"
_OPENING = (
    # an order: "don't … keep this", "don't put it in your notes", "no need to make a note"
    rf"{_DENY}{_KEEP}[pO]?{_E}{_AFTER}",
    rf"{_DENY}[KrG]{_END}",
    rf"{_DENY}[jkl]N?[MRKrh](?:[pt]{_E})?{_END}",
    rf"{_DENY}[jKkr][^.:]{{1,14}}?[pt]m?{_M}{_END}",
    "(?:Y?f|Y?NF|YNoF)[tF]{0,2}[RG]m",
    # the verb first, or last
    rf"[Kkr]{_E}N{_END}",
    rf"N{_E}[KG]{_END}",
    rf"N[Kh]N(?:{_E})?{_END}",
    # what must not happen to it
    rf"[Tg]T?[oF]{{0,3}}[Nnf][oFt]{{0,3}}D(?:p?{_M})?{_END}",
    rf"N(?:p[Tg])?[oF]{{1,3}}D{_END}",
    rf"(?:[Tg][oF]{{0,2}})?[Nn]T?[tp]{{1,2}}(?:[KG]|m?{_M}){_END}",
    # left out, kept out, deleted, kept here
    rf"[Skl][^.:]{{1,8}}?O[pt]?m?[MrhG]{_END}",
    rf"S{_E}[^.:,]{{0,2}}?[pt]m?{_M}{_END}",
    "S[Tgi]?[^.:]?a",
    rf"(?:oI)?[SklA]{_E}[po]?U",
    rf"A{_E}pc",
    rf"x?(?:O[MG]|[MG]O)(?:[pt]{_E})?{_END}",
    "[MGK]:N(?=[.:,])",
    "Yoe[Tg]",
    "e[Tg][^.:,]?w",
    "ew{1,2},?[qg]",
    "(?<=c)Yn[oFt]{0,2}[KRrhGM]g?m",
    "[xV]?[Tg][^.:,]{0,2}?v",
    "(?:[Tg]|qI[^.:]{1,5}?)[FoNnqt]{0,3}[Vl]o?(?:[pt]?T?H|bu)",
    "b(?:(?:u|Y,?c?)[,cxu]{0,5}:|(?:u|Yc),)",
    "PP?[xu,pt]{0,4}:",
    "[Pptp,]{0,3}u[xu]?:",
)
_WITHIN = (
    # a wish, and a condition
    rf"W,?[qg]?Y?[oFt]{{0,2}}[Nnf][oFt]{{0,2}}{_KEEP}[pt]{{0,2}}(?:{_E})?{_END}",
    rf"C[,qg]?Y[oF]?[Nnf][oFt]{{0,2}}{_KEEP}[pO]?{_E}{_END}",
)
_SILENCE = pattern_of(f"{_START}(?:{'|'.join(_OPENING)})|(?=[WC])(?:{'|'.join(_WITHIN)})")
_NO_ORDER = pattern_of("L(?=[KRkrhj])")
"""An English "no" before a verb answers something: "no, save it" may lack its comma."""
_AS_DENIED = str.maketrans("Ls", "NK")
_DENIED = any_of(SILENCE_WORDS, "NnfSlOeL")
_KEPT = any_of(SILENCE_WORDS, "KRkrhDGMs")
_WAYS = (
    (near(_DENIED, _KEPT),),
    (
        near(any_of(SILENCE_WORDS, "Kk"), any_of(SILENCE_WORDS, "Z")),
        near(any_of(SILENCE_WORDS, "Vl"), any_of(SILENCE_WORDS, "H")),
    ),
    (
        near(any_of(SILENCE_WORDS, "e"), rf"(?:\byou\b|{any_of(SILENCE_WORDS, 'w')})"),
        near(any_of(SILENCE_WORDS, "S"), any_of(SILENCE_WORDS, "a")),
    ),
    (
        any_of(SILENCE_WORDS, "UvP"),
        rf"{any_of(SILENCE_WORDS, 'b')}\W+(?:{any_of(SILENCE_WORDS, 'u')}|\byou\b)",
        rf"{any_of(SILENCE_WORDS, 'u')}[^!?…\n]{{0,20}}[:–—-]",
        rf"{any_of(SILENCE_WORDS, 'A')}[^!?…\n]*?(?:\bas if\b|{any_of(SILENCE_WORDS, 'c')})",
    ),
)
PATTERNS = tuple(pattern_of("|".join(ways), re.IGNORECASE) for ways in _WAYS)
"""What every find matches, one or the other."""


_CLAUSE = pattern_of(
    "(?:^|(?<=[.:]))[^.:]{2,11}(?=[.:]|$)|(?:^|(?<=[.:]))[^.:,]{2,11}(?=,)|(?<=,)[^.:,]{2,11}(?=[.:]|$)"
)
_KEEPS = pattern_of("[KRrhDGM]|[jk][^.:]{0,6}M|V[^.:]{0,4}H")
_DENIES = pattern_of("[NnfLSOeU]")
_REFERS = pattern_of("[Tg]|q[IY]|N[MGD]|[KDG]$")
_OTHERWISE = pattern_of(
    "^o[YI]|^I[oFx]{0,2}[Tgi]?N[KRG]|^[^YWqTgFN]{0,2}[Ixm][^YWqTg]{0,4}[KRrhGkD]|I[oFx]{0,2}[NnL]?[oFt]{0,2}[KRrhkGs]|N[^.:]{0,3}e|NS|[Nn]x?[KRrhkjs][xmI]"
    "|[xm][NnL][oFt]{0,2}[KRrhkjs]|[KRrhjksD](?:[Tgi]?p?x|M)[^.:]*$(?<!M)|[xi]p?x?[NnL]o?D|[KRrhGDM]g[ImxT]|x[^x]*x[^x]*x"
)
"""Somebody keeps, or does not; or what is kept is a thing."""


def _clauses(letters: str) -> Iterator[tuple[int, int]]:
    for clause in _CLAUSE.finditer(letters):
        said = clause.group()
        if (
            _KEEPS.search(said)
            and _DENIES.search(said)
            and _REFERS.search(said)
            and not _OTHERWISE.search(said)
        ):
            yield clause.span()


def find_silence(text: str) -> Iterator[tuple[int, int]]:
    """Yield the range of each request in `text`, whose apostrophes are plain."""
    read = lettered(text, SILENCE_WORDS)
    letters = _NO_ORDER.sub(OTHER, read.letters).translate(_AS_DENIED)
    yield from read._replace(letters=letters).found(_SILENCE)
    for start, end in _clauses(letters):
        yield read.spans[start][0], read.spans[end - 1][1]
