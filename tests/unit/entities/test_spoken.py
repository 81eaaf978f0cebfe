import pytest

from amos.entities.relations import default_relations, read_relations, relations_by_label
from amos.entities.spoken import fold_name, is_name, role_label, spoken_of
from amos.errors import SchemaError

ENTRY = '[[relation]]\nlabels = [{labels}]\ninverse = "x"\ndescription = "x"\n'


def dictionary(*labels):
    """Return the text of a dictionary with one relation for each list of labels."""
    entries = [ENTRY.format(labels=", ".join(f'"{label}"' for label in listed)) for listed in labels]
    return 'version = 1\nowner_scope = "test"\n' + "".join(entries)


@pytest.mark.parametrize(
    ("name", "role", "bearer"),
    [
        ("user's sister", "sister", None),
        ("user's sister Ana", "sister", "Ana"),
        ("user's mom", "mother", None),
        ("user's older sister Ana Maria", "older sister", "Ana Maria"),
        ("user's dog Rex", "dog", "Rex"),
    ],
)
def test_what_an_author_calls_theirs_is_a_role_with_or_without_a_name(name, role, bearer):
    spoken = spoken_of("thing", name)
    assert (spoken.kind, spoken.role, spoken.name) == ("role", role, bearer)


@pytest.mark.parametrize(
    "name", ["user's canoe", "user's sister's locker", "user's sister with the van", "user's"]
)
def test_things_and_what_belongs_to_people_are_no_people(name):
    assert spoken_of("thing", name) is None


@pytest.mark.parametrize(
    ("name", "is_apart"), [("Ana", False), ("Tom Baker", True), ("Tom from work", True), ("Dr. Varga", True)]
)
def test_a_name_with_more_than_one_word_says_which_bearer_is_meant(name, is_apart):
    spoken = spoken_of("person", name)
    assert (spoken.kind, spoken.is_apart) == ("name", is_apart)


@pytest.mark.parametrize("name", ["the plumber", "Sister", "Tom said", "NASA", "nobody"])
def test_what_is_not_written_like_a_name_is_none(name):
    assert spoken_of("person", name) is None


def test_only_pronouns_of_people_are_mentions():
    assert spoken_of("pronoun", "she").kind == "pronoun"
    assert spoken_of("pronoun", "its") is None


def test_titles_are_no_part_of_what_a_name_is_looked_up_by():
    assert [fold_name(name) for name in ("Dr. Varga", "Ana Maria", "Uncle Bram")] == ["varga", "ana", "bram"]
    assert not is_name("tall")


def test_a_role_is_called_by_the_first_label_of_its_relation():
    assert role_label(spoken_of("thing", "user's mum Eva")) == "user's mother Eva"


def test_every_relation_that_ships_has_an_inverse_and_stands_once():
    labels = [label for relation in default_relations().relation for label in relation.labels]
    assert len(labels) == len(set(labels)) == len(relations_by_label())
    assert all(relation.inverse and relation.description for relation in default_relations().relation)


def test_a_label_that_stands_twice_is_refused():
    with pytest.raises(SchemaError, match="'sis' stands twice"):
        read_relations(dictionary(["sister", "sis"], ["sibling", "sis"]))


def test_an_unknown_field_of_a_relation_is_refused():
    with pytest.raises(SchemaError, match="relation dictionary"):
        read_relations(dictionary(["sister"]) + 'colour = "red"\n')
