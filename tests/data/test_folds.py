"""Folds share out all examples, and keep examples with a common sentence together."""

import numpy
import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from hypothesis import given
from hypothesis import strategies as st

from allennlp_sentmatch.data.folds import Folds, deal, groups_of, repeating_side, split_data_path


@pytest.mark.parametrize("fold", range(10))
def test_kept_and_dropped_folds_share_out_all_examples(fold):
    examples = list(range(23))
    held_out = list(Folds(10, keep=[fold]).select(examples))
    rest = list(Folds(10, drop=[fold]).select(examples))
    assert held_out == [i for i in examples if i % 10 == fold]
    assert sorted(held_out + rest) == examples


def test_several_folds_keep_the_order_of_the_file():
    assert "".join(Folds(4, keep=[3, 1]).select("abcdefghij")) == "bdfhj"
    assert "".join(Folds(4, drop=[3, 1]).select("abcdefghij")) == "acegi"


FOLDS = {"number": 3, "keep": [1]}


@pytest.mark.parametrize("path", ["a.tsv", {"neg": "a.neg", "pos": "a.pos"}])
@pytest.mark.parametrize("make", [dict, Params])
def test_a_data_path_with_folds(path, make):
    data_path = make({"path": path, "folds": FOLDS})
    for _ in range(2):  # a reader may read the same path again
        inner, folds = split_data_path(data_path)
        assert type(inner) is type(path)
        assert inner == path
        assert "".join(folds.select("abcdef")) == "be"


@pytest.mark.parametrize(
    "data_path",
    [
        "a.tsv",
        {"neg": "a.neg", "pos": "a.pos"},
        Params({"neg": "a.neg", "pos": "a.pos"}),
    ],
)
def test_a_data_path_without_folds(data_path):
    expected = data_path.as_dict() if isinstance(data_path, Params) else data_path
    for _ in range(2):
        inner, folds = split_data_path(data_path)
        assert type(inner) is type(expected)
        assert inner == expected
        assert folds is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"number": 1, "keep": [0]}, "folds: number must be an integer of at least 2; got 1"),
        ({"number": None, "keep": [0]}, "folds: number must be .*; got None"),
        ({"number": 3}, "exactly one"),
        ({"number": 3, "keep": [0], "drop": [1]}, "exactly one"),
        ({"number": 3, "keep": [3]}, r"keep=\[3\].*0 to 2"),
        ({"number": 3, "drop": [-1]}, r"drop=\[-1\].*0 to 2"),
        ({"number": 3, "keep": []}, r"keep=\[\]"),
        ({"number": 2, "drop": [0, 1]}, r"drop=\[0, 1\]"),
        (
            {"number": 2, "drop": [0], "by": "lines"},
            "folds: by must be one of sentence, line, or null; got 'lines'",
        ),
    ],
)
def test_impossible_settings_are_named(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        Folds(**settings)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({"folds": FOLDS}, r"expected a data path with folds as .*got"),
        ({"path": "a", "folds": FOLDS, "x": 1}, "with folds as"),
        ({"path": "a", "folds": 3}, "with folds as"),
        ({"path": "a", "folds": {"number": 3, "kept": [1]}}, "kept"),
        ({"path": "a", "folds": {"keep": [1]}}, "number"),
    ],
)
def test_another_form_is_an_error(path, message):
    with pytest.raises(ConfigurationError, match=message):
        split_data_path(path)


def folds_of(examples, number):
    """Return the number of each example's fold. Each example is in one."""
    folds = [[] for _ in examples]
    for fold in range(number):
        (is_kept,) = Folds(number, keep=[fold]).divide([examples]).kept
        for i, flag in enumerate(is_kept):
            if flag:
                folds[i].append(fold)
    assert [len(own) for own in folds] == [1] * len(examples)
    return [fold for (fold,) in folds]


def pairs(*texts):
    return [tuple(text.split()) for text in texts]


def test_without_repetitions_examples_are_dealt_by_lines():
    pairs_once = [(str(i), f"{i}!") for i in range(23)]
    assert folds_of(pairs_once, 10) == [i % 10 for i in range(23)]
    texts_once = [(str(i),) for i in range(7)]
    assert folds_of(texts_once, 3) == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("examples", "folds"),
    [
        # Claims with premises, which follow each other or not, on the first side or the second.
        (pairs("a 1", "a 2", "b 3", "b 4", "c 5"), [0, 0, 1, 1, 2]),
        (pairs("a 1", "b 2", "c 3", "a 4", "b 5"), [0, 1, 2, 0, 1]),
        (pairs("1 a", "2 a", "3 b", "4 b", "5 c"), [0, 0, 1, 1, 2]),
        # The side on which more sentences repeat: the questions, not yes and no.
        (pairs("a yes", "a no", "b yes", "b no", "c yes", "c no"), [0, 0, 1, 1, 2, 2]),
        # Equal pairs in either order, also with different claims.
        (pairs("a b", "c d", "b a", "a b", "e f"), [0, 1, 0, 0, 2]),
        (pairs("a 1", "a 2", "1 a", "1 3", "b 4", "b 5", "c 6"), [0, 0, 0, 0, 1, 1, 2]),
        # Equal sentences.
        (pairs("a", "b", "a", "c", "b"), [0, 1, 0, 2, 1]),
    ],
)
def test_examples_that_share_a_sentence_are_in_one_fold(examples, folds):
    assert folds_of(examples, 3) == folds


def test_one_sentence_in_all_pairs_cannot_be_held_out():
    examples = [("is it about sports", str(i)) for i in range(6)]
    assert folds_of(examples, 3) == [0, 1, 2, 0, 1, 2]
    assert folds_of([*examples, examples[0]], 3) == [0, 1, 2, 1, 2, 0, 0]


def test_the_same_text_in_files_of_different_labels():
    """Each file is dealt into all folds, and a text is in one fold in all of them."""
    parts = [pairs("a", "b", "c", "d"), pairs("d", "e", "a", "f", "g", "h")]
    first, second = Folds(2, keep=[0]).divide(parts).kept
    assert sum(first) == 2
    assert sum(second) == 3
    is_kept = dict(zip(parts[0], first))
    for text, flag in zip(parts[1], second):
        assert is_kept.get(text, flag) == flag


def test_a_billion_folds_take_no_more_memory_than_the_groups():
    (kept,) = Folds(10**9, keep=[0, 2, 10**9 - 1]).divide([pairs("a", "b", "b", "c")]).kept
    assert kept == [False, True, True, True]
    assert folds_of(pairs("a", "b", "b", "c"), 10) == [1, 0, 0, 2]


def test_folds_of_groups_have_nearly_equal_sizes():
    sizes = [7, 1, 1, 3, 2, 2, 9, 1, 4]
    groups = numpy.repeat(numpy.arange(len(sizes)), sizes).tolist()
    (folds,) = deal([groups], 3)
    assert numpy.bincount(folds).tolist() == [10, 10, 10]


SENTENCES = st.sampled_from("abcdefghij")


@given(st.lists(st.tuples(SENTENCES, SENTENCES), max_size=30), st.integers(2, 5))
def test_no_pair_has_a_pair_of_another_fold(examples, number):
    side = repeating_side(examples)
    num_groups = len(set(groups_of(examples, side)))
    folds = folds_of(examples, number)
    for first, fold in zip(examples, folds):
        for second, other in zip(examples, folds):
            if set(first) == set(second):
                assert fold == other
            if num_groups > 1 and side is not None and first[side] == second[side]:
                assert fold == other
