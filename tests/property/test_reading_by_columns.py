"""Lines read by columns give the rows, problems and counts that lines read one by one give."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amos.errors import InputError
from amos.schemas.raw import RAW
from amos.sources import messages
from amos.sources.line_fields import decode_fields, parse_fields
from amos.sources.reading import batch_blocks, batch_table, raw_table, read_batches

FIELDS = {
    "id": st.sampled_from(["m1", "m2", "a/b", "50%", "", 7, None]),
    "role": st.sampled_from(["user", "assistant", "Tool", "system", "narrator", "", None]),
    "author": st.sampled_from(["Ilse", "Otto", "", None]),
    "ts": st.sampled_from(
        [
            "2026-04-02T09:15:00+00:00",
            "2026-04-02T09:15:00.250Z",
            "2026-04-02T09:15:00.000250-03:30",
            "2026/04/02 (Thu) 09:15",
            "9 April 2026 at noon or so",
            "2026-04-31T09:15:00Z",
            1_775_121_300,
            -4.5,
            2**70,
            None,
            ["today"],
        ]
    ),
    "conversation": st.sampled_from(["garden", "roof", "x/y", "%", "", None, 12]),
    "turn": st.sampled_from([0, 3, 2**53, 2**53 + 1, -1, 2.0, "4", None]),
    "session": st.sampled_from(["s1", "", None]),
    "scope": st.sampled_from(
        [
            {"user": "Ilse"},
            {"user": "Otto", "project": "roof", "tenant": "default"},
            {"tenant": "elsewhere"},
            {"workspace": "elsewhere"},
            {"task": "", "agent": None, "tool_environment": "shell"},
            {"colour": "teal"},
            {},
            None,
            "Ilse",
        ]
    ),
    "reply_to": st.sampled_from(["m1", "a/b", "", None]),
    "source": st.sampled_from(["user", "tool", "web", "rumour", None]),
    "retain": st.sampled_from([True, False, None, "no"]),
    "trust": st.sampled_from(["agent", "recall", "blind"]),
    "channel": st.just("work"),
    "title": st.just("On gutters"),
    "purposes": st.just(["audit"]),
    "context": st.just(["earlier"]),
    "weight": st.integers(0, 3),
}
USUAL = {
    "id": "m1",
    "role": "user",
    "author": "Ilse",
    "ts": "2026-04-02T09:15:00+00:00",
    "conversation": "garden",
    "turn": 3,
    "session": "s1",
    "scope": {"user": "Ilse", "project": "roof"},
    "reply_to": "m2",
    "source": "user",
    "retain": False,
}
TEXTS = st.sampled_from(["It drips.", "", "toit : ardoise", 'a "b" : c', 'a "b": c\\', "屋根 \u2028 ok"])
BROKEN = st.sampled_from(
    [
        "",
        "  ",
        "{",
        "[]",
        '{"text": 3}',
        '{"text": "\\ud800"}',
        '{"text": "\\ude00"}',
        '{"text": "\\ud83d\\ude00 \\u0000 \\/"}',
        '{"text":"a"}{"text":"b"}',
        '{"text":"a"',
        '"id":"m1"}',
        '{"t\\u0065xt":"a"}',
        '{"text":"a","turn":1e2}',
        '{"text":"a","turn":99999999999999999999}',
        '{"text":"a","text":"b"}',
        '{"text"\t:"a"}',
        "\0",
    ]
)


@st.composite
def usual_lines(draw):
    """Draw several lines with the same usual fields."""
    fields = {name: USUAL[name] for name in draw(st.sets(st.sampled_from(sorted(USUAL))))}
    texts = draw(st.lists(TEXTS, min_size=1, max_size=12))
    return [json.dumps({"text": text, **fields}, ensure_ascii=draw(st.booleans())) for text in texts]


@st.composite
def any_line(draw):
    """Draw one line with any fields, usual or odd, written in any way."""
    names = draw(st.sets(st.sampled_from(sorted(FIELDS)), max_size=8))
    row = {"text": draw(TEXTS), **{name: draw(FIELDS[name]) for name in sorted(names)}}
    colon = draw(st.sampled_from([": ", ":", " :", "\t : "]))
    line = json.dumps(row, separators=(",", colon))
    again = draw(st.sampled_from(["", "", "", ',"id":"m9"', ',"text":"Again."', ',"author":null']))
    return [line[:-1] + again + draw(st.sampled_from(["}", "}\r", "} }", ""]))]


LOGS = st.lists(usual_lines() | any_line() | BROKEN.map(lambda line: [line]), min_size=1, max_size=12)


def outcome(path, shortest_run, *, parsed_from=10**9, **options):
    """Return all that is read of `path` when so many plain lines in a row are read by columns.

    parsed_from: of so many lines or more, Arrow parses what it can.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "_MANY_LINES", shortest_run)
        patch.setattr(messages, "_PARSED_LINES", parsed_from)
        try:
            batches = list(read_batches([path], format="messages", **options))
        except InputError as cause:
            return str(cause)
    tables = [batch_table(batch) for batch in batches]
    for table in tables:
        table.validate(full=True)
        assert table.schema.equals(RAW, check_metadata=True)
    counts = [(batch.record_count, batch.bytes_read, batch.format, batch.is_empty) for batch in batches]
    blocks = [batch_blocks(batch) for batch in batches]
    assert [raw_table(block) for block in blocks] == tables
    return [table.to_pylist() for table in tables], blocks, [batch.problems for batch in batches], counts


OPTIONS = st.sampled_from(
    [{}, {"trust": "tool"}, {"zone": "Europe/Brussels"}, {"batch_records": 5}, {"shard": ("elsewhere", "w")}]
)


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(log=LOGS, shortest_run=st.integers(1, 4), is_parsed=st.booleans(), options=OPTIONS)
def test_columns_and_blocks_tell_the_same(tmp_path, log, shortest_run, is_parsed, options):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(line for part in log for line in part), encoding="utf-8")
    by_columns = outcome(path, shortest_run, parsed_from=1 if is_parsed else 10**9, **options)
    assert by_columns == outcome(path, 10**9, **options)


@pytest.mark.parametrize(
    "line",
    [
        {"text": ":) it holds", "id": "m1", "conversation": "roof"},
        {"text": "toit : ardoise", "author": None, "ts": 1_775_121_300, "scope": {"user": None}},
        {
            "text": 'say "x": y',
            "role": "assistant",
            "ts": "2026/04/02 (Thu) 09:15",
            "scope": {"user": "Ilse"},
        },
        USUAL | {"text": "It drips.", "context": None, "title": None},
    ],
)
def test_many_usual_lines_come_as_one_table(tmp_path, line):
    path = tmp_path / "log.jsonl"
    path.write_text((json.dumps(line) + "\n") * 300, encoding="utf-8")
    (batch,) = read_batches([path], format="messages")
    assert (batch.blocks, [table.num_rows for table in batch.tables]) == ([], [300])


LINES = st.lists(usual_lines(), min_size=1, max_size=3).map(
    lambda parts: [one for part in parts for one in part]
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(lines=LINES, ending=st.sampled_from(["\n", "\r\n"]))
def test_arrow_finds_the_fields_of_usual_lines_that_decoding_finds(lines, ending):
    raws = [(line + ending).encode() for line in lines]
    parsed, decoded = parse_fields(b"".join(raws), len(raws)), decode_fields(raws)
    assert decoded is not None
    if decoded.scopes:  # parts within parts are left to the other way
        assert parsed is None
    else:
        assert parsed == decoded


def test_an_odd_line_holds_up_few_others(tmp_path):
    path = tmp_path / "log.jsonl"
    usual = json.dumps({"text": "It drips.", "id": "m1"}) + "\n"
    path.write_text(usual * 700 + "{\n" + usual * 323, encoding="utf-8")
    (batch,) = read_batches([path], format="messages")
    assert [table.num_rows for table in batch.tables] == [256, 256, 255, 256]
    assert [(problem.record, problem.code) for problem in batch.problems] == [(701, "invalid_json")]
