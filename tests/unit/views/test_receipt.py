"""The summary of a run says what stayed out, and why."""

from amos.flow.receipt import Receipt
from amos.views.receipt import conflict_lines, counted_notes, note_lines, receipt_lines


def lines(**changes):
    """Return the summary of a receipt with `changes`, as one text."""
    return "\n".join(receipt_lines({**Receipt().as_record(), **changes}))


def test_a_text_under_a_taken_id_is_explained():
    assert "1 text came under an id" in lines(reasons={"delivery_conflict": 1})


def test_nothing_is_said_about_ids_when_all_is_well():
    assert "came under an id" not in lines(reasons={"question": 3})


def test_what_else_is_stored_is_told_only_where_something_is():
    fates = {"new": 0, "linked": 0, "rejected": 0, "unreadable": 2}
    assert "2 problems; nothing is stored." in lines(errors_total=2, sources=fates)
    assert "2 problems; everything else is stored." in lines(errors_total=2, sources={**fates, "linked": 1})


def test_notes_are_counted_and_named_apart_from_problems():
    note = {"file": "in/user.json", "record": 0, "code": "skipped_files", "message": "1 file(s) \x1b[31m"}
    receipt = {**Receipt().as_record(), "notes": [note], "notes_total": 1}
    assert list(note_lines(receipt)) == ["amos: note: in/user.json: 1 file(s) \\x1b[31m (skipped_files)"]
    assert [line.split(" on ")[0] for line in counted_notes(receipt)] == ["1 note"]
    assert list(counted_notes(Receipt().as_record())) == []
    assert "problem" not in "\n".join(receipt_lines(receipt))


def test_places_of_conflicts_that_are_not_listed_are_counted():
    listed = [{"file": "b.jsonl", "record": 3, "code": "delivery_conflict", "message": ""}]
    receipt = {**Receipt().as_record(), "errors": listed, "conflicts": 400}
    assert next(conflict_lines(receipt)).endswith("b.jsonl:3, 399 more (delivery_conflict)")
    assert list(conflict_lines(Receipt().as_record())) == []


def test_commits_that_make_no_new_atom_are_accounted_for():
    decided = {**Receipt().as_record()["decisions"], "commit": 5}
    told = {"decisions": decided, "graph_version": 2}
    assert "4 new atoms, 1 re-opened or decided again; graph" in lines(**told, atoms_written=4)
    assert "5 new atoms; graph" in lines(**told, atoms_written=5)
