"""What the global options say, and the store that they name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from amos.api import Store

SCOPE_OPTIONS = ("project", "user", "agent", "session", "task", "tool_environment")


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One call of `amos`: which shard, which scope, how talkative."""

    root: Path
    tenant: str = "default"
    workspace: str = "default"
    scope: dict[str, str] = field(default_factory=dict)
    is_quiet: bool = False
    verbosity: int = 0

    def open_store(self, *, is_writing: bool = False) -> Store:
        """Open the store, for reading unless told otherwise; raises UsageError where there is none."""
        from amos.api import Store

        return Store.open(
            self.root,
            tenant=self.tenant,
            workspace=self.workspace,
            read_only=not is_writing,
            scope=self.scope,
        )

    def make_store(self, *, is_announced: bool = True) -> Store:
        """Open the store for writing, and say so when it had to be made."""
        from amos.api import Store

        if self.has_shard:
            return self.open_store(is_writing=True)
        store = Store.create(self.root, tenant=self.tenant, workspace=self.workspace, scope=self.scope)
        if is_announced:
            self.notice(f"made the store {self.root} (it ignores itself in git)")
        return store

    @property
    def has_shard(self) -> bool:
        """Whether the shard stands on disk."""
        return (self.root / self.tenant / self.workspace / "shard.sqlite").exists()

    def notice(self, text: str) -> None:
        """Tell people something on standard error, unless quiet."""
        if not self.is_quiet:
            click.echo(text, err=True)


pass_invocation = click.make_pass_decorator(Invocation)
