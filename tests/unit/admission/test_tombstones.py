"""Tombstones: what they keep out, in which form, until when; and what they tell without the key."""

from datetime import UTC, datetime, timedelta

import pytest

from amos.admission.tombstones import Forbidden, Graves, Terms, runs_of, tombstone_rows
from amos.kernels.wordings import wording_of

KEY = bytes(range(32))
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
NOW_US = 1_777_896_000_000_000
ANYWHERE = (None,) * 5
HERE = ("garden", None, None, None, None)
SAID = "The spare gate key hangs behind the blue barrel"


def graves(*texts, scope=ANYWHERE, at=NOW, recreation="forbid", expires=None, key=KEY):
    passages = [(tuple(wording_of(text).words), scope) for text in texts]
    rows = tombstone_rows(
        Forbidden([b"c" * 16], [b"s" * 16], passages), Terms(recreation, "asked", NOW, expires), {}, key
    )
    return Graves(rows, KEY, at, rows.num_rows)


def found(standing, text, scope=ANYWHERE):
    return [text.encode()[one.start : one.end].decode() for one in standing.passages([text], [scope])]


def test_claims_and_sources_are_known_by_keyed_digests_alone():
    standing = graves()
    assert standing.claim(b"c" * 16).recreation == "forbid"
    assert standing.claim(b"d" * 16) is None
    assert standing.source(b"s" * 16) is not None
    assert standing.source(b"c" * 16) is None


@pytest.mark.parametrize(
    "text",
    [
        "log line 12: the spare gate key hangs behind the blue barrel (hit 1 of 3)",
        "THE SPARE GATE KEY\n   HANGS BEHIND THE BLUE BARREL",
        "He wrote “the ｓｐａｒｅ gate key hangs, behind the blue barrel”!",
    ],
)
def test_a_passage_is_found_inside_other_texts_in_any_form(text):
    (part,) = found(graves(SAID), text)
    assert wording_of(part).words == wording_of(SAID).words


def test_other_words_and_other_scopes_are_left_alone():
    assert found(graves(SAID), "The spare gate key hangs behind the red barrel") == []
    assert found(graves(SAID, scope=HERE), SAID) == []
    assert found(graves(SAID, scope=HERE), SAID, HERE) == [SAID]


def test_a_short_passage_counts_only_as_a_whole_text():
    standing = graves("Likes sardines")
    assert found(standing, "likes SARDINES.") == ["likes SARDINES"]
    assert found(standing, "nobody here likes sardines at all") == []
    assert runs_of(["yes"]) == []


def test_a_long_passage_is_found_whole_and_in_quotes_of_a_part():
    words = [f"word{number}" for number in range(40)]
    standing = graves(" ".join(words))
    covered = found(standing, "before " + " ".join(words) + " after")
    assert set(" ".join(covered).split()) == set(words)
    assert found(standing, "quote: " + " ".join(words[:16])) != []


def test_an_expired_tombstone_keeps_nothing_out():
    until = NOW + timedelta(days=1)
    assert not graves(SAID, expires=until).is_empty
    assert graves(SAID, expires=until, at=until).is_empty


def test_tombstones_are_read_again_when_some_were_added_or_have_run_out():
    until = NOW + timedelta(days=1)
    standing = graves(SAID, expires=until)
    count = len(runs_of(wording_of(SAID).words)) + 2
    assert standing.still_holds(count, NOW)
    assert not standing.still_holds(count + 1, NOW)
    assert not standing.still_holds(count, until)


@pytest.mark.parametrize(
    ("recreation", "event_us", "verdict"),
    [
        ("forbid", NOW_US + 1, "cut"),
        ("require_review", NOW_US - 1, "hold"),
        ("allow_if_new_evidence", NOW_US - 1, "cut"),
        ("allow_if_new_evidence", NOW_US, "cut"),
        ("allow_if_new_evidence", NOW_US + 1, None),
        ("allow_if_new_evidence", None, None),
    ],
)
def test_a_return_is_judged_by_the_time_of_its_evidence(recreation, event_us, verdict):
    rule = graves(recreation=recreation).claim(b"c" * 16)
    assert rule.verdict(event_us) == verdict


def test_asking_again_raises_the_version_of_the_same_tombstone():
    forbidden = Forbidden([b"c" * 16], [], [])
    first = tombstone_rows(forbidden, Terms("forbid", "asked", NOW, None), {}, KEY).to_pylist()[0]
    again = tombstone_rows(
        forbidden, Terms("forbid", "asked", NOW, None), {first["tombstone_id"]: 4}, KEY
    ).to_pylist()[0]
    assert (again["tombstone_id"], again["version"]) == (first["tombstone_id"], 5)


def test_equal_texts_have_other_digests_under_another_key_and_share_no_part():
    digests = []
    for key in (KEY, bytes(32)):
        rows = tombstone_rows(
            Forbidden([], [], [(("one", "two", "three"), ANYWHERE), (("one", "two", "four"), ANYWHERE)]),
            Terms("forbid", "asked", NOW, None),
            {},
            key,
        )
        digests += rows["digest"].to_pylist()
    parts = [digest[:8] for digest in digests] + [digest[8:] for digest in digests]
    assert len(set(parts)) == len(parts)
    a, b, c, d = (int.from_bytes(digest[:8], "little") for digest in digests)
    assert (a - b) % 2**64 != (c - d) % 2**64
