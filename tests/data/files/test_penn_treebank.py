import pytest

from allennlp_sentmatch.data.files.penn_treebank import unescape


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
