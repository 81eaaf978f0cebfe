"""Reading kept sources again, from the command line: compare, apply, list, take back."""

import json

import pytest

from amos.api import Store
from amos.extraction import registry
from households import HOUSEHOLD, line, write_lines
from rereading import Partial


@pytest.fixture
def partial(monkeypatch):
    """Let the extractor of the tests be found by its name, as a registered one is."""

    class Entry:
        name = Partial.name

        def load(self):
            return Partial

    monkeypatch.setattr(registry, "entry_points", lambda **_: [Entry()])
    return Partial.name


@pytest.fixture
def home(amos, folder, partial):
    """Return the command on a store that was read with the lesser extractor."""
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD)
    done = amos("-q", "ingest", notes, "--from", "messages", "--extractor", partial)
    assert done.code == 0, done.err
    return amos


def statements(amos):
    return sorted(row["statement"] for row in amos("list", "--json").rows)


def test_a_run_compares_and_changes_nothing(home):
    before = home("verify", "--json").object
    run = home("reprocess", "--json").object
    assert run["run_id"].startswith("run_")
    assert run["applied"] is False
    assert run["added"] > 0
    assert run["changed"] > 0
    assert sum(run[kind] for kind in ("added", "lost", "changed")) == len(run["differences"])
    after = home("verify", "--json").object
    assert (after["state_digest"], after["graph_version"]) == (
        before["state_digest"],
        before["graph_version"],
    )


def test_every_difference_shows_the_words_it_rests_on(home):
    texts = {row["text"] for row in HOUSEHOLD}
    for row in home("reprocess", "--json").object["differences"]:
        words = row["words"]
        whole = words["before"] + words["claim"] + words["after"]
        assert any(whole in text for text in texts)
        claim = row["after"] or row["before"]
        assert claim["statement"]
        assert words["claim"].encode() != b""


def test_applied_the_claims_are_those_of_the_other_extractor(home, folder):
    run = home("reprocess", "--json").object
    done = home("reprocess", "--apply", run["run_id"], "--json").object
    assert done["applied"] is True
    home("-s", "fresh", "-q", "ingest", folder / "notes.jsonl", "--from", "messages")
    assert statements(home) == sorted(row["statement"] for row in home("-s", "fresh", "list", "--json").rows)
    digests = {home("-s", store, "verify", "--deep", "--json").object["state_digest"]
               for store in ("amos-store", "fresh")}  # fmt: skip
    assert len(digests) == 1


def test_taken_back_all_is_as_it_was(home):
    before = home("verify", "--json").object["state_digest"]
    claims = statements(home)
    run = home("reprocess", "--json").object["run_id"]
    home("reprocess", "--apply", run)
    told = home("revert", run, "--dry-run")
    assert (told.code, home("verify", "--json").object["state_digest"] == before) == (0, False)
    assert home("revert", run, "--json").object["withdrawn"] > 0
    assert home("verify", "--json").object["state_digest"] == before
    assert statements(home) == claims
    assert home("revert", run).code == 2


def test_an_earlier_version_is_still_told_after_a_run(home):
    version = home("verify", "--json").object["graph_version"]
    claims = statements(home)
    home("reprocess", "--apply", home("reprocess", "--json").object["run_id"])
    assert sorted(row["statement"] for row in home("list", "--at-version", version, "--json").rows) == claims


def test_a_later_run_over_the_same_sources_is_taken_back_first(home, partial):
    first = home("reprocess", "--json").object["run_id"]
    home("reprocess", "--apply", first)
    second = home("reprocess", "--extractor", partial, "--json").object["run_id"]
    home("reprocess", "--apply", second)
    told = home("revert", first)
    assert told.code == 2
    assert second in told.err
    assert home("revert", second).code == 0
    assert home("revert", first).code == 0


def test_a_run_that_would_do_something_else_by_now_is_refused(home, folder):
    run = home("reprocess", "--json").object["run_id"]
    more = write_lines(folder / "more.jsonl", line("z1", "My shed number is 41.", 20))
    home("-q", "ingest", more, "--from", "messages", "--extractor", Partial.name)
    told = home("reprocess", "--apply", run)
    assert told.code == 2
    assert "no longer change what it said" in told.err


def test_reading_again_with_the_same_extractor_finds_nothing(home, partial):
    run = home("reprocess", "--extractor", partial, "--json").object
    assert run["is_empty"] is True
    assert (run["added"], run["lost"], run["changed"], run["flipped"]) == (0, 0, 0, 0)
    told = home("reprocess", "--apply", run["run_id"])
    assert "Nothing would change" in told.out


def test_only_the_sources_asked_for_are_read(home):
    whole = home("reprocess", "--json").object
    early = home("reprocess", "--until", "2026-05-05", "--json").object
    late = home("reprocess", "--since", "2026-05-05", "--json").object
    assert early["sources"] + late["sources"] == whole["sources"]
    assert early["added"] + late["added"] == whole["added"]
    barn = home("--project", "barn", "reprocess", "--json").object
    assert 0 < barn["sources"] < whole["sources"]
    assert home("--project", "nowhere", "reprocess", "--since", "2030-01-01").out.count("No kept source") == 1


def test_what_was_forgotten_stays_out_though_its_words_are_kept(home):
    run = home("reprocess", "--json").object
    home("reprocess", "--apply", run["run_id"])
    atom = next(row for row in home("list", "--json").rows if "locker" in row["statement"])
    home("forget", atom["atom_id"], "--keep-evidence")
    again = home("reprocess", "--json").object
    assert again["refused_by_tombstone"] == 1
    assert again["added"] == 0
    assert "locker number is 12" not in json.dumps(again)
    home("reprocess", "--apply", again["run_id"])
    assert not any("locker" in text for text in statements(home))


def test_runs_are_listed_newest_first(home):
    run = home("reprocess", "--json").object["run_id"]
    told = home("runs", "--json")
    assert [row["kind"] for row in told.rows] == ["reprocess", "ingest"]
    assert told.rows[0]["run_id"] == run
    assert told.end == {"rows": 2, "truncated": False, "cursor": None}
    assert "compared only" in home("runs").out
    home("reprocess", "--apply", run)
    assert "applied" in home("runs").out


def test_the_page_shows_every_difference_and_is_named_when_something_is_forgotten(home, folder):
    run = home("reprocess", "--as", "html", "-o", "diff.html", "--json").object
    page = (folder / "diff.html").read_text(encoding="utf-8")
    assert page.count("<article>") == len(run["differences"])
    assert "<script" not in page
    assert "http" not in page
    atom = home("list", "--json").rows[0]["atom_id"]
    assert "diff.html" in json.dumps(home("forget", atom, "--json").object["residual"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("reprocess", "--extractor", "guesses@9"), "no extractor 'guesses@9'"),
        (("reprocess", "--since", "yesterdayish"), "--since"),
        (("reprocess", "--apply", "run_aaaaaa"), "no run of this store"),
        (("reprocess", "--apply", "run_aaaaaa", "--since", "2026-01-01"), "leave out --since"),
        (("revert", "atm_aaaaaa"), "no run of this store"),
        (("revert", "nonsense"), "no reference"),
    ],
)
def test_what_cannot_be_done_is_said(home, words, said):
    told = home(*words)
    assert told.code == 2
    assert said in told.err
    assert "Traceback" not in told.err


def test_an_ingest_run_is_not_taken_back(home):
    run = home("runs", "--json").rows[0]["run_id"]
    told = home("revert", run)
    assert told.code == 2
    assert "amos forget --run" in told.err


def test_the_pipeline_does_what_the_command_does(home):
    by_run = home("run", "reprocess", "--json").object
    by_name = home("reprocess", "--json").object
    assert by_run["digest"] == by_name["digest"]
    assert home("run", "reprocess", "notes.jsonl").code == 2


def test_dropped_history_is_named_where_a_run_cannot_be_taken_back(home):
    run = home("reprocess", "--json").object["run_id"]
    home("reprocess", "--apply", run)
    home("snapshot")
    home("compact", "--drop-history")
    told = home("revert", run)
    assert told.code == 2
    assert "can no longer be" in told.err or "history" in told.err


def test_a_store_without_messages_says_what_to_do(amos, folder):
    Store.create(folder / "amos-store").close()
    told = amos("reprocess")
    assert told.code == 0
    assert "No kept source fits" in told.out
    assert "amos ingest PATH" in amos("-s", "other", "init").out + amos("-s", "other", "runs").out


def test_what_a_reviewer_decided_stays_through_runs_and_reverts(home, folder):
    doubts = write_lines(
        folder / "doubts.jsonl",
        line("d1", "Maybe my shed number is 41.", 20),
        line("d2", "I think my gate code word is plum.", 21),
        line("d3", "Maybe my boat is called Heron.", 22),
    )
    home("-q", "ingest", doubts, "--from", "messages", "--extractor", Partial.name)
    waiting = {
        row["statement"]: row["ref"] for row in home("review", "list", "--json").rows if row.get("statement")
    }
    assert len(waiting) >= 2, waiting
    (first, approved), (second, rejected) = sorted(waiting.items())[:2]
    assert home("review", "decide", "approve", approved).code == 0
    assert home("review", "decide", "reject", rejected).code == 0
    run = home("reprocess", "--json").object
    assert run["kept_by_reviewer"] == 2
    shown = [
        claim["candidate"] for row in run["differences"] for claim in (row["before"], row["after"]) if claim
    ]
    assert approved not in shown
    assert rejected not in shown
    home("reprocess", "--apply", run["run_id"])
    for _ in range(2):
        assert home("show", approved, "--json").object["item"]["outcome"] == "commit"
        assert home("show", rejected, "--json").object["item"]["reasons"] == ["rejected_by_reviewer"]
        assert first in statements(home)
        assert second not in statements(home)
        assert home("verify", "--deep", "--json").object["ok"] is True
        home("revert", run["run_id"])
    assert "kept_by_reviewer" in home("reprocess", "--json").object
