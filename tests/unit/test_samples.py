"""The sample story is what `data/README.md` says it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"
SAMPLES = DATA / "samples"
ROW = re.compile(r"^\| `(?P<files>[^`]+)` \| `(?P<format>[^`]+)` \| (?P<count>\d+) \|", re.M)
DOCUMENTED = [match.groupdict() for match in ROW.finditer((DATA / "README.md").read_text(encoding="utf-8"))]


def record_count(path: Path, format_name: str) -> int:
    text = path.read_text(encoding="utf-8")
    if format_name == "chatgpt":
        nodes = [node for conversation in json.loads(text) for node in conversation["mapping"].values()]
        return len([node for node in nodes if node["message"] is not None])
    if format_name == "claude-ai":
        return sum(len(conversation["chat_messages"]) for conversation in json.loads(text))
    return len([json.loads(line) for line in text.splitlines()])


def everything() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(SAMPLES.rglob("*")) if path.is_file()
    )


@pytest.mark.parametrize("row", DOCUMENTED, ids=lambda row: row["files"])
def test_files_hold_as_many_records_as_documented(row):
    paths = sorted(SAMPLES.glob(row["files"]))
    assert paths
    assert sum(record_count(path, row["format"]) for path in paths) == int(row["count"])


def test_every_file_is_documented_and_the_story_is_long_enough():
    documented = {path for row in DOCUMENTED for path in SAMPLES.glob(row["files"])}
    assert documented == {path for path in SAMPLES.rglob("*") if path.is_file()}
    assert sum(int(row["count"]) for row in DOCUMENTED) >= 420
    assert len({row["format"] for row in DOCUMENTED}) >= 5


def test_the_story_spans_five_months():
    months = set(re.findall(r'"(?:ts|timestamp|created_at)": "(2026-\d\d)', everything()))
    assert {"2026-03", "2026-04", "2026-05", "2026-06", "2026-07"} <= months


def test_whatever_looks_like_a_secret_says_that_it_is_an_example():
    text = everything()
    secrets = re.findall(r"\b(?:tok|sk|ghp)_\w+|password at [^\"]*? is \S+", text)
    assert len(secrets) >= 2
    assert [secret for secret in secrets if "EXAMPLE" not in secret] == []


def test_two_people_share_a_first_name():
    lines = (SAMPLES / "messages" / "household-group.jsonl").read_text(encoding="utf-8").splitlines()
    authors = {json.loads(line)["author"] for line in lines}
    assert {author for author in authors if author.startswith("Robin ")} == {"Robin Maes", "Robin Oyelaran"}
