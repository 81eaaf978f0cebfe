import json

import numpy as np
import pyarrow as pa
import pytest

from amos.extraction import screen as screening
from amos.extraction.screen import FINDINGS, apply_cuts, screen
from amos.schemas.choosing import of_sources
from amos.schemas.vocabulary import SourceFlag
from screen_samples import (
    EXCLUSIONS,
    HARMLESS,
    NAMED_EXCLUSIONS,
    NO_EXCLUSIONS,
    NO_ORDERS,
    ORDERS,
    SECRETS,
    raw_rows,
)

TOKEN = "tok_SAMPLE_0a1b2c3d4e5f60718293"


def cut_text(text, **columns):
    sources = raw_rows([text], **columns)
    cut, _ = apply_cuts(sources, screen(sources))
    return cut["text"][0].as_py()


def test_nothing_in_gives_no_findings():
    assert screen(raw_rows([])).equals(FINDINGS.empty_table())


def test_only_the_token_goes_and_the_rest_of_the_sentence_stays():
    text = f"Note: the build token is {TOKEN} and the bins go out on Mondays."
    assert cut_text(text) == text.replace(TOKEN, "\x1a" * len(TOKEN))


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_leaves_no_trace_and_lengths_stay(text, secret):
    cut = cut_text(text)
    assert secret not in cut
    assert len(cut.encode()) == len(text.encode())


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_yields_no_finding(text):
    assert screen(raw_rows([text])).num_rows == 0


def test_only_short_texts_without_a_find_are_remembered_and_not_searched_again(monkeypatch):
    monkeypatch.setattr(screening, "_CLEAN", set())
    secret, quiet, long = f"the token is {TOKEN}", "thanks, see you on Monday", "a walk in the rain, " * 20
    first = screen(raw_rows([secret, quiet, long]))
    known = {asked[0] for asked in screening._CLEAN}
    assert quiet in known
    assert not {secret, long} & known
    searched = []
    search = screening._search
    monkeypatch.setattr(screening, "_search", lambda *asked: searched.append(asked[0]) or search(*asked))
    assert screen(raw_rows([secret, quiet, long])).equals(first)
    assert secret in searched
    assert quiet not in searched


def test_what_is_remembered_stays_small(monkeypatch):
    monkeypatch.setattr(screening, "_CLEAN", set())
    monkeypatch.setattr(screening, "_MOST_KNOWN", 3)
    for number in range(9):
        assert screen(raw_rows([f"the bins go out on day {number}"])).num_rows == 0
        assert len(screening._CLEAN) <= 3


@pytest.mark.parametrize("text", EXCLUSIONS)
def test_an_excluded_message_goes_whole(text):
    assert set(cut_text(text)) == {"\x1a"}


@pytest.mark.parametrize(("text", "unwanted", "wanted"), NAMED_EXCLUSIONS)
def test_what_a_request_names_goes_and_the_other_sentences_stay(text, unwanted, wanted):
    cut = cut_text(text)
    assert unwanted not in cut
    assert wanted in cut


@pytest.mark.parametrize("text", NO_EXCLUSIONS)
def test_a_negated_verb_about_something_else_excludes_nothing(text):
    assert cut_text(text) == text


@pytest.mark.parametrize("trust", ["untrusted_web", "tool", "recall"])
@pytest.mark.parametrize("text", ORDERS)
def test_planted_orders_are_flagged_and_kept(text, trust):
    sources = raw_rows([text], trust=trust)
    findings = screen(sources)
    marked, cut_bytes = apply_cuts(sources, findings)
    assert set(findings["action"].to_pylist()) == {"flag"}
    assert marked["text"][0].as_py() == text
    assert marked["flags"].to_pylist() == [SourceFlag.INSTRUCTION_SHAPED]
    assert cut_bytes.tolist() == [0]


@pytest.mark.parametrize("trust", ["trusted_user", "agent"])
@pytest.mark.parametrize("text", ORDERS)
def test_the_same_words_from_a_trusted_speaker_are_no_orders(text, trust):
    assert screen(raw_rows([text], trust=trust)).num_rows == 0


@pytest.mark.parametrize("text", NO_ORDERS)
def test_plain_pages_are_not_flagged(text):
    assert screen(raw_rows([text], trust="untrusted_web")).num_rows == 0


def test_a_page_loses_the_sentence_it_excludes_and_no_more():
    page = "Opening hours are 9 to 5.\nOff the record: the owner is selling.\nTickets cost 4 euro."
    cut = cut_text(page, trust="untrusted_web")
    assert "selling" not in cut
    assert "9 to 5" in cut
    assert "4 euro" in cut


def test_an_exclusion_that_names_its_sentence_leaves_the_others():
    cut = cut_text("My desk is by the door. Do not save the next sentence. My pay is low. The sun is out.")
    assert "pay" not in cut
    assert cut.startswith("My desk is by the door.")
    assert cut.endswith("The sun is out.")


def test_rows_of_cut_sources_are_marked_and_counted():
    sources = raw_rows(["hello", f"it is {TOKEN}"], flags=[4, 2])
    cut, cut_bytes = apply_cuts(sources, screen(sources))
    assert cut["flags"].to_pylist() == [4, 2 | SourceFlag.CUT]
    assert cut_bytes.dtype == np.int64
    assert cut_bytes.tolist() == [0, len(TOKEN)]


def test_titles_and_names_are_screened_too():
    sources = raw_rows(
        ["a", "b", "c"],
        conversation_title=["My password is walnut44", None, "Garden"],
        author=["Mira", TOKEN, "Mira"],
        locator=["x.zip#1", "x.zip#2", f"keys/{TOKEN}.json#3"],
    )
    cut, cut_bytes = apply_cuts(sources, screen(sources))
    assert cut["conversation_title"].to_pylist() == ["My password is " + "\x1a" * 8, None, "Garden"]
    assert cut["author"].to_pylist() == ["Mira", "\x1a" * len(TOKEN), "Mira"]
    assert cut["locator"].to_pylist()[2] == "keys/" + "\x1a" * len(TOKEN) + ".json#3"
    assert cut_bytes.tolist() == [8, len(TOKEN), len(TOKEN)]


def test_ids_that_happen_to_pass_the_card_check_stay():
    sources = raw_rows(["a"], reply_to="4242424242424242", session="4242424242424242")
    assert screen(sources).num_rows == 0


def test_strings_of_extra_are_cut_inside_the_decoded_string():
    extra = json.dumps({"note": f'it\'s "{TOKEN}" é', "n": 3, "login": {"password": "plüm\t4"}})
    sources = raw_rows(["hi"], extra=extra)
    cut, cut_bytes = apply_cuts(sources, screen(sources))
    assert json.loads(cut["extra"][0].as_py()) == {
        "note": f'it\'s "{chr(26) * len(TOKEN)}" é',
        "n": 3,
        "login": {"password": "\x1a" * 7},
    }
    assert cut_bytes.tolist() == [len(TOKEN) + 7]


def test_copies_of_a_cut_secret_in_extra_go_too():
    extra = json.dumps({"draft": "marzipan, I think", "model": "m-1"})
    sources = raw_rows(["my password is marzipan."], extra=extra)
    cut, _ = apply_cuts(sources, screen(sources))
    assert "marzipan" not in cut["extra"][0].as_py()
    assert "m-1" in cut["extra"][0].as_py()


def test_copies_of_an_excluded_message_in_extra_go_too():
    extra = json.dumps({"summary": "The aunt moves", "place": "Turku", "model": "m-1"})
    sources = raw_rows(["Don't save this, but my aunt is moving to Turku."], extra=extra)
    cut, _ = apply_cuts(sources, screen(sources))
    record = json.loads(cut["extra"][0].as_py())
    assert set(record["summary"] + record["place"]) == {"\x1a"}
    assert record["model"] == "m-1"


def test_a_disguised_secret_is_reported_as_encoded_and_as_secret():
    findings = screen(raw_rows(["hint, cGFzc2NvZGU6IGhlcm9uLWxhbXAtMjc="]))
    assert set(findings["reason"].to_pylist()) == {"encoded_content", "secret_material_detected"}
    assert set(zip(findings["start"].to_pylist(), findings["end"].to_pylist(), strict=True)) == {(6, 38)}


def test_cutting_twice_changes_nothing():
    sources = raw_rows([text for text, _ in SECRETS])
    once, _ = apply_cuts(sources, screen(sources))
    again, cut_bytes = apply_cuts(once, screen(once))
    assert again["text"].equals(once["text"])
    assert cut_bytes.tolist() == [0] * len(SECRETS)


def test_findings_do_not_depend_on_the_batch():
    texts = [text for text, _ in SECRETS] + HARMLESS + EXCLUSIONS + NO_EXCLUSIONS + ORDERS
    trusts = ["untrusted_web" if text in ORDERS else "trusted_user" for text in texts]
    together = screen(raw_rows(texts, trust=trusts))
    alone = pa.concat_tables(
        shifted(screen(raw_rows([text], trust=trust)), row)
        for row, (text, trust) in enumerate(zip(texts, trusts, strict=True))
    )
    assert together.equals(alone.combine_chunks())


def shifted(findings, row):
    return findings.set_column(0, FINDINGS[0], pa.array([row] * findings.num_rows, pa.int32()))


def test_a_table_of_stored_sources_can_be_screened_by_its_content_column():
    sources = raw_rows(["my password is marzipan."]).rename_columns(
        ["content" if name == "text" else name for name in raw_rows([]).column_names]
    )
    assert screen(sources)["field"].to_pylist() == ["content"]


def test_findings_of_some_rows_are_those_of_these_rows_alone():
    texts = [text for text, *_ in SECRETS][:12]
    sources = raw_rows([*texts, "See you at ten.", *texts])
    whole = screen(sources)
    for rows in ([], [0], [12], [3, 4, 12, 20], list(range(25))):
        alone = screen(sources.take(pa.array(rows, pa.int64())))
        assert of_sources(whole, np.array(rows, np.int64)).equals(alone)
