"""The metrics and the requirements that all classifiers share."""

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from allennlp_sentmatch.models import ClassificationModel


def vocabulary(*labels: str) -> Vocabulary:
    return Vocabulary(tokens_to_add={"labels": list(labels)})


def count(model: ClassificationModel, predicted: list[str], gold: list[str]) -> None:
    indices = model.vocab.get_token_to_index_vocabulary("labels")
    logits = torch.eye(len(indices))[[indices[label] for label in predicted]]
    model.output(logits, torch.tensor([indices[label] for label in gold]))


@pytest.mark.parametrize("labels", [("1", "0"), ("0", "1")])
def test_f1_of_both_labels_of_a_binary_task_whatever_their_order(labels):
    model = ClassificationModel(vocabulary(*labels))
    count(model, predicted=list("11100"), gold=list("10010"))
    # "1": one true positive, two false positives, one false negative; "0": one, one and two.
    expected = {
        "accuracy": 0.4,
        "f1_1": 2 / 5,
        "f1_0": 2 / 5,
        "f1_macro": 2 / 5,
    }
    assert model.get_metrics() == pytest.approx(expected)
    count(model, predicted=["1", "1"], gold=["1", "1"])
    # "1": three true positives, two false positives, one false negative.
    expected = {
        "accuracy": 4 / 7,
        "f1_1": 6 / 9,
        "f1_0": 2 / 5,
        "f1_macro": (6 / 9 + 2 / 5) / 2,
    }
    assert model.get_metrics(reset=True) == pytest.approx(expected)
    count(model, predicted=["0"], gold=["0"])
    expected = {
        "accuracy": 1,
        "f1_1": 0,
        "f1_0": 1,
        "f1_macro": 0.5,
    }
    assert model.get_metrics() == pytest.approx(expected)


@pytest.mark.parametrize("others", [("no",), ("no", "maybe")])
def test_f1_of_the_positive_label_alone(others):
    model = ClassificationModel(vocabulary(*others, "yes"), positive_label="yes")
    count(model, predicted=["yes", "yes", "no"], gold=["yes", "no", "no"])
    assert model.get_metrics() == pytest.approx({"accuracy": 2 / 3, "f1_yes": 2 / 3})
    assert model.labels == [*others, "yes"]


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        (("1", "0"), {"positive_label": "yes"}, r"positive_label 'yes' .* \['0', '1'\]"),
        ((), {}, "'labels' has no label"),
        (("yes",), {}, "'labels' has only the label 'yes'"),
        # The vocabulary returns the symbols for padding and unknown words for it.
        (("a", "b"), {"label_namespace": "label"}, "namespace 'label' has no label"),
    ],
)
def test_labels_that_are_missing(labels, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        ClassificationModel(vocabulary(*labels), **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_vocab_size": 1}, "only the label 'a', as its max_vocab_size or min_count cuts"),
        ({"min_count": {"labels": 9}}, "'labels' has no label, as its max_vocab_size or min_count"),
        ({"non_padded_namespaces": []}, "padding and unknown words would be labels"),
    ],
)
def test_labels_that_the_vocabulary_changes(settings, message):
    vocab = Vocabulary(counter={"labels": {"a": 3, "b": 2}}, **settings)
    with pytest.raises(ConfigurationError, match=message):
        ClassificationModel(vocab)


def test_logits_are_divided_by_the_temperature():
    model = ClassificationModel(vocabulary("a", "b"))
    model.temperature.fill_(2.0)
    output = model.output(torch.tensor([[3.0, 1.0]]), torch.tensor([1]))
    assert output["label_logits"].tolist() == [[1.5, 0.5]]
    # softmax(1.5, 0.5) = (e, 1) / (e + 1)
    assert output["label_probs"][0].tolist() == pytest.approx([0.7310586, 0.2689414])
    assert output["loss"].item() == pytest.approx(1.3132617)


def test_weights_without_a_temperature_load_strictly():
    """Weights from before there was a temperature, also for a part of a model."""
    model = ClassificationModel(vocabulary("a", "b"))
    model.temperature.fill_(2.0)
    model.load_state_dict({})
    assert model.temperature.item() == 1
    parts = torch.nn.ModuleList([model, ClassificationModel(vocabulary("a", "b"))])
    parts.load_state_dict({"1.temperature": torch.tensor(3.0)})
    assert [part.temperature.item() for part in parts] == [1, 3]
