"""Echoes: what counts as repeating a memory, and what repeating adds."""

import random
import time

import pyarrow as pa
import pytest

from amos.atoms.echoes import (
    MOST_PPM,
    WINDOW,
    Echoes,
    effective_ppm,
    may_echo,
    reinforcement_ppm,
    whole_words,
    windows_of,
)


@pytest.mark.parametrize(
    ("statement", "excerpt", "reply"),
    [
        ("User likes rye bread.", "I like rye bread", "You like rye bread."),
        ("User likes rye bread.", "", "The user likes rye bread"),
        ("User's locker is B12 upstairs.", "", "your locker is b12 upstairs, right?"),
        ("User wants to learn Danish.", "", "Since you want to learn Danish …"),
        ("User avoids mussels and crab.", "", "You avoid mussels and crab!"),
        ("User's name is Ana Roos.", "I'm called Ana Roos", "So you're called Ana Roos?"),
        ("User wants to sell their old boat.", "", "You want to sell your old boat"),
        (
            "North crane's name is Berta.",
            "The north crane is called Berta",
            "the north crane is called Berta",
        ),
    ],
)
def test_a_reply_may_repeat_a_memory_in_these_words(statement, excerpt, reply):
    assert Echoes([windows_of(statement, excerpt)]).found_in(reply) == [0]


@pytest.mark.parametrize(
    "reply",
    [
        "You like rye breadsticks.",
        "thankyou like rye bread",
        "You like white bread.",
        "rye bread",
        "",
    ],
)
def test_other_words_repeat_nothing(reply):
    assert Echoes([windows_of("User likes rye bread.", "I like rye bread")]).found_in(reply) == []


def test_what_is_too_short_is_never_looked_for():
    assert windows_of("Tea is hot.", "Tea is hot") == ()


def test_a_long_memory_is_looked_for_by_its_beginning():
    (form,) = windows_of("The crane " + "lifts and turns " * 20)
    assert len(form) == WINDOW
    assert Echoes([(form,)]).found_in(form + " zebra") == [0]


def test_one_pass_finds_the_same_as_comparing_each_memory():
    chance = random.Random(7)
    words = ["crane", "lifts", "berth", "tide", "rope", "north", "pier", "boat"]
    memories = [windows_of(" ".join(chance.choices(words, k=5))) for _ in range(200)]
    for _ in range(50):
        reply = " ".join(chance.choices(words, k=60))
        plain = [n for n, forms in enumerate(memories) if any(f" {form} " in f" {reply} " for form in forms)]
        assert Echoes(memories).found_in(reply) == plain


def test_the_time_grows_with_the_reply_alone():
    memories = Echoes([windows_of(f"the crane number {number} lifts") for number in range(5_000)])
    took = []
    for size in (50_000, 200_000):
        reply = "the crane number " * (size // 17)
        began = time.process_time()
        memories.found_in(reply)
        took.append(time.process_time() - began)
    assert took[1] < 20 * took[0] + 1


def test_what_conversations_add_is_bounded():
    assert reinforcement_ppm({}) == 0
    assert reinforcement_ppm({b"a": 20_000, b"b": 20_000}) == 40_000
    assert reinforcement_ppm({bytes([n]): 20_000 for n in range(9)}) == MOST_PPM
    assert effective_ppm(950_000, MOST_PPM) == 1_000_000


def _told(seed):
    """Return (payload, excerpt, statement) of many small memories."""
    rng = random.Random(seed)
    values = [
        "rye bread",
        "Ghent",
        "B12",
        "a walk",
        "34",
        "café noir",
        "in the",
        "set",
        "tea",
        "the time",
        "你好吗朋友",
    ]
    held = ["locker", "home city", "favourite snack", "name", "time", "age", "sister's job"]
    for _ in range(400):
        one, value = rng.choice(held), rng.choice(values)
        excerpt = rng.choice([f"my {one} is {value}", f"I like {value}", f"{value} it is, as ever"])
        yield f'{{"property":"{one}","value":"{value}"}}', excerpt, f"User's {one} is {value}."


@pytest.mark.parametrize("seed", range(4))
def test_the_look_in_bulk_leaves_out_no_memory_that_a_reply_repeats(seed):
    memories = list(_told(seed))
    rng = random.Random(seed + 100)
    replies = [
        f"Sure. {rng.choice(memories)[part].replace('my ', 'your ')} And there is more to say."
        for part in (1, 2)
        for _ in range(6)
    ]
    windows = [windows_of(statement, excerpt) for _, excerpt, statement in memories]
    forms = (
        pa.array([payload.split('"')[7] for payload, _, _ in memories]),
        whole_words(pa.array([excerpt for _, excerpt, _ in memories])),
    )
    for reply in replies:
        kept = may_echo(forms, [reply])
        found = Echoes(windows).found_in(reply)
        assert [number for number in found if not kept[number]] == []


def test_the_look_in_bulk_leaves_out_what_has_nothing_to_do_with_a_reply():
    forms = (pa.array(["B12", "tea"]), pa.array(["my locker is B12", "I like tea"]))
    assert may_echo(forms, ["You like tea, I think."]).tolist() == [False, True]


def test_of_a_long_text_only_whole_words_of_the_window_count():
    text = "word " * 15 + "abcdefghij klm"
    assert whole_words(pa.array([text])).to_pylist() == ["word " * 15]
