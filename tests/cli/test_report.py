from households import HOUSEHOLD, line, write_lines


def test_the_report_counts_runs_totals_and_what_is_stored(amos, folder):
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD)
    amos("ingest", notes)
    amos("ingest", notes)
    report = amos("report", "ingest", "--json").object
    assert [run["sources"]["new"] for run in report["runs"]] == [8, 0]
    total = report["total"]
    assert total["records_read"] == sum(total["sources"].values()) == 16
    stored = report["stored"]
    assert stored["sources"] == sum(sum(counts.values()) for counts in stored["sources_by"].values()) == 8
    assert stored["decisions"] == sum(sum(counts.values()) for counts in stored["decisions_by"].values())
    assert stored["sources_by"] == {"messages": {"trusted_user": 7, "untrusted_web": 1}}
    assert sum(total["decisions"].values()) == stored["decisions"]


def test_cuts_are_counted_by_rule_and_by_who_said_it(household):
    total = household("report", "ingest", "--json").object["total"]
    assert total["cuts"]
    assert {rule: sum(counts.values()) for rule, counts in total["cuts_by_trust"].items()} == total["cuts"]
    assert {who for counts in total["cuts_by_trust"].values() for who in counts} == {"trusted_user"}


def test_people_read_runs_cuts_and_reasons(household):
    out = household("report", "ingest").out
    for part in (
        "8 records",
        "Cut before storing",
        "Stored now: 8 sources",
        "secret_material_detected: ",
        "messages: ",
    ):
        assert part in out.replace("1 secret_material_detected", "secret_material_detected: 1")


def test_problems_are_kept_with_the_run(amos, folder):
    amos("ingest", write_lines(folder / "torn.jsonl", line("k1", "My kettle colour is blue.", 1), "{torn"))
    report = amos("report", "ingest", "--json").object
    assert report["runs"][0]["errors"][0]["code"]
    assert report["total"]["sources"]["unreadable"] == 1
    assert "Problems: 1." in amos("report", "ingest").out


def test_a_store_that_read_nothing_says_what_to_do(amos):
    amos("init")
    assert "amos ingest PATH" in amos("report", "ingest").out


def test_scope_narrows_what_is_counted_as_stored(household_store, amos):
    asked = ("-s", household_store, "--project", "barn", "report", "ingest")
    report = amos(*asked, "--json").object
    assert report["stored"]["sources"] == 6
    assert report["is_narrowed"] is True
    assert report["runs"] == []
    assert report["total"]["records_read"] == 0
    assert "leave the scope flags out" in amos(*asked).out
