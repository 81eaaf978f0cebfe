import pytest

from households import HOUSEHOLD, call, write_lines


@pytest.fixture
def secret(folder):
    path = folder / "secret.txt"
    path.write_text("a goose in the orchard\n", encoding="utf-8")
    return path


def test_an_export_with_its_key_becomes_a_store(household, folder, secret):
    told = household("export", "parquet", "-o", "out", "--key-from", secret, "--json")
    assert (told.code, told.object["lossless"], told.object["keyed"]) == (0, True, True)
    dry = call("-s", "again", "import", "out", "--key-from", secret, "--dry-run", "--json")
    assert (dry.code, dry.object["mode"], (folder / "again").exists()) == (0, "adopted", False)
    told = call("-s", "again", "import", "out", "--key-from", secret)
    assert told.code == 0, told.err
    assert "It is this store" in told.out
    found = call("-s", "again", "verify", "--json").object
    assert found["state_digest"] == household("verify", "--json").object["state_digest"]


def test_without_its_key_the_sources_are_decided_again(household, folder):
    assert "tombstones not transferable" in household("export", "parquet", "-o", "out").out
    dry = call("-s", "again", "import", "out", "--dry-run", "--json").object
    assert not (folder / "again").exists()
    told = call("-s", "again", "import", "out", "--json")
    assert told.code == 0, told.err
    assert told.object["sources"] == dry["sources"]
    assert told.object["state_digest_equal"]
    assert "0 new" in call("-s", "again", "import", "out").out


def test_a_wrong_or_empty_secret_is_named(household, folder, secret):
    household("export", "parquet", "-o", "out", "--key-from", secret)
    (folder / "empty.txt").touch()
    told = call("-s", "again", "import", "out", "--key-from", "empty.txt")
    assert (told.code, "holds no secret" in told.err) == (3, True)
    (folder / "other.txt").write_text("a duck", encoding="utf-8")
    told = call("-s", "again", "import", "out", "--key-from", "other.txt")
    assert (told.code, "does not open" in told.err) == (3, True)
    told = call("-s", "again", "import", "out", "--key-from", secret, "--passphrase")
    assert told.code == 2


def test_a_folder_that_is_no_export_is_refused(folder):
    (folder / "empty").mkdir()
    told = call("-s", "again", "import", "empty")
    assert told.code == 3
    assert "amos ingest" in told.err
    assert not (folder / "again").exists()


def test_sources_are_decided_again_by_the_extractor_that_read_them(amos, folder):
    notes = write_lines(folder / "notes.jsonl", *HOUSEHOLD)
    amos("-q", "ingest", notes, "--from", "messages", "--extractor", "rules@1")
    amos("export", "parquet", "-o", "out")
    done = amos("-s", "other", "import", "out", "--json").object
    assert done["sources"]["new"] > 0
    assert done["state_digest_equal"] is True
    rows = amos("-s", "other", "list", "candidates", "--json").rows
    assert {row["extractor"] for row in rows} == {"rules@1"}
