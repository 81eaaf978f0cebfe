"""The first steps on a clean machine: no key, no network, no setting; and every step succeeds."""

import json
import os
import subprocess
import sys

OFFLINE = """
import socket, sys
def refuse(*arguments, **options):
    raise OSError("the network was called")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = socket.getaddrinfo = refuse
from amos.cli import main
main(sys.argv[1:])
"""


def offline(folder, *words):
    """Run one command in `folder` in a program that has neither network nor any setting."""
    known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", OFFLINE, *words],
        cwd=folder,
        env={**known, "HOME": str(folder), "LANG": "C"},
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
    )


def test_the_first_steps_need_neither_network_nor_key_nor_setting(tmp_path):
    note = {"id": "n1", "text": "My kettle colour is blue.", "ts": "2026-05-04T07:00:00Z"}
    (tmp_path / "notes.jsonl").write_text(json.dumps(note) + "\n", encoding="utf-8")
    steps = (
        ("init",),
        ("ingest", "notes.jsonl"),
        ("packet", "kettle colour"),
        ("search", "kettle", "--json"),
        ("list",),
        ("sql", "SELECT count(*) AS n FROM atoms"),
        ("verify",),
        ("doctor",),
    )
    told = {words[0]: offline(tmp_path, *words) for words in steps}
    assert {name: done.returncode for name, done in told.items()} == dict.fromkeys(told, 0), told
    assert not [name for name, done in told.items() if "network" in done.stderr + done.stdout]
    assert "User's kettle colour is blue." in told["packet"].stdout
    assert json.loads(told["search"].stdout.splitlines()[-1])["amos_end"]["rows"] == 1
