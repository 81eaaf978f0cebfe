import numpy as np

from amos.retrieval.postings import build_postings, merge_postings
from amos.retrieval.words import Vocabulary, encode, term_hash

TEXTS = ["jam and bread", "bread, bread, bread", "", "a jar of jam 88-401"]


def postings_of(texts):
    vocabulary = Vocabulary()
    return build_postings(encode(texts, vocabulary), vocabulary)


def occurrences(postings):
    found = {}
    for at in range(len(postings.hashes)):
        docs, counts = postings.of(at)
        found[postings.name(at)] = dict(zip(docs.tolist(), counts.tolist(), strict=True))
    return found


def test_each_term_lists_its_documents_and_counts():
    postings = postings_of(TEXTS)
    found = occurrences(postings)
    assert found["bread"] == {0: 1, 1: 3}
    assert found["jam"] == {0: 1, 3: 1}
    assert found["401"] == {3: 1}
    assert postings.lengths.tolist() == [2, 3, 0, 3]


def test_an_unknown_term_is_not_found():
    postings = postings_of(TEXTS)
    assert postings.find(term_hash("marmalade")) == -1
    assert postings.find(term_hash("jam")) >= 0


def test_merging_parts_equals_building_at_once():
    one, two = postings_of(TEXTS[:2]), postings_of(TEXTS[2:])
    merged = merge_postings([(one, np.array([0, 1])), (two, np.array([2, 3]))], 4)
    whole = postings_of(TEXTS)
    assert occurrences(merged) == occurrences(whole)
    assert merged.lengths.tolist() == whole.lengths.tolist()


def test_a_document_that_went_away_takes_its_words_along():
    one, two = postings_of(TEXTS[:2]), postings_of(TEXTS[2:])
    merged = merge_postings([(one, np.array([-1, 0])), (two, np.array([1, 2]))], 3)
    assert occurrences(merged) == occurrences(postings_of(TEXTS[1:]))


def test_no_texts_give_an_empty_index():
    assert len(postings_of([]).hashes) == 0
