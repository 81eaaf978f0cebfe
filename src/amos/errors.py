"""Failures a caller can act on, one class per kind of remedy."""

from __future__ import annotations


class EngineError(Exception):
    """Base of every failure that Amos reports on purpose.

    Each class carries the process exit code, a stable `code` for `--json` and a default
    `advice`; an instance may name a narrower code, the path or reference at fault and its
    own advice.
    """

    exit_code = 1
    default_code = "engine_error"
    default_advice = "Run `amos doctor`."
    is_retryable = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        path: str | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.path = path
        self.advice = advice or self.default_advice

    def as_record(self) -> dict[str, object]:
        """Return the `error` object printed by `--json`."""
        return {
            "code": self.code,
            "message": self.message,
            "path": self.path,
            "advice": self.advice,
            "retryable": self.is_retryable,
        }


class UsageError(EngineError):
    """The command line or call names something that does not exist or does not fit."""

    exit_code = 2
    default_code = "usage"
    default_advice = "Run the command with `--help`."


class InputError(EngineError):
    """An input cannot be read, is of no known format, or the caller may not touch it."""

    exit_code = 3
    default_code = "unreadable"
    default_advice = "Check the file, or name its format with `--from`."


class SchemaError(EngineError):
    """A table, store or record has another shape than this version understands."""

    exit_code = 4
    default_code = "schema_invalid"
    default_advice = "Upgrade Amos, or open the store with the version that wrote it."


class IntegrityError(EngineError):
    """Stored bytes differ from what the catalog promises."""

    exit_code = 5
    default_code = "verification_failed"
    default_advice = "Run `amos verify` for the full list of problems."


class BusyError(EngineError):
    """Another writer holds the shard, or the state moved under a pinned decision."""

    exit_code = 6
    default_code = "store_busy"
    default_advice = "Wait for the other writer, then run the command again."
    is_retryable = True


class CapacityError(EngineError):
    """The disk or a declared limit is full."""

    exit_code = 7
    default_code = "capacity_limited"
    default_advice = "Free some space, then run the command again: stored work is kept."
