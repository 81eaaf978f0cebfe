"""Generators shared by the property tests."""

import json
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

START = datetime(2026, 3, 2, 8, tzinfo=UTC)

_PLACES = ["Ghent", "Brno", "Oslo"]
_TEMPLATES = [
    st.sampled_from(_PLACES).map("I live in {}.".format),
    st.sampled_from(["B12", "C40", "19"]).map("My locker is {}.".format),
    st.sampled_from(["teal", "amber"]).map("My favourite colour is {}.".format),
    st.sampled_from(["vegan", "vegetarian"]).map("My diet is {}.".format),
    st.sampled_from(["vegan", "vegetarian"]).map("My diet is no longer {}.".format),
    st.sampled_from(["Actually, my locker is B12.", "Scratch that, my locker is C40, not B12."]),
    st.sampled_from(["I like walnut bread.", "I avoid walnut bread."]),
    st.sampled_from(["Is my locker B12?", "If my locker was C40 I would laugh.", "ok", "", "👍"]),
    st.sampled_from(["My wifi password is tulip-anchor-93", "Off the record: my badge is 7."]),
    st.sampled_from(["Mi ciudad es Valparaíso.", "私の鍵は棚にあります。", "my pen​name is Q. Tern"]),
    st.sampled_from(["My locker is B12, my badge is 88-401 and my floor is 3."]),
    st.sampled_from(
        [
            "My pass is blue from 3 June 2026 to 9 June 2026.",
            "My pass is blue from 1 April 2026 to 8 April 2026.",
            "My pass is red from 2 May 2026 to 5 June 2026.",
            "My pass is red since 2025.",
            "My pass is blue.",
        ]
    ),
    st.sampled_from(["It is evening, so please suggest something without caffeine."]),
]
TEXTS = st.one_of(*_TEMPLATES)


@st.composite
def message_logs(draw, *, max_size=10, is_timed=None):
    """Draw `messages` lines with ids: some conversations, known turns, times known or not."""
    size = draw(st.integers(1, max_size))
    lines = []
    for number in range(size):
        conversation = draw(st.sampled_from(["c1", "c2", "c3"]))
        has_time = draw(st.booleans()) if is_timed is None else is_timed
        line = {
            "id": f"m{number}",
            "conversation": conversation,
            "turn": number,
            "text": draw(TEXTS),
            "role": draw(st.sampled_from(["user", "user", "user", "assistant", "tool"])),
        }
        if has_time:
            hours = draw(st.integers(0, 3)) * 30
            line["ts"] = (START + timedelta(hours=hours)).isoformat()
        lines.append(line)
    return lines


def write_lines(path, lines):
    """Write `messages` lines to `path` and return it."""
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path
