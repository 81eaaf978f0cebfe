import re
import subprocess
import sys
from types import FunctionType

import pytest

from amos.kernels import compiled as module
from amos.kernels.bulk_hashing import frame_bytes, frame_integers
from amos.kernels.compiled import cache_folder, compiled, is_worth_compiling
from amos.kernels.history import fold_histories
from amos.kernels.reading import read_messages


def double(number):
    return number + number


def test_a_missing_numba_leaves_the_plain_function_with_a_warning(monkeypatch, caplog):
    def refuse(_function):
        raise ImportError("no such module")

    monkeypatch.setattr(module, "_COMPILED", {})
    monkeypatch.setattr(module, "_jit", refuse)
    assert compiled(double) is double
    assert "uncompiled" in caplog.text


def test_the_same_function_has_one_twin(monkeypatch):
    made = []
    monkeypatch.setattr(module, "_COMPILED", {})
    monkeypatch.setattr(module, "_jit", lambda function: made.append(function) or (lambda *_: 0))
    assert compiled(double) is compiled(double)
    assert made == [double]


def test_few_rows_are_worth_compiling_only_where_numba_is_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert not is_worth_compiling(1_000)
    assert is_worth_compiling(1_000_000)
    monkeypatch.setitem(sys.modules, "numba", module)
    assert is_worth_compiling(1_000)


def callees_of(function, found):
    for name in function.__code__.co_names:
        callee = function.__globals__.get(name)
        is_kernel = isinstance(callee, FunctionType) and callee.__module__.startswith("amos.kernels.")
        if is_kernel and callee not in found:
            found.add(callee)
            callees_of(callee, found)
    return found


@pytest.mark.parametrize("loop", [read_messages, fold_histories, frame_bytes, frame_integers])
def test_callees_give_numbers_and_make_no_arrays(loop):
    """Nobody counts there who holds an array: one that a callee gave back would be freed in use."""
    number = r"(?:int|bool|float|None)"
    for callee in callees_of(loop, set()):
        given = callee.__annotations__["return"]
        assert re.fullmatch(rf"{number}|tuple\[{number}(?:, {number})*\]", given), callee.__qualname__
        assert not {"zeros", "empty", "full", "arange", "copy"} & set(callee.__code__.co_names)


def test_compiled_code_is_cached_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert cache_folder().parent == tmp_path
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().is_relative_to(tmp_path / "amos" / "numba")


def test_the_folder_follows_the_text_of_the_kernels_wherever_it_is(monkeypatch, tmp_path):
    """A loop compiled before a callee in another file changed must not be found again."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before = cache_folder().name
    monkeypatch.setattr(module, "_sources_digest", lambda: "0" * 12)
    assert cache_folder().name != before
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert cache_folder().name == "0" * 12


def test_a_small_commit_imports_no_compiler(tmp_path):
    code = (
        "import sys, datetime, pathlib\n"
        "from committed_rows import commit, new_shard, story\n"
        f"shard = new_shard(pathlib.Path({str(tmp_path)!r}))\n"
        "commit(shard, story(0, 3))\n"
        "assert not {'numba', 'polars', 'duckdb'} & set(sys.modules)\n"
    )
    tests = str(next(p for p in sys.path if p.endswith("tests")))
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": tests, "PATH": ""}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
