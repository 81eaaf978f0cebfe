"""`amos record-outcome`, and the report on what it kept."""

import json

import pytest

from households import call, line, write_lines

TALK = ("I like rye bread with butter.", "I like plum jam.")


@pytest.fixture
def amos(folder):
    """Return the function that runs a command on a small store."""
    path = write_lines(folder / "talk.jsonl", *(line(f"t{n}", text, n + 1) for n, text in enumerate(TALK)))
    assert call("-q", "ingest", path, "--from", "messages").code == 0
    return call


def packet_of(amos, *words):
    """Return a packet as printed."""
    return amos("packet", *words, "--json").object


def claim_of(packet):
    """Return the best claim of a packet."""
    return next(item["atom_id"] for item in packet["items"] if item["atom_id"])


def test_a_recorded_packet_is_named_by_its_id(amos):
    packet = packet_of(amos, "plum jam", "--record")
    words = ("record-outcome", packet["packet_id"], "--label", "good", "--used", claim_of(packet)[:14])
    done = amos(*words)
    assert done.code == 0
    assert "utility 0.5 -> 0.53" in done.out
    assert "items known from its receipt" in done.out
    assert "recorded before" in amos(*words).out
    assert amos(*words, "--json").object["status"] == "known"


def test_what_was_learned_is_shown_and_explained(amos):
    packet = packet_of(amos, "plum jam", "--record")
    claim = claim_of(packet)
    amos("record-outcome", packet["packet_id"], "--label", "good", "--used", claim)
    told = amos("why", claim).out
    assert "Outcomes: used in 1 of 1 packet, put right in 0" in told
    assert "utility 0.53, salience 0.52, health healthy" in told
    assert "utility:" in amos("show", claim).out
    listed = amos("list", "outcomes").out
    assert f"{packet['packet_id']}: good; used (reasoner)" in listed


def test_a_packet_without_a_receipt_is_handed_in(amos, folder):
    packet = packet_of(amos, "plum jam")
    (folder / "p.json").write_text(json.dumps(packet))
    refused = amos("record-outcome", packet["packet_id"], "--json")
    assert (refused.code, refused.object["error"]["code"]) == (2, "not_found")
    done = amos("record-outcome", "--request", "p.json", "--label", "wrong", "--corrected", claim_of(packet))
    assert done.code == 0, done.err
    assert "asking again at its graph version" in done.out
    assert "amos review list --kind flagged" in done.out
    listed = amos("review", "list", "--kind", "flagged")
    assert "outcomes: wrong" in listed.out
    other = amos("record-outcome", "pkt_" + "a" * 26, "--request", "p.json")
    assert other.code == 2


def test_a_dry_run_writes_nothing(amos):
    packet = packet_of(amos, "plum jam", "--record")
    words = ("record-outcome", packet["packet_id"], "--unhelpful", claim_of(packet), "--dry-run")
    assert "nothing was written" in amos(*words).out
    assert amos("list", "outcomes").out.startswith("No outcome is recorded")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "there is no packet"),
        (("pkt_nope",), 2, "base32"),
        (("atm_aaaaaaaa",), 2, "is no packet"),
        (("pkt_aaaaaaaa",), 2, "the beginning of no recorded packet"),
        (("--request", "absent.json"), 2, "absent.json"),
        (("--from", "talk.jsonl", "--label", "good"), 2, "a file says for itself"),
        (("--request", "talk.jsonl"), 3, "is no packet"),
    ],
)
def test_what_does_not_fit_is_told_with_the_next_step(amos, words, code, message):
    done = amos("record-outcome", *words)
    assert done.code == code, done.err
    assert message in done.err


def test_strangers_are_refused_by_name(amos):
    packet = packet_of(amos, "plum jam", "--record")
    done = amos("record-outcome", packet["packet_id"], "--used", "atm_aaaaaaaa", "--json")
    error = done.object["error"]
    assert (done.code, error["code"], error["path"]) == (2, "not_in_packet", "atm_aaaaaaaa")


def test_a_file_of_outcomes_is_recorded_and_bad_rows_are_told(amos, folder):
    packet = packet_of(amos, "plum jam", "--record")
    good = {"packet_id": packet["packet_id"], "label": "good", "used": [claim_of(packet)]}
    write_lines(folder / "outcomes.jsonl", good, {**good, "label": "splendid"}, "{")
    done = amos("record-outcome", "--from", "outcomes.jsonl")
    assert done.code == 0, done.err
    assert "3 rows: 1 recorded, 0 known, 2 refused" in done.out
    assert "row 2: no label is called 'splendid'" in done.out
    again = amos("record-outcome", "--from", "outcomes.jsonl", "--json").object
    assert (again["recorded"], again["known"], again["refused"]) == (0, 1, 2)


def test_the_report_says_what_to_do_while_nothing_is_recorded(amos):
    assert "amos record-outcome" in amos("report", "outcomes").out
    assert "amos record-outcome" in amos("report", "outcomes", "--as", "html").out
    empty = amos("report", "outcomes", "--json").object
    assert (empty["outcomes"], empty["calibration"]["all"]["shown"]) == (0, 0)


def test_the_report_tells_how_score_and_rank_tell_use(amos):
    for number in range(4):
        reader = "planner" if number else "reasoner"
        packet = packet_of(amos, "what do I like", "--record", "--processor", reader)
        used = ("--used", claim_of(packet)) if number else ()
        cue = ("--missing-capability", "Calendar") if number else ()
        assert amos("record-outcome", packet["packet_id"], *used, *cue).code == 0
    report = amos("report", "outcomes", "--json").object
    every = report["calibration"]["all"]
    assert (report["outcomes"], every["shown"], every["used"]) == (4, 8, 3)
    first, second = every["by_rank"]
    assert (first["used"], first["used_ratio"], second["used"]) == (3, 0.75, 0)
    assert first["used_interval"] == [0.3006, 0.9544]
    assert sum(row["shown"] for row in every["by_score"]) == 8
    assert report["calibration"]["processor"]["planner"]["shown"] == 6
    assert report["missing_capabilities"]["cues"] == [{"text": "Calendar", "count": 3}]
    assert report["claims"]["shown"] == 2
    assert [row["shown"] for row in report["claims"]["never_used"]] == [4]
    text = amos("report", "outcomes").out
    for part in ("4 outcomes of 4 packets", "75.0 %", "30.1–95.4", "processor planner, by rank", "Calendar"):
        assert part in text
    page = amos("report", "outcomes", "--as", "html").out
    assert page.startswith("<!doctype html>")
    assert "<table>" in page
