"""`amos forget` and `amos hold`."""

import pytest

from households import HOUSEHOLD, call, write_lines


@pytest.fixture
def own(folder):
    """Return the function that runs a command on a household of its own."""
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD)
    assert call("-q", "-s", folder / "own", "ingest", notes, "--from", "messages").code == 0
    return lambda *words: call("-s", folder / "own", *words)


def first_atom(own):
    return own("list", "--json").rows[0]


def test_forget_prints_what_it_did_and_the_claim_is_gone(own):
    atom = first_atom(own)
    told = own("forget", atom["atom_id"], "--json")
    assert told.code == 0, told.err
    report = told.object
    assert {"dry_run", "removed", "tombstones", "segments_rewritten", "residual", "graph_version"} <= set(
        report
    )
    assert (report["dry_run"], report["status"], report["removed"]["atoms"]) == (False, "purged", 1)
    assert report["segments_rewritten"] > 0
    assert all(set(row) == {"what", "why", "until"} for row in report["residual"])
    assert atom["atom_id"] not in [row["atom_id"] for row in own("list", "--state", "all", "--json").rows]
    assert own("verify").code == 0


def test_a_dry_run_says_what_would_go_in_words(own):
    atom = first_atom(own)
    told = own("forget", atom["atom_id"], "--dry-run")
    assert told.code == 0, told.err
    assert f"removed  {atom['atom_id']}" in told.out
    assert told.out.splitlines()[-1] == "This would go; nothing was changed."
    assert first_atom(own) == atom


@pytest.mark.parametrize(
    ("words", "code"),
    [(("forget",), 2), (("forget", "atm_aaaaaaa"), 2), (("forget", "--since", "1990-01-01"), 2),
     (("hold", "place", "--reason", "x"), 2), (("hold", "release", "hld_aaaaaa"), 2)],
)  # fmt: skip
def test_a_command_that_names_nothing_or_everything_is_refused(own, words, code):
    told = own(*words)
    assert told.code == code
    assert "next: " in told.err or "amos" in told.err


def test_a_held_claim_is_refused_then_hidden_then_released(own):
    atom = first_atom(own)["atom_id"]
    hold = own("hold", "place", atom, "--reason", "case_1", "--json").object["hold_id"]
    refused = own("forget", atom)
    assert refused.code == 3
    assert hold in refused.err
    assert hold in own("hold", "list").out
    hidden = own("forget", atom, "--suppress")
    assert hidden.code == 0, hidden.err
    assert "Hidden from every current view" in hidden.out
    assert atom not in own("list", "--state", "all", "--json").out
    assert own("hold", "release", hold).code == 0
    assert own("hold", "list", "--json").rows[0]["released_at"] is not None


def test_a_copy_written_twice_to_one_place_is_named_once(own):
    for _ in range(2):
        own("export", "jsonl", "-o", "out.jsonl")
    assert own("forget", first_atom(own)["atom_id"]).out.count("\n  export jsonl ") == 1


def test_no_hold_is_said_in_words(amos):
    amos("init")
    assert amos("hold", "list").out == "No hold was ever placed.\n"


def test_what_is_no_reference_leads_to_the_list_of_references(amos):
    amos("init")
    for word in ("tea", "atm_x"):
        told = amos("forget", word)
        assert told.code == 2
        assert "next: Use `amos list` for references" in told.err


def test_a_catalog_that_cannot_be_read_leads_to_a_backup(amos, folder):
    amos("init")
    (catalog,) = folder.glob("*/*/*/shard.sqlite")
    catalog.write_text("no catalog at all\n" * 300)
    told = amos("verify")
    assert told.code == 5
    assert "amos restore SOURCE DESTINATION" in told.err


def test_forgetting_again_is_done_and_a_typing_error_is_not(own):
    atom = first_atom(own)
    gone, source = atom["atom_id"], atom["source_id"]
    assert own("forget", gone).code == 0
    for words in (["forget", gone], ["forget", gone[:12], "--json"], ["forget", gone, "--dry-run"]):
        told = own(*words)
        assert (told.code, "already" in told.out) == (0, True), told.err
    assert own("forget", gone, "--json").object["status"] == "already_forgotten"
    wrong = gone[:-2] + ("aa" if gone[-2:] != "aa" else "ba")
    assert own("forget", wrong).code == 2
    both = own("forget", gone, source, "--json").object
    assert (both["already"], both["status"], both["removed"]["sources"]) == ([gone], "purged", 1)
    assert own("forget", "--source", source, "--json").object["already"] == [source]
    assert own("list", "sources", "--json").rows != []


def test_all_beside_a_reference_does_not_take_everything(own):
    before = len(own("list", "--json").rows)
    assert own("forget", first_atom(own)["atom_id"], "--all").code == 0
    assert 0 < len(own("list", "--json").rows) < before
