"""What packets give up under pressure, and how they say so."""

import pytest
from tests.told import Told, answer

from amos.errors import SchemaError
from amos.packets.store import read_pressure


def shelf(count=12):
    told = Told()
    for number in range(count):
        told.turn(f"shelf number {number} holds jar {number}", conversation=f"c{number}")
    return told


@pytest.mark.parametrize(("pressure", "most"), [("green", 8), ("yellow", 8), ("orange", 4), ("red", 3)])
def test_depth_falls_with_pressure(tmp_path, pressure, most):
    packet = answer(tmp_path / "s", shelf(), "shelf jar", max_items=8, pressure=pressure)
    assert len(packet.items) == most
    assert packet.pressure_mode == packet.degradation.pressure_mode == pressure
    reason = "budget_exhausted" if most == 8 else "pressure_degraded"
    assert packet.omissions.counts[reason] == 12 - most
    assert (packet.degradation.reduced_recall_depth is True) == (most < 8)


def test_light_pressure_takes_detail_and_says_so(tmp_path):
    whole = answer(tmp_path / "a", shelf(2), "shelf jar")
    plain = answer(tmp_path / "b", shelf(2), "shelf jar", pressure="yellow")
    assert whole.items[0].evidence[0].matches
    assert not plain.items[0].evidence[0].matches
    assert plain.items[0].statement == whole.items[0].statement
    assert plain.degradation.omitted_evidence_detail is True
    assert "pressure_degraded" in plain.degradation.reason_codes
    assert whole.degradation.reason_codes == []


def test_what_is_held_for_sure_stays_under_red_pressure(tmp_path):
    told = Told()
    for number in range(6):
        source = told.turn("so it is", author="Bo", is_owner=False, conversation=f"c{number}")
        told.claim(source, f"jar {number} shelf", "oak" + " plain" * (5 - number), confidence_ppm=500_000)
    sure = told.turn("well then", author="Bo", is_owner=False, conversation="sure")
    told.claim(sure, "jar 9 shelf in the back of the long dark cellar", "pine", confidence_ppm=900_000)
    packet = answer(tmp_path / "s", told, "jar shelf", max_items=20, pressure="red")
    assert len(packet.items) == 3
    assert "pine" in " ".join(item.statement for item in packet.items)


def test_rules_and_promises_alone_stay_under_black_pressure(tmp_path):
    told = shelf(5)
    source = told.turn("I promised jar number 3 to Bo")
    told.claim(source, "commitment", "give jar number 3 to Bo", type="commitment")
    packet = answer(tmp_path / "s", told, "jar number", pressure="black")
    assert [item.type for item in packet.items] == ["commitment"]
    assert packet.omissions.counts["pressure_degraded"] == 5


def test_the_settings_of_a_store_state_its_pressure(tmp_path):
    shard = tmp_path / "default" / "default"
    shard.mkdir(parents=True)
    assert read_pressure(shard) == "green"
    settings = tmp_path / "amos.toml"
    settings.write_text("format = 4\n[capacity]\npressure_mode = 'orange'\n")
    assert read_pressure(shard) == "orange"
    settings.write_text("format = 4\n[capacity]\npressure_mode = 'mauve'\n")
    with pytest.raises(SchemaError, match="mauve"):
        read_pressure(shard)
