"""The wheel holds what a checkout holds, and works where no checkout is."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel

TOP = Path(__file__).parents[2]


def run(*command: str | Path, folder: Path) -> str:
    """Run a command and return its standard output; fail with both outputs otherwise."""
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel without network, with the build backend of this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=TOP)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment that borrows the dependencies of this one."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    python = folder / "bin" / "python"
    packages = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder
    ).strip()
    borrowed = "\n".join(dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib")))
    (Path(packages) / "borrowed.pth").write_text(borrowed + "\n")
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        wheel,
        folder=folder,
    )
    return folder


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_wheel_holds_the_samples_and_the_pipelines(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"amos/_bundled/samples/{name}" for name in files_below(TOP / "data" / "samples")} <= names
    assert {f"amos/_bundled/pipelines/{name}" for name in files_below(TOP / "pipelines")} <= names


def test_wheel_holds_every_file_of_the_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {name for name in files_below(TOP / "src" / "amos") if "__pycache__" not in name}
    assert {f"amos/{name}" for name in wanted} <= names
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def test_installed_package_is_the_wheel_and_finds_its_samples(environment, tmp_path):
    script = (
        "import amos.bundled as b; print(b.__file__); print(b.samples_folder()); print(b.pipelines_folder())"
    )
    where = run(environment / "bin" / "python", "-c", script, folder=tmp_path).split()
    assert all(path.startswith(str(environment)) for path in where)


def test_demo_runs_from_the_wheel(environment, tmp_path):
    told = run(environment / "bin" / "amos", "demo", folder=tmp_path)
    assert "amos ingest" in told


def test_installed_command_ingests_the_bundled_samples(environment, tmp_path):
    script = "from amos.bundled import samples_folder; print(samples_folder())"
    samples = run(environment / "bin" / "python", "-c", script, folder=tmp_path).strip()
    printed = run(environment / "bin" / "amos", "-s", "store", "ingest", samples, "--json", folder=tmp_path)
    receipt = json.loads(printed)
    assert receipt["records_read"] == sum(receipt["sources"].values())
    assert receipt["records_read"] >= 420
    assert receipt["sources"]["unreadable"] == 0
