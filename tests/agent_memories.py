"""Made-up memories of an agent: beliefs, preferences, procedures and episodes of many rooms, all different.

`memories(count)` gives as many as wanted, always the same ones.  They are about machines in numbered rooms,
in a vocabulary of their own, so that a test can add the one memory that answers and knows what stands beside.
"""

import json
from dataclasses import dataclass, field

from tests.told import Told

MACHINES = ("chiller", "conveyor", "furnace", "compressor", "lathe", "boiler", "extruder", "centrifuge")
PARTS = ("valve", "bearing", "belt", "gauge", "nozzle", "coupling", "filter", "hose", "relay", "seal")
STATES = ("worn", "tight", "dry", "noisy", "clean", "bent", "cold", "loose", "new", "greasy")
CREWS = ("night crew", "day crew", "apprentices", "inspectors", "cleaners")
ACTS = ("tightened", "replaced", "oiled", "measured", "sealed", "drained", "rinsed")


@dataclass(frozen=True)
class Memory:
    """One memory: its type, the property and value of its claim, and the words that state it."""

    type: str
    held: str
    value: str
    text: str
    payload: dict = field(default_factory=dict)


def memories(count):
    """Yield `count` memories, every one of other words or numbers."""
    makers = (belief, preference, procedure, episode)
    for number in range(count):
        yield makers[number % 4](number)


def _picked(number, words, stride):
    return words[number // stride % len(words)]


def belief(number):
    room, part = number // 4, _picked(number, PARTS, 7)
    machine, state = _picked(number, MACHINES, 3), _picked(number, STATES, 11)
    held = f"{machine} {part} of room {room}"
    return Memory("belief", held, state, f"The {held} is {state}.")


def preference(number):
    room, crew = number // 4, _picked(number, CREWS, 5)
    part = _picked(number, PARTS, 3)
    value = f"a spare {part} in room {room}"
    return Memory("preference", "preference", value, f"The {crew} like {value}.")


def procedure(number):
    room, machine = number // 4, _picked(number, MACHINES, 5)
    steps = [f"{_picked(number, ACTS, 3)[:-1]} the {_picked(number, PARTS, 9)}", f"log room {room}"]
    held = f"restart the {machine} of room {room}"
    text = f"To {held}: {', then '.join(steps)}."
    return Memory("procedure", held, "; ".join(steps), text, {"steps": steps, "trigger_context": held})


def episode(number):
    room, act = number // 4, _picked(number, ACTS, 5)
    value = f"{act} the {_picked(number, PARTS, 13)} in room {room}"
    return Memory("episode", "activity", value, f"The {_picked(number, CREWS, 3)} {value}.")


def tell(told, memory, **fields):
    """Add a memory with the message that states it; return its atom id."""
    number = len(told.rows["sources"])
    days = fields.pop("days", number % 400)
    source = told.turn(memory.text, turn=0, conversation=f"shift {number}", days=days)
    payload = {"property": memory.held, "value": memory.value, **memory.payload}
    fields |= {"key": str(number), "type": memory.type, "payload": json.dumps(payload)}
    return told.claim(source, memory.held, memory.value, **fields)


def told_agent(count, **fields):
    """Return a `Told` that holds `count` memories."""
    told = Told()
    for memory in memories(count):
        tell(told, memory, **fields)
    return told
