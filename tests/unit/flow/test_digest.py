import functools
import json
from pathlib import Path

import numpy as np
import pytest

from amos.api import Store
from amos.flow import digest, digest_ids
from amos.flow.digest_order import OrderedDigests
from amos.identity import id_text
from amos.schemas.state import TABLES
from laws import digest_of

RNG = np.random.default_rng(11)
CHAT = [
    "My locker is B12.",
    "I like walnut bread.",
    "Réka's extension is 2210.",
    "My locker is C40.",
    "I like walnut bread.",
    "My locker is B12.",
]


def write(path, texts, *, first=0):
    lines = [
        {"id": f"m{first + number}", "conversation": f"c{number % 2}", "turn": first + number, "role": "user",
         "ts": f"2026-03-0{1 + number}T08:00:00Z", "text": text}
        for number, text in enumerate(texts)
    ]  # fmt: skip
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def told(folder, texts, name="store"):
    """Return a store that heard the texts, one batch each."""
    store = Store.create(folder / name)
    for number, text in enumerate(texts):
        path = write(folder / f"{name}-{number}.jsonl", [text], first=number)
        store.ingest([path], format="messages")
    return store


def forget(store, word, **terms):
    with store.shard.pin() as snapshot:
        rows = snapshot.current("atoms", ["atom_id", "payload"]).to_pylist()
    atom = next(row["atom_id"] for row in rows if word in row["payload"])
    store.forget(id_text("atoms", atom), **terms)


@pytest.mark.parametrize("held", [1, 7, 64, 1000])
def test_digests_leave_in_their_order_however_few_are_held(held):
    rows = RNG.integers(0, 256, (300, 32), dtype=np.uint8)
    rows[250:] = rows[:50]
    rows[10:20, 0] = 0
    with OrderedDigests(held) as digests:
        for start in range(0, len(rows), 41):
            digests.add(rows[start : start + 41])
        found = [row.tobytes() for part in digests.parts() for row in part]
    assert digests.count == 300
    assert found == sorted(row.tobytes() for row in rows)


def test_the_file_of_digests_names_none_of_them():
    rows = RNG.integers(0, 256, (100, 32), dtype=np.uint8)
    with OrderedDigests(10) as digests:
        digests.add(rows[:60])
        digests.add(rows[60:])
        digests._file.seek(0)
        spilt = digests._file.read()
    assert len(spilt) == rows.nbytes
    assert not any(row.tobytes()[:8] in spilt for row in rows)


def test_no_digests_make_one_empty_part():
    with OrderedDigests() as digests:
        assert [len(part) for part in digests.parts()] == [0]


def test_the_digest_does_not_depend_on_how_much_is_held(tmp_path, monkeypatch):
    with told(tmp_path, CHAT) as store:
        forget(store, "2210")
        expected = digest_of(store)
        monkeypatch.setattr(digest, "OrderedDigests", functools.partial(OrderedDigests, 2))
        monkeypatch.setattr(digest, "_ROWS_AT_ONCE", 1)
        monkeypatch.setattr(digest_ids, "_MOST_REMEMBERED", 1)
        assert digest_of(store) == expected


def test_the_digest_does_not_depend_on_how_rows_are_laid_out(tmp_path):
    with told(tmp_path, CHAT) as store, Store.create(tmp_path / "other") as other:
        other.ingest([tmp_path / f"store-{number}.jsonl" for number in range(len(CHAT))], format="messages")
        expected = digest_of(store)
        assert digest_of(other) == expected
        store.compact()
        other.snapshot()
        assert (digest_of(store), digest_of(other)) == (expected, expected)


def test_the_digest_of_an_empty_state_is_the_one_on_the_page(tmp_path):
    page = (Path(__file__).parents[3] / "docs/formats/store.md").read_text(encoding="utf-8")
    with Store.create(tmp_path / "store") as store:
        assert f"An empty state: `{digest_of(store)}`" in page


def test_every_table_of_state_is_covered():
    uncovered = {"conversations", "events"}  # one is covered by what names it, the other is no state
    assert set(digest._PARTS) == set(TABLES) - uncovered


def test_a_tombstone_is_part_of_the_state(tmp_path):
    with told(tmp_path, CHAT) as store:
        before = digest_of(store)
        forget(store, "2210")
        after = digest_of(store)
        assert after not in (before, digest_of(store, but=["tombstones"]))


def test_the_terms_of_a_tombstone_are_part_of_the_state(tmp_path):
    found = set()
    for name, terms in {
        "plain": {},
        "again": {},
        "review": {"recreation": "require_review"},
        "ends": {"expires": "2999-01-01"},
    }.items():
        with told(tmp_path, CHAT, name) as store:
            forget(store, "2210", **terms)
            found.add(digest_of(store))
    assert len(found) == 3  # other keys make no other digest


def test_the_digest_confirms_no_guess_about_what_was_forgotten(tmp_path):
    found = []
    for colour in ("teal", "blue", "pink"):
        with told(tmp_path, [*CHAT, f"My favourite colour is {colour}."], colour) as store:
            before = digest_of(store)
            forget(store, colour)
            found.append((before, digest_of(store)))
    assert len({before for before, _ in found}) == 3
    assert len({after for _, after in found}) == 1
