"""No input breaks a reader: whatever stands in a file, it is read, refused by name, or lost with a reason."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amos.errors import InputError
from amos.sources.reading import raw_table
from amos.sources.registry import readers
from delivered import CASES, delivered, example, first_file

FEW = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NAMES = """
    id uuid text content role messages message mapping author parent type chat_messages conversation session_1
    sessionId speaker dia_id haystack_sessions name observations entity user ts timestamp create_time parts
    content_type scope turn sender attachments request response choices tool_calls function tool_result weight
    resourceSpans scopeSpans spans attributes key value stringValue kvlistValue values events body traceId
    trace_id observations input output run_type inputs outputs generations kwargs lc extra metadata start_time
    memory results user_id updated_at agents blocks block_ids core_memory label passages episodes nodes edges
    source_node_uuid fact role_type ts edited subtype thread_ts files profile members bot_id data trace prompt
"""
WORDS = st.sampled_from(NAMES.split())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | WORDS | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=25,
)
RECORDS = st.lists(st.dictionaries(WORDS, VALUES, max_size=8) | VALUES, min_size=1, max_size=4)


def survives(path, form):
    """Read `path` as `form`; only a named refusal may stop it, and what is read fills a table."""
    try:
        found = delivered(path, format=form)
    except InputError:
        return
    raw_table(found.blocks).validate(full=True)


@pytest.mark.parametrize("form", sorted(set(readers()) - {"mapped"}))
@FEW
@given(records=RECORDS, is_array=st.booleans())
def test_any_json_is_read_or_refused(tmp_path, form, records, is_array):
    path = tmp_path / "fuzz.json"
    path.write_text(json.dumps(records) if is_array else "\n".join(map(json.dumps, records)))
    survives(path, form)


@pytest.mark.parametrize("form", [None, *sorted(set(readers()) - {"mapped"})])
@FEW
@given(raw=st.binary(max_size=80) | st.text(alphabet='{}[]",:\\ntexid01', max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path, form, raw):
    path = tmp_path / "fuzz.jsonl"
    path.write_bytes(raw)
    survives(path, form)


@FEW
@given(raw=st.binary(max_size=120))
def test_any_bytes_called_an_archive_are_read_or_refused(tmp_path, raw):
    path = tmp_path / "fuzz.zip"
    path.write_bytes(b"PK\x03\x04" + raw)
    survives(path, None)


@pytest.mark.parametrize("case", CASES)
@FEW
@given(spot=st.integers(0, 10**6), byte=st.integers(0, 255), cut=st.booleans())
def test_one_damaged_byte_never_stops_a_run(tmp_path, case, spot, byte, cut):
    paths, options = example(case)
    first = first_file(paths)
    raw = bytearray(first.read_bytes())
    raw[spot % len(raw)] = byte
    path = tmp_path / first.name
    path.write_bytes(bytes(raw[: spot % len(raw) or None]) if cut else bytes(raw))
    try:
        delivered(path, format=None if options else delivered(*paths).blocks[0].format, **options)
    except InputError:
        return


def record_lists():
    """Return the JSON records of the golden cases with the format each is read as."""
    found = []
    for case in CASES:
        paths, options = example(case)
        raw = first_file(paths).read_text(encoding="utf-8")
        if not options:
            records = json.loads(raw) if raw.startswith("[") else _json_lines(raw)
            if records:  # a folder of texts has none
                found.append((delivered(*paths).blocks[0].format, records))
    return found


def _json_lines(raw):
    records = []
    for line in raw.splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def places(value, way=()):
    """Yield the way to every value inside `value`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield (*way, name)
        yield from places(item, (*way, name))


def replaced(records, way, value):
    """Return a copy of `records` with another value at the end of `way`."""
    copy = json.loads(json.dumps(records))
    holder = copy
    for name in way[:-1]:
        holder = holder[name]
    holder[way[-1]] = value
    return copy


@pytest.mark.parametrize(("form", "records"), record_lists())
@settings(FEW, max_examples=50)
@given(choice=st.integers(0, 10**6), value=VALUES, is_array=st.booleans())
def test_any_value_in_any_place_is_read_or_refused(tmp_path, form, records, choice, value, is_array):
    ways = list(places(records))
    mutated = replaced(records, ways[choice % len(ways)], value)
    path = tmp_path / "fuzz.json"
    path.write_text(json.dumps(mutated) if is_array else "\n".join(map(json.dumps, mutated)))
    survives(path, form)
