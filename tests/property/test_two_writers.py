"""Writers that race decide as one writer would have decided."""

import threading

import pytest

from amos.api import Store
from laws import digest_of, scratch
from strategies import write_lines

PLACES = ["Ghent", "Brno", "Oslo", "Porto"]


def lines(writer, count):
    """Return statements on two shared properties, said at times that interleave between writers."""
    return [
        {
            "id": f"w{writer}-{number}",
            "conversation": f"talk-{writer}",
            "turn": number,
            "ts": f"2026-04-{1 + number:02d}T{8 + writer:02d}:00:00Z",
            "text": f"My locker is {PLACES[(number + writer) % 4]}. I live in {PLACES[(number * 3) % 4]}.",
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("writers", [2, 3])
def test_writers_that_race_leave_the_state_of_one_writer(writers):
    shares = [lines(writer, 8) for writer in range(writers)]
    with scratch() as (folder, store):
        store.ingest(
            [write_lines(folder / "all.jsonl", [line for share in shares for line in share])],
            format="messages",
        )
        alone = digest_of(store)
    with scratch() as (folder, store):
        problems = []

        def write(share, number):
            try:
                with Store.open(store.root) as own:
                    for line in share:
                        part = folder / f"{number}-{line['id']}.jsonl"
                        own.ingest([write_lines(part, [line])], format="messages")
            except Exception as cause:  # noqa: BLE001 - shown by the assertion
                problems.append(cause)

        threads = [
            threading.Thread(target=write, args=(share, number)) for number, share in enumerate(shares)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        assert store.shard.head == 8 * writers
        assert digest_of(store) == alone
        assert store.verify().ok
