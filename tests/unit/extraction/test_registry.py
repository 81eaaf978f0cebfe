"""Extractors by name."""

import pytest

from amos.errors import UsageError
from amos.extraction.propose import EXTRACTOR
from amos.extraction.registry import extractor_names, find_extractor
from claims_read import sources


def test_the_built_in_extractor_reads_claims():
    extractor = find_extractor()
    assert extractor.name == EXTRACTOR
    assert extractor.propose(sources(["My crate is blue."]), is_compiled=False).claims.num_rows == 1


def test_an_unknown_extractor_is_refused_with_the_known_names():
    with pytest.raises(UsageError, match=EXTRACTOR):
        find_extractor("guesses@9")


def test_earlier_rules_can_still_be_asked_for():
    earlier = find_extractor("rules@1")
    assert earlier.name == "rules@1"
    assert earlier.propose(sources(["My crate is blue."]), is_compiled=False).claims.num_rows == 1
    assert {"rules@1", "rules@2"} <= set(extractor_names())
