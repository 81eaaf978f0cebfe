"""A generated chat log of any size: invented small talk, questions and statements, the same every time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 5, 7, tzinfo=UTC)
THINGS = (
    "kettle bike desk locker badge printer boiler ladder tent piano drill router heater sofa clock mower"
).split()
TRAITS = (
    "colour height weight model shelf code floor room battery filter lamp cable cover number size date"
).split()
FOODS = (
    "walnut bread,lentil soup,pear cider,rye toast,mint tea,plum cake,leek pie,olive paste,barley stew".split(
        ","
    )
)
NAMES = "Mara Teo Ilse Bram Noor Piet Vera Otto Lene Joost Runa Milo".split()
PLACES = "Ghent Brno Oslo Turin Porto Lviv Graz Tartu Cork Malmo".split()
CHATTER = [
    "The rain came in sideways again and the whole street smelled of wet leaves until noon.",
    "ok, sounds good",
    "Could you have a look at the second paragraph and tell me whether it reads well?",
    "haha yes, that was a long afternoon",
    "What did we say about the gutter last week?",
    "I am not sure that the second option makes sense, to be honest, but let us see.",
    "Thanks, that helps a lot.",
    "Here is the summary you asked for: three points, two of them short.",
    "Sure, I can do that after lunch.",
    "Is the meeting still on?",
]


def texts(count: int, *, seed: int = 7) -> Iterator[tuple[str, str]]:
    """Yield (role, text); about four in ten user turns state something."""
    draw = random.Random(seed)
    for number in range(count):
        if number % 2:
            yield "assistant", draw.choice(CHATTER)
            continue
        kind = draw.random()
        if kind < 0.55:
            yield "user", draw.choice(CHATTER)
        elif kind < 0.75:
            number_text = f"{draw.randint(2, 990)}"
            yield "user", f"My {draw.choice(THINGS)} {draw.choice(TRAITS)} is {number_text}."
        elif kind < 0.85:
            yield "user", f"I like {draw.choice(FOODS)}, it goes with everything."
        elif kind < 0.9:
            yield "user", f"I will send the {draw.choice(THINGS)} papers to {draw.choice(NAMES)} by Friday."
        elif kind < 0.95:
            yield "user", f"{draw.choice(NAMES)}'s extension is {draw.randint(1000, 9999)}."
        else:
            yield "user", f"I moved to {draw.choice(PLACES)} and it took {draw.randint(2, 9)} days."


def write_messages(path: Path, count: int, *, seed: int = 7, talk: int = 40) -> Path:
    """Write `count` lines in the `messages` format to `path`; a conversation has `talk` turns."""
    with path.open("w", encoding="utf-8") as out:
        for number, (role, text) in enumerate(texts(count, seed=seed)):
            line = {
                "id": f"m{number}",
                "conversation": f"c{number // talk}",
                "turn": number % talk,
                "role": role,
                "ts": (START + timedelta(minutes=number)).isoformat(),
                "text": text,
            }
            out.write(json.dumps(line) + "\n")
    return path


def write_statements(path: Path, count: int, *, seed: int = 3, talk: int = 40) -> Path:
    """Write `count` messages of 70 characters, each of which states a value that nothing could guess."""
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            head = f"My {draw.choice(THINGS)} {draw.choice(TRAITS)} {draw.randrange(10**9)} is "
            line = {
                "id": f"m{number}",
                "conversation": f"c{number // talk}",
                "turn": number % talk,
                "role": "user",
                "ts": (START + timedelta(minutes=number)).isoformat(),
                "text": head + "".join(draw.choice(letters) for _ in range(69 - len(head))) + ".",
            }
            out.write(json.dumps(line) + "\n")
    return path


OPENERS = (
    "Hey {name}, good to hear from you!|Oh wow, that is such good news.|Sorry for the late reply, it "
    "was a long week.|Haha, yes, I remember that afternoon.|Thanks for asking!|So, where did we leave "
    "off?|Okay, okay, I see what you mean.|I was just thinking about you.|Not much is new here, "
    "{name}.|Well, you know how it goes."
).split("|")
TOLD = (
    "My {thing} {trait} is {number}|I love {food}, but only on Sundays|Last week I took the {thing} to "
    "{place}|I've been learning to repair a {thing}|We moved to {place} two years ago and never looked "
    "back|My sister works for a bakery in {place}|I don't eat {food} any more|I promised {name} to "
    "bring the {thing} on Friday|I want to visit {place} before the summer|{name}'s extension is "
    "{number}"
).split("|")
ASIDES = (
    "and the rain came in sideways until noon|which made everyone laugh for a good ten minutes|so that "
    "was that|if the weather holds, maybe we could go together|what do you think about it|because "
    "nobody had told us|and honestly it felt like the longest day of the year|but the second option "
    "makes no sense to me|while the others were looking for the {thing}|and then the whole street "
    "smelled of {food}"
).split("|")
CLOSERS = (
    "How are things in {place}?|Let me know when you are free.|Anyway, enough about me.|It was so much "
    "fun!|Have you ever tried {food}?|I can't wait to see the pictures.|What a day.|Talk to you soon, "
    "{name}."
).split("|")


def dialogue(count: int, *, seed: int = 11) -> list[str]:
    """Return `count` turns of a chat between people, 20 to 250 characters, one in seven with a statement."""
    draw = random.Random(seed)

    def filled(template: str) -> str:
        return template.format(
            name=draw.choice(NAMES), thing=draw.choice(THINGS), trait=draw.choice(TRAITS),
            food=draw.choice(FOODS), place=draw.choice(PLACES), number=draw.randint(2, 990),
        )  # fmt: skip

    turns = []
    for _ in range(count):
        parts = [filled(draw.choice(OPENERS))] if draw.random() < 0.6 else []
        if draw.random() < 0.15:
            parts.append(f"{filled(draw.choice(TOLD))}, {filled(draw.choice(ASIDES))}.")
        elif draw.random() < 0.5:
            parts.append(f"It was late, {filled(draw.choice(ASIDES))}.")
        parts.append(filled(draw.choice(CLOSERS)))
        turns.append(" ".join(parts))
    return turns


SYLLABLES = (
    "ba be bo da de do fa fi ga go ka ke ko la le lo ma mi mo na ne no pa pe po ra re ri sa se so ta te to"
).split()
SMALL = "the a of to and in is was it that for on with as we they you had not but".split()
VOCABULARY = 20_000


def invented_words(draw: random.Random) -> list[str]:
    """Return VOCABULARY made-up words of two to four syllables, the most used first."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(draw.choice(SYLLABLES) for _ in range(draw.randint(2, 4)))] = None
    return list(words)


def write_talks(path: Path, questions: Path, count: int, *, seed: int = 5, talk: int = 60) -> Path:
    """Write `count` turns of talks between two people, and to `questions` lines that ask about some of them.

    Words are as unequally used as in a language: the n-th is said about 1/n as often as the first.
    """
    draw = random.Random(seed)
    words = invented_words(draw)
    shares = [1 / (rank + 20) for rank in range(VOCABULARY)]
    said = iter(draw.choices(words, shares, k=9 * count))
    with path.open("w", encoding="utf-8") as out, questions.open("w", encoding="utf-8") as asked:
        for number in range(count):
            own = [next(said) for _ in range(draw.randint(3, 9))]
            text = " ".join(
                word for pair in zip(own, draw.choices(SMALL, k=len(own)), strict=True) for word in pair
            )
            line = {
                "id": f"m{number}",
                "conversation": f"c{number // talk}",
                "turn": number % talk,
                "role": "user",
                "author": NAMES[number % 2],
                "ts": (START + timedelta(minutes=number)).isoformat(),
                "text": text,
            }
            out.write(json.dumps(line) + "\n")
            if number % 40 == 7:
                question = "What was said of the " + " ".join(draw.sample(own, 3))
                asked.write(json.dumps({"text": question}) + "\n")
    return path
