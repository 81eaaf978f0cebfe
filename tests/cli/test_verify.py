from households import HOUSEHOLD, write_lines


def test_a_good_store_ends_with_ok_and_the_state_digest(household):
    told = household("verify")
    assert told.code == 0
    assert told.out.splitlines()[-1] == "ok"
    assert "State digest " in told.out


def test_the_report_has_the_contracted_shape(household):
    report = household("verify", "--json").object
    assert list(report) == ["ok", "mode", "checked", "problems", "state_digest", "graph_version", "seconds"]
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
