"""What became of a call is read from its answer, and only from what is made to say so."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amos.extraction.tool_results import told_by

TRACEBACK = b"""Traceback (most recent call last):
  File "tides.py", line 3, in <module>
tides.errors.HarbourError: no harbour called Ostende"""


def ended(answer, envelope=None, *, is_web=False):
    """Return status, sign and detail, and the words cited."""
    told = told_by(answer, envelope or {}, is_web=is_web)
    return None if told is None else (told.status, told.sign, told.detail, answer[told.start : told.end])


@pytest.mark.parametrize(
    ("answer", "envelope", "expected"),
    [
        (b"121 rows\nmore", {"is_error": False}, ("succeeded", "error_flag", None, b"121 rows")),
        (b"\n  no such file \n", {"is_error": True}, ("failed", "error_flag", None, b"no such file")),
        (b"Exit code 2\nbad flag", {"is_error": True}, ("failed", "exit_code", 2, b"Exit code 2")),
        (b"done\n[exit code: 0]\n", {}, ("succeeded", "exit_code", 0, b"[exit code: 0]")),
        (b"Process exited with code 137", {}, ("failed", "exit_code", 137, b"Process exited with code 137")),
        (TRACEBACK, {}, ("failed", "exception", "HarbourError", TRACEBACK.splitlines()[2])),
        (
            b"PermissionError: [Errno 13] a.txt",
            {},
            ("blocked", "exception", "PermissionError", b"PermissionError: [Errno 13] a.txt"),
        ),
        (
            b"HTTP/1.1 503 Service Unavailable",
            {},
            ("failed", "http_status", 503, b"HTTP/1.1 503 Service Unavailable"),
        ),
        (b'{"status_code": 403, "body": ""}', {}, ("blocked", "http_status", 403, b'"status_code": 403')),
        (b'{"ok": true, "id": 4}', {}, ("succeeded", "status_field", None, b'"ok": true')),
        (b'{"output": "x", "metadata": {"exit_code": 1}}', {}, ("failed", "exit_code", 1, b'"exit_code": 1')),
        (b'{"error": "no seat left"}', {}, ("failed", "error_field", None, b'"error": "no seat left"')),
        (b"some rows", {"status": "partial"}, ("partial", "status_field", "partial", b"some rows")),
        (b"x", {"toolUseResult": {"interrupted": True}}, ("blocked", "interrupted", None, b"x")),
        (
            b"x",
            {"metadata": {"aggregate_result": {"status": "success"}}},
            ("succeeded", "status_field", "success", b"x"),
        ),
        (b"x", {"tool_returns": [{"status": "error"}]}, ("failed", "status_field", "error", b"x")),
        (
            b"The user doesn't want to proceed with this tool use.",
            {"is_error": True},
            ("blocked", "error_flag", None, b"The user doesn't want to proceed with this tool use."),
        ),
    ],
)
def test_a_sign_says_how_the_call_ended(answer, envelope, expected):
    assert ended(answer, envelope) == expected


@pytest.mark.parametrize(
    ("answer", "envelope"),
    [
        (b"16 passed in 0.5 s", {}),  # an answer, no sign
        (b"the deploy failed, see the log", {}),
        (b'{"order": 7, "status": "cancelled"}', {}),  # the order was, not the call
        (b'{"status": "failed", "job": 3}', {}),
        (b"we met an exit code 1 in the log\nand went on", {}),
        (b"", {"is_error": True}),  # nothing that could be cited
        (b"\x1a\x1a\x1a", {"is_error": True}),
        (b'{"error": null}', {}),
        (b"x", {"is_error": "yes"}),
        (b"x", {"call": {"status": "error"}}),  # of the model's call, not of the tool
    ],
)
def test_what_is_no_sign_says_nothing(answer, envelope):
    assert ended(answer, envelope) is None


def test_signs_that_disagree_say_nothing():
    assert ended(b'{"error": "no such table"}', {"is_error": False}) is None
    assert ended(b"Exit code 1\nx", {"status": "success"}) is None


def test_a_page_never_says_how_its_call_ended():
    assert ended(b"Exit code 0", is_web=True) is None
    assert ended(b"Welcome", {"is_error": False}, is_web=True) is None
    assert ended(b"Not Found", {"toolUseResult": {"code": 404, "codeText": "Not Found"}}, is_web=True) == (
        "failed",
        "http_status",
        404,
        b"Not Found",
    )


def test_a_long_line_is_cited_up_to_a_whole_character():
    answer = b"x" + "é".encode() * 300
    told = told_by(answer, {"is_error": True}, is_web=False)
    assert answer[told.start : told.end].decode() == "x" + "é" * 59


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "is_error",
                    "status",
                    "error",
                    "exit_code",
                    "ok",
                    "metadata",
                    "toolUseResult",
                    "code",
                    "codeText",
                    "status_code",
                    "tool_returns",
                    "interrupted",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
ENVELOPES = st.dictionaries(
    st.sampled_from(
        ["is_error", "status", "error", "metadata", "ok", "exit_code", "tool_returns", "toolUseResult"]
    ),
    VALUES,
    max_size=4,
)
ANSWERS = st.one_of(
    st.text(max_size=200),
    VALUES.map(json.dumps),
    st.lists(
        st.sampled_from(
            [
                "Exit code 1",
                "",
                "  ",
                "Traceback (most recent call last):",
                "KeyError: 'é'",
                "HTTP/2 200",
                "\x1a",
                "ok",
                "{",
            ]
        ),
        max_size=5,
    ).map("\n".join),
)


@given(answer=ANSWERS, envelope=ENVELOPES, is_web=st.booleans())
def test_whatever_an_answer_holds_the_words_cited_stand_in_it(answer, envelope, is_web):
    raw = answer.encode(errors="replace")
    told = told_by(raw, envelope, is_web=is_web)
    if told is not None:
        assert told.status in {"succeeded", "failed", "partial", "blocked"}
        assert 0 <= told.start < told.end <= len(raw)
        assert raw[told.start : told.end].decode().strip()
        assert "\x1a" not in raw[told.start : told.end].decode()
        json.dumps(told.detail)
