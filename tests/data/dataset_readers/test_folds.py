import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.dataset_readers import Folds


def test_kept_and_dropped_folds_share_out_all_examples():
    examples = list(range(23))
    for fold in range(10):
        held_out = list(Folds(10, keep=[fold]).select(examples))
        rest = list(Folds(10, drop=[fold]).select(examples))
        assert held_out == [i for i in examples if i % 10 == fold]
        assert sorted(held_out + rest) == examples


def test_several_folds_keep_the_order_of_the_file():
    assert "".join(Folds(4, keep=[3, 1]).select("abcdefghij")) == "bdfhj"
    assert "".join(Folds(4, drop=[3, 1]).select("abcdefghij")) == "acegi"


def test_from_configuration():
    folds = Folds.from_params(Params({"number": 3, "drop": [0]}))
    assert list(folds.select("abcdef")) == ["b", "c", "e", "f"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"number": 1, "keep": [0]}, "number=1: expected at least 2"),
        ({"number": 3}, "exactly one"),
        ({"number": 3, "keep": [0], "drop": [1]}, "exactly one"),
        ({"number": 3, "keep": [3]}, r"keep=\[3\].*0 to 2"),
        ({"number": 3, "drop": [-1]}, r"drop=\[-1\].*0 to 2"),
        ({"number": 3, "keep": []}, r"keep=\[\]"),
        ({"number": 2, "drop": [0, 1]}, r"drop=\[0, 1\]"),
    ],
)
def test_impossible_settings_are_named(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        Folds(**settings)
