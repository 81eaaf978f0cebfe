import pytest

from households import HOUSEHOLD, write_lines


@pytest.fixture
def notes(folder):
    return write_lines(folder / "notes.jsonl", *HOUSEHOLD)


def test_the_shipped_pipeline_does_what_ingest_does(amos, notes):
    by_run = amos("-s", "one", "run", "ingest", notes, "--json").object
    by_ingest = amos("-s", "two", "ingest", notes, "--json").object
    same = {name for name in by_run if name not in {"seconds"}}
    assert {name: by_run[name] for name in same} == {name: by_ingest[name] for name in same}
    digests = {amos("-s", store, "verify", "--json").object["state_digest"] for store in ("one", "two")}
    assert len(digests) == 1


def test_a_setting_is_changed_on_the_command_line(amos, notes, folder):
    told = amos("run", "ingest", notes, "--set", "read.dry_run=true")
    assert "Nothing was stored" in told.out
    assert not (folder / "amos-store").exists()
    receipt = amos("run", "ingest", notes, "--set", "read.trust=agent", "--json").object
    assert set(receipt["trusts"]) == {"agent", "untrusted_web"}


def test_a_pipeline_of_ones_own_names_its_inputs(amos, notes, folder):
    (folder / "mine.toml").write_text(
        'name = "mine"\n'
        'stages = ["read", "screen", "capture", "propose", "decide", "commit"]\n'
        f'inputs = ["{notes.name}"]\n[read]\nformat = "messages"\n'
    )
    assert amos("run", "mine.toml", "--json").object["sources"]["new"] == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bake",), "no pipeline is called 'bake'"),
        (("ingest",), "names no inputs"),
        (("gone.toml", "x"), "gone.toml"),
        (("ingest", "x", "--set", "read.colour=red"), "colour"),
        (("ingest", "x", "--set", "zone"), "sets nothing"),
        (("ingest", "x", "--set", "read.strict=maybe"), "strict"),
        (("ingest", "x", "--set", "propose.extractor=oracle@9"), "oracle@9"),
        (("ingest", "x", "--set", "name.first=a"), "no stage"),
    ],
)
def test_what_no_pipeline_has_is_exit_2(amos, words, said):
    told = amos("run", *words)
    assert told.code == 2
    assert said in told.err


def test_stages_in_another_order_are_refused(amos, folder):
    (folder / "odd.toml").write_text('name = "odd"\nstages = ["commit", "read"]\ninputs = ["x"]\n')
    told = amos("run", "odd.toml")
    assert told.code == 2
    assert "in this order" in told.err


def test_a_file_that_is_no_toml_is_exit_3(amos, folder):
    (folder / "torn.toml").write_text("name = [")
    assert amos("run", "torn.toml", "x").code == 3
