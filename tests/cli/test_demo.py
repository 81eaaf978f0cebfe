import json
import re
import subprocess
import sys

from amos.bundled import samples_folder


def test_the_demo_tells_the_whole_life_of_a_memory(amos, folder):
    told = amos("demo")
    assert told.code == 0
    for part in (
        "What came in",
        "What was kept",
        "What was refused, and why",
        "Three questions",
        "Why?",
        "Was anything altered?",
    ):
        assert part in told.out
    samples = [one for one in samples_folder().rglob("*.json*") if one.is_file()]
    formats = {one.parent.name for one in samples}
    assert f"in {len(samples)} files of\n{len(formats)} formats" in told.out
    assert re.search(r"Read 5\d\d records", told.out)
    assert "secret_material_detected" in told.out
    assert "explicit_exclusion_signal" in told.out
    assert "(the text is withheld)" in told.out
    assert len(re.findall(r" (?:1 item|\d+ items), ", told.out)) == 3
    assert "\nok\n" in told.out
    assert told.out.rstrip().splitlines()[-3].strip().startswith("amos ingest")
    assert list(folder.iterdir()) == []


def test_the_store_can_be_kept_and_asked(amos):
    told = amos("demo", "--keep", "kept")
    assert told.out.rstrip().splitlines()[-1].strip() == "amos -s kept list"
    assert amos("-s", "kept", "verify").code == 0
    assert amos("-s", "kept", "list", "--json").end["rows"] > 0


def test_the_story_as_an_object_holds_the_rows_behind_it(amos):
    story = amos("demo", "--json").object
    assert list(story) == ["ingest", "kept", "refused", "packets", "why", "verify", "reprocess"]
    assert story["verify"]["ok"] is True
    assert len(story["packets"]) == 3
    assert all(packet["items"] for packet in story["packets"])
    assert story["why"]["evidence"]


def test_the_demo_needs_no_compiler(folder):
    script = (
        "import json, sys\n"
        "from amos.cli import main\n"
        "try: main(['demo'])\n"
        "except SystemExit: pass\n"
        "print(json.dumps(sorted({'numba', 'llvmlite', 'duckdb'} & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []
