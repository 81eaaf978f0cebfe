"""Late sources re-decide what they touch, and only that."""

from datetime import timedelta

from amos.schemas.state import OPEN_UNTIL
from laws import scratch
from strategies import START, write_lines


def line(number, text, days=None, conversation="c1"):
    """Return one `messages` line said `days` after the start."""
    made = {"id": f"m{number}", "conversation": conversation, "turn": number, "text": text}
    if days is not None:
        made["ts"] = (START + timedelta(days=days)).isoformat()
    return made


def test_a_late_source_takes_its_place_in_the_history():
    with scratch() as (folder, store):
        for number, (text, day) in enumerate(
            [("My locker is B12.", 0), ("My locker is C40.", 9), ("My locker is D7.", 4)]
        ):
            store.ingest(
                [write_lines(folder / f"{number}.jsonl", [line(number, text, day)])], format="messages"
            )
        with store.shard.pin() as snapshot:
            atoms = snapshot.current("atoms").to_pylist()
            lineage = snapshot.table("lineage").to_pylist()
        open_now = [row for row in atoms if row["intervals"][-1] == OPEN_UNTIL]
        assert len(open_now) == 1
        assert '"C40"' in open_now[0]["payload"]
        assert [row["retracts"] is not None for row in lineage].count(True) == 1
