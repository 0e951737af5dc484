"""Which bodies reach Gradio: texts and choices for the page's own functions."""

import json

import pytest

from allennlp_sentmatch.demo.request_body import MAX_TEXT, RequestError, check_body

TEXT = {"type": "string"}
FUNCTIONS = {
    0: [TEXT, TEXT],
    3: [{"type": "string", "enum": ["simple", "smooth"]}, TEXT],
    4: [TEXT, {"type": "boolean"}],
}
FORM = {"data": ["a cat", ""], "fn_index": 0, "trigger_id": 8, "session_hash": "4cz5se8l4c4"}
FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


def body(**changes):
    return json.dumps({**FORM, **changes}).encode()


def status(content):
    """The status of the refusal."""
    with pytest.raises(RequestError) as refusal:
        check_body(content, FUNCTIONS)
    return refusal.value.status


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"event_data": None, "trigger_id": None},
        {"fn_index": 3, "data": ["smooth", "é \U0001f600"]},
        {"fn_index": 4, "data": ["a" * MAX_TEXT, False]},
    ],
)
def test_what_the_page_sends_is_accepted(form):
    check_body(body(**form), FUNCTIONS)


@pytest.mark.parametrize("index", [1, -1, 25, 10**30])
def test_an_unknown_function_is_not_found(index):
    assert status(body(fn_index=index)) == 404


@pytest.mark.parametrize(
    "form",
    [
        *({"fn_index": index} for index in (None, "0", 0.0, [0], {})),
        *({"session_hash": name} for name in (None, "", 7, "a" * 65, "../x", "a\0", "é")),
        *({"trigger_id": target} for target in ("8", [8], 8.5)),
        *({"event_data": data} for data in ({}, FILE, "x", 0)),
        *({"data": data} for data in (None, {}, "ab", [], ["a"], ["a", "b", "c"])),
        {"fn_index": 3, "data": ["integrated", "a"]},
        {"fn_index": 3, "data": [["simple"], "a"]},
        {"fn_index": 4, "data": ["a", 1]},
        {"batched": True},
        {"simple_format": True},
        {"event_id": "a"},
        {"files": [FILE]},
    ],
)
def test_any_other_form_is_refused(form):
    assert status(body(**form)) == 400


@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], ["a"], {}, FILE, [FILE], {"a": [FILE]}])
def test_a_text_is_a_text(value):
    assert status(body(data=["a", value])) == 400


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'"a"', b"\xff\xfe", b"\0", b"[" * 500_000, b"1" * 5000, b"NaN"],
)
def test_other_json_is_refused(content):
    assert status(content) == 400


def test_half_of_a_character_is_refused():
    """Gradio could not send it back."""
    assert status(body(data=["a \ud800", ""])) == 400


def test_a_long_text_is_refused():
    assert status(body(data=["a" * (MAX_TEXT + 1), ""])) == 413
