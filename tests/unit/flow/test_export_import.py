import hashlib
import json
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import amos.api
from amos.copies.wrapping import unwrap_key, wrap_key
from amos.errors import InputError, IntegrityError, SchemaError, UsageError
from amos.flow.export_parquet import NO_KEY
from amos.moves import back_up, export_tables, import_export, restore
from households import HOUSEHOLD, line, write_lines

SECRET = b"a goose in the orchard"
NURSE = line("s1", "My sister lives in Ghent. She works as a nurse.", 14)
EDIT = {"id": "e1", "conversation": "allotment", "role": "user", "ts": "2026-05-03T09:30:00+02:00"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return a store with cut, flagged, withheld and edited messages, and something forgotten."""
    folder = tmp_path_factory.mktemp("kept")
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD, line("f1", "My sister Ines lives in Porto.", 9))
    with amos.api.Store.create(folder / "mem") as store:
        store.ingest(notes, format="messages")
        gone = next(row["atom_id"] for row in store.list().rows if "Porto" in json.dumps(row))
        store.forget(gone)
    return folder / "mem"


def exported(root, folder, **options):
    with amos.api.Store.open(root, scope=options.pop("scope", None)) as store:
        return export_tables(store, folder, **options)


def facts(root):
    with amos.api.Store.open(root, read_only=True) as store:
        report = store.verify()
        runs = store.shard.records().commits
    assert report.problems == []
    return report.state_digest, report.graph_version, [entry.link for entry in runs]


def test_with_the_key_an_empty_store_becomes_the_same_store(kept, tmp_path):
    receipt = exported(kept, tmp_path / "out", secret=SECRET)
    assert (receipt["lossless"], receipt["keyed"]) == (True, True)
    found = import_export(tmp_path / "again", tmp_path / "out", secret=SECRET)
    assert found["mode"] == "adopted"
    assert found["tombstones"]["transferred"] > 0
    assert facts(tmp_path / "again") == facts(kept)
    with amos.api.Store.open(tmp_path / "again") as store:
        told = store.ingest(kept.parent / "notes.jsonl", format="messages")
        assert "Porto" not in json.dumps(store.list().rows)
    assert told["sources"]["new"] == 0


def test_an_empty_store_that_was_made_before_is_taken_over(kept, tmp_path):
    exported(kept, tmp_path / "out", secret=SECRET)
    amos.api.Store.create(tmp_path / "again").close()
    import_export(tmp_path / "again", tmp_path / "out", secret=SECRET)
    assert facts(tmp_path / "again") == facts(kept)
    assert [path.name for path in (tmp_path / "again/default").iterdir()] == ["default"]


def test_with_another_key_the_state_is_the_same_and_importing_again_adds_nothing(kept, tmp_path):
    with amos.api.Store.create(tmp_path / "mem") as store:
        store.ingest(kept.parent / "notes.jsonl", format="messages")
        store.ingest(Path(__file__).parents[3] / "data/samples/claude-ai")
    receipt = exported(tmp_path / "mem", tmp_path / "out")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["keys"] == NO_KEY
    assert pc.any(pc.greater(pq.read_table(tmp_path / "out/sources.parquet")["cut_bytes"], 0)).as_py()
    first = import_export(tmp_path / "again", tmp_path / "out")
    assert first["mode"] == "merged"
    assert (first["state_digest"], first["state_digest_equal"]) == (receipt["state_digest"], True)
    before = facts(tmp_path / "again")
    second = import_export(tmp_path / "again", tmp_path / "out")
    assert second["sources"] == {"new": 0, "linked": first["records_read"], "rejected": 0, "unreadable": 0}
    assert facts(tmp_path / "again") == before


def test_importing_into_the_store_itself_moves_nothing(kept, tmp_path):
    exported(kept, tmp_path / "out", secret=SECRET)
    before = facts(kept)
    for secret in (None, SECRET):
        receipt = import_export(kept, tmp_path / "out", secret=secret)
        assert receipt["sources"]["new"] == receipt["sources"]["rejected"] == 0
    assert facts(kept) == before


def test_a_store_with_content_gains_what_it_lacks(kept, tmp_path):
    exported(kept, tmp_path / "out")
    with amos.api.Store.create(tmp_path / "other") as store:
        store.ingest(write_lines(tmp_path / "own.jsonl", line("o1", "My bike is red.", 4)), format="messages")
    receipt = import_export(tmp_path / "other", tmp_path / "out")
    assert receipt["sources"]["new"] == receipt["records_read"]
    assert receipt["tombstones"]["not_transferable"] > 0
    with amos.api.Store.open(tmp_path / "other") as store:
        store.ingest(tmp_path / "own.jsonl", format="messages")
        assert "bike" in json.dumps(store.list().rows)
    assert facts(tmp_path / "other")


def test_what_the_target_has_forgotten_does_not_return(tmp_path):
    note = write_lines(tmp_path / "one.jsonl", line("f1", "My sister Ines lives in Porto.", 9))
    for name in ("theirs", "ours"):
        with amos.api.Store.create(tmp_path / name) as store:
            store.ingest(note, format="messages")
    exported(tmp_path / "theirs", tmp_path / "out")
    with amos.api.Store.open(tmp_path / "ours") as store:
        store.forget(store.list().rows[0]["atom_id"])
    import_export(tmp_path / "ours", tmp_path / "out")
    files = [path for path in (tmp_path / "ours").rglob("*") if path.is_file()]
    assert not any(b"Porto" in path.read_bytes() for path in files)


def talk(path, text, updated):
    """Write a one-message export in which the message was last changed at `updated`."""
    times = {"created_at": "2026-03-01T08:00:00Z", "updated_at": updated}
    message = {"uuid": "m-1", "sender": "human", "text": text, "content": [{"type": "text", "text": text}]}
    path.write_text(
        json.dumps([{"uuid": "c-1", "name": "Shelf", **times, "chat_messages": [message | times]}])
    )
    return path


def test_an_edit_stays_an_edit(tmp_path):
    with amos.api.Store.create(tmp_path / "mem") as store:
        store.ingest(talk(tmp_path / "a.json", "My locker is B12.", "2026-03-01T08:00:00Z"))
        store.ingest(talk(tmp_path / "b.json", "My locker is C40.", "2026-03-02T08:00:00Z"))
    receipt = exported(tmp_path / "mem", tmp_path / "out")
    for _ in range(2):
        found = import_export(tmp_path / "again", tmp_path / "out")
        assert found["state_digest"] == receipt["state_digest"]
    assert found["sources"]["linked"] == 2


def test_what_a_new_decision_cannot_know_is_said(kept, tmp_path):
    write_lines(tmp_path / "a.jsonl", *HOUSEHOLD, HOUSEHOLD[0] | {"text": "Quite another text."})
    with amos.api.Store.create(tmp_path / "mem") as store:
        store.ingest(tmp_path / "a.jsonl", format="messages")
    exported(tmp_path / "mem", tmp_path / "out")
    exported(kept, tmp_path / "forgotten")
    found = import_export(tmp_path / "again", tmp_path / "out")
    assert (found["state_digest_equal"], list(found["differs_by"])) == (False, ["refused deliveries"])
    found = import_export(tmp_path / "third", tmp_path / "forgotten")
    assert "sources cut by an erasure" in found["differs_by"]
    left = found["tombstones"]["not_transferable"]
    assert found["differs_by"]["tombstones that did not come along"] == left > 0


@pytest.mark.parametrize("name", ["sources.parquet", "events.parquet", "catalog.jsonl"])
def test_a_changed_file_is_named_before_anything_is_written(kept, tmp_path, name):
    exported(kept, tmp_path / "out", secret=SECRET)
    path = tmp_path / "out" / name
    broken = bytearray(path.read_bytes())
    broken[len(broken) // 2] ^= 1
    path.write_bytes(broken)
    with pytest.raises(IntegrityError, match=name):
        import_export(tmp_path / "again", tmp_path / "out", secret=SECRET)
    path.unlink()
    with pytest.raises(IntegrityError, match=f"{name} is missing"):
        import_export(tmp_path / "again", tmp_path / "out", secret=SECRET)
    assert not (tmp_path / "again").exists()


def test_a_row_changed_with_its_digest_in_the_manifest_still_fails_the_chain(kept, tmp_path):
    exported(kept, tmp_path / "out")
    path = tmp_path / "out/sources.parquet"
    rows = pq.read_table(path)
    turns = [turn + 1 for turn in rows["turn"].to_pylist()]
    place = rows.schema.get_field_index("turn")
    pq.write_table(rows.set_column(place, rows.schema.field("turn"), [turns]), path, store_schema=False)
    forge(tmp_path / "out", "sources")
    with pytest.raises(IntegrityError, match="does not verify"):
        import_export(tmp_path / "again", tmp_path / "out")
    assert not (tmp_path / "again/default").exists()


def forge(folder, table, **changes):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    path = folder / manifest["tables"][table]["file"]
    manifest["tables"][table] |= {
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"kind": "other"}, InputError, "no manifest"),
        ({"format_version": 99}, SchemaError, "reads up to"),
        ({"tables": {"spoons": {"file": "x", "rows": 1, "bytes": 1, "sha256": ""}}}, SchemaError, "spoons"),
        ({"tables": {"atoms": {"file": "../x", "rows": 1, "bytes": 1, "sha256": ""}}}, InputError, "outside"),
        ({"tables": []}, InputError, "no manifest"),
        ({"state_digest": "00"}, IntegrityError, "state digest"),
    ],
)
def test_a_manifest_that_is_none_of_ours_is_refused(kept, tmp_path, changes, error, told):
    exported(kept, tmp_path / "out")
    forge(tmp_path / "out", "atoms", **changes)
    with pytest.raises(error, match=told):
        import_export(tmp_path / "again", tmp_path / "out")


def test_a_wrong_secret_opens_nothing(kept, tmp_path):
    exported(kept, tmp_path / "out", secret=SECRET)
    with pytest.raises(InputError, match="does not open"):
        import_export(tmp_path / "again", tmp_path / "out", secret=b"a duck")
    key = bytes(range(32))
    wrapped = wrap_key(key, SECRET, bytes(32))
    assert unwrap_key(wrapped, SECRET) == key
    assert key.hex() not in json.dumps(wrapped)


def test_an_export_with_holds_and_a_snapshot_comes_in_without_its_key_too(kept, tmp_path):
    with amos.api.Store.open(shutil.copytree(kept, tmp_path / "own")) as store:
        store.hold(store.list().rows[0]["atom_id"], reason="case_7")
        store.snapshot()
        export_tables(store, tmp_path / "out")
    receipt = import_export(tmp_path / "again", tmp_path / "out")
    assert receipt["sources"]["new"] > 0
    with amos.api.Store.open(tmp_path / "again") as again:
        assert again.verify(deep=True).problems == []


def test_a_narrowed_export_holds_what_is_in_sight_alone(kept, tmp_path):
    receipt = exported(kept, tmp_path / "out", scope={"project": "barn"}, secret=SECRET)
    assert (receipt["lossless"], receipt["keyed"], receipt["state_digest"]) == (False, False, None)
    assert not (tmp_path / "out/events.parquet").exists()
    assert not any(
        "plum" in text for text in pq.read_table(tmp_path / "out/sources.parquet")["content"].to_pylist()
    )
    found = import_export(tmp_path / "again", tmp_path / "out")
    assert found["sources"]["new"] > 0
    assert import_export(tmp_path / "again", tmp_path / "out")["sources"]["new"] == 0


def test_format_1_goes_back_or_says_what_cannot(kept, tmp_path):
    with pytest.raises(SchemaError, match=r"cannot hold .* tombstones"):
        exported(kept, tmp_path / "out", format_version=1)
    assert not (tmp_path / "out").exists()
    with amos.api.Store.create(tmp_path / "plain") as store:
        plain = write_lines(tmp_path / "plain.jsonl", line("p1", "My locker is B12.", 1))
        store.ingest(plain, format="messages")
    receipt = exported(tmp_path / "plain", tmp_path / "out", format_version=1, secret=SECRET)
    assert receipt["format_version"] == 1
    assert not (tmp_path / "out/tombstones.parquet").exists()
    assert "erase_count" not in (tmp_path / "out/catalog.jsonl").read_text(encoding="utf-8")
    import_export(tmp_path / "again", tmp_path / "out", secret=SECRET)
    assert facts(tmp_path / "again") == facts(tmp_path / "plain")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_older_format_goes_without_what_the_sources_give_again(tmp_path, number):
    with amos.api.Store.create(tmp_path / "mem") as store:
        store.ingest(write_lines(tmp_path / "notes.jsonl", *HOUSEHOLD, NURSE), format="messages")
        state = store.verify().state_digest
    receipt = exported(tmp_path / "mem", tmp_path / "out", format_version=number)
    assert (receipt["format_version"], receipt["lossless"]) == (number, False)
    assert any("rows of mentions: reading the sources again" in what for what in receipt["left_out"])
    assert not {"mentions.parquet", "events.parquet"} & {path.name for path in (tmp_path / "out").iterdir()}
    assert import_export(tmp_path / "again", tmp_path / "out")["state_digest"] == state


def test_an_older_format_goes_without_what_was_decided_only_when_asked(kept, tmp_path):
    with amos.api.Store.open(shutil.copytree(kept, tmp_path / "own")) as store:
        store.ingest(write_lines(tmp_path / "nurse.jsonl", NURSE), format="messages")
        store.hold(store.list().rows[0]["atom_id"], reason="case_7")
        with pytest.raises(SchemaError, match=r"cannot hold 1 legal hold, the key of its tombstones"):
            export_tables(store, tmp_path / "out", format_version=3, secret=SECRET)
        receipt = export_tables(store, tmp_path / "out", format_version=3, secret=SECRET, leave_out=True)
    assert {"1 legal hold", "the key of its tombstones"} <= set(receipt["left_out"])
    assert (receipt["keyed"], receipt["lossless"]) == (False, False)
    assert import_export(tmp_path / "again", tmp_path / "out")["sources"]["new"] > 0


def test_an_export_never_overwrites_and_is_registered(kept, tmp_path):
    exported(kept, tmp_path / "out")
    with pytest.raises(UsageError, match="exists already"):
        exported(kept, tmp_path / "out")
    with amos.api.Store.open(kept, read_only=True) as store:
        assert ("export parquet", str(tmp_path / "out")) in [
            (entry.kind, entry.place) for entry in store.shard.copies()
        ]
    shutil.rmtree(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_snapshots_and_dropped_history_move_along(tmp_path):
    with amos.api.Store.create(tmp_path / "mem") as store:
        for day, colour in enumerate(("red", "blue", "green"), start=1):
            note = line(f"c{day}", f"My bike is {colour}.", day)
            store.ingest(write_lines(tmp_path / "c.jsonl", note), format="messages")
        store.snapshot()
        store.compact(drop_history=True)
        store.ingest(
            write_lines(tmp_path / "d.jsonl", line("d1", "My kayak is white.", 9)), format="messages"
        )
        retained = store.shard.retained_from
    assert retained > 0
    exported(tmp_path / "mem", tmp_path / "keyed", secret=SECRET)
    exported(tmp_path / "mem", tmp_path / "plain")
    import_export(tmp_path / "same", tmp_path / "keyed", secret=SECRET)
    assert facts(tmp_path / "same") == facts(tmp_path / "mem")
    with amos.api.Store.open(tmp_path / "same", read_only=True) as store:
        assert store.shard.retained_from == retained
    assert import_export(tmp_path / "other", tmp_path / "plain")["state_digest_equal"]
    back_up(tmp_path / "mem", tmp_path / "copy", with_keys=True)
    assert restore(tmp_path / "copy", tmp_path / "again")["graph_version"] == facts(tmp_path / "mem")[1]
