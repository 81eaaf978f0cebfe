"""Keep a query within its time and memory, also inside a function that listens to neither limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

GRACE_SECONDS = 15.0
"""How long an interrupted query may take to end before it is left behind."""
_THREAD = "amos-query"
_INTERRUPT_EVERY_SECONDS = 0.05
_STATUS = Path("/proc/self/status")
_ONE_AT_A_TIME = threading.Lock()


class Running:
    """A query in a thread of its own, so that the caller's stays free to hear Ctrl-C and the clock."""

    def __init__(self, ask: Callable[[], Any], interrupt: Callable[[], None]) -> None:
        self._ask, self._interrupt = ask, interrupt
        self._found: Any = None
        self._failure: BaseException | None = None
        # a daemon: a query that cannot be stopped must not keep the program from ending
        self._thread = threading.Thread(target=self._run, name=_THREAD, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._ask()
        except BaseException as failure:  # noqa: BLE001 - raised again where the answer is taken
            self._failure = failure

    def result(self, seconds: float) -> Any:
        """Return the answer, or raise what the query raised.  Raises TimeoutError after `seconds`."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            raise TimeoutError
        if self._failure is not None:
            raise self._failure
        return self._found

    def stop(self) -> bool:
        """Interrupt until the query has ended, and return whether it has.

        One that has not begun yet does not hear the first interruption, and one that ends closes what would
        be interrupted: it is then only waited for, since ending the program under it would abort it.
        """
        for _ in range(round(GRACE_SECONDS / _INTERRUPT_EVERY_SECONDS)):
            with suppress(Exception):
                self._interrupt()
            self._thread.join(_INTERRUPT_EVERY_SECONDS)
            if not self._thread.is_alive():
                return True
        return False


def is_any_running() -> bool:
    """Return whether a query runs on that was left behind."""
    return any(thread.name == _THREAD for thread in threading.enumerate())


@contextmanager
def bounded_memory(more_bytes: int) -> Iterator[None]:
    """Let this process allocate at most so much more inside the block, where the system can hold it to that.

    The engine counts its own buffers but not every text or list that a function builds: those fail
    at the system's limit instead of taking the machine's memory.  One block at a time.
    """
    with _ONE_AT_A_TIME:
        held = _allocated_bytes()
        if held is None:
            yield
            return
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([held + more_bytes, *known]), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _allocated_bytes() -> int | None:
    """Return the private writable memory of this process; None where the system does not say."""
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = next((line.split()[1] for line in lines if line.startswith("VmData:")), None)
    return None if found is None else int(found) * 1024
