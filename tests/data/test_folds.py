import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.folds import Folds, split_data_path


def test_kept_and_dropped_folds_share_out_all_examples():
    examples = list(range(23))
    for fold in range(10):
        held_out = list(Folds(10, keep=[fold]).select(examples))
        rest = list(Folds(10, drop=[fold]).select(examples))
        assert held_out == [i for i in examples if i % 10 == fold]
        assert sorted(held_out + rest) == examples
    # Several folds keep the order of the file.
    assert "".join(Folds(4, keep=[3, 1]).select("abcdefghij")) == "bdfhj"
    assert "".join(Folds(4, drop=[3, 1]).select("abcdefghij")) == "acegi"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"number": 1, "keep": [0]}, "number=1: expected at least 2"),
        ({"number": None, "keep": [0]}, "number=None: expected at least 2"),
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


@pytest.mark.parametrize("path", ["a.tsv", {"neg": "a.neg", "pos": "a.pos"}])
@pytest.mark.parametrize("make", [dict, Params])
@pytest.mark.parametrize(
    ("folds", "selected"), [({"number": 3, "keep": [1]}, "be"), (None, "abcdef")]
)
def test_a_data_path(path, make, folds, selected):
    data_path = {"path": path, "folds": folds} if folds else path
    data_path = make(data_path) if isinstance(data_path, dict) else data_path
    for _ in range(2):  # a reader may read the same path again
        inner, select = split_data_path(data_path)
        assert (type(inner), inner) == (type(path), path)
        assert "".join(select("abcdef")) == selected


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({"folds": {"number": 3, "keep": [1]}}, r"expected a data path with folds as .*got"),
        ({"path": "a", "folds": {"number": 3, "keep": [1]}, "x": 1}, "with folds as"),
        ({"path": "a", "folds": 3}, "with folds as"),
        ({"path": "a", "folds": {"number": 3, "kept": [1]}}, "kept"),
        ({"path": "a", "folds": {"keep": [1]}}, "number"),
    ],
)
def test_another_form_is_an_error(path, message):
    with pytest.raises(ConfigurationError, match=message):
        split_data_path(path)
