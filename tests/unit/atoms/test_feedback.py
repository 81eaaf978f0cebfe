"""What feedback adds up to: one packet counts once, every step stays between 0 and 1, order is no matter."""

from datetime import UTC, datetime, timedelta

import pytest

from amos.atoms.feedback import NEGATIVE, WORTH, Fed, fed_by, kind_of_use
from amos.schemas.vocabulary import FeedbackKind, OutcomeLabel

START = datetime(2026, 5, 1, tzinfo=UTC)
HALF = (500_000, 500_000, "healthy")


def row(kind, packet=1, day=0, **others):
    """Return a row of feedback of the given kind."""
    worth = WORTH[kind]
    return {
        "packet_id": bytes([packet]) * 16,
        "atom_id": b"a" * 16,
        "kind": str(kind),
        "utility_ppm": worth.utility_ppm,
        "salience_ppm": worth.salience_ppm,
        "recorded_at": START + timedelta(days=day),
        **others,
    }


def fed(*rows):
    """Return the feedback of these rows."""
    return fed_by(rows, "atom_id").get(b"a" * 16, Fed())


def test_use_adds_to_utility_and_salience_and_a_correction_takes_twice_as_much():
    assert fed(row("used")).standing(*HALF) == (530_000, 520_000, "healthy")
    assert fed(row("corrected")).standing(*HALF) == (440_000, 500_000, "healthy")
    assert fed(row("unhelpful")).standing(*HALF) == (440_000, 500_000, "healthy")


@pytest.mark.parametrize("kind", ["exposure", "failed"])
def test_what_was_only_shown_and_use_that_went_wrong_add_nothing(kind):
    assert fed(row(kind)).standing(*HALF) == HALF


def test_one_packet_counts_once_in_each_direction():
    told = fed(row("used"), row("used", day=1), row("corrected", day=2), row("unhelpful", day=3))
    assert told.standing(*HALF) == (470_000, 520_000, "healthy")


def test_a_healthy_claim_below_a_quarter_counts_as_of_low_utility():
    told = fed(*(row("corrected", packet=number) for number in range(5)))
    assert told.standing(*HALF) == (200_000, 500_000, "low_utility")
    assert told.standing(500_000, 500_000, "contradicted").health == "contradicted"
    assert fed(row("corrected")).standing(310_000, 0, "healthy").health == "healthy"


def test_each_step_is_kept_within_bounds_so_that_a_correction_bites_after_much_praise():
    praise = [row("used", packet=number, day=number) for number in range(40)]
    assert fed(*praise).standing(*HALF)[:2] == (1_000_000, 1_000_000)
    late = row("corrected", packet=99, day=50)
    assert fed(*praise, late).standing(*HALF).utility_ppm == 940_000
    assert fed(late, *praise[::-1]).standing(*HALF).utility_ppm == 940_000
    blame = [row("corrected", packet=number, day=number) for number in range(40)]
    assert fed(*blame).standing(*HALF).utility_ppm == 0


def test_counts_are_of_packets():
    told = fed(
        row("exposure"), row("used", packet=2), row("used", packet=3), row("corrected", packet=3),
        row("failed", packet=4), row("unhelpful", packet=5, day=9),
    )  # fmt: skip
    assert told.counts() == {
        "access_count": 5, "used": 3, "success_after_use": 1, "failures_after_use": 1,
        "corrections_after_use": 1, "unhelpful": 1,
    }  # fmt: skip
    assert told.last == START + timedelta(days=9)


def test_an_edge_learns_within_bounds():
    assert fed(row("used")).factor_ppm == 1_030_000
    assert fed(row("corrected")).factor_ppm == 920_000
    assert fed(*(row("used", packet=number) for number in range(20))).factor_ppm == 1_250_000
    assert fed(*(row("unhelpful", packet=number) for number in range(20))).factor_ppm == 350_000
    assert Fed().factor_ppm == 1_000_000


def test_use_under_a_negative_label_is_no_success():
    assert kind_of_use(["good", "observed"]) is FeedbackKind.USED
    for label in NEGATIVE:
        assert kind_of_use(["good", label]) is FeedbackKind.FAILED
    assert {"bad", "wrong", "unused", "unhelpful", "misleading", "corrected", "correction", "failed",
            "failure"} <= {str(one) for one in NEGATIVE}  # fmt: skip
    assert OutcomeLabel.OBSERVED not in NEGATIVE
