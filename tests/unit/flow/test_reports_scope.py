"""Scope is a matter of each message; what belongs to another project shows nowhere, not even as a number."""

import json
from contextlib import contextmanager

import pytest

from amos.api import Store
from amos.errors import UsageError
from amos.flow.look import KINDS
from amos.schemas.state import TABLES
from remembered import EVERYTHING, Remembered, remembered, told

FOREIGN = ("Ottoline", "Brask", "Kestrel", "Merlin", "QX-771", "kiln", "Zephyra", "otter")
"""Words that only the other project says."""
OF_THE_WHOLE = "tombstones"
"""A list that no scope narrows."""
LINES = (
    told("o1", "My supervisor is Ottoline Brask.", 1, scope={"project": "otter"}),
    told("p1", "My supervisor is Piers Holm.", 2, scope={"project": "heron"}),
    told("o2", "My favourite zither is the Kestrel.", 3, scope={"project": "otter"}),
    told("o3", "My favourite zither is the Merlin.", 4, scope={"project": "otter"}),
    told("p2", "My favourite zither is the Falcon.", 5, scope={"project": "heron"}),
    told("o4", "Is the kiln of Zephyra hot?", 6, scope={"project": "otter"}, author="Zephyra"),
    told("p3", "Please hurry with the varnish.", 7, scope={"project": "heron"}),
    told("o5", "The code of the kiln is QX-771.", 8, scope={"project": "otter"}, role="tool"),
)
QUESTIONS = ("supervisor", "favourite zither", "kiln QX-771", "Ottoline", "varnish", "otter")


def strings_of(value):
    """Yield every text and key inside a JSON value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from strings_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings_of(inner)
    elif isinstance(value, str):
        yield value


@contextmanager
def two_projects():
    """Yield the whole memory and the same one as project heron sees it."""
    with remembered(*LINES) as whole:
        root = whole.folder / "store"
        with Store.open(root, read_only=True, scope={"project": "heron"}) as narrow:
            yield whole, Remembered(whole.folder, narrow)


def foreign_refs(whole):
    """Return every printed id of a row that project otter owns, or that is about such a row."""
    tables = {name: whole.store.sql(f"SELECT * FROM {name}").to_pylist() for name in TABLES}
    own = {row["source_id"] for row in tables["sources"] if row["scope_project"] == "otter"}
    refs = set(own)
    for name, key in (("atoms", "atom_id"), ("candidates", "candidate_id"), ("entities", "entity_id")):
        refs |= {row[key] for row in tables[name] if row["scope_project"] == "otter"}
    refs |= {row["decision_id"] for row in tables["decisions"] if row["source_id"] in own}
    return (
        refs | {row["lineage_id"] for row in tables["lineage"]} | {row["edge_id"] for row in tables["edges"]}
    )


def answers(memory):
    """Yield (name, JSON value) of everything that can be asked without knowing a reference."""
    for text in QUESTIONS:
        packet = memory.packet(text)
        yield f"packet {text}", {name: packet[name] for name in packet if name != "request"}
        page = memory.store.search(text)
        yield f"search {text}", [page.rows, page.empty_reason]
    yield "packets", list(memory.store.packets([{"qid": "q", "cues": ["favourite zither"]}]))
    for kind in KINDS:
        if kind != OF_THE_WHOLE or not memory.store.scope:
            yield f"list {kind}", memory.listed(kind)
    for name in TABLES:
        yield f"sql {name}", json.loads(json.dumps(memory.store.sql(f"FROM {name}").to_pylist(), default=str))
    yield "export", list(memory.store.export())
    yield "report", memory.store.report_ingest()
    for row in memory.listed():
        yield f"why {row['atom_id']}", memory.store.why(row["atom_id"])
        yield f"show {row['atom_id']}", memory.store.show(row["atom_id"])


def test_what_stands_for_the_whole_shard_is_refused_by_name():
    with two_projects() as (_, narrow), pytest.raises(UsageError, match="whole shard"):
        narrow.listed(OF_THE_WHOLE)


def test_nothing_of_another_project_shows_in_any_answer():
    with two_projects() as (whole, narrow):
        refs = foreign_refs(whole)
        assert len(refs) > 15
        for name, answer in answers(narrow):
            said = list(strings_of(answer))
            assert not [text for text in said if any(word in text for word in FOREIGN)], name
            assert not refs.intersection(said), name


def test_the_same_answers_do_hold_the_words_for_whom_sees_everything():
    with two_projects() as (whole, _):
        said = " ".join(text for _, answer in answers(whole) for text in strings_of(answer))
        assert all(word in said for word in FOREIGN)


def test_no_number_counts_what_another_project_holds():
    own = [line for line in LINES if line["scope"]["project"] == "heron"]
    with two_projects() as (_, narrow), remembered(*own) as alone:
        for text in QUESTIONS:
            seen, only = narrow.store.search(text), alone.store.search(text)
            assert seen.total == only.total
            assert [row["score"] for row in seen.rows] == [row["score"] for row in only.rows]
            assert narrow.packet(text)["omissions"] == alone.packet(text)["omissions"]
        of_events = "SELECT event_type, payload FROM events ORDER BY event_type"
        without_counts = [{**row, "payload": None} for row in alone.store.sql(of_events).to_pylist()]
        assert narrow.store.sql(of_events).to_pylist() == without_counts
        assert narrow.store.report_ingest()["runs"] == []
        for kind in ("atoms", "sources", "candidates", "decisions", "conversations"):
            assert len(narrow.listed(kind)) == len(alone.listed(kind))


def test_a_known_reference_of_another_project_tells_nothing():
    with two_projects() as (whole, narrow):
        for ref in sorted(foreign_refs(whole)):
            if ref.startswith(("ent_", "edg_", "lin_")):
                assert narrow.store.show(ref)["item"] is None
                continue
            assert narrow.store.show(ref) == {
                "found": False,
                "item": None,
                "omissions": {"counts": {}, "sample": [], "withheld": True},
            }
            with pytest.raises(UsageError, match="nothing is stored"):
                narrow.store.why(ref)


def test_a_session_that_changes_project_files_each_message_where_it_belongs():
    with remembered(*LINES) as memory:
        projects = {
            row["delivery_key"].rpartition("/")[2]: row["scope_project"] for row in memory.rows("sources")
        }
        assert {key: value for key, value in projects.items() if value == "heron"} == {
            "p1": "heron",
            "p2": "heron",
            "p3": "heron",
        }
        assert {row["scope"]["project"] for row in memory.listed()} == {"otter", "heron"}
        assert memory.found("zither", scope={"project": "otter"})[0] == "o3"
        assert memory.found("zither", scope={"project": "heron"}) == ["p2"]


def test_a_shared_talk_is_listed_for_both_without_the_title_of_the_other():
    first = {**LINES[0], "title": "Otter planning"}
    with remembered(first, *LINES[1:]) as memory:
        for project, title in (("otter", "Otter planning"), ("heron", None)):
            with Store.open(memory.folder / "store", read_only=True, scope={"project": project}) as narrow:
                (talk,) = Remembered(memory.folder, narrow).listed("conversations")
                assert talk["title"] == title


def test_equal_values_of_two_projects_stay_two_claims_and_never_replace_each_other():
    lines = [
        told("a", "My indentation is tabs.", 1, scope={"project": "otter"}),
        told("b", "My indentation is spaces.", 2, scope={"project": "heron"}),
        told("c", "My indentation is tabs.", 3, scope={"project": "heron"}),
    ]
    with remembered(*lines) as memory:
        active = {(row["scope"]["project"], row["value"]) for row in memory.listed(state="active")}
        assert active == {("otter", "tabs"), ("heron", "tabs")}
        assert len(memory.rows("lineage")) == 1


def test_a_row_without_a_project_is_seen_by_every_project():
    with remembered(told("a", "My bicycle is a tandem."), *LINES) as memory:
        for project in ("otter", "heron"):
            assert memory.found("tandem", scope={"project": project})[0] == "a"


def test_pages_of_a_narrowed_list_are_full_pages():
    lines = [
        told(f"m{number}", f"Basket {number} holds {number} plums.", scope={"project": "ab"[number % 2]})
        for number in range(20)
    ]
    with (
        remembered(*lines) as memory,
        Store.open(memory.folder / "store", read_only=True, scope={"project": "a"}) as narrow,
    ):
        seen = Remembered(memory.folder, narrow)
        assert len(seen.listed(limit=7)) == 7
        assert len(seen.listed(limit=EVERYTHING.limit)) == 10
