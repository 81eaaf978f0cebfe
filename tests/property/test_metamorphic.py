"""Small changes of a text, and what they must and must not change about its claims.

Statements are drawn from shapes that the grammar reads; each law names the one thing that differs.
"""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proposed import claims_in, decided_of, lines_of, only_claim_in, proposed, written_in
from remembered import remembered, told

FEW = settings(max_examples=50, deadline=None)

_CODES = st.from_regex(r"[A-Z][1-9]{1,2}", fullmatch=True)
_OWN = st.sampled_from(["locker", "mooring", "parking bay", "badge colour", "bus line", "desk"])
_FOODS = st.sampled_from(["walnut bread", "plum cake", "olives", "barley soup", "café crème"])
_TOWNS = st.sampled_from(["Ghent", "Brno", "Oslo", "Łódź", "Tromsø"])
_KIN = st.sampled_from(["sister", "brother", "aunt", "neighbour"])


@st.composite
def statements(draw):
    """Draw a plain statement with its denial and its question: (said, denied, asked)."""
    shape = draw(st.integers(0, 3))
    if shape == 0:
        name, value = draw(_OWN), draw(_CODES)
        return f"My {name} is {value}.", f"My {name} is not {value}.", f"Is my {name} {value}?"
    if shape == 1:
        food = draw(_FOODS)
        return f"I like {food}.", f"I don't like {food}.", f"Do I like {food}?"
    if shape == 2:
        town = draw(_TOWNS)
        return f"I live in {town}.", f"I don't live in {town}.", f"Do I live in {town}?"
    kin, value = draw(_KIN), draw(_CODES)
    return f"My {kin}'s desk is {value}.", f"My {kin}'s desk is not {value}.", f"Is my {kin}'s desk {value}?"


SAID = statements().map(lambda forms: forms[0])
_PREFIXES = st.sampled_from(["🎈 ", "👩‍👩‍👧 ", "ok. ", "Ü — ", "\u200b", "\n\n", "  ", "日本。", "e\u0301! "])
_KEPT = ("type", "subject", "property", "value", "modality", "memory_class")


def meaning(line, *, besides=()):
    """Return what a claim says, without where it says it."""
    return {name: line[name] for name in (*_KEPT, "polarity", "outcome") if name not in besides}


@FEW
@given(statements())
def test_a_denial_turns_polarity_and_nothing_else(forms):
    said, denied, _ = forms
    one, other = (only_claim_in(text) for text in (said, denied))
    assert (one["polarity"], other["polarity"]) == ("positive", "negative")
    assert meaning(one, besides=["polarity"]) == meaning(other, besides=["polarity"])
    assert other["span"] == [0, len(denied.encode()) - 1]


@FEW
@given(statements())
def test_a_question_writes_nothing(forms):
    said, _, asked = forms
    for text in (asked, said.removesuffix(".") + "?"):
        assert written_in(text) == []
        assert {outcome for outcome, _ in decided_of(text)} == {"ignore"}


@FEW
@given(SAID)
def test_asking_for_agreement_only_holds_it(said):
    held = only_claim_in(said.removesuffix(".") + ", right?")
    assert held["outcome"] == "quarantine"
    assert held["value"] == only_claim_in(said)["value"]


@FEW
@given(
    SAID,
    st.sampled_from(['The card said "{}" in red.', "Somebody wrote “{}” on the wall.", 'She said: "{}"']),
)
def test_a_quotation_is_not_its_readers_word(said, frame):
    assert written_in(frame.format(said.removesuffix("."))) == []


@FEW
@given(SAID, st.sampled_from(["If {}, I would laugh.", "Let's pretend {}.", "In my dream {}.", "Maybe {}."]))
def test_what_is_supposed_dreamt_or_doubted_is_not_written(said, frame):
    bare = said.removesuffix(".")
    assert written_in(frame.format(bare[0].lower() + bare[1:] if bare.startswith("My") else bare)) == []


@FEW
@given(SAID, st.sampled_from(["tool", "untrusted_web", "recall", "agent"]))
def test_from_another_mouth_it_never_becomes_the_users_memory(said, trust):
    assert only_claim_in(said)["outcome"] == "commit"
    assert written_in(said, trust=trust) == []


@FEW
@given(SAID, st.sampled_from(["Dana", "Mr. Okoye", "Zoë"]))
def test_a_speakers_name_before_it_makes_it_theirs(said, speaker):
    assert written_in(f"{speaker}: {said}") == []
    for claim in claims_in(f"{speaker}: {said}"):
        assert not claim["subject"].startswith("user")


@FEW
@given(SAID)
def test_pasted_between_rules_it_waits_at_best(said):
    assert written_in(f"Pasting the caretaker's mail:\n---\n{said}\n---\nCan you draft a reply?") == []


@FEW
@given(_PREFIXES, SAID)
def test_a_prefix_moves_spans_by_its_bytes_and_changes_nothing_else(prefix, said):
    plain, moved = only_claim_in(said), only_claim_in(prefix + said)
    shift = len(prefix.encode())
    assert moved["span"] == [place + shift for place in plain["span"]]
    assert moved["excerpt"] == plain["excerpt"]
    assert meaning(moved) == meaning(plain)


@FEW
@given(SAID, st.sampled_from([" Thanks!", "\n\nSee you later.", " 👍", " Is that all?", "   "]))
def test_small_talk_behind_it_changes_nothing(said, suffix):
    plain, longer = only_claim_in(said), only_claim_in(said + suffix)
    assert longer["span"] == plain["span"]
    assert meaning(longer) == meaning(plain)


@FEW
@given(SAID, SAID)
def test_two_sentences_claim_what_each_claims_alone(one, other):
    assume(only_claim_in(one)["property"] != only_claim_in(other)["property"])
    together = claims_in(f"{one} {other}")
    assert [line["excerpt"] for line in together] == [only_claim_in(text)["excerpt"] for text in (one, other)]


@FEW
@given(SAID)
def test_off_the_record_it_is_refused_and_no_word_of_it_is_shown(said):
    lines = lines_of(f"Off the record: {said}")
    assert {line["outcome"] for line in lines} == {"reject"}
    assert all(line["excerpt"] is None and line["statement"] is None for line in lines)


@FEW
@given(SAID)
def test_said_again_it_links_and_denied_later_it_supersedes(said):
    again = only_claim_in(said, context=[said])
    assert (again["outcome"], again["action"]) == ("link", "noop")
    assert again["targets"] == [again["statement"]]


@FEW
@given(statements())
def test_a_later_denial_takes_the_place_of_what_was_said(forms):
    said, denied, _ = forms
    changed = only_claim_in(denied, context=[said])
    assert (changed["outcome"], changed["action"]) == ("commit", "supersede")
    assert changed["targets"] == [only_claim_in(said)["statement"]]


# The message of the article: an evening, a constraint, an outcome.
_TIMES = st.sampled_from(["morning", "afternoon", "evening"])
_THINGS = st.sampled_from(["caffeine", "sugar", "nuts", "alcohol"])
REQUEST = "It is {}, so please suggest something without {}."


def conditions_of(memory):
    """Return the times of day that held claims depend on, and their polarity, by message."""
    import msgspec

    keys = {row["source_id"]: row["delivery_key"].rpartition("/")[2] for row in memory.rows("sources")}
    return {
        keys[row["source_id"]]: (
            msgspec.json.decode(row["payload"]).get("applicability", {}).get("time_of_day"),
            row["polarity"],
        )
        for row in memory.rows("candidates")
    }


@settings(max_examples=10, deadline=None)
@given(_TIMES, _TIMES, _THINGS)
def test_another_time_of_day_is_another_scope_of_another_source(one, other, thing):
    assume(one != other)
    lines = (told("m1", REQUEST.format(one, thing)), told("m2", REQUEST.format(other, thing)))
    with remembered(*lines) as memory:
        assert len(memory.rows("sources")) == 2
        assert conditions_of(memory) == {"m1": (one, "negative"), "m2": (other, "negative")}
        slots = {row["slot_id"] for row in memory.rows("atoms")}
        assert len(slots) == 2


@FEW
@given(_TIMES, _THINGS)
def test_without_the_word_without_nothing_is_avoided(moment, thing):
    text = REQUEST.format(moment, thing)
    (avoided,) = written_in(text)
    assert avoided["polarity"] == "negative"
    assert "without" in avoided["excerpt"]
    assert [
        line for line in claims_in(text.replace("without", "with")) if line["polarity"] == "negative"
    ] == []


TRANSLATED = [
    ("I live in {}.", ["Ich wohne in {}.", "J'habite à {}.", "Vivo en {}."], ["Oslo", "Brno", "Lima"]),
    ("I like {}.", ["Ich mag {}.", "J'aime {}.", "Me gusta {}."], ["Sushi", "Couscous", "Tofu"]),
    ("My name is {}.", ["Ich heiße {}.", "Je m'appelle {}.", "Me llamo {}."], ["Noor", "Lev", "Zoë"]),
]


@pytest.mark.parametrize(("english", "others", "values"), TRANSLATED)
def test_a_translation_says_the_same_of_the_same(english, others, values):
    for value in values:
        meant = only_claim_in(english.format(value))
        for said in proposed(*(other.format(value) for other in others)):
            (claim,) = [line for line in said if line["span"] is not None]
            names = ("outcome", "type", "subject", "property", "value", "polarity", "statement")
            assert {name: claim[name] for name in names} == {name: meant[name] for name in names}


DENIED = [
    ("Ich wohne in Oslo.", "Ich wohne nicht in Oslo."),
    ("Ich mag Sushi.", "Ich mag kein Sushi."),
    ("J'aime le couscous.", "Je n'aime pas le couscous."),
    ("Vivo en Lima.", "No vivo en Lima."),
    ("Me gusta el tofu.", "No me gusta el tofu."),
]


@pytest.mark.parametrize(("said", "denied"), DENIED)
def test_a_denial_turns_polarity_in_every_language_with_a_grammar(said, denied):
    one, other = only_claim_in(said), only_claim_in(denied)
    assert (one["polarity"], other["polarity"]) == ("positive", "negative")
    assert meaning(one, besides=["polarity"]) == meaning(other, besides=["polarity"])


@pytest.mark.parametrize("text", ["Wohne ich in Oslo?", "Est-ce que j'habite à Oslo ?", "¿Vivo en Lima?"])
def test_a_question_writes_nothing_in_any_language(text):
    assert written_in(text) == []


@pytest.mark.parametrize(
    "text", ["私は大阪に住んでいます。", "Я живу в Осло.", "أسكن في أوسلو.", "나는 오슬로에 산다."]
)
def test_a_script_without_a_grammar_is_kept_with_that_reason(text):
    assert decided_of(text) == [("ignore", "no_grammar_for_language")]
