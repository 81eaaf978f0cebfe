"""Words beside a claim that no rule accounts for: which claims wait for them, and which do not."""

import pyarrow as pa
import pytest

from amos.extraction.registry import find_extractor
from amos.extraction.unread import Stated, mark_unread, words_beside
from amos.schemas.claims import CLAIMS
from amos.schemas.vocabulary import Cue, Reason
from claims_read import sources

ANY = Cue.MAY_UNLOCK | Cue.REMARKED | Cue.UNREAD_LEAD

REMARKED = [
    "I work at Brightline, and that goes no further than this chat.",
    "Keep this under your hat: I live in Tromso.",
    "I moved to Leeds last month. Please let that one slip your mind.",
    "My employer is Kestrel Labs. No one is supposed to know.",
    "My sister lives in Oslo. Pretend I never mentioned her.",
    "I was born in Minsk. Scratch what I just told you.",
    "I'd like nothing of the following to last: I live in Split.",
    "I live in Galway. Do me a favour and have amnesia about it.",
    "Ich möchte nicht, dass das jemand erfährt. Ich wohne in Köln.",
    "J'habite à Metz, n'en garde aucune trace.",
    "Trabajo en Solaris, no se lo cuentes a nadie.",
    "🙂 I live in Tromsø, but mum's the word.",
]
OPENED = [
    "My bitcoin words are lemon orbit cradle vivid swamp tiny.",
    "My Signal registration lock is 771204.",
    "My two-factor backup is 8KQ2-11ZP-77MN.",
    "My locker at the gym is 14-32-6.",
    "Our wifi goes by HarborNet and you get in with gullsandfog.",
    "My smart lock is happy with 55102.",
    "My frobnicator is 40918.",
]
LED = [
    "Nobody could claim that I live in Paris.",
    "The form wrongly lists that I live in Ghent.",
    "As Hamlet would put it, my name is Denmark.",
    "On my fake profile I live in LA.",
    "My roommate was like, I work at Apple.",
    "It's far from certain that I work at Dyson.",
    "The forum post reads as follows. I moved to Cork and my wife is Aoife.",
    "Can you make this sound nicer? I live in Rome.",
]
PLAIN = [
    "I live in Bergen, right by the water, and it rains a lot.",
    "You should know that I work at Kestrel Labs.",
    "I prefer short answers. Can you keep that in mind?",
    "Please remember that I am vegetarian.",
    "My shelf is the top one, but don't tell me it's too high.",
    "I hate cilantro. Leave it out of the recipe.",
    "My room at the hotel is 412.",
    "My postcode is 79098.",
    "My order number is 55871.",
    "My flight is LH 1923 on Friday.",
    "My phone is a Pixel 7. It won't record calls any more.",
    "My sister lives in Oslo; I told you about her last week.",
    "We don't keep it in the shed; my drill is in the loft.",
    "Strike that: my table is 12.",
    "Ich wohne in Jena und arbeite bei Zeiss.",
]


def marked(texts):
    """Return per text the marks of its claims, and the claims themselves."""
    table = sources(texts)
    claims = mark_unread(find_extractor().propose(table, is_compiled=False).claims, table)
    rows = claims.to_pylist()
    return [[one for one in rows if one["source_row"] == row] for row in range(len(texts))]


@pytest.mark.parametrize(
    ("texts", "cue"), [(REMARKED, Cue.REMARKED), (OPENED, Cue.MAY_UNLOCK), (LED, Cue.UNREAD_LEAD)]
)
def test_claims_beside_words_that_may_change_them_are_marked(texts, cue):
    for text, claims in zip(texts, marked(texts), strict=True):
        standing = [one for one in claims if one["veto"] is None]
        assert standing, text
        assert all(one["cues"] & cue for one in standing), text


def test_ordinary_company_of_a_claim_marks_nothing():
    for text, claims in zip(PLAIN, marked(PLAIN), strict=True):
        assert claims, text
        assert not any(one["cues"] & ANY for one in claims), text


def test_only_the_claims_beside_a_remark_are_marked():
    (claims,) = marked(["I live in Ghent. We had lunch outside. I play chess, but that stays in this chat."])
    assert [bool(one["cues"] & Cue.REMARKED) for one in claims] == [False, True]


def test_marks_do_not_depend_on_what_else_is_in_the_batch():
    texts = REMARKED + OPENED + LED + PLAIN
    alone = [marked([text])[0] for text in texts]
    together = marked(texts)
    assert [[one["cues"] for one in claims] for claims in alone] == [
        [one["cues"] for one in claims] for claims in together
    ]


def test_claims_of_tools_and_without_any_claim_stay_as_they_are():
    table = sources(["My Signal registration lock is 771204."], trust="tool")
    claims = find_extractor().propose(table, is_compiled=False).claims
    assert mark_unread(claims, table).equals(claims)
    nothing = CLAIMS.empty_table()
    assert mark_unread(nothing, sources([])).equals(nothing)
    assert isinstance(nothing, pa.Table)


@pytest.mark.parametrize(
    ("text", "start", "end", "reason", "words"),
    [
        (REMARKED[0], 0, 22, Reason.POSSIBLE_SILENCE, "that goes no further than this chat"),
        (REMARKED[-1], 5, 22, Reason.POSSIBLE_SILENCE, "mum's the word"),
        (LED[0], 25, 40, Reason.UNREAD_LEAD, "Nobody could claim that"),
        (REMARKED[0], 0, 22, Reason.UNCERTAIN, None),
        (PLAIN[0], 0, 16, Reason.POSSIBLE_SILENCE, None),
    ],
)
def test_the_words_for_which_a_claim_waits_can_be_told(text, start, end, reason, words):
    claim = Stated(start, end, "home city", "anywhere", "positive")
    said = words_beside(text, claim, reason.value)
    assert said is words is None or words in said
