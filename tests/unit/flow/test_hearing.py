"""Texts that are read for claims ahead of the work on the batch before them."""

import numpy as np
import pytest

from amos.extraction.screen import screen
from amos.flow import ingest as ingesting
from amos.flow.prepare import Screened, hear
from amos.flow.rules import default_rules
from amos.sources.reading import batch_table, read_batches
from laws import digest_of, scratch
from remembered import told
from strategies import write_lines

SAID = (
    "My locker is B12.",
    "The gate opens at nine.",
    "My wifi password is tulip-anchor-93, and my floor is 3.",
    "Please forget that I live in Ghent.",
    "Off the record: my badge is 7.",
    "ok",
    "My pass is blue until Friday.",
)
LINES = [told(f"m{number}", SAID[number % len(SAID)], number, turn=number) for number in range(21)]


def test_what_some_texts_say_is_what_they_say_alone(tmp_path):
    (batch,) = read_batches([write_lines(tmp_path / "talk.jsonl", LINES)], format="messages")
    raw, rules = batch_table(batch), default_rules(size=0)

    def heard(rows):
        findings = screen(rows)
        return Screened(findings, hear(rows, findings, rules))

    for rows in ([], [0, 2, 3, 9, 20], list(range(21))):
        chosen = np.array(rows, np.int64)
        some, alone = heard(raw).of(chosen), heard(raw.take(chosen))
        assert some.findings.equals(alone.findings)
        assert some.heard.claims.equals(alone.heard.claims)
        assert some.heard.notes.equals(alone.heard.notes)


@pytest.mark.parametrize("repeated", [0, 5])
def test_the_state_is_the_same_whether_texts_are_heard_ahead_or_not(monkeypatch, repeated):
    digests, heard = [], []
    monkeypatch.setattr(ingesting, "hear", lambda *given: heard.append(hear(*given)) or heard[-1])
    for ahead_from in (1, 10_000):
        monkeypatch.setattr(ingesting, "_AHEAD_FROM", ahead_from)
        with scratch() as (folder, store):
            lines = [*LINES[:9], *LINES[:repeated], *LINES[9:]]
            receipt = store.ingest([write_lines(folder / "talk.jsonl", lines)], format="messages")
            assert receipt["sources"]["linked"] == repeated
            digests.append(digest_of(store))
    assert digests[0] == digests[1]
    assert len(heard) == 1
