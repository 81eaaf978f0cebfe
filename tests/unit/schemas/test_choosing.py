import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.schemas.choosing import as_schema, empty, kept, taken

ROWS = pa.table({"number": pa.array(range(6), pa.int32()), "word": pa.array(list("abcdef"))})


@given(chosen=st.lists(st.booleans(), min_size=6, max_size=6))
def test_chosen_rows_are_those_that_arrow_chooses(chosen):
    holds = np.array(chosen)
    assert kept(ROWS, holds) == ROWS.filter(pa.array(holds))
    assert taken(ROWS, np.flatnonzero(holds)) == ROWS.take(np.flatnonzero(holds))


def test_all_rows_are_the_table_itself():
    assert kept(ROWS, np.ones(6, bool)) is ROWS
    assert taken(ROWS, np.arange(6)) is ROWS


def test_an_empty_table_is_made_once_per_schema():
    assert empty(ROWS.schema) == ROWS.slice(0, 0)
    schema = ROWS.schema
    assert empty(schema) is empty(schema)


def test_rows_get_the_fields_of_a_schema_of_other_types():
    wide = pa.schema([pa.field("number", pa.int64(), nullable=False), pa.field("word", pa.string())])
    assert as_schema(ROWS, wide) == ROWS.cast(wide)
    named = pa.schema([field.with_metadata({"meaning": "one"}) for field in ROWS.schema])
    assert as_schema(ROWS, named).schema.equals(named, check_metadata=True)


def test_rows_of_other_columns_are_refused():
    with pytest.raises(ValueError, match="names"):
        as_schema(ROWS, pa.schema([pa.field("other", pa.int32()), pa.field("word", pa.string())]))
