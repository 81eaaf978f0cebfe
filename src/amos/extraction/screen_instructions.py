"""Find text that tries to give an assistant orders from where nobody may: pages, tools, recalled text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amos.extraction import screen_orders
from amos.extraction.screen_view import Hit
from amos.patterns import pattern_of
from amos.schemas.vocabulary import Reason

_MODEL = (
    r"(?:assistants?|a\.?i\.?|ai (?:agents?|models?|systems?)|llms?|language models?|chat ?bots?"
    r"|copilots?|chatgpt|claude|gemini|agents?)"
)
_ANY = (
    r"(?:(?:all|any|every|the|your|my|our|these|those|of|previous|prior|above|earlier|preceding|former"
    r"|other|existing|original|system) ){0,5}"
)
_ORDERS = (
    r"(?:instructions?|prompts?|rules?|messages?|directions?|directives?|guidelines?|context"
    r"|constraints?|orders?|policy|policies)"
)
_NOTICE = r"(?:note|message|instructions?|attention|notice)"
_KEEP = r"(?:remember|note|keep|record|store|save|memori[sz]e|add|write|bear|commit|log|retain)"
_RULES: tuple[tuple[str, str], ...] = (
    (
        "override",
        (
            rf"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|bypass|discard"
            rf"|drop) {_ANY}(?:previous|prior|above|earlier|preceding|former|existing|original|system"
            rf"|other|your|all) {_ORDERS}|(?:ignor(?:e|ing)|disregard|forget) (?:everything|all that"
            rf"|anything|what|all) (?:above|before|you were told|you have been told|previously)"
            r"|(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|bypass) (?:your|its) (?:training"
            r"|programming|guardrails?|alignment)|(?:this|that|the (?:following|above)) (?:text|message|page"
            r"|note|document|notice|section) (?:overrides|supersedes|replaces|cancels) (?:your|all|any|every)"
        ),
    ),
    (
        "false_author",
        (
            r"(?:new|updated|revised|additional|further|hidden|secret) (?:system )?(?:instructions?"
            r"|directives?|orders?)\s?:|(?:enable|enter|activate|switch to) (?:developer|debug|god|dan"
            r"|jailbreak|unrestricted) mode|(?:system|developer|admin(?:istrator)?|assistant) (?:note"
            r"|message|prompt|override|instructions?|notice|update|alert)\s?[:\]>–—-]|(?:^"
            r"|[\n>\[(])\s{0,8}(?:assistant|system|developer)\s?:\s{0,4}(?:please |you |never |always "
            r"|do |don't |from now )?(?:add|remember|ignore|forward|send|reply|respond|store|save|must"
            r"|are|tell|call|run|treat|recommend|from|never|always|note|keep"
            r"|the user|this user|user)|<\|(?:im_start|im_end"
            r"|system|endoftext)\|?>?|\[/?(?:inst|system|assistant|developer)\]|<</?sys>>|</?system(?:_prompt|-reminder)?>"
            rf"|###\s?(?:system|instructions?)(?!\w)|(?:(?:^|[\n>\[(.!?]\s{{0,8}})(?:important |special )?"
            rf"{_NOTICE} (?:to|for) (?:the |any |all |every )?{_MODEL}|{_NOTICE} (?:to|for) (?:the |any |all "
            rf"|every )?{_MODEL}\s?[:–—-])|dear {_MODEL}[,:]|(?:if|when"
            rf"|since) you are (?:an? )?{_MODEL}"
        ),
    ),
    (
        "memory_order",
        (
            r"(?:the user|(?:your|the) (?:owner|admin|administrator|operator|developer)) (?:has "
            r"|already )?(?:asked|wants|wanted|told|instructed|authori[sz]ed|requested"
            r"|allowed) "
            rf"(?:you|the {_MODEL}) to(?!\w)|"
            r"(?:add|save|store|write|commit|put|insert|append)(?: \S{1,20}){0,6}? (?:to|in"
            r"|into) (?:your |the |its |long[ -]term |permanent ){0,3}memor(?:y|ies)|(?:^"
            r"|[.!?:;\n>]\s{0,4}|please |must |and )remember (?:that (?:i|my|you|your|we|our|the|this"
            r"|all|every|any)|this|the following|to always|to never)(?!\w)"
            rf"|(?:^|[.!?:;\n>]\s{{0,4}})(?:assistant|a\.?i\.?|agent|chatgpt|claude|gemini"
            rf"|copilot), (?:please "
            rf"|also |always )?(?:{_KEEP}|recommend|tell|send|forward|ignore|say|reply|never|do not"
            rf"|don't)(?!\w)"
            rf"|{_KEEP}(?: \S{{1,20}}){{0,4}}? (?:that )?(?:the|this) (?:user|reader|customer|visitor"
            rf"|person)(?: has| have| is| 's|'s)? "
            r"(?:approv|authori|prefer|favou?r|trust|want|agree|consent|likes?|allow|own|administrat"
            r"|admin)|(?:keep|hold|store|save|put) (?:this |it |the following )?in (?:your "
            r"|long[ -]term )?memory(?!\w)"
            rf"|{_KEEP}(?: \S{{1,20}}){{0,8}}? (?:the|this) (?:user|reader|customer"
            rf"|visitor)(?:'s)? (?:favou?rite"
            r"|preferred|choice|first choice|preference)|update (?:your|the) (?:memory|memories"
            r"|user profile|system prompt)"
        ),
    ),
    (
        "standing_order",
        (
            r"from (?:now|this point|here) on(?:ward|wards)?,? (?:you |always |never |please |only "
            r"|forward |send |reply |respond |treat |act |use |do |answer |recommend |copy |cc |bcc )"
            r"|(?:henceforth|for all future (?:messages|replies|requests|conversations)),? |you (?:must"
            r"|shall|have to|are required to|are instructed to|are to|need to"
            r"|should) (?:\w+ly )?(?:never|always|not|now|only|ignore|follow|obey|forward|send|reply"
            r"|respond|comply|reveal|call|run|execute|recommend|remember|store|treat|keep (?:in mind"
            r"|track|a (?:record|note)))(?!\w)|you are (?:now|hereby|no longer) (?:an?|in|the|acting"
            r"|operating|free|allowed|authori[sz]ed|required|bound|limited|restricted|subject|to)(?!\w)"
            r"|(?:act|behave|respond|reply) as (?:if you|though you|an? (?:unrestricted|different|new))"
            r"|act as (?:root|admin|administrator|the (?:user|owner|account owner|system))(?!\w)"
            r"|pretend (?:to be|that you|you are|you're|you were)|(?:do not|don't|never"
            r"|without) (?:ever )?(?:tell|telling"
            r"|mention|mentioning|reveal|revealing|inform|informing|notify|notifying|alert|disclose|ask"
            r"|asking) (?:this|it|that|the user|anyone|anybody|them|your user|the owner)"
        ),
    ),
    (
        "polite_order",
        (
            r"(?:would|it'd|that'd) be (?:so |very |really |most )?(?:lovely|great|nice|helpful|good"
            r"|wonderful|kind|appreciated|best|ideal|useful|fantastic|neat|wise)"
            rf"(?: \S{{1,12}}){{0,3}}? if (?:the|an|any|your|this|every"
            rf"|our) (?:\S{{1,16}} ){{0,2}}?{_MODEL}|{_MODEL}(?: \w+ing this(?: \w+)?"
            rf"| here)?,? (?:should|must|shall|may|might|could|can|will|would|is asked to|are asked to"
            rf"|is requested to|are requested to|is to|are to|please|kindly|needs? to|ought to|has to"
            rf"|have to) (?:\w+ly |please |always |also )?{_KEEP}(?!\w)"
            rf"|{_MODEL}(?: \w+ing this(?: \w+)?)?,? (?:should|must|shall|will) (?:always|say|rate"
            rf"|mention|never|not|ignore|recommend|prefer|forward|send|tell|treat|trust)(?!\w)|(?:we"
            rf"|i) (?:\w+ly )?(?:ask|invite|encourage|urge|request)(?: that)? (?:the|any|every|all"
            rf"|your)? ?{_MODEL}|(?:any|every|all|each) {_MODEL} (?:that |which |who )?(?:reads?|reading"
            rf"|process(?:es"
            rf"|ing)?|pars(?:es|ing)|summari[sz](?:es|ing)|see(?:s|ing)) (?:this"
            rf"|these)(?: \S{{1,16}}){{0,2}}?,? "
            rf"(?:should|must|shall|will|has to|have to|is to|are to)(?!\w)"
            rf"|when(?:ever)? (?:you )?summari[sz](?:e"
            rf"|ing) (?:this|the) \S{{1,16}}, (?:also |always |please |you )?(?:recommend|tell|say|praise"
            rf"|ignore"
            rf"|omit|claim|promote|mention|state|add)(?!\w)"
        ),
    ),
    (
        "new_role",
        (
            r"your (?:new|real|actual|only|true) (?:task|goal|job|role|objective|mission"
            r"|purpose) is(?: now)? to"
            r"(?!\w)|(?:stop|cease) (?:following|obeying|helping|listening to|answering) (?:the |this )?user"
            r"|(?:everything|anything|all|the text|the instructions?) above (?:is|are|was"
            r"|were) (?:now )?(?:outdated"
            r"|wrong|void|invalid|obsolete|cancelled|superseded)|follow (?:these|the following|only these"
            r"|only the"
            r" following) (?:rules|instructions|orders|commands) instead|(?:^|[\n>\[(.!?]\s{0,8})(?:hey "
            r"|dear |hello "
            r"|attention,? |ok )?(?:(?:all |any )?ai (?:assistants?|agents?|models?|systems?)|chatgpt"
            r"|claude|gemini"
            r"|copilot|llms?|language models?|chat ?bots?)\s?[:,!]"
        ),
    ),
    (
        "exfiltration",
        (
            r"(?:forward|send|email|e-mail|post|upload|leak|transmit|copy) (?:every|all|any|each"
            r"|the user's|your|this user's) (?:\S{1,20} ){0,5}?(?:to|at) (?:\S{1,40}@|https?://"
            r"|the (?:sender|author|address))|(?:reveal|print|repeat|output|show|leak) (?:me )?(?:your"
            r"|the) (?:system prompt|hidden prompt|initial instructions|instructions verbatim"
            r"|secret instructions)"
        ),
    ),
)
_ABROAD: tuple[tuple[str, str], ...] = (
    (
        "german_order",
        (
            r"(?:ignorier|missacht|vergiss|vergess|überschreib"
            r"|umgeh)\w{0,3} (?:sie )?(?:bitte )?(?:die )?(?:(?:alle|alles"
            r"|deine|ihre|sämtliche|bisherigen|vorherigen|obigen|früheren) ){1,4}(?:anweisungen|regeln"
            r"|instruktionen|vorgaben|befehle|anordnungen|richtlinien|systemprompts?)"
            r"|(?:assistent|ki|ki-\w{1,12}|sprachmodell|chatbot)(?:en|e|s)? (?:soll|sollte|muss|müssen|sollen"
            r"|sollten|darf)(?: [^\s.!?]{1,24}){0,8}? (?:merken|speichern|notieren|empfehlen|antworten|senden"
            r"|ignorieren|erwähnen)|(?:hinweis|anweisung|nachricht|befehl) (?:an|für) (?:die |den |das "
            r"|alle |jede "
            r"|jeden )?(?:ki|assistent|sprachmodell|chatbot)\w{0,3}(?!\w)|(?:ab (?:jetzt|sofort)|von nun an"
            r"|künftig) (?:antworte(?:st)?|empfiehl(?:st)?|sprich(?:st)?|sende(?:st)?|schreib(?:e|st)?"
            r"|nutze(?:st)?"
            r"|verwende(?:st)?|sag(?:e|st)?|ignorier(?:e|st)|bist)(?! (?:ich|wir)(?!\w))(?!\w)"
            r"|(?:erwähne|sag|sage|verrate|erzähle|zeige) (?:(?:das|dies|es|diesen|diese|dieses|dem|der|davon"
            r"|absatz|text|hinweis|seite|(?:be)?nutzer\w{0,2}|anwender\w{0,2}) ){1,4}(?:nicht|nichts)(?!\w)"
            r"|befolge(?:n sie)? (?:(?:ab|sofort|jetzt|nur|ausschließlich|noch) ){1,4}"
            r"|(?:speichere?|merke?|behalte?|notiere?)(?:n sie)? (?:(?:dir|im|in|deinem|dein|gedächtnis|das"
            r"|bitte"
            r"|speicher) ?){0,5},? dass (?:der|die|dieser|diese) (?:nutzer|benutzer|anwender|kund"
            r"|user)\w{0,3}"
            r"|(?:sende|schicke?|leite|übermittle|maile)(?:n sie)? (?:alle|sämtliche|jede|jeden|die) "
            r"(?:[^\s.!?]{1,24} ){1,5}?(?:an|zu) (?:\S{1,40}@|https?://)"
        ),
    ),
    (
        "french_order",
        (
            r"(?:ignore|oublie|néglige|contourne)[zr]? (?:(?:(?:toutes?|les|de) ){0,2}(?:tes|vos) "
            r"|toutes (?:les "
            r"|ces ))(?:instructions|consignes|règles|directives)"
            r"|(?:ignore|oublie|néglige|contourne)[zr]? les (?:instructions|consignes|règles|directives) "
            r"(?:précédentes|antérieures|ci-dessus|données)"
            r"|(?:l'assistante?|l'ia|l'agent|le (?:modèle|chatbot)) (?:doit|devra|devrait|est prié\w{0,2} de)"
            r"(?: [^\s.!?]{1,24}){0,3}? (?:mémoriser|retenir|enregistrer|noter|recommander|répondre|ignorer"
            r"|se souvenir)|(?:à partir de maintenant|désormais|dorénavant),? (?:tu (?!peux|pourras)"
            r"|vous (?:devez"
            r"|recommandez|répondez|ignorez)|réponds|répondez|recommande[sz]?|ignore[sz]?)(?!\w)?"
            r"|n(?:e |')(?:en |le |la |lui )?(?:parle|parlez|dis|dites|mentionne|mentionnez|montre|montrez"
            r"|révèle)"
            r"(?:[sz])? (?:pas|rien)(?: [^\s.!?]{1,16}){0,3}? (?:à|aux?) (?:l')?(?:utilisat|usag)\w{2,6}"
            r"|ne (?:tiens|tenez) (?:pas|plus|aucun) compte des? (?:instructions|consignes|règles|directives)"
            r"|(?:retiens|retenez|mémorise[sz]?|enregistre[sz]?|note[sz]?|souviens-toi"
            r"|garde[sz]?)(?: [^\s.!?]{1,16})"
            r"{0,3}? que l'(?:utilisat|usag)\w{2,6}|(?:envoie|envoyez|transfère|transférez|transmets"
            r"|transmettez) (?:tous|toutes|chaque|les) "
            r"(?:[^\s.!?]{1,24} ){1,5}?(?:à|vers) (?:\S{1,40}@|https?://)"
        ),
    ),
    (
        "spanish_order",
        (
            r"(?:ignor[ae]|olvid[ae]|descart[ae]|desobedece|desobedezca)n? (?:(?:todas )?(?:tus|sus) "
            r"|todas las )"
            r"(?:instrucciones|órdenes|reglas|normas|directrices)|(?:ignor[ae]|olvid[ae]|descart[ae])n? las "
            r"(?:instrucciones|órdenes|reglas|normas|directrices) (?:anteriores|previas)"
            r"|(?:el (?:asistente|modelo|chatbot|agente)|la ia) (?:debe|deberá|debería|tiene que)"
            r"(?: [^\s.!?]{1,24}){0,3}? (?:recordar|guardar|memorizar|anotar|recomendar|responder|ignorar)"
            r"|(?:a partir de ahora|de ahora en adelante|en adelante),? (?:siempre |nunca |solo "
            r"|sólo )?(?:responde"
            r"|respondes|recomienda|recomiendas|usa|ignora|debes|eres|contesta|di)(?!\w)"
            r"|no (?:le |se lo |lo )?(?:digas|menciones|cuentes|reveles|muestres"
            r"|avises)(?: [^\s.!?]{1,16}){0,3}? "
            r"(?:al|a la|a los) usuari\w{1,2}|no (?:tengas|tenga) en cuenta (?:las|tus"
            r"|sus) (?:instrucciones|reglas|órdenes)"
            r"|haz caso omiso de (?:las|tus) (?:instrucciones|reglas|órdenes)|(?:guarda|recuerda|memoriza"
            r"|anota"
            r"|registra)(?: [^\s.!?]{1,16}){0,4}? que (?:el|la|este|esta) usuari\w{1,2}|(?:envía|envia"
            r"|envíe|reenvía|manda|transfiere) (?:todos|todas"
            r"|cada"
            r"|los|las) (?:[^\s.!?]{1,24} ){1,5}?a (?:\S{1,40}@|https?://)"
        ),
    ),
)
_PATTERN = pattern_of(
    "|".join(f"(?P<{name}>(?<![^\\W_])(?:{rule}))" for name, rule in (*_RULES, *_ABROAD)), re.IGNORECASE
)
_ADDRESSED = pattern_of(
    rf"(?<!\w)(?:{_MODEL}|system|memory|instructions?|prompt|ignore|you must|the user)(?!\w)", re.IGNORECASE
)
_HIDDEN_STYLE = pattern_of(
    r"(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0(?![.\d])"
    r"|aria-hidden\s?=\s?\"true\")",
    re.IGNORECASE,
)
_STYLE_REACH = 400
PATTERNS = (
    *(pattern_of(rule, re.IGNORECASE) for _, rule in (*_RULES, *_ABROAD)),
    pattern_of("<!--"),
    _HIDDEN_STYLE,
    *screen_orders.PATTERNS,
)
"""What every find matches after curly apostrophes and odd spaces are made plain."""
_FLAT = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\t": " "})


def find_instructions(text: str) -> Iterator[Hit]:
    """Yield the ranges of `text` that address an assistant with orders."""
    flat = text.translate(_FLAT)
    for match in _PATTERN.finditer(flat):
        yield _hit(match.start(), match.end(), match.lastgroup or "override")
    for start, end in screen_orders.find_orders(flat):
        yield _hit(start, end, "order")
    for start, end in _comments(flat):
        if _ADDRESSED.search(flat, start, end):
            yield _hit(start, end, "hidden_comment")
    read = 0
    for match in _HIDDEN_STYLE.finditer(flat):
        if match.start() >= read and _ADDRESSED.search(flat, match.end(), match.end() + _STYLE_REACH):
            read = min(len(flat), match.end() + _STYLE_REACH)
            yield _hit(match.start(), read, "hidden_style")


def _hit(start: int, end: int, rule: str) -> Hit:
    return Hit(start, end, rule, Reason.INSTRUCTION_SHAPED_CONTENT)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield HTML comments; one that never closes reaches to the end."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        stop = len(text) if end < 0 else end + 3
        yield start, stop
        start = text.find("<!--", stop)
