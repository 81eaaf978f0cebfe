"""Where the sample story and the pipelines lie: inside the wheel, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path

from amos.errors import InputError

_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parent.parent


def samples_folder() -> Path:
    """Return the folder of the sample story.  Raises InputError where neither copy exists."""
    return _folder("samples", _CHECKOUT / "data" / "samples")


def pipelines_folder() -> Path:
    """Return the folder of the shipped pipelines.  Raises InputError where neither copy exists."""
    return _folder("pipelines", _CHECKOUT / "pipelines")


def _folder(name: str, in_checkout: Path) -> Path:
    in_wheel = _PACKAGE / "_bundled" / name
    for folder in (in_wheel, in_checkout):
        if folder.is_dir():
            return folder
    raise InputError(
        f"the {name} that ship with Amos are missing",
        path=str(in_wheel),
        advice="Install the package again: `pip install --force-reinstall amos-memory`.",
    )
