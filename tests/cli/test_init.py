def test_init_makes_a_store_that_ignores_itself_in_git(amos, folder):
    told = amos("-s", "mem", "init")
    assert told.code == 0
    assert "made the store mem" in told.err
    assert "amos -s mem ingest PATH" in told.out
    assert (folder / "mem" / ".gitignore").read_text() == "*\n"


def test_init_leaves_a_store_as_it_is(amos):
    made = amos("init", "--json").object
    assert made.items() >= {"store": "amos-store", "created": True, "graph_version": None}.items()
    assert amos("init", "--json").object["created"] is False
    assert "a store already" in amos("init").out


def test_init_refuses_a_path_that_is_a_file(amos, folder):
    (folder / "mem").write_text("not a store")
    told = amos("-s", "mem", "init")
    assert told.code == 3
    assert "is a file" in told.err
    assert (folder / "mem").read_text() == "not a store"


def test_init_refuses_a_tenant_that_is_no_folder_name(amos):
    told = amos("--tenant", "../away", "init")
    assert told.code == 2
    assert "cannot be a folder name" in told.err
