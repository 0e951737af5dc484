"""Texts are checked, shortened and unescaped as their users expect."""

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.text import check_text, unescape
from allennlp_sentmatch.files.messages import printable, shorten
from tests.fuzzing import nested


@pytest.mark.parametrize("text", ["", "plain", "caf\u00e9", "\U0001f600", "\ud7ff\ue000"])
def test_text_that_can_be_written(text):
    assert check_text(text, "premise") == text
    assert printable(text) == text


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_half_of_a_pair(code):
    surrogate = chr(code)
    text = f"ab{surrogate}c"
    with pytest.raises(ConfigurationError) as error:
        check_text(text, "premise")
    message = str(error.value)
    assert message.startswith(f"premise has the lone surrogate {surrogate!r} at character 2")
    assert message.isascii()
    assert printable(text).encode() == f"ab\\u{code:04x}c".encode()


def test_shorten():
    assert shorten("a") == "'a'"
    assert shorten(["\ud800"]).isascii()
    assert len(shorten("a" * 10**6)) < 100
    assert len(shorten([10**5000])) < 100
    assert len(shorten(nested(10**5))) < 100


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        ("-LRB-", "("),
        ("a -LRB- b -RRB- -lsb- c -rsb- -LCB- d -RCB-", "a ( b ) [ c ] { d }"),
        (r"and\/or 4 \* 5", "and/or 4 * 5"),
        ("`` left right ''", "`` left right ''"),
        (r"-LRC- -LRB LRB- \n well-known", r"-LRC- -LRB LRB- \n well-known"),
    ],
)
def test_unescape(escaped, text):
    assert unescape(escaped) == text
