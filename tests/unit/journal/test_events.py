import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from amos.errors import SchemaError
from amos.journal.events import (
    FIRST_LINK,
    Circumstances,
    EventBody,
    chain_events,
    check_type,
    payload_digest,
)
from amos.journal.rows import commitments
from amos.kernels.canonical import row_bytes
from amos.kernels.hashing import merkle_root

TOP = Path(__file__).parents[3]
PAGE = (TOP / "docs/formats/store.md").read_text(encoding="utf-8")
VECTORS = dict(re.findall(r"^(\w+(?: of \d)?)  +(\S.*)$", PAGE[PAGE.index("## Test vectors") :], re.M))
WHEN = 1_767_225_600_000_000


def test_the_row_of_the_format_page_has_its_bytes():
    identifier = bytes.fromhex("00112233445566778899aabbccddeeff")
    row = row_bytes([identifier, 1, b"messages", b"tea", None, WHEN, 0, *[None] * 6])
    assert row.hex() == VECTORS["row"]


def test_the_commitment_and_roots_of_the_format_page_hold():
    raw = bytes.fromhex(VECTORS["salt"] + VECTORS["row"])
    found = commitments(VECTORS["table"], np.frombuffer(raw, np.uint8), np.array([0, len(raw)]))
    assert found.tobytes().hex() == VECTORS["commitment"]
    assert merkle_root(found).hex() == VECTORS["root of 1"]
    assert merkle_root(np.repeat(found, 3, axis=0)).hex() == VECTORS["root of 3"]


def test_the_event_of_the_format_page_holds():
    root = bytes.fromhex(VECTORS["root of 1"])
    digest = payload_digest(VECTORS["payload"], root)
    assert digest.hex() == VECTORS["digest"]
    body = EventBody("evidence_captured", VECTORS["payload"], digest)
    shared = Circumstances("ana", "{}", "{}", None, WHEN, WHEN, 1)
    rows, link = chain_events([body], [bytes.fromhex(VECTORS["salt"])], shared, FIRST_LINK)
    assert rows[0][-1].hex() == VECTORS["checksum"]
    assert link.hex() == VECTORS["link"]


def test_links_run_through_the_events_of_a_commit():
    bodies = [EventBody("atom_committed", "{}", bytes([number]) * 32) for number in range(3)]
    shared = Circumstances("ana", "{}", "{}", "key", 1, 2, 3)
    rows, link = chain_events(bodies, [bytes(16)] * 3, shared, b"s" * 32)
    before = b"s" * 32
    for row in rows:
        assert row[-2] == before
        before = hashlib.sha256(before + row[-1]).digest()
    assert link == before


def test_event_types_are_a_closed_list():
    check_type("atom_committed")
    with pytest.raises(SchemaError, match="'dreamt'"):
        check_type("dreamt")


def test_the_format_page_explains_every_kind_of_problem():
    code = "".join(path.read_text() for path in (TOP / "src/amos/journal").glob("*.py"))
    kinds = set(re.findall(r'(?:Problem|_listed|report\.add)\(\s*"(\w+)"', code))
    kinds |= {
        "candidate_span_invalid",
        "atom_span_invalid",
        "segment_missing",
        "segment_damaged",
        "hot_damaged",
    }
    assert len(kinds) > 15
    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in PAGE] == []
