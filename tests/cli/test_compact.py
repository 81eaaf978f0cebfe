from households import HOUSEHOLD, write_lines


def stored_in_parts(amos, folder, parts):
    """Ingest the household a line at a time, each commit sealed at once."""
    from amos.journal.store import Shard

    for number in range(parts):
        line = HOUSEHOLD[number % len(HOUSEHOLD)]
        notes = write_lines(folder / f"notes-{number}.jsonl", {**line, "id": f"n{number}"})
        assert amos("ingest", notes).code == 0
        with Shard.open(folder / "amos-store") as shard:
            shard._log.seal_all()


def test_a_new_store_has_nothing_to_merge(household):
    told = household("compact")
    assert told.code == 0
    assert "Nothing to merge" in told.out


def test_many_segments_become_few_and_the_digest_stays(amos, folder):
    stored_in_parts(amos, folder, 11)
    before = amos("verify", "--json").object
    planned = amos("compact", "--full", "--dry-run", "--json").object
    assert planned["dry_run"] is True
    assert amos("verify", "--json").object["checked"] == before["checked"]
    done = amos("compact", "--full", "--json").object
    assert set(done["segments_after"].values()) == {1}
    assert [merge["table"] for merge in done["merges"]] == [merge["table"] for merge in planned["merges"]]
    after = amos("verify", "--json").object
    assert (after["ok"], after["state_digest"]) == (True, before["state_digest"])
    assert amos("compact").out.startswith("Nothing to merge")


def test_people_read_what_was_merged(amos, folder):
    stored_in_parts(amos, folder, 3)
    assert "would merge" in amos("compact", "--full", "--dry-run").out
    told = amos("compact", "--full").out
    assert "merged 3 segments of sources (3 rows" in told
    assert " before, " in told.splitlines()[-1]


def test_there_must_be_a_store(amos):
    told = amos("compact")
    assert told.code == 2
    assert "there is no store" in told.err
