import json

import pytest

from households import write_lines

LINES = [
    {"id": "m1", "text": "My sister lives in Ghent. She works as a nurse.", "ts": "2026-05-01T08:00:00Z"},
    {"id": "m2", "text": "My sister Ana likes tea.", "ts": "2026-05-02T08:00:00Z"},
    {"id": "m3", "text": "Ana likes jazz.", "ts": "2026-05-03T08:00:00Z"},
    {
        "id": "m4",
        "text": "Tom called Max. He lives in Riga.",
        "ts": "2026-05-04T08:00:00Z",
        "conversation": "b",
    },
]


@pytest.fixture
def people(amos, folder):
    """Return the function that runs a command on a store that heard of some people."""
    assert amos("ingest", write_lines(folder / "people.jsonl", *LINES), "--from", "messages").code == 0
    return amos


def rows_of(result):
    """Return the rows of a list in JSON."""
    assert result.code == 0, result.err
    return [row for row in map(json.loads, result.out.splitlines()) if "amos_end" not in row]


def test_everybody_is_listed_once_with_all_labels(people):
    (ana,) = rows_of(people("entities", "list", "ana", "--json"))
    assert [label["label"] for label in ana["labels"]] == ["user's sister Ana", "user's sister", "Ana"]
    assert (ana["claims"], ana["relation"], ana["inverse"]) == (4, "sister", "sibling")
    assert "user's sister Ana, also user's sister, Ana" in people("entities").out


def test_an_entity_shows_its_claims_and_the_mentions_that_mean_it(people):
    (ana,) = rows_of(people("entities", "list", "Ana", "--json"))
    shown = json.loads(people("entities", "show", ana["entity_id"], "--json").out)
    assert len(shown["atoms"]) == 4
    (she,) = [one for one in shown["mentions"] if one["said"] == "she"]
    assert [one["name"] for one in she["referents"]] == ["user's sister", None]
    assert "none of them" in people("entities", "show", ana["entity_id"]).out


def test_a_claim_that_waits_says_who_may_be_meant(people):
    (case,) = rows_of(people("review", "list", "--json"))
    shown = json.loads(people("review", "show", case["ref"], "--json").out)
    (mention,) = shown["mentions"]
    assert {one["name"] for one in mention["referents"]} == {"Tom", "Max", None}
    assert "'he' stays open: ambiguous_referent" in people("review", "show", case["ref"]).out


def test_why_says_who_is_meant(people):
    (nurse,) = [row for row in rows_of(people("list", "--json")) if "nurse" in row["statement"]]
    answer = json.loads(people("why", nurse["atom_id"], "--json").out)
    assert [one["said"] for one in answer["mentions"]] == ["she"]
    assert "Who is meant:" in people("why", nurse["atom_id"]).out


def test_forgetting_somebody_reaches_whatever_they_were_called(people):
    (ana,) = rows_of(people("entities", "list", "Ana", "--json"))
    assert people("forget", "--subject", ana["entity_id"]).code == 0
    assert rows_of(people("entities", "list", "ana", "--json")) == []
    left = " ".join(row["text"] for row in rows_of(people("list", "sources", "--json")) if row.get("text"))
    assert "nurse" not in left
    assert "jazz" not in left


def test_the_relations_are_a_dictionary_with_inverses(people):
    relations = {row["relation"]: row for row in rows_of(people("entities", "relations", "--json"))}
    assert relations["mother"]["labels"][:2] == ["mother", "mom"]
    assert relations["boss"]["inverse"] == "report"
    assert all(row["owner_scope"] == "amos" for row in relations.values())
    assert "sister (sis): female sibling; inverse sibling" in people("entities", "relations").out


def test_what_is_no_entity_is_refused_with_the_next_step(people):
    (first, *_) = rows_of(people("list", "--json"))
    result = people("entities", "show", first["atom_id"])
    assert result.code == 2
    assert "amos entities list" in result.err


def test_two_entities_become_one_and_two_again(people, folder):
    people("ingest", write_lines(folder / "more.jsonl", {"id": "m9", "text": "Noor lives in Ulm."}))
    names = {row["name"]: row["entity_id"] for row in rows_of(people("entities", "list", "--json"))}
    noor, ana = names["Noor"], names["user's sister Ana"]
    tried = json.loads(people("entities", "merge", noor, ana, "--dry-run", "--json").out)
    assert (tried["dry_run"], tried["claims_moved"]) == (True, 1)
    assert "1 claim moved" in people("entities", "merge", noor, ana, "--note", "asked").out
    assert f"merged into {ana}" in people("entities", "list", "Noor").out
    assert people("report", "review").code == 0
    assert "is apart from" in people("entities", "split", noor).out
    again = people("entities", "split", noor)
    assert again.code == 2
    assert "is not merged" in again.err
    assert people("verify", "--deep").code == 0
