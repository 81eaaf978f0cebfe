"""The page on inputs names every format and every code, and its mapping file is one."""

import re
from pathlib import Path

import pytest

from amos.sources.faults import Fault
from amos.sources.limits import Limits
from amos.sources.mapping import load_mapping
from amos.sources.registry import readers

PAGE = (Path(__file__).parents[3] / "docs" / "formats" / "inputs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", [*readers(), *Fault])
def test_the_page_names_every_format_and_code(word):
    assert f"`{word}`" in PAGE


def test_the_mapping_on_the_page_is_a_mapping(tmp_path):
    path = tmp_path / "mapping.toml"
    path.write_text(re.search(r"```toml\n(name = .*?)```", PAGE, re.DOTALL)[1])
    mapping = load_mapping(path)
    assert mapping.fields["text"] == "body"
    assert mapping.values["role"] == {"customer": "user", "clerk": "assistant"}


def test_the_limits_on_the_page_are_the_limits():
    limits = Limits()
    assert f"{limits.record_bytes >> 20} MiB" in PAGE
    assert f"deeper than {limits.depth} levels" in PAGE
    assert f"{limits.members:,} members" in PAGE
    assert f"{limits.member_bytes >> 30} GiB" in PAGE
    assert f"more than {limits.member_ratio} times" in PAGE
    assert f"(beyond {limits.ratio_floor_bytes >> 20} MiB)" in PAGE
    assert f"{limits.folder_depth} deep" in PAGE
