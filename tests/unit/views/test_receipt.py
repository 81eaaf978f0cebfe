"""The summary of a run says what stayed out, and why."""

from amos.flow.receipt import Receipt
from amos.views.receipt import receipt_lines


def lines(**changes):
    """Return the summary of a receipt with `changes`, as one text."""
    return "\n".join(receipt_lines({**Receipt().as_record(), **changes}))


def test_a_text_under_a_taken_id_is_explained():
    assert "1 text came under an id" in lines(reasons={"delivery_conflict": 1})


def test_nothing_is_said_about_ids_when_all_is_well():
    assert "came under an id" not in lines(reasons={"question": 3})
