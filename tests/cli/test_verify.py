import json
import subprocess
import sys

import pytest

from households import HOUSEHOLD, write_lines


def test_a_good_store_ends_with_ok_and_the_state_digest(household):
    told = household("verify")
    assert told.code == 0
    assert told.out.splitlines()[-1] == "ok"
    assert "State digest " in told.out


def test_the_report_has_the_contracted_shape(household):
    report = household("verify", "--json").object
    assert list(report) == [
        "ok", "mode", "checked", "problems", "unchecked", "state_digest", "graph_version", "seconds",
        "phases",
    ]  # fmt: skip
    assert set(report["checked"]) == {"commits", "segments", "bytes", "events", "rows", "spans"}
    assert report["ok"] is True
    assert report["mode"] == "fast"
    assert report["checked"]["spans"] > 0


def test_two_readers_of_one_file_get_one_digest(amos, folder):
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD)
    for store in ("one", "two"):
        amos("-s", store, "ingest", notes)
    digests = {amos("-s", store, "verify", "--json").object["state_digest"] for store in ("one", "two")}
    assert len(digests) == 1


def test_a_changed_byte_is_exit_5_and_named(amos, folder):
    import apsw

    amos("ingest", write_lines(folder / "notes.jsonl", *HOUSEHOLD))
    database = apsw.Connection(str(folder / "amos-store" / "default" / "default" / "shard.sqlite"))
    version, body = database.execute(
        "SELECT graph_version, body FROM hot WHERE table_name = 'sources'"
    ).fetchone()
    changed = body.replace(b"Victoria", b"Victorie")
    assert changed != body
    database.execute(
        "UPDATE hot SET body = ? WHERE table_name = 'sources' AND graph_version = ?", (changed, version)
    )
    database.close()
    told = amos("verify", "--json")
    assert told.code == 5
    assert told.object["ok"] is False
    assert {"kind", "where", "detail"} == set(told.object["problems"][0])
    assert amos("verify").out.splitlines()[-1] != "ok"


def test_an_empty_store_verifies(amos):
    amos("init")
    told = amos("verify", "--json")
    assert told.code == 0
    assert told.object["graph_version"] is None


def test_the_deep_check_names_its_phases_with_their_speed(household):
    report = household("verify", "--deep", "--json").object
    assert (report["ok"], report["mode"]) == (True, "deep")
    assert {"files", "links", "rows", "references", "spans", "replay", "digest"} <= {
        phase["name"] for phase in report["phases"]
    }
    assert "replay: " in household("verify", "--deep").out


def test_a_checkpoint_is_written_compared_and_went_on_from(household, folder):
    assert household("verify", "--checkpoint", "one.json").code == 0
    told = household("verify", "--since", "one.json", "--checkpoint", "two.json", "--json")
    assert told.code == 0
    assert told.object["checkpoint"]["since"]["event_count"] == told.object["checkpoint"]["event_count"]
    early = json.loads((folder / "one.json").read_text())
    (folder / "other.json").write_text(json.dumps({**early, "root": "00" * 32}))
    told = household("verify", "--since", "other.json", "--json")
    assert told.code == 5
    assert [problem["kind"] for problem in told.object["problems"]] == ["history_rewritten"]
    (folder / "later.json").write_text(json.dumps({**early, "graph_version": early["graph_version"] + 1}))
    told = household("verify", "--since", "later.json", "--checkpoint", "three.json", "--json")
    assert [problem["kind"] for problem in told.object["problems"]] == ["history_rolled_back"]
    assert not (folder / "three.json").exists()


def test_a_claim_is_proven_without_the_store(household, amos, folder):
    ref = household("list", "--json").rows[0]["atom_id"]
    assert household("verify", "--proof", ref).out.splitlines()[0].startswith(f"{ref} is row ")
    printed = household("verify", "--proof", ref, "--output", "proof.json", "--json").object
    assert json.loads((folder / "proof.json").read_text()) == printed
    household("verify", "--checkpoint", "point.json")
    told = amos("verify", "--check-proof", "proof.json", "--checkpoint", "point.json", "--json")
    assert (told.code, told.object["ref"]) == (0, ref)
    assert amos("verify", "--check-proof", "proof.json").out.splitlines()[-1] == "ok"
    proof = json.loads((folder / "proof.json").read_text())
    proof["row"]["values"]["payload"] = "{}"
    (folder / "proof.json").write_text(json.dumps(proof))
    assert amos("verify", "--check-proof", "proof.json").code == 5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--proof", "atm_22222222"), 2),
        (("--proof", "atm_22222222", "--deep"), 2),
        (("--output", "proof.json"), 2),
        (("--check-proof", "notes.txt"), 3),
        (("--check-proof", "list.json"), 3),
        (("--check-proof", "empty.json"), 3),
        (("--check-proof", "empty.json", "--deep"), 2),
        (("--since", "empty.json"), 3),
        (("--since", "absent.json"), 2),
    ],
)
def test_wrong_proofs_and_checkpoints_are_refused(household, folder, words, code):
    (folder / "notes.txt").write_text("no json")
    (folder / "list.json").write_text("[]")
    (folder / "empty.json").write_text("{}")
    told = household("verify", *words)
    assert told.code == code
    assert "Traceback" not in told.err


def test_a_journal_comes_with_its_verifier(household, folder):
    told = household("export", "journal", "journal.jsonl", "--json")
    assert told.code == 0
    command = [sys.executable, "-I", told.object["verifier"], "journal.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert (done.returncode, done.stdout[:4]) == (0, "ok: ")
    assert "check it with: python -I check_export.py" in household("export", "journal", "again.jsonl").out
