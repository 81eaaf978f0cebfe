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
