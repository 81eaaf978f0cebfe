from tests.told import NOW_US, Told, seen

from amos.retrieval.visibility import NOBODY, OWNER, Reader, RowFilter


def ranking(told, reader, **options):
    return told.retriever().rank(["gate"], seen(reader=reader, **options), 10)


def two_projects():
    told = Told()
    told.turn("Orchard gate", scope={"project": "orchard"})
    told.turn("Cellar gate", scope={"project": "cellar"})
    return told


def test_nobody_sees_nothing_but_that_something_is_withheld():
    result = ranking(two_projects(), NOBODY)
    assert result.items.num_rows == 0
    assert result.empty_reason == "nothing_visible"
    assert result.is_withheld
    assert result.omitted == {}


def test_a_reader_of_one_project_is_told_without_a_number():
    reader = Reader(may_read=True, scopes={"project": frozenset({"cellar"})})
    result = ranking(two_projects(), reader)
    assert result.items.num_rows == 1
    assert result.is_withheld


def test_narrowing_ones_own_view_withholds_nothing():
    result = ranking(two_projects(), OWNER, scope={"project": "cellar"})
    assert not result.is_withheld


def test_a_scope_flag_never_widens_what_a_reader_may_see():
    reader = Reader(may_read=True, scopes={"project": frozenset({"cellar"})})
    result = ranking(two_projects(), reader, scope={"project": "orchard"})
    assert result.items.num_rows == 0


def test_global_rows_fit_every_scope():
    told = Told()
    told.turn("Every gate", scope={"project": "global"})
    assert ranking(told, OWNER, scope={"project": "cellar"}).items.num_rows == 1


def test_what_was_said_later_is_out_of_a_view_of_the_past():
    told = Told()
    told.turn("Old gate", days=20)
    told.turn("New gate", days=1)
    told.turn("Undated gate", days=None)
    past = told.retriever().rank(["gate"], seen(as_of_us=NOW_US - 5 * 86_400_000_000), 10)
    assert past.items["source_id"].to_pylist() == [told.rows["sources"][0]["source_id"]]


def test_filters_of_equal_meaning_share_a_key():
    one = RowFilter(reader=OWNER, now_us=1, scope={"project": "a", "task": "b"})
    two = RowFilter(reader=OWNER, now_us=1, scope={"task": "b", "project": "a"})
    assert one.key == two.key
    assert one.key != RowFilter(reader=NOBODY, now_us=1, scope=one.scope).key
