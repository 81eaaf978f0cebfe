"""Forgetting somebody lists what names them elsewhere, and takes it along where that is asked for."""

import pyarrow as pa
import pytest

import amos.api
from amos.flow import forget_mentions
from amos.schemas.columns import ID
from forgotten import traces_of
from households import line, write_lines

TALK = [
    line("sister", "My sister Anna lives in Berlin.", 1),
    line("colour", "My boss is Anna Schmidt. Anna's favourite colour is red.", 2),
    line("hike", "I like hiking with ＡＮＮＡ on Sundays.", 3),
    line("rain", "We went to see  anna, it rained.", 4),
    line("near", "I like working with Annabel.", 5),
    line("tea", "My favourite tea is Assam.", 6),
]


@pytest.fixture
def store(tmp_path):
    with amos.api.Store.create(tmp_path / "store") as store:
        store.ingest(write_lines(tmp_path / "talk.jsonl", *TALK))
        yield store


def named(report):
    """Return table and what tells it from the others for every row that names the subject."""
    marks = ("Berlin", "Schmidt", "ＡＮＮＡ")
    found = []
    for row in report["mentions"]:
        (mark,) = [one for one in marks if one in row["text"]] or [row["text"]]
        found.append((row["table"], mark))
    return sorted(found)


def statements(store):
    return sorted(row["statement"] for row in store.list().rows)


ABOUT_OTHERS = [("atoms", "Berlin"), ("atoms", "Schmidt"), ("atoms", "ＡＮＮＡ")]
MESSAGE = ("sources", "We went to see  anna, it rained.")


def test_a_preview_lists_claims_about_others_and_messages_that_name_it(store):
    report = store.forget(subject="Anna", dry_run=True)
    assert named(report) == [*ABOUT_OTHERS, MESSAGE]
    assert report["mentions_total"] == 4


def test_what_names_it_stays_and_the_report_says_so(store):
    report = store.forget(subject="Anna")
    assert named(report) == [*ABOUT_OTHERS, MESSAGE]
    whats = [row["what"] for row in report["residual"]]
    assert "3 claims about others that name it and 1 messages that name it beside them" in whats
    assert len(statements(store)) == 5


def test_mentions_go_along_when_asked_with_their_words(store, tmp_path):
    report = store.forget(subject="Anna", mentions=True)
    assert named(report) == [MESSAGE]
    assert statements(store) == ["User likes working with Annabel.", "User's favourite tea is Assam."]
    for text in ("Schmidt", "Berlin", "ＡＮＮＡ", "hiking"):
        assert traces_of(store.root, text) == []
    assert store.verify(deep=True).ok
    again = [line(f"again {place}", one["text"].upper(), 20) for place, one in enumerate(TALK[:3])]
    store.ingest(write_lines(tmp_path / "again.jsonl", *again))
    assert statements(store) == ["User likes working with Annabel.", "User's favourite tea is Assam."]


def test_an_entity_by_reference_is_looked_for_too(store):
    with store.shard.pin() as snapshot:
        rows = snapshot.current("entities", ["entity_id", "name"]).to_pylist()
    (anna,) = [row["entity_id"] for row in rows if row["name"] == "Anna"]
    ref = amos.identity.id_text("entities", anna)
    assert store.forget(ref, dry_run=True)["mentions_total"] == 4


def test_the_same_name_in_another_scope_is_somebody_else(store, tmp_path):
    other = [{**line("else", "I like dancing with Anna on Mondays.", 7), "scope": {"user": "u2"}}]
    store.ingest(write_lines(tmp_path / "other.jsonl", *other))
    report = store.forget(subject="Anna", dry_run=True)
    assert named(report) == [*ABOUT_OTHERS, MESSAGE]


@pytest.mark.parametrize("name", ["Strauß", "Γιώργος", "Zoë", "李雷"])
@pytest.mark.parametrize("form", [str, str.upper, str.title])
def test_names_of_any_script_are_found_in_any_case(tmp_path, name, form):
    talk = [line("boss", f"My boss is {name}.", 1), line("rain", f"Once {form(name)} came, it rained.", 2)]
    with amos.api.Store.create(tmp_path / "store") as store:
        store.ingest(write_lines(tmp_path / "talk.jsonl", *talk))
        with store.shard.pin() as snapshot:
            user = snapshot.current("entities").slice(0, 1)
            named = user.set_column(user.schema.get_field_index("name"), "name", pa.array([name]))
            names = forget_mentions._names(named)
            found = dict(forget_mentions._named_sources(snapshot, names, named, pa.array([], ID)))
    assert len(found) == 2


@pytest.mark.parametrize("terms", [{"subject": "user", "is_all": True}, {"since": "2026-05-06"}])
def test_what_is_no_named_subject_has_no_mentions(store, terms):
    assert store.forget(dry_run=True, **terms)["mentions"] == []


def test_a_claim_or_message_has_no_mentions(store):
    ref = store.list().rows[0]["atom_id"]
    assert store.forget(ref, dry_run=True)["mentions"] == []


def test_suppressed_subjects_list_what_names_them(store):
    report = store.forget(subject="Anna", suppress=True)
    assert named(report) == [*ABOUT_OTHERS, MESSAGE]
