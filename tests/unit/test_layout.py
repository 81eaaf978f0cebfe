"""The shape of the repository: names, sizes and words that reviewers should not have to check."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
SOURCE = TOP / "src" / "amos"
TOP_LEVEL_NAMES = {
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "src",
    "pipelines",
    "tests",
    "data",
    "notebooks",
    "docs",
}
LONGEST_FUNCTION = 60
LONGEST_MODULE = 400
TYPICAL_FUNCTION = 10
MOST_ARGUMENTS = 8
SAMPLES_BYTES = 1 << 20

BANNED_WORDS = {
    "utils",
    "util",
    "helper",
    "helpers",
    "common",
    "misc",
    "manager",
    "handler",
    "handle",
    "obj",
    "info",
}
BANNED_WORDS |= {"process", "data"}
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:root|work|Users)/")
INDEX_ADDRESS = re.compile("|".join(("--(?:extra-)?index" + "-url", "--registr" + r"y\b", "/simp" + "le/")))
UNFINISHED = re.compile(r"\b(?:NotImplementedError|TODO|FIXME|XXX)\b")


def tracked_files() -> list[Path]:
    """Return the files of a clone; where git is absent, the files that a clone would hold."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        names = listing.stdout.decode().split("\0")
        return [TOP / name for name in names if name and (TOP / name).is_file()]
    roots = [TOP / name for name in TOP_LEVEL_NAMES]
    return [
        path for root in roots for path in ([root] if root.is_file() else root.rglob("*")) if path.is_file()
    ]


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


MODULES = sorted(SOURCE.rglob("*.py"))
TREES = {path: ast.parse(text_of(path)) for path in MODULES}


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(TOP)}:{node.lineno} {node.name}", node


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def matching_lines(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(TOP)}:{number}: {line.strip()[:80]}"
        for path in files
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line)
    ]


def test_top_level_holds_only_the_fixed_names():
    found = {path.relative_to(TOP).parts[0] for path in tracked_files()}
    assert {name for name in found if not name.startswith(".")} <= TOP_LEVEL_NAMES


def test_no_package_is_empty():
    packages = [path.parent for path in MODULES if path.name == "__init__.py"]
    empty = [
        str(package.relative_to(TOP))
        for package in packages
        if not any(path.name != "__init__.py" for path in package.rglob("*.py"))
    ]
    assert empty == []


def test_every_folder_of_code_is_a_package():
    folders = {path.parent for path in MODULES}
    assert [
        str(folder.relative_to(TOP)) for folder in sorted(folders) if not (folder / "__init__.py").is_file()
    ] == []


def test_modules_stay_short():
    long = {str(path.relative_to(TOP)): text_of(path).count("\n") for path in MODULES}
    assert {name: lines for name, lines in long.items() if lines > LONGEST_MODULE} == {}


def test_functions_stay_short():
    assert [
        f"{name} ({body_lines(node)})" for name, node in functions() if body_lines(node) > LONGEST_FUNCTION
    ] == []


def test_the_typical_function_fits_a_glance():
    assert statistics.median(body_lines(node) for _, node in functions()) <= TYPICAL_FUNCTION


def test_functions_take_few_arguments():
    """Kernels are exempt: a loop over arrays names each array."""

    def count(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        given = node.args
        names = [argument.arg for argument in given.posonlyargs + given.args + given.kwonlyargs]
        return len([name for name in names if name not in {"self", "cls"}])

    def is_exempt(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        is_command = any(
            "click" in ast.unparse(mark) or ".command" in ast.unparse(mark) for mark in node.decorator_list
        )
        return "/kernels/" in name or is_command

    assert [
        name for name, node in functions() if count(node) > MOST_ARGUMENTS and not is_exempt(name, node)
    ] == []


def defined_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the names a module gives to things: functions, classes, arguments, variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def words_of(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_names_avoid_empty_words():
    in_code = [
        f"{path.relative_to(TOP)}:{line} {name}"
        for path, tree in TREES.items()
        for line, name in defined_names(tree)
        if words_of(name) & BANNED_WORDS
    ]
    in_files = [str(path.relative_to(TOP)) for path in MODULES if words_of(path.stem) & BANNED_WORDS]
    assert in_code + in_files == []


def test_no_file_names_a_machine_or_a_package_index():
    files = [path for path in tracked_files() if path != Path(__file__)]
    assert matching_lines(MACHINE_PATH, files) + matching_lines(INDEX_ADDRESS, files) == []


def test_nothing_is_left_unfinished():
    assert matching_lines(UNFINISHED, [path for path in tracked_files() if SOURCE in path.parents]) == []


def test_modules_and_public_functions_say_what_they_do():
    silent = [
        str(path.relative_to(TOP))
        for path, tree in TREES.items()
        if text_of(path).strip() and not ast.get_docstring(tree)
    ]
    silent += [
        name
        for name, node in functions()
        if not node.name.startswith("_") and not ast.get_docstring(node) and not is_local_or_short(node)
    ]
    assert silent == []


def is_local_or_short(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Nested functions, overrides of other libraries' protocols and one-liners explain themselves."""
    return node.col_offset > 0 or body_lines(node) <= 3


def test_the_samples_are_small_text_in_many_formats():
    files = [path for path in (TOP / "data" / "samples").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < SAMPLES_BYTES
    assert all(text_of(path) for path in files)
    assert len({path.relative_to(TOP / "data" / "samples").parts[0] for path in files}) >= 5


def test_the_readme_holds_the_commands_that_ci_runs():
    readme, run = text_of(TOP / "README.md"), text_of(TOP / ".ci" / "run")
    for command in ("install -q -c .ci/constraints.txt -e '.[dev]'", ".ci/check"):
        assert command in readme
        assert command in run


@pytest.mark.parametrize("requirement_group", ["dependencies", "dev"])
def test_every_direct_requirement_is_pinned(requirement_group: str):
    import tomllib

    project = tomllib.loads(text_of(TOP / "pyproject.toml"))["project"]
    wanted = (
        project["dependencies"]
        if requirement_group == "dependencies"
        else project["optional-dependencies"]["dev"]
    )
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in text_of(TOP / ".ci" / "constraints.txt").splitlines()
    }
    names = {re.split(r"[<>=~!\[; ]", entry)[0].lower().replace("_", "-") for entry in wanted}
    assert names - pinned == set()
