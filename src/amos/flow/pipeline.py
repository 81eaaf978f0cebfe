"""Pipelines: TOML files that name stages, their settings and their inputs; they hold no code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from amos.bundled import pipelines_folder
from amos.errors import InputError, UsageError

STAGES = ("read", "screen", "capture", "propose", "decide", "commit")
"""The stages of `ingest`, in the order in which rows pass through them."""
REREAD = ("select", "propose", "decide", "compare")
"""The stages of `reprocess`."""


class ReadSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How inputs are read; an empty text means that it is not set."""

    format: str = ""
    mapping: str = ""
    trust: str = ""
    zone: str = ""
    strict: bool = False
    dry_run: bool = False


class SelectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which kept sources are read again, by event time; an empty text leaves an end open."""

    since: str = ""
    until: str = ""


class ProposeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which extractor proposes; an empty text means the current one."""

    extractor: str = ""


class DecideSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which policy decides."""

    policy: str = "default@1"


class Pipeline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One pipeline: its stages in order, their settings and its inputs."""

    name: str
    stages: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    read: ReadSettings = ReadSettings()
    select: SelectSettings = SelectSettings()
    propose: ProposeSettings = ProposeSettings()
    decide: DecideSettings = DecideSettings()

    @property
    def is_reread(self) -> bool:
        """Whether it reads kept sources again, and takes no inputs."""
        return self.stages == REREAD

    @property
    def asked(self) -> dict[str, str | None]:
        """Return the settings that reprocess takes as arguments."""
        return {
            "extractor": self.propose.extractor or None,
            "since": self.select.since or None,
            "until": self.select.until or None,
        }

    @property
    def options(self) -> dict[str, Any]:
        """Return the settings that ingest takes as arguments."""
        set_up = self.read
        return {
            "format": set_up.format or None,
            "mapping": Path(set_up.mapping) if set_up.mapping else None,
            "trust": set_up.trust or None,
            "zone": set_up.zone or None,
            "extractor": self.propose.extractor or None,
        }

    def inputs_or(self, paths: Sequence[Path]) -> tuple[Path, ...]:
        """Return `paths`, else the inputs the pipeline names.  Raises UsageError without any."""
        chosen = tuple(paths) or tuple(Path(name) for name in self.inputs)
        if not chosen:
            raise UsageError(
                f"the pipeline {self.name!r} names no inputs",
                advice=f"Give a path: `amos run {self.name} PATH`.",
            )
        return chosen


def load_pipeline(name: str, changes: Iterable[str] = ()) -> Pipeline:
    """Return the shipped pipeline `name`, or that of a TOML file, with `stage.key=value` applied.

    Raises UsageError for an unknown name, stage, setting or value, InputError for an unreadable file.
    """
    path = _find(name)
    fields = _read(path)
    for change in changes:
        _apply(fields, change)
    try:
        pipeline = msgspec.convert(fields, Pipeline)
    except msgspec.ValidationError as cause:
        raise UsageError(
            f"{path.name}: {cause}", path=str(path), advice="Settings stand in the file, with their meaning."
        ) from cause
    _require_known(pipeline, path)
    return pipeline


def _find(name: str) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    shipped = {path.stem.split("_", 1)[-1]: path for path in sorted(pipelines_folder().glob("*.toml"))}
    if name not in shipped:
        raise UsageError(
            f"no pipeline is called {name!r}", path=name, advice=f"Shipped: {', '.join(sorted(shipped))}."
        )
    return shipped[name]


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as cause:
        raise UsageError(f"{path} does not exist", path=str(path), advice="Check the path.") from cause
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as cause:
        raise InputError(f"{path} is no TOML: {cause}", path=str(path), advice="Correct the file.") from cause


def _apply(fields: dict[str, Any], change: str) -> None:
    place, is_set, value = change.partition("=")
    stage, _, key = place.partition(".")
    if not is_set or not stage or not key:
        raise UsageError(
            f"{change!r} sets nothing", advice="Write stage.key=value, as in `read.zone=Europe/Brussels`."
        )
    settings = fields.setdefault(stage, {})
    if not isinstance(settings, dict):
        raise UsageError(
            f"{stage!r} is no stage with settings",
            advice="Stages with settings: read, select, propose, decide.",
        )
    settings[key] = _value(value)


def _value(text: str) -> Any:
    """Return a value as TOML reads it, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _require_known(pipeline: Pipeline, path: Path) -> None:
    from amos.extraction.registry import extractor_names
    from amos.flow.rules import default_rules

    if pipeline.stages not in (STAGES, REREAD):
        raise UsageError(
            f"{path.name}: the stages are {', '.join(pipeline.stages) or 'missing'}",
            path=str(path),
            advice=f"They are {', '.join(STAGES)}, or {', '.join(REREAD)}, in this order.",
        )
    policies = [default_rules(size=0).policy.label]
    for word, given, known in (
        ("extractor", pipeline.propose.extractor, ["", *extractor_names()]),
        ("policy", pipeline.decide.policy, policies),
    ):
        if given not in known:
            raise UsageError(
                f"{path.name}: no {word} is called {given!r}",
                path=str(path),
                advice=f"There are: {', '.join(filter(None, known))}.",
            )
