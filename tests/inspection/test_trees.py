"""Trees that a model chooses, and their measures against parses of a treebank."""

import copy

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection.trees import (
    ParsedSentence,
    chosen_trees,
    measure_trees,
    read_parses,
)
from allennlp_sentmatch.models.archival import load_archive
from tests.conftest import train_quick_start

IT_WORKS = ParsedSentence(["It", "works", "."], frozenset([(1, 3), (0, 3)]))


@pytest.fixture
def parses(tmp_path):
    return tmp_path / "parses"


def test_trees_of_the_treebank(parses):
    parses.write_text("(3 (2 It) (4 (3 works) (2 .)))\n\n(1 (1 -LRB-) (2 sic))\n(2 Yes)\n")
    brackets = ParsedSentence(["(", "sic"], frozenset([(0, 2)]))
    assert read_parses(parses) == [IT_WORKS, brackets, ParsedSentence(["Yes"], frozenset())]


def test_parses_of_pairs(parses):
    parses.write_text(
        '{"sentence1_binary_parse": "( It ( works . ) )", "gold_label": "-", '
        '"sentence2_binary_parse": "(It (works .))", "sentence1_parse": "(S x)"}\n'
    )
    assert read_parses(parses) == [IT_WORKS, IT_WORKS]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "parses is empty"),
        ("(3 (2 It) (2 works))\n(3 (2 It)", "line 2: not a whole tree"),
        ("(3 (2 It) (2 works)))", "line 1: a parenthesis is not open"),
        ("It works .", "line 1: not a whole tree"),
        ("(3 (2 It) (2 works)) (2 .)", "line 1: not a whole tree"),
        ("(3 )", "line 1: a node has no words"),
        ("(3 (2 It) ( ) (2 works))", "line 1: a node has no words"),
        ("( ) It", "line 1: a node has no words"),
        ('{"binary_parse": "( )"}', "line 1: a node has no words"),
        ("( It ( works . ) )", "two nodes over the same words; .* JSON lines with trees"),
        ('{"sentence1": "It works."}', "line 1: no key ends with 'binary_parse'.*'sentence1'"),
        ('{"binary_parse": ["It"]}', "line 1: .*binary_parse"),
        ('{"binary_parse": "It works ."}', "line 1: not a whole tree"),
    ],
)
def test_other_forms(parses, text: str, message: str):
    parses.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_parses(parses)


@pytest.fixture(scope="module")
def tree_predictor(tmp_path_factory):
    """A Gumbel Tree-LSTM, whose query scores pairs by their words' first dimension."""
    folder = tmp_path_factory.mktemp("trees") / "out"
    encoder = {
        "type": "gumbel_tree_lstm",
        "input_size": 4,
        "hidden_size": 3,
    }
    train_quick_start(folder, encoder)
    return Predictor.from_archive(load_archive(folder / "model.tar.gz"))


def test_the_trees_are_those_of_predictions(tree_predictor):
    """In batches by length, in the order of the sentences, with the parses' own words."""
    sentences = [
        ["A", "cat", "is", "n't", "here", "."],
        ["Dogs"],
        ["A", "cat", "sleeps", "now"],
    ]
    trees = chosen_trees(tree_predictor, sentences)
    assert [len(tree) for tree in trees] == [5, 0, 3]
    assert all((0, len(words)) in tree for words, tree in zip(sentences, trees) if len(words) > 1)
    pair = {"premise": "A cat is n't here.", "hypothesis": "A cat sleeps now"}
    output = tree_predictor.predict_json(pair)
    for name, tree in (("premise", trees[0]), ("hypothesis", trees[2])):
        nested = output[f"{name}_tree"].replace("(", "( ").replace(")", " )")
        words = 0
        starts = []
        brackets = set()
        for part in nested.split():
            if part == "(":
                starts.append(words)
            elif part == ")":
                brackets.add((starts.pop(), words))
            else:
                words += 1
        assert tree == brackets


def test_the_word_for_padding_is_an_unknown_word(tree_predictor):
    """As in predictions; vocabularies take it for padding."""
    sentences = [
        ["A", word, "sleeps", "now"]
        for word in ("        PADDING        ", "        UNKNOWN        ")
    ]
    first, second = chosen_trees(tree_predictor, sentences)
    assert first == second


def test_words_that_the_tokenizer_would_change_are_warned_of(tree_predictor, caplog):
    chosen_trees(tree_predictor, [["A", "cat", "is", "here"]])
    assert "other words" not in caplog.text
    chosen_trees(tree_predictor, [["A", "cat", "is", "here"], ["A", "cat-dog", "is."]])
    assert "1 of 2 sentences have other words" in caplog.text


def test_the_report(tree_predictor):
    """A sentence of three words has two trees, so that each model has one of them."""
    sentences = [IT_WORKS, ParsedSentence(["Yes"], frozenset())]
    other = copy.deepcopy(tree_predictor)
    with torch.no_grad():
        next(other._model._classifier.parameters()).add_(1)  # does not change the trees
    predictors = {"a": tree_predictor, "b": other}
    report = measure_trees(predictors, sentences)
    assert report["sentences"] == 2
    assert report["between_models"] == 1
    figures = report["f1"]
    names = ["parses", "left-branching", "right-branching", "balanced", "random", "a", "b"]
    assert list(figures) == names
    assert list(figures["a"]) == names[:4]
    assert figures["parses"]["right-branching"] == 1
    assert figures["left-branching"]["parses"] == pytest.approx((1 / 2 + 1) / 2)
    ways = {figures["a"]["left-branching"], figures["a"]["right-branching"]}
    assert ways == {0.75, 1.0}
    assert report["depth"]["parses"] == pytest.approx((1 + 2 + 2) / 3 / 2)
    assert "between_models" not in measure_trees({"a": tree_predictor}, sentences)


def test_a_model_that_counts_as_two_seeds(tree_predictor):
    """A copy would agree with itself in every tree."""
    predictors = {"a": tree_predictor, "copy": copy.deepcopy(tree_predictor)}
    with pytest.raises(ConfigurationError, match="copy is the same model as a: it is a copy"):
        measure_trees(predictors, [IT_WORKS])


def test_a_model_without_trees(small_archive):
    predictor = Predictor.from_archive(load_archive(small_archive))
    with pytest.raises(ConfigurationError, match="SiameseClassifier without the encoder gumbel"):
        measure_trees({"a": predictor}, [IT_WORKS])


def test_the_models_mode_stays(tree_predictor):
    model = tree_predictor._model
    model.train()
    trees = chosen_trees(tree_predictor, [["A", "cat", "is", "here"]] * 9)
    assert len(set(trees)) == 1
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    model.eval()
    assert not torch.is_inference_mode_enabled()
