from amos.entities.choice import DOUBTED, NAMED, NULL, PART_OF_NAME, RIVAL, choose

ANA, EVA = b"a" * 32, b"e" * 32


def test_one_that_outweighs_nobody_is_meant():
    choice = choose({ANA: NAMED})
    assert (choice.chosen, choice.is_ambiguous) == (0, False)
    assert choice.scores_ppm == (700_000, 300_000)


def test_two_that_may_be_meant_are_never_told_apart_by_their_weights():
    choice = choose({ANA: 10 * NAMED, EVA: RIVAL})
    assert (choice.chosen, choice.is_ambiguous) == (None, True)
    assert choice.referents == (ANA, EVA)


def test_nobody_is_meant_where_somebody_without_a_name_may_be():
    choice = choose({ANA: NAMED}, DOUBTED)
    assert (choice.chosen, choice.is_ambiguous) == (None, False)


def test_the_beginning_of_a_longer_name_alone_is_not_enough():
    assert PART_OF_NAME < NULL
    assert choose({ANA: PART_OF_NAME}).chosen is None


def test_nobody_to_choose_from_leaves_all_to_nobody():
    assert choose({}) == ((), (1_000_000,), None, False)


def test_equal_weights_are_ordered_by_identity_and_scores_never_exceed_the_whole():
    choice = choose({EVA: 450, ANA: 450}, NULL)
    assert choice.referents == (ANA, EVA)
    assert sum(choice.scores_ppm) <= 1_000_000
