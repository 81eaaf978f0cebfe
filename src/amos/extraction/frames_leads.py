"""Words that open a line before a colon and name no speaker: headings, fields, greetings; with word lists."""

from __future__ import annotations

_LEAD_TEXT = """
    note notes nota notas notiz remarque update updates fyi ps p.s pps nb btw correction corrections reminder
    edit edited tldr tl;dr tl todo info information important importantly warning caution attention question
    questions answer answers hint tip tips fact facts fun name names surname nickname address age birthday
    birthdate born city town country home house job work workplace office company employer occupation
    profession role position email e-mail mail phone mobile tel telephone contact website subject topic title
    date time day today tonight tomorrow yesterday morning afternoon evening night week weekend month year
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december mon tue tues wed thu thur thurs fri sat sun spring summer autumn fall
    winter plan plans goal goals aim aims status summary conclusion context background request task tasks memo
    record records profile preference preferences remember memory memories hello hi hey hiya dear thanks thank
    sorry ok okay yes no yeah yep nope well so also actually anyway lastly finally first firstly second
    secondly third thirdly next then later now currently previously before after breaking news thing things
    about me myself mine i my our we us personal personally bio about-me self here there this that these those
    it what who where when why how which reason reasons result results problem problems issue issues solution
    solutions option options choice choices decision decisions example examples sample input output test data
    text quote prompt instruction instructions rule rules step steps list lists item items point points
    total count number numbers amount price cost budget rent salary income size height weight colour color
    favourite favorite favourites favorites like likes love loves dislike dislikes hate hates hobby hobbies
    interest interests skill skills language languages diet diets allergy allergies health meds medicine food
    foods drink drinks breakfast lunch dinner brunch supper dessert snack snacks coffee tea meal meals recipe
    music movie movies film films book books game games sport sports gym running run team teams club school
    university college degree class course teacher pet pets dog dogs cat cats car cars bike kid kids child
    children son daughter wife husband partner mother father mum mom dad sister brother family friend friends
    boss manager colleague doctor dentist vet neighbour neighbor landlord travel trip trips flight hotel
    vacation holiday holidays location place places region area street zip postcode timezone system
    message messages comment comments reply response feedback review reviews story history experience
    experiences opinion opinions idea ideas thought thoughts advice secret confession disclaimer spoiler rant
    re aw wg fw fwd cc bcc from to via source sources link links url http https file files code error errors
    log logs bug bugs version project projects team meeting meetings agenda deadline event events appointment
    appointments schedule calendar hours routine routines habit habits mood weather situation problem truth
    verdict bottom line short long story deal catch bonus plus minus pro pros con cons alternative
    alternatives exception exceptions requirement requirements constraint constraints need needs want wants
    wish wishes dream dreams fear fears strength strengths weakness weaknesses pronoun pronouns gender height
    nationality religion status main other others misc general key keys locker badge desk floor room seat pin
    garden kitchen outfit style brand computer laptop editor theme tool tools setup stack backend frontend
    default defaults setting settings clothes shoes shirt size sleep sleeping work-life commute transport
    hinweis wichtig achtung frage antwort adresse alter beruf stadt wohnort geburtstag hobbys allergien heute
    morgen gestern plan ziel nachtrag korrektur zusammenfassung erinnerung übrigens hallo liebe lieber danke
    nombre edad ciudad trabajo dirección correo teléfono fecha día hoy mañana ayer plan pregunta respuesta
    recordatorio corrección actualización hola querida querido importante aviso resumen alergias comida
    nom prénom âge ville métier adresse jour aujourd'hui demain hier question réponse rappel mise bonjour
    salut cher chère résumé remarque alergie projet nome idade cidade data nome cognome età città lavoro
"""
LEADS = frozenset(_LEAD_TEXT.split())
"""Folded; a line that begins with one of these and a colon is the author's own."""
PARTICLES = frozenset("de da di del della der den des van von bin al el la le du dos das ter ten".split())
"""Small words inside names."""
ROLES = frozenset(
    "user assistant human ai bot chatbot chatgpt gpt claude gemini copilot interviewer interviewee narrator "
    "customer agent caller host guest speaker therapist patient client support q student waiter".split()
)
"""Folded; speakers of a transcript that are called by what they do."""
NOUN_ENDINGS = (
    "tion", "tions", "sion", "sions", "ment", "ments", "ness", "ship", "ology", "ings", "ities", "ity",
    "ances",
    "ences", "ance", "ence", "ing", "gen", "heit", "keit", "ung", "ungen", "ción", "dad",
)  # fmt: skip
"""Endings of nouns that head a line, on words long enough to have one."""
