"""Seeded damage to whole samples of every format: our errors only, all records accounted for, bounded."""

import copy
import json
import random
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from amos.errors import InputError
from amos.flow.sql_bounds import bounded_memory
from amos.sources.reading import raw_table
from delivered import CASES, delivered, example, first_file

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SEEDS = range(8)
SECONDS = 60
"""Beyond this a reader counts as hanging; it takes milliseconds."""
MEMORY_BYTES = 1 << 30


def inputs():
    """Return (name, bytes, reading options) of every sample and golden case."""
    found = []
    for path in sorted(SAMPLES.rglob("*.json*")):
        form = path.relative_to(SAMPLES).parts[0]
        found.append((path.name, path.read_bytes(), {"format": form}))
    for case in CASES:
        paths, options = example(case)
        known = options or {"format": delivered(*paths).blocks[0].format}
        first = first_file(paths)
        found.append((first.name, first.read_bytes(), known))
    return found


INPUTS = inputs()
NAMES = [f"{number}-{name}" for number, (name, _, _) in enumerate(INPUTS)]
ODD = [
    None, True, -1, 2**63, -(2**64), 10**400, 1e308, -0.0, "", "\x00", "\ud800", "é" * 3_000, [], {}, [[]],
    {"": {}}, "9" * 400, "2026-99-99T99:99:99Z", "0001-01-01T00:00:00+23:59", "../../etc/passwd", [None] * 50,
]  # fmt: skip


def truncated(raw, chance):
    return raw[: chance.randrange(len(raw))]


def flipped(raw, chance):
    out = bytearray(raw)
    for _ in range(chance.choice([1, 8, 200])):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def not_utf8(raw, chance):
    out = bytearray(raw)
    for _ in range(20):
        at = chance.randrange(len(out))
        out[at:at] = chance.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x00"])
    return bytes(out)


def shuffled(raw, chance):
    """Return the bytes cut into pieces, some of them lost, doubled or moved."""
    cuts = sorted(chance.randrange(len(raw)) for _ in range(9))
    parts = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    return b"".join(chance.choices(parts, k=len(parts)))


def nested(raw, chance):
    """Return the bytes with a tower of brackets in the place of some value."""
    height = chance.choice([200, 5_000, 300_000])
    opened, closed = chance.choice([(b"[", b"]"), (b'{"a":', b"}")])
    tower = opened * height + b"0" + (closed * height if chance.random() < 0.7 else b"")
    at = raw.find(b":", chance.randrange(len(raw)))
    return raw[: at + 1] + tower + raw[at + 1 :] if at >= 0 else tower + raw


def swapped(raw, chance):
    """Return JSON with other values in some places; text that is no JSON with a column torn out."""
    documents = _documents(raw)
    if documents is None:
        return raw.replace(b",", b"", chance.randrange(40))
    for _ in range(chance.choice([1, 10, 60])):
        _swap(chance.choice(documents), chance)
    if raw.lstrip().startswith(b"[") and len(documents) == 1:
        return json.dumps(documents[0]).encode()
    return b"".join(json.dumps(one).encode() + b"\n" for one in documents)


def _documents(raw):
    try:
        return [json.loads(raw)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in raw.splitlines() if line.strip()] or None
    except ValueError:
        return None


def _swap(value, chance):
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.15:
            value[key] = copy.deepcopy(chance.choice(ODD))
            return
        value = inner


DAMAGES = (truncated, flipped, not_utf8, shuffled, nested, swapped)


@contextmanager
def bounded():
    """Let the block take so much memory and so long, and fail instead of hanging."""

    def give_up(*_):
        raise AssertionError(f"reading took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        with bounded_memory(MEMORY_BYTES):
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def survives(path, options):
    try:
        found = delivered(path, **options)  # which checks that every record is there or lost with a reason
    except InputError:
        return
    raw_table(found.blocks).validate(full=True)
    assert all(problem.code and problem.message for problem in found.problems)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("number", range(len(INPUTS)), ids=NAMES)
def test_damage_costs_records_not_the_run(tmp_path, number, damage):
    name, raw, options = INPUTS[number]
    for seed in SEEDS:
        path = tmp_path / name
        path.write_bytes(damage(raw, random.Random(f"{number}/{damage.__name__}/{seed}")))
        with bounded():
            survives(path, options)
            if "format" in options and seed == 0:
                survives(path, {})  # and where the format has to be told first


FORMS = sorted({options["format"] for _, _, options in INPUTS if "format" in options})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 2_000_000,
        b'{"a":' * 400_000,
        b'{"text": "' + b"\\u0041" * 700_000 + b'"}',
        b'{"id": ' + b"9" * 3_000_000 + b"}",
        b"{" + b",".join(b'"k%d": 1' % n for n in range(200_000)) + b"}",
        b"[" + b",".join([b"{}"] * 60_000) + b"]",
        b"\n" * 3_000_000,
        b'{"a": 1}\n' * 40_000,
        b'[{"mapping": {' + b",".join(b'"n%d":{"parent":"n%d"}' % (n, n - 1) for n in range(60_000)) + b"}}]",
        b'[{"mapping": {"a": {"id":"a","parent":"b"}, "b": {"id":"b","parent":"a"}}, "current_node": "a"}]',
        b"\xef\xbb\xbf" * 100_000,
    ],
    ids=[
        "brackets",
        "objects",
        "escapes",
        "digits",
        "keys",
        "empties",
        "lines",
        "rows",
        "chain",
        "loop",
        "marks",
    ],
)
def test_large_and_empty_shapes_stay_within_bounds(tmp_path, form, raw):
    path = tmp_path / "large.json"
    path.write_bytes(raw)
    with bounded():
        survives(path, {"format": form})
