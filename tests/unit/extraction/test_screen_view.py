from hypothesis import given
from hypothesis import strategies as st

from amos.extraction.screen_view import base64_texts, byte_offsets, decoded_view

DISGUISES = st.sampled_from(
    ["a", "é", "\u200b", "%41", "%C3%A9", "&#66;", "аx", "\U000e0041", "ｂ", " ", "\u0301"]
)


def test_plain_text_is_its_own_view():
    assert decoded_view("Nothing to see, 100 % plain. Été 👍") is None


def test_one_layer_of_disguise_comes_off():
    assert decoded_view("p\u200ba%73&#115;wоrd ｏｋ").text == "password ok"


def test_hidden_tag_characters_become_letters():
    assert decoded_view("hi\U000e0069\U000e0067").text == "hiig"


def test_only_one_layer_comes_off():
    assert decoded_view("%2541").text == "%41"


def test_ranges_of_the_view_lead_back_to_whole_pieces():
    text = "x%41\u200bb"
    view = decoded_view(text)
    assert view.text == "xAb"
    assert [view.source_range(start, start + 1) for start in range(3)] == [(0, 1), (1, 4), (5, 6)]


@given(text=st.lists(DISGUISES).map("".join))
def test_every_view_character_has_a_source_in_order(text):
    view = decoded_view(text)
    if view is None:
        return
    ranges = [view.source_range(at, at + 1) for at in range(len(view.text))]
    assert all(0 <= start < end <= len(text) for start, end in ranges)
    assert ranges == sorted(ranges)
    assert view.source_range(0, len(view.text)) == (ranges[0][0], ranges[-1][1]) if ranges else True


def test_base64_of_readable_text_is_decoded_and_noise_is_not():
    text = "a bWVldCBtZSBhdCB0aGUgcGllcg== b 0123456789abcdef01 internationalization ////////////////////"
    assert list(base64_texts(text)) == [(2, 30, "meet me at the pier")]


@given(text=st.text(), data=st.data())
def test_byte_offsets_agree_with_encoding_each_prefix(text, data):
    offsets = data.draw(st.lists(st.integers(0, len(text))))
    expected = [len(text[:offset].encode("utf-8", "surrogatepass")) for offset in offsets]
    assert byte_offsets(text, offsets) == expected
