"""The pool of memories that a reply may repeat: what a look in bulk leaves out, no reply repeats."""

import numpy as np

from amos.atoms.echoes import windows_of
from amos.extraction.grammar import load_grammar
from remembered import remembered, told


def everything(forms, replies):
    """Return that every memory may be repeated."""
    return np.full(len(next(iter(forms))), len(replies) > 0)


def test_every_way_to_repeat_a_memory_of_the_grammar_is_found(monkeypatch):
    texts = dict.fromkeys(one.text for pattern in load_grammar().patterns for one in pattern.examples)
    lines = [told(f"m{n}", text, conversation=f"c{n}") for n, text in enumerate(list(texts)[::15])]
    with remembered(*lines) as memory:
        store = memory.store
        said = {}
        for row in memory.listed(state="active"):
            excerpt = store.why(row["atom_id"])["evidence"][0]["excerpt"]
            said[row["atom_id"]] = [one for one in windows_of(row["statement"], excerpt) if "\n" not in one]
        replies = [
            {
                "id": f"r{n}",
                "prompt": "And?",
                "response": f"So, {window}.",
                "created_at": "2127-01-01T00:00:00Z",
            }
            for n, window in enumerate(one for windows in said.values() for one in windows)
        ]
        assert len(replies) > 50
        for reply in replies:
            store.capture(reply, reinforce=False)
        found = store.reinforce(dry_run=True)["echoes"]
        monkeypatch.setattr("amos.flow.reinforcing.may_echo", everything)
        assert found == store.reinforce(dry_run=True)["echoes"]
        assert len(found) > len(replies) / 2
