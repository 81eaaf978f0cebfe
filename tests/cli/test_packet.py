import json
import subprocess
import sys

import pytest

KEYS = {
    "packet_id",
    "graph_version",
    "request",
    "items",
    "conflicts",
    "omissions",
    "degradation",
    "attention_trace",
    "empty_reason",
    "budget",
}


def test_a_packet_has_the_contracted_keys_and_cites_its_items(household):
    packet = household("packet", "barn", "colour", "--json").object
    assert set(packet) >= KEYS
    item = packet["items"][0]
    assert item["statement"] == "User's barn colour is green."
    assert item["score_components"]
    (evidence, *_) = item["evidence"]
    assert {"source_id", "start", "end", "excerpt", "event_time", "author"} <= set(evidence)
    assert "My barn colour is green" in evidence["excerpt"]


def test_words_are_one_cue_and_cues_add_to_it(household):
    packet = household("packet", "barn", "colour", "--cue", "locker", "--json").object
    assert packet["request"]["cues"] == ["barn colour", "locker"]
    said = {item["statement"] for item in packet["items"]}
    assert {"User's barn colour is green.", "User's locker number is 12."} <= said


def test_people_get_the_reference_that_why_takes(household):
    told = household("packet", "barn colour")
    ref = next(word for word in told.out.split() if word.startswith("atm_"))
    assert household("why", ref).code == 0


def test_markdown_is_a_list_with_quotes(household):
    out = household("packet", "barn colour", "--as", "markdown").out
    assert out.startswith("# Memory for: barn colour")
    assert "\n   > " in out


def test_the_budget_bounds_items_and_tokens(household):
    packet = household("packet", "plum barn locker", "--max-items", 1, "--tokens", 600, "--json").object
    assert len(packet["items"]) <= 1
    assert packet["budget"]["tokens"] <= 600
    assert sum(packet["omissions"]["counts"].values()) > 0


def test_what_held_then_is_what_as_of_answers(household):
    then = household("packet", "favourite plum", "--as-of", "2026-05-05", "--json").object
    said = " ".join(item["statement"] for item in then["items"])
    assert "Victoria" in said
    assert "Opal" not in said


def test_replaced_values_come_only_when_asked_for(household):
    def said(*words: str) -> str:
        return " ".join(
            item["statement"]
            for item in household("packet", "favourite plum", *words, "--json").object["items"]
        )

    assert "User's favourite plum is the Victoria." not in said()
    assert "User's favourite plum is the Victoria." in said("--include-superseded")


def test_planted_orders_are_in_no_packet(household):
    told = household("packet", "previous instructions barn key visitor", "--include-untrusted", "--json")
    assert "Ignore all previous" not in told.out


@pytest.mark.parametrize(("store", "reason"), [("empty", "nothing_stored"), ("household", "no_match")])
def test_an_empty_packet_says_why(amos, household_store, store, reason):
    amos("-s", "empty", "init")
    where = household_store if store == "household" else "empty"
    packet = amos("-s", where, "packet", "zeppelin", "--json").object
    assert packet["items"] == []
    assert packet["empty_reason"] == reason
    assert amos("-s", where, "packet", "zeppelin").code == 0


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("  ",),
        ("tea", "--as-of", "soon"),
        ("tea", "--max-items", 0),
        ("tea", "--mode", "telepathy"),
        ("tea", "--processor", "oracle"),
    ],
)
def test_a_request_that_makes_no_sense_is_exit_2(household, words):
    told = household("packet", *words)
    assert told.code == 2
    assert "  next: " in told.err


def test_a_processor_without_a_budget_of_its_own_is_other(household):
    budget = household("packet", "barn", "--processor", "other", "--json").object["budget"]
    assert (budget["max_items"], budget["max_tokens"]) == (8, 25_000)
    assert "planner" in household("packet", "barn", "--processor", "oracle").err


@pytest.mark.parametrize("cue", ["barn colour", "zeppelin"])
def test_a_budget_too_small_for_any_answer_says_what_is_needed(household, cue):
    budget = household("packet", cue, "--tokens", 1, "--json").object["budget"]
    needed = budget["needed_tokens"]
    assert needed > budget["max_tokens"]
    assert f"needs a budget of {needed} tokens" in household("packet", cue, "--tokens", 1).out
    enough = household("packet", cue, "--tokens", needed, "--json").object
    assert enough["budget"]["tokens"] <= needed
    assert enough["budget"]["needed_tokens"] is None
    assert bool(enough["items"]) == (cue == "barn colour")


def test_one_packet_loads_neither_compiler_nor_engines(household_store):
    script = (
        "import json, sys\n"
        "from amos.cli import main\n"
        f"try: main(['-s', {str(household_store)!r}, 'packet', 'barn', '--json'])\n"
        "except SystemExit: pass\n"
        "print(json.dumps(sorted({'numba', 'polars', 'duckdb', 'llvmlite', 'rich'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_a_receipt_is_kept_only_when_asked_for_and_holds_no_text(amos, folder):
    from amos.packets.store import read_receipts
    from households import HOUSEHOLD, write_lines

    amos("ingest", write_lines(folder / "notes.jsonl", *HOUSEHOLD))
    shard = folder / "amos-store" / "default" / "default"
    before = amos("verify", "--json").object["state_digest"]
    amos("packet", "barn colour")
    assert read_receipts(shard) == []
    told = amos("packet", "barn colour", "--record", "--json").object
    empty = amos("packet", "zeppelin", "--record", "--json").object
    items = [(told["packet_id"], one["rank"], one["atom_id"] or one["source_id"]) for one in told["items"]]
    assert read_receipts(shard) == [*items, (empty["packet_id"], None, None)]
    stored = b"".join(path.read_bytes() for path in shard.glob("telemetry.sqlite*"))
    assert b"green" not in stored
    assert b"barn" not in stored
    assert amos("verify", "--json").object["state_digest"] == before
