import pytest


def test_rows_have_statement_excerpt_and_place(household):
    told = household("search", "barn", "colour", "--json")
    assert told.code == 0
    first = told.rows[0]
    assert first["statement"] == "User's barn colour is green."
    assert "barn" in first["excerpt"]
    assert first["atom_id"].startswith("atm_")
    assert told.end["rows"] == len(told.rows)


def test_people_get_one_line_per_match_with_its_reference(household):
    lines = household("search", "barn").out.splitlines()
    assert "atm_" in lines[0]
    assert lines[-1].endswith(("match.", "matches."))


def test_pages_joined_are_the_whole_search(household):
    whole = [row["source_id"] for row in household("search", "my", "--limit", 100, "--json").rows]
    found, cursor = [], None
    while True:
        page = household("search", "my", "--limit", 2, "--json", *(("--cursor", cursor) if cursor else ()))
        found += [row["source_id"] for row in page.rows]
        cursor = page.end["cursor"]
        if cursor is None:
            break
    assert found == whole


def test_scope_narrows_a_search(household_store, amos):
    told = amos("-s", household_store, "--project", "barn", "search", "plum", "--json")
    assert told.rows == []
    assert "plum" not in amos("-s", household_store, "--project", "barn", "search", "plum").out


def test_nothing_found_says_so_with_advice(household):
    told = household("search", "zeppelin")
    assert told.code == 0
    assert "Try" in told.out


@pytest.mark.parametrize("words", [("barn", "--cursor", "abc"), ("barn", "--limit", 0), (" ",)])
def test_a_value_that_fits_nothing_is_exit_2(household, words):
    assert household("search", *words).code == 2
