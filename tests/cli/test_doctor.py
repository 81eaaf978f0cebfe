import json
import os
import sqlite3
import subprocess
import sys
from collections import namedtuple

import pytest

from amos.kernels import warmth
from amos.kernels.compiled import cache_folder


def checks(told):
    return {check["name"]: check for check in told.object["checks"]}


def test_a_machine_without_a_store_is_well_and_hears_how_to_make_one(amos):
    told = amos("doctor", "--json")
    assert told.code == 0
    assert told.object["ok"] is True
    assert set(told.object["checks"][0]) == {"name", "ok", "detail", "advice"}
    assert "amos init" in checks(told)["store"]["detail"]


def test_a_good_store_is_well(household):
    told = household("doctor", "--json")
    assert told.code == 0
    assert {
        "python",
        "packages",
        "kernels",
        "disk_space",
        "file_system",
        "owner",
        "store",
        "writable",
        "hot_rows",
        "replaced_files",
        "index",
    } == set(checks(told))
    assert household("doctor").out.splitlines()[-1] == "ok"


def test_a_missing_key_is_found_with_advice(amos, folder):
    amos("init")
    for name in ("keys.sqlite", "keys.sqlite-wal", "keys.sqlite-shm"):
        (folder / "amos-store" / "default" / "default" / name).unlink(missing_ok=True)
    told = amos("doctor", "--json")
    assert told.code == 1
    assert "keys.sqlite" in checks(told)["store"]["detail"]
    assert "backup" in checks(told)["store"]["advice"]
    assert "next: " in amos("doctor").out


def test_a_store_of_a_newer_format_is_found(amos, folder):
    amos("init")
    database = sqlite3.connect(folder / "amos-store" / "default" / "default" / "shard.sqlite")
    database.execute("PRAGMA user_version = 99")
    database.close()
    told = amos("doctor", "--json")
    assert told.code == 1
    assert "format 99" in checks(told)["store"]["detail"]


def test_a_nearly_full_disk_is_found(amos, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("amos.flow.doctor.shutil.disk_usage", lambda _: usage(100, 99, 1))
    told = amos("doctor", "--json")
    assert told.code == 1
    assert checks(told)["disk_space"]["ok"] is False


def test_a_folder_of_another_user_is_found(household, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 4242)
    told = household("doctor", "--json")
    assert told.code == 1
    assert checks(told)["owner"]["ok"] is False


def test_warm_compiles_before_it_looks(amos, monkeypatch):
    warmed = []
    monkeypatch.setattr("amos.flow.warming.warm_kernels", lambda: warmed.append(True))
    assert amos("doctor", "--warm").code == 0
    assert warmed == [True]


@pytest.mark.nightly
def test_warming_fills_an_empty_cache(folder):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", "from amos.cli import main; main()", "doctor", "--warm", "--json"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    found = {check["name"]: check["detail"] for check in json.loads(done.stdout)["checks"]}
    assert found["kernels"] == "compiled"
    assert list((folder / "cache").rglob("*.nbi"))


def test_a_cache_that_holds_other_loops_is_not_warm(folder, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "cache"))
    cache = cache_folder()
    cache.mkdir(parents=True)
    (cache / "canonical._copy_runs-9.py311.nbi").write_bytes(b"")
    assert not warmth.is_warm()
    for name in ("reading.read_messages", "history.fold_histories", "bulk_hashing.frame_bytes"):
        (cache / f"{name}-9.py311.nbi").write_bytes(b"")
    assert warmth.is_warm()
