"""Questions asked together get the packets that they would get alone."""

import msgspec
from tests.told import NOW, Told, new_shard

from amos.flow.recall import Recall
from amos.packets.request import PacketRequest
from amos.retrieval.visibility import OWNER


def told_household(shard):
    told = Told()
    for number, place in enumerate(("attic", "cellar", "porch", "attic")):
        source = told.turn(f"the ladder is in the {place}", author="Bo", conversation=f"c{number % 2}")
        told.turn(f"a picture of the {place}", block=1, kind="caption", trust="tool", key=f"m{2 * number}")
        told.claim(source, "ladder", place, subject="Bo", span=(0, 13), key=str(number))
    ids = [row["atom_id"] for row in told.rows["atoms"]]
    told.dispute(*ids[:2])
    told.commit(shard)


def plain(packet):
    return msgspec.to_builtins(packet)


def test_questions_asked_together_get_the_packets_of_each_alone(tmp_path):
    with new_shard(tmp_path / "store") as shard:
        told_household(shard)
        texts = ("where is the ladder", "picture of the porch", "nothing of the kind", "cellar", "Bo")
        asked = [PacketRequest(cues=(text,)) for text in texts]
        asked.append(PacketRequest(cues=("ladder",), max_items=1))
        with Recall(shard, OWNER) as alone, Recall(shard, OWNER) as together:
            expected = [alone.packet(one, packet_id=bytes(16), now=NOW) for one in asked]
            together.look_ahead([(one, NOW) for one in asked])
            found = [together.packet(one, packet_id=bytes(16), now=NOW) for one in asked]
        assert list(map(plain, found)) == list(map(plain, expected))
        assert any(packet.conflicts for packet in found)


def test_rows_read_ahead_are_not_looked_up_again(tmp_path, monkeypatch):
    with new_shard(tmp_path / "store") as shard:
        told_household(shard)
        asked = [PacketRequest(cues=(text,)) for text in ("ladder", "cellar")]
        with Recall(shard, OWNER) as recall:
            recall.look_ahead([(one, NOW) for one in asked])
            kind, seen = type(recall.snapshot), []
            look_up = kind.lookup
            monkeypatch.setattr(
                kind, "lookup", lambda self, name, *rest: [seen.append(name), look_up(self, name, *rest)][1]
            )
            assert all(recall.packet(one, packet_id=bytes(16), now=NOW).items for one in asked)
        assert not {"sources", "disputes", "entities"} & set(seen)
