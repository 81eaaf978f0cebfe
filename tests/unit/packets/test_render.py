import pytest
from tests.told import NOW, Told, new_shard

from amos.errors import UsageError
from amos.flow.recall import Recall
from amos.packets.render import render_packet
from amos.packets.request import PacketRequest
from amos.retrieval.visibility import OWNER


@pytest.fixture
def rendered(tmp_path):
    told = Told()
    source = told.turn("My *favourite* mug is blue <script>", days=31)
    told.claim(source, "favourite mug", "blue", span=(0, 26))
    told.turn("The mug has\na chip", author="Bo", is_owner=False, days=None, conversation="b")
    with new_shard(tmp_path / "store") as shard:
        told.commit(shard)
        with Recall(shard, OWNER) as recall:

            def render(form, *cues, **fields):
                request = PacketRequest(cues=cues, **fields)
                return render_packet(recall.packet(request, packet_id=bytes(16), now=NOW), form)

            yield render


def test_text_names_claim_speaker_day_and_place(rendered):
    lines = rendered("text", "favourite mug").splitlines()
    assert lines[0].startswith("1. User's favourite mug is blue.  [0.")
    assert lines[1].startswith("   user, 2026-05-01: “My *favourite* mug is blue <script>” (src_")
    assert lines[2].startswith("2. Bo, undated: “The mug has a chip” (src_")
    assert lines[-1].endswith("of 6000 tokens.")


def test_markdown_shows_memory_as_it_was_written(rendered):
    text = rendered("markdown", "favourite mug")
    assert "\\*favourite\\*" in text
    assert "\\<script\\>" in text
    assert text.startswith("# Memory for: favourite mug")


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize(("most", "said"), [(1, "1 item, "), (2, "2 items, ")])
def test_the_last_line_counts_items(rendered, form, most, said):
    assert rendered(form, "favourite mug", max_items=most).splitlines()[-1].startswith(said)


def test_emptiness_is_explained(rendered):
    assert rendered("text", "zeppelin").startswith("Nothing that still holds shares a word")


def test_a_small_budget_is_explained(rendered):
    assert "needs a budget of" in rendered("text", "favourite mug", token_budget=5)


def test_json_is_one_line(rendered):
    assert rendered("json", "favourite mug").count("\n") == 0


def test_an_unknown_form_is_refused(rendered):
    with pytest.raises(UsageError, match="limerick"):
        rendered("limerick", "mug")
