"""From every claim to its bytes, and from every source to its claims."""

import hashlib

from remembered import remembered, told

LINES = (
    told("a", "I was born in a mill — the old one. I still sleep with the window open.", 1),
    told("b", "Thanks, that is lovely.", 1, role="assistant"),
    told("c", "My workshop is on Reed Lane, and the rent is due on the ninth.", 2),
    told("d", "Ma ville est Liège 🥖. My workshop is on Reed Lane.", 3),
    told("e", "Is the rent due?", 4),
)


def test_every_claim_cites_bytes_that_are_really_there():
    with remembered(*LINES) as memory:
        contents = {row["locator"]: row["content"].encode() for row in memory.rows("sources")}
        claims = memory.listed()
        assert len(claims) >= 4
        for claim in claims:
            evidence = memory.store.why(claim["atom_id"])["evidence"]
            assert len(evidence) == claim["evidence_count"]
            for piece in evidence:
                cited = contents[piece["locator"]][piece["start"] : piece["end"]]
                assert cited.decode() == piece["excerpt"]
                assert hashlib.sha256(cited).hexdigest() == piece["excerpt_sha256"]
                assert hashlib.sha256(contents[piece["locator"]]).hexdigest() == piece["source_sha256"]


def test_every_source_lists_its_claims_and_only_these():
    with remembered(*LINES) as memory:
        forth = {
            (piece["source_id"], claim["atom_id"])
            for claim in memory.listed()
            for piece in memory.store.why(claim["atom_id"])["evidence"]
        }
        back = {
            (row["source_id"], claim["atom_id"])
            for row in memory.listed("sources")
            for claim in memory.store.why(row["source_id"])["atoms"]
        }
        assert forth == back
        count = {key: len(memory.store.why(memory.rows_of(key)[0]["source_id"])["atoms"]) for key in "abcde"}
        assert count["c"] == 2
        assert count["b"] == count["e"] == 0


def test_two_claims_of_one_sentence_have_the_clauses_they_were_read_from():
    with remembered(LINES[2]) as memory:
        spans = sorted(tuple(row["spans"][:2]) for row in memory.rows("atoms"))
        text = LINES[2]["text"]
        assert [text[start:end] for start, end in spans] == [
            "My workshop is on Reed Lane",
            "the rent is due on the ninth",
        ]
