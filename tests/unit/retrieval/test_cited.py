import pyarrow as pa
from tests.told import Told, unsalted

from amos.retrieval.cited import MOST_STATINGS, TEXT_COLUMNS, Stating, cited_texts, search_text
from amos.schemas.columns import select_fields
from amos.schemas.state import ATOMS


def told_twice(*, second_scope):
    told = Told()
    one = told.turn("I rent a boat shed", scope={"project": "a"})
    two = told.turn("My boathouse is rented, yes", scope={"project": second_scope})
    atom = told.claim(one, "boat shed", "rented", span=(0, 18), scope={"project": "a"})
    return told, atom, two


def cited(told, statings):
    atoms = told.table("atoms").select(["atom_id", "source_id", "spans"])
    sources = told.table("sources").select(TEXT_COLUMNS)
    assert atoms.schema.equals(select_fields(ATOMS, ["atom_id", "source_id", "spans"]))
    assert isinstance(sources, pa.Table)
    assert set(TEXT_COLUMNS) <= set(unsalted("sources").names)
    return cited_texts(atoms, statings, sources)


def test_a_claim_is_known_by_every_place_that_states_it():
    told, atom, two = told_twice(second_scope="a")
    assert cited(told, [Stating(atom, two, [3, 12])]) == ["I rent a boat shed boathouse"]


def test_a_repetition_in_another_scope_lends_no_words():
    told, atom, two = told_twice(second_scope="b")
    assert cited(told, [Stating(atom, two, [3, 12])]) == ["I rent a boat shed"]


def test_a_claim_repeated_for_ever_stays_small():
    told, atom, two = told_twice(second_scope="a")
    (text,) = cited(told, [Stating(atom, two, [3, 12])] * 1_000)
    assert text.count("boathouse") == MOST_STATINGS


def test_a_barred_source_lends_no_words():
    told = Told()
    source = told.turn("I rent a boat shed", flags=32)
    told.claim(source, "boat shed", "rented", span=(0, 18))
    assert cited(told, []) == [""]


def test_a_claim_is_found_by_other_words_for_its_property():
    text = search_text("User's home city is Utrecht.", '{"property":"home city","value":"Utrecht"}')
    assert "live" in text.split()


def test_a_property_without_other_words_adds_none():
    sentence = "User's locker is B12."
    assert search_text(sentence, '{"property":"locker","value":"B12"}') == sentence
