import pytest


def first(household, kind, key, *words):
    return household("list", kind, "--json", *words).rows[0][key]


def test_an_atom_is_shown_by_a_beginning_of_its_reference(household):
    ref = first(household, "atoms", "atom_id")
    answer = household("show", ref[:10], "--json").object
    assert answer["found"] is True
    assert answer["item"]["atom_id"] == ref
    assert answer["omissions"] == {"counts": {}, "sample": [], "withheld": False}
    assert ref in household("show", ref[:10]).out


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("sources", "source_id"),
        ("conversations", "conversation_id"),
        ("candidates", "candidate_id"),
        ("decisions", "decision_id"),
    ],
)
def test_every_listed_kind_can_be_shown(household, kind, key):
    ref = first(household, kind, key)
    assert household("show", ref, "--json").object["item"][key] == ref


@pytest.mark.parametrize("table", ["entities", "edges", "lineage", "events"])
def test_rows_of_the_other_tables_can_be_shown(household, table):
    key = {"entities": "entity_id", "edges": "edge_id", "lineage": "lineage_id", "events": "event_id"}[table]
    ref = household("sql", f"SELECT {key} FROM {table} LIMIT 1", "--json").rows[0][key]
    assert household("show", ref, "--json").object["item"][key] == ref


def test_a_replaced_claim_is_shown_with_its_state(household):
    ref = first(household, "atoms", "atom_id", "--state", "superseded")
    item = household("show", ref, "--json").object["item"]
    assert item["state"] == "superseded"
    assert item["intervals"][0]["until"] is not None


def test_what_lies_outside_the_scope_is_not_found_and_not_named(household_store, household, amos):
    rows = household("list", "--json").rows
    plum = next(row for row in rows if "plum" in row["statement"])
    told = amos("-s", household_store, "--project", "barn", "show", plum["atom_id"], "--json")
    assert told.object["found"] is False
    assert told.object["item"] is None
    assert told.object["omissions"] == {"counts": {}, "sample": [], "withheld": True}
    assert "plum" not in told.out


def test_flagged_text_is_withheld_and_the_omission_counted(household):
    rows = household("list", "sources", "--json").rows
    flagged = next(row for row in rows if "instruction_shaped" in row["flags"])
    told = household("show", flagged["source_id"], "--json")
    assert told.object["item"]["text"] is None
    assert told.object["omissions"]["counts"] == {"instruction_shaped_content": 1}
    assert "barn key" not in told.out
    assert "instruction_shaped_content" in household("show", flagged["source_id"]).out


def test_a_cut_range_is_shown_as_one_mark(household):
    rows = household("list", "sources", "--json").rows
    cut = next(row for row in rows if row["cut_bytes"])
    assert cut["text"] == "The pass phrase for the shed is [cut], password: [cut]"
    for words in (["show", cut["source_id"]], ["show", cut["source_id"], "--json"], ["list", "sources"]):
        assert "[cut]" in household(*words).out


def test_a_reference_that_names_nothing_is_said_and_not_an_error(household):
    assert household("show", "atm_aaaaaaaaaa", "--json").object["found"] is False
    told = household("show", "atm_aaaaaaaaaa")
    assert told.code == 0
    assert "Nothing is stored under atm_aaaaaaaaaa" in told.out


@pytest.mark.parametrize("ref", ["atm_ab", "thing", "xyz_aaaaaaaa", "atm_!!!!!!!", "run_aaaaaaaa", ""])
def test_a_word_that_is_no_reference_is_exit_2(household, ref):
    told = household("show", ref)
    assert told.code == 2
    assert "  next: " in told.err
