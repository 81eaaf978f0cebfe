import gc

import pytest

from amos.flow.memory import collected_between


class Ring:
    """An object that only the collector of cycles can free."""

    def __init__(self, freed):
        self.itself, self._freed = self, freed

    def __del__(self):
        self._freed.append(True)


def test_cycles_of_a_batch_go_when_it_ends_and_not_before():
    freed = []
    with collected_between() as collect:
        for _ in range(5_000):
            Ring([])
        Ring(freed)
        assert not freed
        collect()
        assert freed
    assert gc.isenabled()


def test_a_few_objects_are_not_worth_looking_for_cycles():
    freed = []
    with collected_between() as collect:
        collect()
        gc.collect()
        Ring(freed)
        collect()
        assert not freed
        collect(is_due=True)
        assert freed


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        with collected_between() as collect:
            collect()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_is_on_again_after_a_failure():
    with pytest.raises(ValueError, match="stop"), collected_between():
        raise ValueError("stop")
    assert gc.isenabled()
