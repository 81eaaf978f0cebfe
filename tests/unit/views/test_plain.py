import pyarrow as pa
import pytest

from amos.views.grid import SHOWN_ROWS, grid_lines, plain_rows
from amos.views.plain import amount, counted, plural, shortened, visible
from amos.views.receipt import receipt_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\n lines\t", "two lines"),
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("cut \x1a\x1a.", "cut [cut]."),
        ("แมว 🐝 é", "แมว 🐝 é"),
        ("turn\u202eed", "turn\\u202eed"),
        ("par\u200cole", "par\u200cole"),
        ("\u0085", ""),
        ("", ""),
    ],
)
def test_text_is_one_line_that_drives_no_terminal(text, shown):
    assert visible(text) == shown


def test_long_text_ends_in_an_ellipsis_within_its_length():
    assert shortened("word " * 50, 20) == "word word word word…"
    assert len(shortened("x" * 500, 20)) == 20


def test_counts_are_largest_first_without_zeros():
    assert counted({"ignore": 3, "commit": 12_000, "link": 0}) == "12,000 commit, 3 ignore"
    assert counted({}) == "none"


def test_numbers_read_well():
    assert plural(1, "match", "matches") == "1 match"
    assert plural(1_200, "row") == "1,200 rows"
    assert [amount(size) for size in (0, 999, 1_500, 2_500_000)] == ["0 B", "999 B", "1.5 kB", "2.5 MB"]


def test_a_long_table_says_that_it_is_not_whole():
    table = pa.table({"n": list(range(SHOWN_ROWS + 5))})
    lines = list(grid_lines(table))
    assert str(SHOWN_ROWS + 5) in lines[-1]
    assert "--json" in lines[-1]
    assert len(list(plain_rows(table))) == SHOWN_ROWS + 5


def test_markup_in_a_cell_is_shown_as_it_is():
    lines = list(grid_lines(pa.table({"a": ["[bold]x[/bold] [link=file:///etc]y[/link]"]})))
    assert any("[bold]x[/bold] [link=file:///etc]y[/link]" in line for line in lines)


def receipt(**changes):
    return {
        "records_read": 3,
        "sources": {"new": 1, "linked": 1, "rejected": 0, "unreadable": 1},
        "decisions": {"commit": 0, "link": 0, "quarantine": 1, "ignore": 0, "reject": 0},
        "reasons": {"sensitive_content": 1},
        "formats": {"messages": 3},
        "trusts": {"trusted_user": 2},
        "cuts": {},
        "cut_bytes": 0,
        "unstable_ids": 0,
        "atoms_written": 0,
        "errors": [],
        "errors_total": 1,
        "graph_version": 4,
        "seconds": 0.5,
        **changes,
    }


def test_the_summary_reconciles_and_says_what_waits():
    lines = list(receipt_lines(receipt()))
    assert lines[0] == "Read 3 records in 0.5 s (6/s): 1 new + 1 already known + 0 refused + 1 unreadable."
    assert "1 waits for you: `amos review`." in lines
    assert lines[-1] == "0 new atoms; graph version 4."


def test_a_summary_counts_claims_and_messages_apart():
    told = {"decisions": {"commit": 0, "link": 0, "quarantine": 2, "ignore": 0, "reject": 0}}
    lines = list(receipt_lines(receipt(**told, decided={"claims": 1, "messages": 1})))
    assert "Decided 1 claim and 1 message:" in lines


def test_a_summary_names_fields_without_a_meaning_once():
    text = "\n".join(receipt_lines(receipt(unknown_fields=["mood", "scope.team"])))
    assert text.count("kept in `extra` and not read: mood, scope.team.") == 1


def test_a_summary_counts_messages_without_ids_and_what_was_cut():
    text = "\n".join(receipt_lines(receipt(unstable_ids=2, cuts={"spoken_secret": 1}, cut_bytes=12)))
    assert "2 messages came without ids" in text
    assert "Cut before storing: 1 spoken_secret (12 B)." in text
