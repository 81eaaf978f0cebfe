from households import HOUSEHOLD, write_lines


def test_a_snapshot_is_registered_once(amos, folder):
    assert amos("ingest", write_lines(folder / "notes.jsonl", *HOUSEHOLD)).code == 0
    digest = amos("verify", "--json").object["state_digest"]
    done = amos("snapshot", "--json").object
    assert (done["is_new"], done["state_digest"]) == (True, digest)
    assert "registered already" in amos("snapshot").out
    after = amos("verify", "--json").object
    assert (after["ok"], after["state_digest"]) == (True, digest)


def test_people_read_what_was_registered(amos, folder):
    assert amos("ingest", write_lines(folder / "notes.jsonl", *HOUSEHOLD)).code == 0
    told = amos("snapshot").out.splitlines()
    assert told[0].startswith("Registered graph version ")
    assert told[1].startswith("state digest ")


def test_history_below_a_snapshot_can_be_dropped(amos, folder):
    assert amos("compact", "--drop-history").code == 2
    for number, city in enumerate(("Graz", "Brno", "Oslo")):
        line = {"id": f"m{number}", "conversation": "c", "turn": number, "role": "user",
                "ts": f"2026-03-0{number + 1}T10:00:00Z", "text": f"I live in {city}."}  # fmt: skip
        assert amos("ingest", write_lines(folder / f"n{number}.jsonl", line)).code == 0
    assert "amos snapshot" in amos("compact", "--drop-history").err
    version = amos("snapshot", "--json").object["graph_version"]
    planned = amos("compact", "--drop-history", "--dry-run", "--json").object["dropped"]
    assert sum(planned["rows"].values()) > 0
    assert "superseded row" in amos("compact", "--drop-history").out
    verified = amos("verify", "--json").object
    assert (verified["ok"], verified["checked"]["erased"]) == (True, sum(planned["rows"].values()))
    assert "Oslo" in amos("packet", "where do I live").out
    assert amos("list", "--at-version", str(version)).code == 0
    told = amos("list", "--at-version", str(version - 1))
    assert told.code == 2
    assert "beyond retention" in told.err
