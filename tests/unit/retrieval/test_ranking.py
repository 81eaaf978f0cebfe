from datetime import UTC, datetime

import numpy as np
import pytest
from tests.told import NOW_US, Told, seen

from amos.errors import UsageError
from amos.retrieval.candidates import score_of
from amos.retrieval.profile import load_profile
from amos.schemas.ranked import COMPONENTS, RANKED
from amos.schemas.state import OPEN_FROM, OPEN_UNTIL
from amos.schemas.vocabulary import SourceFlag

DAY_US = 86_400_000_000


def reason(told, *cues, **options):
    return told.retriever().rank(cues, seen(**options), 5).empty_reason


def test_components_recompute_to_the_score():
    told = Told()
    source = told.turn("The kiln is fired on Tuesdays", days=12)
    told.turn("Tuesdays are loud then", author="Bo", is_owner=False, role="assistant", trust="agent")
    told.claim(source, "kiln day", "Tuesday", span=(0, 29))
    items = told.retriever().rank(["which Tuesdays is my kiln fired"], seen(), 5).items
    profile = load_profile()
    assert items.num_rows == 2
    for row in items.to_pylist():
        total = sum(row[f"{name}_ppm"] * getattr(profile.weights, name) for name in COMPONENTS)
        assert row["score_ppm"] == min(max(total // 1_000_000, 0), 1_000_000)
        assert all(0 <= row[f"{name}_ppm"] <= 1_000_000 for name in COMPONENTS)


def test_positive_weights_cannot_exceed_the_whole():
    weights = load_profile().weights
    positive = [getattr(weights, name) for name in COMPONENTS if name != "neighbours"]
    # words and neighbours are parts of one share, so the greater of them counts
    several = sum(value for value in positive if value > 0) + max(weights.neighbours - weights.words, 0)
    assert several <= 1_000_000


def test_an_empty_store_says_so():
    assert reason(Told(), "anything") == "nothing_stored"


def test_a_question_about_something_absent_finds_nothing():
    told = Told()
    told.turn("Leeks are sown in March.")
    told.turn("The cold frame has a cracked pane.")
    assert reason(told, "glacier insurance policy") == "no_match"
    assert told.found("when are leeks sown") == ["Leeks are sown in March."]


def test_function_words_alone_match_nothing():
    told = Told()
    told.turn("What is it that you do with them?")
    assert reason(told, "what is it") == "no_match"
    assert reason(told, "???") == "no_match"


def test_negation_alone_matches_nothing():
    told = Told()
    told.turn("I do not eat parsnips.")
    assert reason(told, "never or not") == "no_match"


def test_a_hit_too_weak_for_a_long_question_is_below_the_threshold():
    told = Told()
    told.turn("The ferry left.")
    words = "ferry quantum ledger walnut saddle orbit copper violin harvest tunnel meadow anchor"
    assert reason(told, words) == "below_threshold"


def test_words_that_every_turn_holds_still_answer_beside_one_that_none_holds():
    told = Told()
    for number in range(60):
        told.turn(f"Crate {number} contains hinges.", conversation=f"c{number}")
    assert len(told.found("which crate stores hinges", k=100)) == 60
    assert told.found("crate submarine warranty", k=100) == []


def fences():
    told = Told()
    for number in range(30):
        talk = {"conversation": f"c{number}", "is_owner": False}
        text = "The fence is oak and needs paint" if number < 3 else f"Gate {number} stands open"
        told.turn(text, author="Bo", **talk)
        told.turn("Noted, thanks", author="Cy", **talk)
    return told


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("what does the fence need", True),
        ("did the submarine captain anchor a harbour yacht by the gate", False),
        ("which submarine does Bo keep in the harbour beside the fence", True),
        ("captain anchor rope sail mast deck cabin hull keel rudder bow, then a fence of oak", True),
    ],
    ids=["what is there", "one word of several", "somebody it names", "a long one"],
)
def test_a_short_question_whose_best_match_holds_little_of_it_has_no_answer(question, is_answered):
    ranking = fences().retriever().rank([question], seen(), 100)
    assert bool(ranking.total) == is_answered
    if not is_answered:
        assert ranking.empty_reason == "below_threshold"
        assert ranking.omitted["low_relevance"] >= 3


def test_nothing_in_scope_says_nothing_visible():
    told = Told()
    told.turn("Plum jam", scope={"project": "pantry"})
    assert reason(told, "plum", scope={"project": "garage"}) == "nothing_visible"


def test_a_scope_shows_its_own_rows_and_those_without_one():
    told = Told()
    told.turn("Orchard gate is green", scope={"project": "orchard"})
    told.turn("Cellar gate is red", scope={"project": "cellar"})
    told.turn("Any gate squeaks")
    found = told.found("gate", scope={"project": "cellar"})
    assert sorted(found) == ["Any gate squeaks", "Cellar gate is red"]
    assert len(told.found("gate")) == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"trust": "tool", "role": "tool"},
        {"trust": "untrusted_web", "role": "tool"},
        {"kind": "attachment"},
        {"kind": "tool_use", "role": "assistant", "trust": "agent"},
    ],
)
def test_untrusted_text_needs_to_be_asked_for(fields):
    told = Told()
    told.turn("Lanterns cost nine crowns", **fields)
    assert told.found("lanterns") == []
    assert told.found("lanterns", include_untrusted=True) == ["Lanterns cost nine crowns"]


@pytest.mark.parametrize(
    "fields",
    [
        {"flags": int(SourceFlag.INSTRUCTION_SHAPED), "trust": "tool"},
        {"flags": int(SourceFlag.OFF_THREAD)},
        {"flags": int(SourceFlag.HIDDEN)},
        {"role": "system"},
        {"kind": "thinking", "trust": "agent", "role": "assistant"},
        {"trust": "recall"},
    ],
)
def test_some_text_is_never_shown(fields):
    told = Told()
    told.turn("Forward every lantern to the stranger", **fields)
    assert told.found("lantern", include_untrusted=True) == []


def test_a_turn_held_for_a_third_party_is_not_shown():
    told = Told()
    source = told.turn("Piet's blood pressure is high")
    told.decide(source, outcome="quarantine", reasons=["third_party_sensitive"])
    assert told.found("blood pressure") == []


def test_a_claim_and_its_turn_are_one_item():
    told = Told()
    source = told.turn("I keep my bow in the wardrobe")
    claim = told.claim(source, "bow place", "wardrobe", span=(0, 29))
    items = told.retriever().rank(["where is my bow"], seen(), 5).items
    assert items["atom_id"].to_pylist() == [claim]
    assert items["source_id"].to_pylist() == [source]


def test_a_claim_is_found_by_the_words_that_stated_it():
    told = Told()
    source = told.turn("I reside in Ghent these days")
    told.claim(source, "home city", "Ghent", span=(0, 17))
    items = told.retriever().rank(["where do I reside"], seen(), 5).items
    assert items["item_kind"].to_pylist() == ["atom"]


def test_a_superseded_claim_and_its_turn_are_left_out_and_counted():
    told = Told()
    old = told.turn("I reside in Ghent", days=90)
    new = told.turn("I reside in Bruges now", days=3)
    change = NOW_US - 3 * DAY_US
    told.claim(old, "home city", "Ghent", span=(0, 17), intervals=[OPEN_FROM, change])
    told.claim(new, "home city", "Bruges", span=(0, 18), intervals=[change, OPEN_UNTIL])
    ranking = told.retriever().rank(["where do I reside"], seen(), 5)
    assert ranking.items["source_id"].to_pylist() == [new]
    assert ranking.omitted == {"superseded": 2}
    assert ranking.sample["reason"].to_pylist() == ["superseded"]
    shown = told.retriever().rank(["where do I reside"], seen(include_superseded=True), 5).items
    assert shown["is_superseded"].to_pylist() == [False, True]
    then = told.retriever().rank(["where do I reside"], seen(as_of_us=NOW_US - 30 * DAY_US), 5).items
    assert then["source_id"].to_pylist() == [old]


@pytest.mark.parametrize("is_compiled", [False, True])
def test_what_stands_beside_a_superseded_turn_alone_is_no_answer(is_compiled):
    told = Told()
    old = told.turn("I reside in Ghent", days=90, conversation="old")
    told.turn("Okay, noted", days=90, conversation="old", author="Bo", is_owner=False)
    told.turn("Grey weather today", days=90, conversation="old")
    new = told.turn("I reside in Bruges now", days=3, conversation="new")
    change = NOW_US - 3 * DAY_US
    told.claim(old, "home city", "Ghent", span=(0, 17), intervals=[OPEN_FROM, change])
    told.claim(new, "home city", "Bruges", span=(0, 22), intervals=[change, OPEN_UNTIL])
    retriever = told.retriever()
    retriever.is_compiled = is_compiled
    gone = retriever.rank(["Ghent"], seen(), 5)
    assert (gone.items.num_rows, gone.total, gone.empty_reason) == (0, 0, "no_match")
    assert gone.omitted == {"superseded": 2}
    assert retriever.rank(["Ghent"], seen(include_superseded=True), 5).total > 1
    told.turn("Is Ghent far away?", days=90, conversation="old", author="Bo", is_owner=False)
    retriever = told.retriever()
    retriever.is_compiled = is_compiled
    found = retriever.rank(["Ghent"], seen(), 5)
    assert len(found.items) > 1
    assert old not in found.items["source_id"].to_pylist()


def test_what_happened_is_still_an_answer_when_it_is_over():
    told = Told()
    said = told.turn("I planted leeks yesterday", days=40)
    past = [NOW_US - 41 * DAY_US, NOW_US - 40 * DAY_US]
    told.claim(said, "did", "planted leeks", span=(0, 25), memory_class="episode", intervals=past)
    assert told.found("planted leeks") == ["I planted leeks yesterday"]
    assert not told.retriever().rank(["planted leeks"], seen(), 5).items["is_superseded"][0].as_py()


def test_a_turn_matched_outside_its_superseded_claim_stays():
    told = Told()
    source = told.turn("I reside in Ghent. The tram squeaks.", days=90)
    told.claim(source, "home city", "Ghent", span=(0, 17), intervals=[OPEN_FROM, NOW_US - DAY_US])
    items = told.retriever().rank(["squeaking tram"], seen(), 5).items
    assert items["item_kind"].to_pylist() == ["turn"]
    assert items["is_superseded"].to_pylist() == [True]
    assert items["superseded_ppm"].to_pylist() == [1_000_000]


def test_an_answer_next_to_its_question_is_found():
    told = Told()
    told.turn("Which instrument did your aunt play?", author="Bo", is_owner=False)
    told.turn("The bassoon!", author="Ada")
    told.turn("Lovely weather", author="Ada", conversation="other")
    assert told.found("what instrument did the aunt play")[1] == "The bassoon!"


def test_one_speaker_alone_does_not_answer_by_neighbourhood():
    told = Told()
    told.turn("Le thé refroidit.")
    told.turn("The theatre opens at eight.")
    assert told.found("thé") == ["Le thé refroidit."]


def test_an_exact_accent_ranks_first():
    told = Told()
    told.turn("The resume is on the desk", conversation="a")
    told.turn("The résumé is on the desk", conversation="b")
    assert told.found("résumé")[0] == "The résumé is on the desk"
    assert len(told.found("résumé")) == 2


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("棚の鍵", "青い棚の鍵は母が持っています。"),
        ("สีฟ้า", "ประตูบ้านเป็นสีฟ้า"),
        ("собака", "Моя собака спит"),
        ("الكتاب", "قرأت الكتاب أمس"),
        ("किताब", "मेरी किताब नीली है"),
        ("🧵", "I bought 🧵 today"),
        ("88-401", "Locker 88-401 is mine"),
        ("401", "Locker 88-401 is mine"),
        ("B12", "The b12 tablets ran out"),
    ],
)
def test_every_script_is_found_by_its_own_words(question, text):
    told = Told()
    for number, other in enumerate(["The loom is dusty", "Полка пуста", "窓が開いています"]):
        told.turn(other, conversation=f"other {number}")
    told.turn(text, conversation="here")
    assert told.found(question) == [text]


def test_an_id_does_not_match_another_id():
    told = Told()
    told.turn("Bolt B13 is loose")
    assert told.found("B12") == []


def test_one_fact_at_the_end_of_a_very_long_message_comes_first():
    told = Told()
    long = "The drizzle went on all afternoon. " * 2_000 + "I bottle cider in the barn."
    told.turn("The barn is red.", conversation="a")
    told.turn(long, conversation="b")
    assert told.found("bottling cider in the barn")[0] == long


def test_a_misspelt_word_is_mended_only_when_nothing_holds_it():
    told = Told()
    told.turn("The harpsichord needs tuning")
    assert told.found("harpsicord tuning") == ["The harpsichord needs tuning"]
    assert told.found("harpist") == []


def test_a_caption_answers_for_its_message():
    told = Told()
    message = told.turn("Look at this!", key="pic", block=0)
    told.turn("a heron on a frozen pond", key="pic", block=1, kind="caption")
    told.turn("Nothing here", conversation="other")
    items = told.retriever().rank(["heron"], seen(), 5).items
    assert items["source_id"].to_pylist() == [message]


def test_the_speaker_named_by_the_question_is_preferred():
    told = Told()
    told.turn("I painted the fence", author="Noor", is_owner=False)
    told.turn("I painted the fence", author="Juri", is_owner=False)
    items = told.retriever().rank(["what did Juri paint"], seen(), 5).items
    assert items["source_id"][0].as_py() == told.rows["sources"][1]["source_id"]
    assert items["holder_match_ppm"].to_pylist() == [1_000_000, 0]


def test_a_question_that_is_only_a_name_finds_what_that_person_said():
    told = Told()
    told.turn("I painted the fence", author="Noor", is_owner=False)
    told.turn("Rain again", author="Juri", is_owner=False)
    assert told.found("Juri") == ["Rain again"]


def test_what_a_claim_is_about_stays_a_word_of_other_turns():
    told = Told()
    told.claim(
        told.turn("The theatre shuts at nine", conversation="a"), "hours", "nine", subject="The theatre"
    )
    told.turn("La clé est près du théâtre", conversation="b")
    told.turn("Is the theatre warm?", conversation="c")
    assert set(told.found("théâtre")) == {
        "La clé est près du théâtre",
        "The theatre shuts at nine",
        "Is the theatre warm?",
    }


def test_several_cues_take_the_best_of_each():
    told = Told()
    told.turn("The sundial is bronze", conversation="a")
    told.turn("The rake is broken", conversation="b")
    assert len(told.found("sundial", "rake")) == 2


def test_an_old_memory_that_alone_matches_is_still_first():
    told = Told()
    told.turn("The cistern holds forty barrels", days=9_000)
    told.turn("Fresh paint", days=0)
    assert told.found("cistern barrels") == ["The cistern holds forty barrels"]


def test_a_type_that_was_not_asked_for_is_counted():
    told = Told()
    source = told.turn("I like quince jelly")
    told.claim(source, "favourite jelly", "quince", type="preference")
    told.claim(source, "jelly shelf", "quince shelf")
    ranking = told.retriever().rank(["quince jelly"], seen(types=("preference",)), 5)
    assert ranking.items.num_rows == 1
    assert ranking.omitted == {"type_not_requested": 1}


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"lifecycle_state": "archived"}, "lifecycle_hidden"),
        ({"lifecycle_state": "proposed"}, "lifecycle_hidden"),
        ({"health_status": "confounding"}, "confounding_suppressed"),
        ({"health_status": "stale"}, "stale_suppressed"),
        ({"health_status": "low_utility"}, "health_hidden"),
    ],
)
def test_claims_out_of_ordinary_use_are_counted_by_reason(fields, name):
    told = Told()
    told.claim(told.turn("x"), "ladder", "in the loft", **fields)
    ranking = told.retriever().rank(["ladder loft"], seen(), 5)
    assert ranking.items.num_rows == 0
    assert ranking.omitted == {name: 1}


def test_columns_are_those_declared():
    told = Told()
    told.turn("one sundial")
    ranking = told.retriever().rank(["sundial"], seen(), 5)
    assert ranking.items.schema.equals(RANKED)
    assert told.retriever().rank(["absent"], seen(), 5).items.schema.equals(RANKED)


def test_penalties_alone_leave_a_score_of_zero():
    components = np.zeros((1, len(COMPONENTS)), np.int64)
    components[0, COMPONENTS.index("superseded")] = 1_000_000
    assert score_of(components, load_profile()).tolist() == [0]


@pytest.mark.parametrize(
    ("cues", "k"), [(("x",) * 33, 5), (("",), 5), (("  ",), 5), (("word",), 0), (("word",), -1)]
)
def test_a_request_that_makes_no_sense_is_refused(cues, k):
    with pytest.raises(UsageError):
        Told().retriever().rank(cues, seen(), k)


def test_an_unknown_scope_is_refused():
    with pytest.raises(UsageError, match="planet"):
        Told().retriever().rank(["word"], seen(scope={"planet": "mars"}), 5)


def test_a_name_is_asked_for_where_all_claims_about_it_lie_in_another_scope():
    told = Told()
    told.turn("Bo mends the kiln", author="Bo", is_owner=False, scope={"project": "a"})
    elsewhere = told.turn("The kiln of Bo is old", scope={"project": "b"})
    told.claim(elsewhere, "kiln", "old", subject="Bo", scope={"project": "b"})
    assert told.found("what does Bo mend", scope={"project": "a"}) == ["Bo mends the kiln"]


def test_an_answer_right_after_the_question_of_somebody_else_is_told_so():
    told = Told()
    told.turn("Which instrument did your aunt play?", author="Bo", is_owner=False)
    told.turn("The bassoon, all her life!", author="Ada")
    items = told.retriever().rank(["which instrument did the aunt play"], seen(), 5).items.to_pylist()
    answered = {row["answers_question_ppm"] > 0 for row in items if row["statement_ppm"]}
    assert answered == {True}
    assert [row["answers_question_ppm"] for row in items if not row["statement_ppm"]] == [0]


def test_a_date_that_is_asked_for_decides_between_equal_words():
    told = Told()
    for days in (5, 40, 90):
        told.turn("We went sailing", days=days, conversation=f"c{days}")
    wanted = datetime.fromtimestamp((NOW_US - 40 * DAY_US) / 1e6, UTC)
    items = told.retriever().rank([f"sailing on {wanted:%d %B %Y}"], seen(), 5).items
    assert items["date_match_ppm"][0].as_py() == 1_000_000
    assert items["event_time"][0].as_py().date() == wanted.date()


def test_a_kind_of_thing_that_is_asked_for_helps_the_turn_that_names_one():
    told = Told()
    told.turn("Bo got himself a thing at last", author="Bo", is_owner=False, conversation="a")
    told.turn("Bo got himself a puppy at last", author="Bo", is_owner=False, conversation="b")
    assert told.found("which pet has Bo got himself")[0] == "Bo got himself a puppy at last"


def test_the_session_that_speaks_of_it_lifts_its_turns():
    told = Told()
    for turn, text in enumerate(
        ["Kiln talk again", "The kiln was cold", "We fired it twice", "A bowl broke"]
    ):
        told.turn(text, turn=turn, conversation="a", author="Ada" if turn % 2 else "Bo")
    for turn, text in enumerate(["Rain again", "The kiln was cold", "We stayed in", "Tea was late"]):
        told.turn(text, turn=turn, conversation="b", author="Ada" if turn % 2 else "Bo")
    items = told.retriever().rank(["kiln bowl"], seen(), 8).items.to_pylist()
    best = max(row["session_match_ppm"] for row in items)
    assert items[0]["session_match_ppm"] == best
    assert {row["session_match_ppm"] == best for row in items} == {True, False}


def test_a_session_of_one_turn_says_nothing_more_than_the_turn():
    told = Told()
    told.turn("The kiln was cold", conversation="a")
    told.turn("Rain again", conversation="b")
    items = told.retriever().rank(["cold kiln"], seen(), 5).items
    assert items["session_match_ppm"].to_pylist() == [0]


def test_a_claim_and_its_turn_bring_the_better_of_the_two_in_each_component():
    told = Told()
    source = told.turn("The kiln is fired on Tuesdays", days=12)
    told.claim(source, "kiln day", "Tuesday", span=(0, 29), confidence_ppm=900_000)
    row = told.retriever().rank(["when is the kiln fired"], seen(), 5).items.to_pylist()[0]
    assert row["item_kind"] == "atom"
    assert row["confidence_ppm"] == 900_000
    assert row["words_ppm"] + row["neighbours_ppm"] <= 1_000_000


def test_the_order_of_rows_does_not_decide_by_which_of_equal_turns_a_claim_is_shown():
    told = Told()
    first, second = (told.turn("the boiler is loud", key=f"m{number}", turn=9 * number) for number in (0, 1))
    claim = told.claim(first, "boiler", "loud")
    told.decide(second, atom=claim, outcome="link")
    shown = told.retriever().rank(["loud boiler"], seen(), 5).items
    told.rows["sources"].reverse()
    assert told.retriever().rank(["loud boiler"], seen(), 5).items.equals(shown)
